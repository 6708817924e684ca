"""Writing pages as they come: a corpus need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from terrarium.corpus.page import PAGE_SCHEMA, Page

_BATCH = 500


def write_page_file(path: Path, pages: Iterable[Page]) -> int:
    """Write pages as one Parquet file by rename, a batch at a time; return how many."""
    partial = path.with_name(path.name + ".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = iter(pages)
    count = 0
    with pq.ParquetWriter(partial, PAGE_SCHEMA, compression="zstd") as writer:
        while batch := [asdict(page) for page in islice(stream, _BATCH)]:
            writer.write_table(pa.Table.from_pylist(batch, schema=PAGE_SCHEMA))
            count += len(batch)
    partial.replace(path)
    return count
