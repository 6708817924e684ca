"""Checkpoints inside a training: which one is whole, and what a training that was killed goes on from."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

_MARK = "complete"
_NAME = re.compile(r"checkpoint-(\d+)")


def mark_complete(folder: Path, step: int) -> None:
    """Say that the checkpoint of `step` is written to its last byte."""
    (folder / f"checkpoint-{step}" / _MARK).touch()


def last_checkpoint(folder: Path) -> tuple[int, Path | None]:
    """Step and folder of the last whole checkpoint, (0, None) where there is none. Removes those that a kill left half-written."""
    found: list[tuple[int, Path]] = []
    for path in folder.glob("checkpoint-*") if folder.is_dir() else ():
        match = _NAME.fullmatch(path.name)
        if match and (path / _MARK).exists():
            found.append((int(match[1]), path))
        else:
            shutil.rmtree(path, ignore_errors=True)
    return max(found, default=(0, None))
