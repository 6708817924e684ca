"""The state folder as an archive: which artifacts there are, what each is current for, and what each was made from. Reads only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from terrarium.errors import TerrariumError
from terrarium.lineage.content import data_version_of
from terrarium.lineage.ledger import total
from terrarium.lineage.manifest import Making, Manifest, Parent, read_making, read_manifest
from terrarium.lineage.pointers import Pointer, read_pointer

# What content hashes left out before artifacts wrote it down: an engine's own files, journals of work, places.
ONCE_LEFT_OUT = ("checkpoints", "journal", "journal.jsonl", "web", "training_log.jsonl", "pages.sqlite*", "milvus*", "places.json")


@dataclass(frozen=True, eq=False)
class Record:
    """One artifact: `path` is relative to the state folder."""

    folder: Path
    path: str
    manifest: Manifest
    making: Making

    @property
    def asset(self) -> str:
        return self.manifest.asset

    def file(self, name: str) -> Path:
        """The path of one of its files."""
        return self.folder / name

    def verified(self) -> bool:
        """Whether its files still give the content hash that its manifest states; reads all of them."""
        stated, fingerprint = self.manifest.data_version, self.manifest.fingerprint
        if self.making.volatile is not None:
            return data_version_of(self.folder, fingerprint, self.making.volatile) == stated
        return any(data_version_of(self.folder, fingerprint, left_out) == stated for left_out in ((), ONCE_LEFT_OUT))


class Archive:
    """All artifacts of a state folder.

    Raises:
        TerrariumError: there is no such folder, or it holds no artifacts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        if not (self.folder / "artifacts").is_dir():
            raise TerrariumError(f"{self.folder} holds no artifacts: name the state folder with --state, or grow one with make run.")
        self._known: dict[str, Record | None] = {}

    @cached_property
    def pointers(self) -> list[Pointer]:
        """What is current, in the order of names."""
        found = (read_pointer(path) for path in sorted((self.folder / "current").rglob("*.json")))
        return [pointer for pointer in found if pointer is not None]

    def record(self, path: str) -> Record | None:
        """The artifact at a path relative to the state folder, or None where none can be read."""
        if path not in self._known:
            manifest = read_manifest(self.folder / path)
            made = None if manifest is None else Record(self.folder / path, path, manifest, read_making(self.folder / path))
            self._known[path] = made
        return self._known[path]

    def all(self) -> Iterator[Record]:
        """Every artifact there is, also those that are current no more."""
        for path in sorted((self.folder / "artifacts").rglob("manifest.json")):
            record = self.record(path.parent.relative_to(self.folder).as_posix())
            if record is not None:
                yield record

    def names(self, record: Record) -> list[str]:
        """What an artifact is current for, such as `stage_3/checkpoint grpo-s1`."""
        return [f"{p.asset} {p.partition}" if p.partition else p.asset for p in self.pointers if p.path == record.path]

    def descent(self, *records: Record) -> list[Record]:
        """The artifacts and everything they were made from, each once, nearest first."""
        found = {record.path: record for record in records}
        queue = list(records)
        while queue:
            for parent in queue.pop(0).manifest.parents:
                above = self.record(parent.path)
                if above is not None and above.path not in found:
                    found[above.path] = above
                    queue.append(above)
        return list(found.values())

    def missing(self, *records: Record) -> list[Parent]:
        """Parents anywhere in the descent that are gone, or hold something else than what was read from them."""
        lost: dict[str, Parent] = {}
        for record in self.descent(*records):
            for parent in record.manifest.parents:
                above = self.record(parent.path)
                if above is None or above.manifest.data_version != parent.data_version:
                    lost[parent.path] = parent
        return list(lost.values())

    @cached_property
    def living(self) -> list[Record]:
        """What is current and everything it was made from."""
        current = (self.record(pointer.path) for pointer in self.pointers)
        return self.descent(*{record.path: record for record in current if record is not None}.values())

    def of(self, *assets: str) -> list[Record]:
        """Living artifacts of these assets; a name after a slash alone means that of every stage."""
        return [record for record in self.living if record.asset in assets or record.asset.rpartition("/")[2] in assets]

    def costs(self, *records: Record) -> dict[str, float]:
        """What artifacts cost together; those that one step made together share a fingerprint and are counted once."""
        once = {record.manifest.fingerprint: record.making.costs for record in records}
        return total(once.values())
