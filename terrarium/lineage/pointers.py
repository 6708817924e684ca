"""Pointers: one small file an asset (and partition) says which artifact it is now."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError


class Pointer(BaseModel):
    """`path` is relative to the state folder; `passed_through` says why it is another asset's artifact, or is None."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    asset: str
    partition: str | None
    path: str
    passed_through: str | None = None


def pointer_path(root: Path, asset: str, partition: str | None) -> Path:
    """Where the pointer of an asset lies, or of one of its partitions."""
    folder = root / "current" / asset
    return folder.with_name(folder.name + ".json") if partition is None else folder / f"{quote(partition, safe='')}.json"


def read_pointer(path: Path) -> Pointer | None:
    """The pointer, or None where there is none that can be read."""
    try:
        return Pointer.model_validate_json(path.read_text())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None
