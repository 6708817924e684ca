"""What people see of an artifact in the UI: plain numbers first (the UI plots them), drops with reasons, a sample, where it lies.

Every byte shown is kept in the event log for ever, so samples are short and pictures small; whatever is larger is linked.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pyarrow.parquet as pq

from resources.manifest import Artifact
from terrarium.lineage.archive import Archive
from terrarium.lineage.tell import short

ROWS = 5
CHARACTERS = 160
COLUMNS = 10
PICTURE_BYTES = 60_000


def metadata_of(artifact: Artifact, samples: Sequence[str] = (), pictures: Sequence[str] = ()) -> dict[str, Any]:
    """The metadata of a materialisation."""
    manifest = artifact.manifest
    if artifact.passed_through:
        # The numbers of what was passed through are its own asset's; here nothing was done and nothing paid.
        return {
            "passed_through": dg.MetadataValue.text(f"{artifact.passed_through}: this is {artifact.asset}, attempt {manifest.attempt}."),
            "artifact": dg.MetadataValue.path(str(artifact.path)),
            "fingerprint": manifest.fingerprint,
        }
    shown: dict[str, Any] = {name: _number(value) for name, value in manifest.counts.items()}
    shown |= {f"cost/{name}": _number(value) for name, value in artifact.costs.items()}
    if manifest.drops:
        shown["drops"] = dg.MetadataValue.table(
            [dg.TableRecord({"reason": reason, "rows": rows}) for reason, rows in sorted(manifest.drops.items(), key=lambda item: -item[1])]
        )
        shown["dropped"] = sum(manifest.drops.values())
    shown["artifact"] = dg.MetadataValue.path(str(artifact.path))
    shown["fingerprint"] = manifest.fingerprint
    shown["attempt"] = manifest.attempt
    shown["reused"] = artifact.reused
    if manifest.notes:
        shown["notes"] = dg.MetadataValue.json(manifest.notes)
    if manifest.parents:
        shown["made_from"] = dg.MetadataValue.table(
            [dg.TableRecord({"asset": parent.asset, "data_version": parent.data_version}) for parent in manifest.parents]
        )
    shown |= _descent(artifact)
    for name in samples:
        file = artifact.file(name)
        if file.exists():
            shown[f"sample/{file.stem}"] = sample(file)
    for report in sorted(artifact.path.glob("*.html")):
        # A browser opens no file from a page of a server, so the path is given to be copied.
        shown[report.stem] = dg.MetadataValue.path(str(report))
    for name in pictures:
        file = artifact.file(name)
        if file.exists() and file.stat().st_size <= PICTURE_BYTES:
            data = base64.b64encode(file.read_bytes()).decode()
            shown[f"plot/{file.stem}"] = dg.MetadataValue.md(f"![{file.stem}](data:image/png;base64,{data})")
        elif file.exists():
            shown[f"plot/{file.stem}"] = dg.MetadataValue.path(str(file))
    return shown


def _descent(artifact: Artifact) -> dict[str, Any]:
    """Everything it was made from, in short, and what all of that cost."""
    archive = Archive(artifact.path.parents[artifact.asset.count("/") + 2])
    record = archive.record(artifact.path.relative_to(archive.folder).as_posix())
    if record is None:
        return {}
    costs = archive.costs(*archive.descent(record))
    return {"descent": dg.MetadataValue.md(short(archive, record))} | {f"descent_cost/{name}": float(value) for name, value in costs.items()}


def sample(file: Path) -> dg.MetadataValue:
    """The first rows of a Parquet file, cut to what one can read."""
    with pq.ParquetFile(file) as parquet:
        columns = parquet.schema_arrow.names[:COLUMNS]
        batch = next(parquet.iter_batches(batch_size=ROWS, columns=columns), None)
    if batch is None:
        return dg.MetadataValue.text("no rows")
    # Nullable columns stay as they are: a NaN for what is missing would be no JSON.
    frame = batch.to_pandas(types_mapper=pd.ArrowDtype)
    records = [dg.TableRecord({str(name): _cell(value) for name, value in row.items()}) for row in frame.to_dict("records")]
    return dg.MetadataValue.table(records) if records else dg.MetadataValue.text("no rows")


def _cell(value: Any) -> str | int | float | bool:
    if value is None or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool | int | float):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= CHARACTERS else text[: CHARACTERS - 1] + "…"


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)


def facts(artifact: Artifact) -> Mapping[str, Any]:
    """Counts, drops and notes of an artifact as plain JSON, for the table of a report."""
    manifest = artifact.manifest
    return {"counts": dict(manifest.counts), "drops": dict(manifest.drops), "notes": dict(manifest.notes)}
