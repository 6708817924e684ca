"""Checksums of files that a profile names (seed dumps, benchmarks, model folders), remembered so that a large one is read once."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from terrarium.errors import TerrariumError


def checksum(state: Path, path: Path) -> str:
    """`sha256:` of a file's content, or of a folder's files and their relative names.

    A file whose size and time of change are the remembered ones is not read again.

    Raises:
        TerrariumError: it cannot be read.
    """
    try:
        files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        known_file = state / "checksums.json"
        known = _read(known_file)
        before = dict(known)
        total = hashlib.sha256()
        for file in files:
            total.update(str(file.relative_to(path) if path.is_dir() else "").encode() + b"\0" + _of_file(file, known).encode())
        if known != before:
            known_file.parent.mkdir(parents=True, exist_ok=True)
            partial = known_file.with_suffix(".partial")
            partial.write_text(json.dumps(known, indent=0), encoding="utf-8")
            partial.replace(known_file)
    except OSError as error:
        raise TerrariumError(f"{path} cannot be read ({error.strerror}); correct its path in the profile or on the command line.") from error
    return f"sha256:{total.hexdigest()}"


def _of_file(file: Path, known: dict[str, str]) -> str:
    facts = file.stat()
    key = f"{file.absolute()} {facts.st_size} {facts.st_mtime_ns}"
    if key not in known:
        with file.open("rb") as stream:
            known[key] = hashlib.file_digest(stream, "sha256").hexdigest()
    return known[key]


def _read(file: Path) -> dict[str, str]:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
