"""Writing pointers: replaced whole or not at all."""

from __future__ import annotations

from pathlib import Path

from resources.durable import write_durably
from terrarium.lineage.pointers import Pointer, read_pointer


def write_pointer(path: Path, pointer: Pointer) -> None:
    """Replace the pointer; untouched where it says the same already."""
    if read_pointer(path) != pointer:
        write_durably(path, pointer.model_dump_json(indent=1))
