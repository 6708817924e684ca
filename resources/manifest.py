"""What an artifact says of itself: a manifest beside its data, and the handle that assets pass around. No writing happens here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from terrarium.job import Gate


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


@dataclass(frozen=True)
class Artifact:
    """A published artifact. `path` is absolute; `reused` says that no work was done; `passed_through` why it is another asset's."""

    path: Path
    manifest: Manifest
    costs: dict[str, float]
    reused: bool = False
    passed_through: str | None = None

    @property
    def asset(self) -> str:
        return self.manifest.asset

    @property
    def data_version(self) -> str:
        return self.manifest.data_version

    def file(self, name: str) -> Path:
        """The path of one of its files."""
        return self.path / name
