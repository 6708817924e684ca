"""A state folder as a reader sees it: which artifact each asset is now, and what every artifact says of itself. Nothing is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from pydantic import ValidationError

from terrarium.errors import TerrariumError
from terrarium.provenance.manifest import Making, Manifest


@dataclass(frozen=True)
class Record:
    """One artifact: its folder, its manifest and how it was made."""

    path: Path
    manifest: Manifest
    making: Making

    @property
    def asset(self) -> str:
        return self.manifest.asset

    @property
    def name(self) -> str:
        """How people call it: asset and fingerprint."""
        return f"{self.manifest.asset} {self.manifest.fingerprint}"


@dataclass(frozen=True)
class Holding:
    """What an asset, or one of its partitions, is now. `why` is set where it is its parent, passed through."""

    asset: str
    partition: str | None
    record: Record
    why: str | None = None

    @property
    def name(self) -> str:
        return f"{self.asset} of {self.partition}" if self.partition else self.asset


class State:
    """The artifacts below one state folder.

    Raises:
        TerrariumError: the folder holds none.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "artifacts").is_dir():
            raise TerrariumError(f"{folder} holds no artifacts; name the state folder with --state, or make something with `make run` first.")

    @cached_property
    def holdings(self) -> list[Holding]:
        """Every pointer that leads to an artifact, by asset and partition."""
        found = []
        for pointer in sorted((self.folder / "current").rglob("*.json")):
            held = self._held(pointer)
            if held is not None:
                found.append(held)
        return found

    def current(self, asset: str, partition: str | None = None) -> list[Holding]:
        """What an asset is now: one holding, or one a partition where none is named."""
        return [held for held in self.holdings if held.asset == asset and partition in (None, held.partition)]

    def record(self, path: str | Path) -> Record | None:
        """The artifact in a folder, given absolute or relative to the state folder; None where there is none."""
        folder = self.folder / path
        try:
            manifest = Manifest.model_validate_json((folder / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValidationError):
            return None
        try:
            making = Making.model_validate_json((folder / "costs.json").read_text(encoding="utf-8"))
        except (OSError, ValidationError):
            making = Making()
        return Record(folder, manifest, making)

    def all_records(self) -> Iterator[Record]:
        """Every artifact, also those that no pointer leads to any more."""
        for path in sorted((self.folder / "artifacts").rglob("manifest.json")):
            record = self.record(path.parent)
            if record is not None:
                yield record

    def descent(self, record: Record) -> list[Record]:
        """Everything an artifact was made from, and that from, each once; nearest first.

        Raises:
            TerrariumError: an ancestor's folder is gone or damaged.
        """
        found: list[Record] = []
        waiting, seen = list(record.manifest.parents), {record.path}
        while waiting:
            parent = waiting.pop(0)
            path = self.folder / parent.path
            if path in seen:
                continue
            seen.add(path)
            ancestor = self.record(path)
            if ancestor is None:
                raise TerrariumError(f"{record.name} was made from {parent.asset}, which should lie in {path} and is gone or damaged.")
            found.append(ancestor)
            waiting.extend(ancestor.manifest.parents)
        return found

    def holdings_of(self, record: Record) -> list[Holding]:
        """The assets and partitions that this artifact is now."""
        return [held for held in self.holdings if held.record.path == record.path]

    def _held(self, pointer: Path) -> Holding | None:
        try:
            said = json.loads(pointer.read_text(encoding="utf-8"))
            record = self.record(said["path"])
            if record is None:
                return None
            partition = said.get("partition")
            return Holding(said["asset"], None if partition is None else unquote(partition), record, said.get("passed_through"))
        except (OSError, ValueError, KeyError):
            return None
