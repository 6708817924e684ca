"""Rows of artifacts' tables by what stands in a column; a table that an artifact does not have has no rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from terrarium.errors import TerrariumError
from terrarium.lineage.archive import Record

ROLLOUT_COLUMNS = [
    "rollout_id",
    "question_id",
    "policy",
    "recipe",
    "stage",
    "snapshot",
    "sampling",
    "answer",
    "termination",
    "correct",
    "grade",
    "judge",
    "error",
    "searches",
    "visits",
    "seconds",
]


def rows(record: Record, file: str, column: str, values: Collection[str], columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The rows whose `column` is one of `values`; of a column of lists, those that hold one.

    Raises:
        TerrariumError: the table cannot be read.
    """
    path = record.file(file)
    if not path.exists() or not values:
        return []
    found: list[dict[str, Any]] = []
    try:
        with pq.ParquetFile(path) as table:
            names = table.schema_arrow.names
            if column not in names:
                return []
            read = [name for name in dict.fromkeys((*(columns or names), column)) if name in names]
            for batch in table.iter_batches(columns=read):
                found += _matching(pa.Table.from_batches([batch]), column, values)
    except (OSError, pa.ArrowException) as error:
        raise TerrariumError(f"The table {path} cannot be read ({str(error).splitlines()[0]}); make {record.asset} again.") from error
    return found


def column(record: Record, file: str, name: str) -> list[Any]:
    """All values of one column; none where the artifact has no such table or column."""
    path = record.file(file)
    if not path.exists() or name not in pq.read_schema(path).names:
        return []
    return pq.read_table(path, columns=[name])[name].to_pylist()


def _matching(table: pa.Table, column: str, values: Collection[str]) -> list[dict[str, Any]]:
    if pa.types.is_list(table.schema.field(column).type):
        if pa.types.is_struct(table.schema.field(column).type.value_type):
            wanted = [any(item["page_id"] in values for item in held or ()) for held in table[column].to_pylist()]
        else:
            wanted = [not set(held or ()).isdisjoint(values) for held in table[column].to_pylist()]
        return table.filter(pa.array(wanted, pa.bool_())).to_pylist()
    return table.filter(pc.is_in(table[column].cast(pa.string()), value_set=pa.array(list(values), pa.string()))).to_pylist()
