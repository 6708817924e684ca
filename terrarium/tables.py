"""Tables: lists of dataclass records as Parquet files with an explicit schema, written whole or not at all."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from terrarium.errors import TerrariumError

R = TypeVar("R")

DROP_SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string()), ("step", pa.string()), ("reason", pa.string()), ("detail", pa.string())])


@dataclasses.dataclass(frozen=True, slots=True)
class Drop:
    """One row that did not go on, and why. `id` is a URL, page id, question id or rollout id."""

    id: str
    text: str
    step: str
    reason: str
    detail: str = ""


def write_rows(path: Path, rows: Iterable[dict[str, Any]], schema: pa.Schema) -> int:
    """Write dictionaries as one Parquet file by rename, return how many."""
    table = pa.Table.from_pylist(list(rows), schema=schema)
    partial = path.with_name(path.name + ".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, partial, compression="zstd")
    partial.replace(path)
    return table.num_rows


def write_whole(path: Path, text: str) -> None:
    """Write a small text file by rename: whoever is killed here leaves the old one or the new one."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def read_rows(path: Path, schema: pa.Schema | None = None) -> list[dict[str, Any]]:
    """Read a Parquet file as dictionaries.

    Raises:
        TerrariumError: the file is missing, damaged, or lacks a column of `schema`.
    """
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise TerrariumError(f"The table {path} does not exist; make the step that writes it first.") from None
    except pa.ArrowInvalid as error:
        raise TerrariumError(f"The table {path} is damaged ({error}); remove it and make its step again.") from error
    if schema is not None:
        missing = [name for name in schema.names if name not in table.column_names]
        if missing:
            raise TerrariumError(f"The table {path} has no column {', '.join(missing)}; it was made by another version, make its step again.")
        table = table.select(schema.names).cast(schema)
    return table.to_pylist()


def write_drops(path: Path, drops: Iterable[Drop]) -> int:
    """Write what was dropped and why."""
    return write_rows(path, (dataclasses.asdict(drop) for drop in drops), DROP_SCHEMA)


def read_drops(path: Path) -> list[Drop]:
    """Read what was dropped and why."""
    return [Drop(**row) for row in read_rows(path, DROP_SCHEMA)]


def stable_id(*parts: str, length: int = 16) -> str:
    """A short hash that names a row; equal parts give equal names in every process."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:length]


def batches(path: Path, columns: list[str] | None = None, size: int = 1024) -> Iterator[list[dict[str, Any]]]:
    """Stream a Parquet file as lists of dictionaries."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=size, columns=columns):
            yield batch.to_pylist()
