"""Benchmark questions: read, checked, and kept out of every training table."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict

from terrarium.errors import TerrariumError
from terrarium.job import Gate, Job, Outcome, Report, track
from terrarium.tables import read_rows, stable_id, write_rows

BENCHMARK_SCHEMA = pa.schema(
    [
        ("benchmark", pa.string()),
        ("question_id", pa.string()),
        ("question", pa.string()),
        ("answers", pa.list_(pa.string())),
        ("capability", pa.string()),
    ]
)


class BenchmarkFile(BaseModel):
    """A benchmark on disk: JSONL or Parquet with `question` and `answers` (or `answer`), and optionally `capability`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    path: Path
    format: Literal["jsonl", "parquet"] = "jsonl"
    sha256: str | None = None


class BenchmarksJob(Job):
    """Which benchmarks to read."""

    files: list[BenchmarkFile]


def load(job: BenchmarksJob, report: Report) -> Outcome:
    """Read all benchmarks into `benchmarks.parquet`.

    Raises:
        TerrariumError: a file is missing, damaged, of another checksum, or has a row without question or answers.
    """
    rows: list[dict[str, Any]] = []
    checksums: dict[str, str] = {}
    for file in track(job.files, report, "benchmarks"):
        content = _content(file)
        checksums[file.name] = hashlib.sha256(content).hexdigest()
        if file.sha256 and checksums[file.name] != file.sha256:
            raise TerrariumError(
                f"The benchmark file {file.path} has checksum {checksums[file.name]}, the profile expects {file.sha256}; it is another version."
            )
        raw = _jsonl_rows(file, content) if file.format == "jsonl" else _parquet_rows(file)
        rows.extend(_row(file, number, row) for number, row in enumerate(raw, start=1))
    write_rows(job.out / "benchmarks.parquet", rows, BENCHMARK_SCHEMA)
    unique = len({row["question_id"] for row in rows})
    return Outcome(
        counts={"benchmarks": len(job.files), "questions": len(rows)},
        gates=[Gate(name="no_question_twice", passed=unique == len(rows), detail=f"{len(rows) - unique} questions stand more than once")],
        notes={"sha256": checksums},
    )


def read_benchmarks(folder: Path) -> list[dict[str, Any]]:
    """Rows of `BENCHMARK_SCHEMA` written by `load`."""
    return read_rows(folder / "benchmarks.parquet", BENCHMARK_SCHEMA)


def _content(file: BenchmarkFile) -> bytes:
    try:
        return file.path.read_bytes()
    except OSError as error:
        raise TerrariumError(f"The benchmark file {file.path} cannot be read ({error.strerror}); correct its path in the profile.") from error


def _jsonl_rows(file: BenchmarkFile, content: bytes) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise TerrariumError(f"Line {number} of the benchmark file {file.path} is no JSON ({error.msg}); mend or remove it.") from error
        if not isinstance(row, dict):
            raise TerrariumError(f"Line {number} of the benchmark file {file.path} is no JSON object; mend or remove it.")
        rows.append(row)
    return rows


def _parquet_rows(file: BenchmarkFile) -> list[dict[str, Any]]:
    try:
        return pq.read_table(file.path).to_pylist()
    except pa.ArrowInvalid as error:
        raise TerrariumError(f"The benchmark file {file.path} is no readable Parquet ({error}).") from error


def _row(file: BenchmarkFile, number: int, row: dict[str, Any]) -> dict[str, Any]:
    question = str(row.get("question") or "").strip()
    answers = row.get("answers", row.get("answer"))
    if not isinstance(answers, (list, tuple)):
        answers = [] if answers is None else [answers]
    answers = [str(answer).strip() for answer in answers if str(answer).strip()]
    if not question or not answers:
        raise TerrariumError(f"Row {number} of the benchmark file {file.path} lacks a question or an answer; mend or remove it.")
    return {
        "benchmark": file.name,
        "question_id": stable_id("benchmark", file.name, question),
        "question": question,
        "answers": answers,
        "capability": row.get("capability"),
    }
