"""Hashes of content: what makes two artifacts the same, whenever and wherever they were made. Reads files, writes none."""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

# Times are facts about the making, not about the data.
VOLATILE_COLUMNS = frozenset({"fetched_at", "seconds"})
VOLATILE_FILES = ("manifest.json", "costs.json", "training_log.jsonl", "*.log", "*.lock", "*.partial")


def plain(value: Any) -> Any:
    """A configuration as plain JSON values: models, paths, tuples and enumerations included."""
    return json.loads(json.dumps(to_jsonable_python(value), sort_keys=True))


def fingerprint_of(value: Any, length: int = 20) -> str:
    """A short name for a JSON value; the order of keys does not count."""
    return hashlib.sha256(json.dumps(plain(value), sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:length]


def data_version_of(folder: Path, fingerprint: str, volatile: Collection[str] = ()) -> str:
    """The content hash of a folder: names and contents of all files but the volatile ones.

    Parquet files count by schema and rows, less the volatile columns. Where no file is left to hash, the fingerprint stands in.
    """
    hashes = file_hashes(folder, volatile)
    digest = hashlib.sha256()
    for name, content in (hashes or {"": fingerprint}).items():
        digest.update(f"{name}\x00{content}\n".encode())
    return "sha256:" + digest.hexdigest()[:40]


def file_hashes(folder: Path, volatile: Collection[str] = ()) -> Mapping[str, str]:
    """Relative name -> content hash of every file that counts, in the order of names."""
    return {name: content_hash(folder / name) for name in _names(folder, (*VOLATILE_FILES, *volatile))}


def content_hash(path: Path) -> str:
    """The hash of one file's content."""
    if path.suffix == ".parquet":
        return _parquet_hash(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _names(folder: Path, volatile: Collection[str]) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        # A pattern names a file, a path, or everything below a folder.
        hidden = any(fnmatch.fnmatch(part, pattern) for pattern in volatile for part in (name, path.name, *path.relative_to(folder).parts[:-1]))
        if path.is_file() and not hidden:
            yield name


def _parquet_hash(path: Path) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    digest = hashlib.sha256()
    with pq.ParquetFile(path) as file:
        columns = [name for name in file.schema_arrow.names if name not in VOLATILE_COLUMNS]
        schema = pa.schema([file.schema_arrow.field(name) for name in columns])
        digest.update(schema.remove_metadata().to_string().encode())
        for batch in file.iter_batches(batch_size=4096, columns=columns):
            digest.update(batch.replace_schema_metadata(None).serialize())
    return digest.hexdigest()
