"""What a unit of work takes and gives, wherever it runs: in this process, in a child process, or on another machine.

Every step of the lineage is one function `work(job: SomeJob, report: Report) -> Outcome`. The job is a pydantic model of
paths and parameters (so it travels as JSON); the data it makes are files in `job.out`; the outcome is what people and gates see.
`job.out` is a staging folder and may hold what a killed attempt left behind: a function continues from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")


class Job(BaseModel):
    """Base of all jobs. `out` is the folder the work writes to; it exists."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    out: Path


class Gate(BaseModel):
    """One check that was computed before the work was published."""

    name: str
    passed: bool
    severity: Literal["error", "warn"] = "error"
    detail: str = ""
    figures: dict[str, float] = Field(default_factory=dict)


class Outcome(BaseModel):
    """What a unit of work reports. Data go to files; this is counts, drops, gates and costs."""

    counts: dict[str, float] = Field(default_factory=dict)
    drops: dict[str, int] = Field(default_factory=dict, description="reason -> how many rows it cost")
    gates: list[Gate] = Field(default_factory=list)
    costs: dict[str, float] = Field(default_factory=dict, description="searches, pages, bytes, tokens, seconds; outside the data's hash")
    notes: dict[str, Any] = Field(default_factory=dict, description="small JSON facts for manifests and metadata")


class Report(Protocol):
    """Where a unit of work tells how far it is."""

    def progress(self, done: int, total: int | None, what: str) -> None:
        """`done` of `total` (None = unknown) units of `what`; may be called often, the receiver thins it out."""

    def metrics(self, step: int, values: dict[str, float]) -> None:
        """One row of a training curve."""

    def say(self, text: str) -> None:
        """One line for the log."""


class SilentReport:
    """A report nobody reads, for tests and the REPL."""

    def progress(self, done: int, total: int | None, what: str) -> None:
        return None

    def metrics(self, step: int, values: dict[str, float]) -> None:
        return None

    def say(self, text: str) -> None:
        return None


def track(items: Iterable[T], report: Report, what: str, total: int | None = None) -> Iterator[T]:
    """Yield `items`, reporting progress after each."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    report.progress(0, total, what)
    for done, item in enumerate(items, start=1):
        yield item
        report.progress(done, total, what)
