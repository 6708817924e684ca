"""What an artifact says of itself: the manifest that lies beside its data, and what lies beside the manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from terrarium.job import Gate

MANIFEST = "manifest.json"
COSTS = "costs.json"


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
    """What `costs.json` holds: facts about the making of an artifact, which are no part of its content hash.

    `volatile` are the patterns of files that the content hash left out beside the usual ones; None where that was not written down.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)
    made_at: str = ""
    costs: dict[str, float] = Field(default_factory=dict)
    volatile: list[str] | None = None
    versions: dict[str, str] = Field(default_factory=dict)


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest in a folder, or None where there is none that can be read."""
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_text())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def read_making(folder: Path) -> Making:
    """What is known of an artifact's making; empty where nothing is."""
    try:
        return Making.model_validate_json((folder / COSTS).read_text())
    except (OSError, ValidationError):
        return Making()
