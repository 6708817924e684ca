"""What orchestration adds to the work: `python -m pipelines.overhead` prints it from the run records of the instance.

A step's work is what its child process did (`work_seconds`; `wall_seconds`, with the start of the process, where an artifact is from
before that was counted); all else between a step's start and its end is orchestration, and so is what a run spends between its steps,
and what `make run` spends between its runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import dagster as dg
from rich.console import Console
from rich.table import Table

from terrarium.errors import TerrariumError

STEP_LIMIT_SECONDS = 3.0
RUN_LIMIT_SHARE = 0.1
# One `make run` launches its runs one after the other; what is further apart was started by a person.
GAP_SECONDS = 60.0


@dataclass(frozen=True)
class StepTime:
    """One step that succeeded, in seconds; `work` is 0 where it found its artifact or passed its parent through."""

    run_id: str
    step: str
    start: float
    end: float
    work: float

    @property
    def added(self) -> float:
        return self.end - self.start - self.work


@dataclass(frozen=True)
class Overhead:
    """What was measured: steps, seconds of all runs with the short gaps between them, and of these the seconds in which some step worked."""

    steps: tuple[StepTime, ...]
    seconds: float
    worked: float

    @property
    def share(self) -> float:
        """The part of the runs that was no work."""
        return 1 - self.worked / self.seconds if self.seconds else 0.0


def measure(instance: dg.DagsterInstance) -> Overhead:
    """The overhead of all runs that succeeded.

    Raises:
        TerrariumError: there is no such run.
    """
    runs = instance.get_run_records(dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS]))
    steps: list[StepTime] = []
    spans: list[tuple[float, float]] = []
    worked = 0.0
    for record in runs:
        if record.start_time is None or record.end_time is None:
            continue
        of_run = list(_steps(instance, record.dagster_run.run_id))
        steps += of_run
        # A run's record is made when it is launched; its own start comes when its process is up.
        spans.append((min(record.create_timestamp.timestamp(), record.start_time), record.end_time))
        worked += covered([(step.end - step.work, step.end) for step in of_run])
    if not steps:
        raise TerrariumError("No run that succeeded is on record here: grow something with make run first.")
    return Overhead(tuple(steps), covered(bridged(spans)), worked)


def bridged(spans: Sequence[tuple[float, float]], gap: float = GAP_SECONDS) -> list[tuple[float, float]]:
    """Spans with the gaps of less than `gap` seconds between them filled."""
    joined: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if joined and start - joined[-1][1] < gap:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def covered(spans: Sequence[tuple[float, float]]) -> float:
    """The length that spans cover together; what overlaps counts once."""
    length, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        length += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return length


def _steps(instance: dg.DagsterInstance, run_id: str) -> Iterator[StepTime]:
    work: dict[str, float] = {}
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION):
        event = entry.dagster_event
        if event is None or event.step_key is None:
            continue
        told = {name: value.value for name, value in event.step_materialization_data.materialization.metadata.items()}
        # An artifact that was found carries the costs of when it was made.
        new = told.get("reused") is not True and "passed_through" not in told
        took = told.get("cost/work_seconds", told.get("cost/wall_seconds")) if new else 0.0
        work[event.step_key] = max(work.get(event.step_key, 0.0), float(took) if isinstance(took, int | float) else 0.0)
    for stats in instance.get_run_step_stats(run_id):
        if stats.step_key in work and stats.start_time is not None and stats.end_time is not None:
            yield StepTime(run_id, stats.step_key, stats.start_time, stats.end_time, min(work[stats.step_key], stats.end_time - stats.start_time))


def main() -> int:
    """Print the table; the exit code is 1 where a limit is exceeded."""
    console = Console()
    try:
        with dg.DagsterInstance.get() as instance:
            found = measure(instance)
    except TerrariumError as error:
        print(error, file=sys.stderr)
        return 1
    table = Table("step", "runs", "work s", "added s, median", "added s, most", title="What orchestration adds", title_justify="left", box=None)
    by_step: dict[str, list[StepTime]] = {}
    for step in found.steps:
        by_step.setdefault(step.step, []).append(step)
    for name, times in by_step.items():
        added = [time.added for time in times]
        table.add_row(name, str(len(times)), f"{sum(time.work for time in times):.1f}", f"{median(added):.2f}", f"{max(added):.2f}")
    console.print(table)
    added = sorted(step.added for step in found.steps)
    console.print(f"a step: {median(added):.2f} s at the median, {added[-1]:.2f} s at most (limit {STEP_LIMIT_SECONDS:.0f} s)", highlight=False)
    console.print(f"all runs: {found.seconds:.0f} s, {found.share:.1%} of them no work (limit {RUN_LIMIT_SHARE:.0%})", highlight=False)
    return int(added[-1] > STEP_LIMIT_SECONDS or found.share > RUN_LIMIT_SHARE)


if __name__ == "__main__":
    sys.exit(main())
