"""What an artifact says of itself: the schema of `manifest.json`, and of the side file that holds what differs between equal makings."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from terrarium.job import Gate

# What results may depend on; told for every artifact, and no part of any hash.
_PACKAGES = (
    "torch",
    "transformers",
    "trl",
    "vllm",
    "pymilvus",
    "milvus-lite",
    "FlagEmbedding",
    "sqlalchemy",
    "pyarrow",
    "pandas",
    "trafilatura",
    "dagster",
)


class Parent(BaseModel):
    """One input of an artifact. `path` is relative to the state folder, so that it can be moved."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    asset: str
    data_version: str
    path: str


class Manifest(BaseModel):
    """What `manifest.json` holds. Times and costs stand in `costs.json`: equal inputs give an equal manifest."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    asset: str
    fingerprint: str
    code_version: str
    attempt: int = 0
    parents: list[Parent] = Field(default_factory=list)
    config: dict[str, Any] = Field(default_factory=dict)
    gates: list[Gate] = Field(default_factory=list)
    counts: dict[str, float] = Field(default_factory=dict)
    drops: dict[str, int] = Field(default_factory=dict)
    notes: dict[str, Any] = Field(default_factory=dict)
    data_version: str = ""

    @property
    def failed_gates(self) -> list[Gate]:
        """Gates of severity error that did not pass."""
        return [gate for gate in self.gates if gate.severity == "error" and not gate.passed]


class Making(BaseModel):
    """What `costs.json` holds: when, at what cost, with which packages, and which files are no part of the content hash."""

    made_at: str = ""
    costs: dict[str, float] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    volatile: list[str] = Field(default_factory=list)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results may depend on; what is not installed is left out."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
