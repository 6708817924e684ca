"""The handle of an artifact that assets pass around. No writing happens here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from terrarium.lineage.manifest import Manifest


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
