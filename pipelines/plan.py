"""What a run of the lineage consists of: which steps at which partitions, in which order, and which of them have something to do.

Nothing is launched here. Steps of equal partitions that can follow each other form a segment; a segment is one run of Dagster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import dagster as dg

from assets.lineage import Lineage
from assets.step import Per, Step
from resources.artifacts import ArtifactStore
from terrarium.errors import TerrariumError


@dataclass(frozen=True)
class Segment:
    """Steps of one partition (None: unpartitioned), in an order in which they can run."""

    partition: str | None
    steps: tuple[Step, ...]

    @property
    def keys(self) -> list[dg.AssetKey]:
        return [key for step in self.steps for key in step.keys]


def ordered(lineage: Lineage) -> list[Step]:
    """All steps, parents before children; otherwise in the order of the graph."""
    done: list[Step] = []
    waiting = list(lineage.steps)
    while waiting:
        ready = next((step for step in waiting if all(lineage.step(name) in done for name in step.after)), None)
        if ready is None:
            raise TerrariumError(f"The assets {', '.join(step.name for step in waiting)} wait for each other; break that circle.")
        waiting.remove(ready)
        done.append(ready)
    return done


def segments(lineage: Lineage, rounds: Sequence[str], recipes: Sequence[str], chosen: Iterable[Step] | None = None) -> list[Segment]:
    """The chosen steps (default: all) as few segments, parents before children."""
    wanted = None if chosen is None else set(chosen)
    steps = [step for step in ordered(lineage) if wanted is None or step in wanted]
    partitions: dict[Per | None, Sequence[str | None]] = {None: [None], "round": list(rounds), "recipe": list(recipes)}
    found: list[Segment] = []
    done: list[Step] = []
    while len(done) < len(steps):
        best: list[Step] = []
        for per in partitions:
            taken: list[Step] = []
            for step in steps:
                parents = [lineage.step(name) for name in step.after]
                if step.per == per and step not in done and all(p in done or p in taken or p not in steps for p in parents):
                    taken.append(step)
            if taken and (not best or per is None):
                best = taken
        found.extend(Segment(partition, tuple(best)) for partition in partitions[best[0].per])
        done.extend(best)
    return found


def choose(lineage: Lineage, start: str | None, until: str | None) -> list[Step]:
    """Steps at or below `start`, and at or above `until`; each names an asset or a group. None leaves that side open.

    Raises:
        TerrariumError: there is no such asset or group, or nothing lies between the two.
    """
    steps = ordered(lineage)
    if start is not None:
        below = _named(lineage, start)
        for step in steps:
            if step not in below and any(lineage.step(name) in below for name in step.after):
                below.append(step)
        steps = [step for step in steps if step in below]
    if until is not None:
        above = _named(lineage, until)
        for step in reversed(ordered(lineage)):
            if step not in above and any(step in [lineage.step(name) for name in child.after] for child in above):
                above.append(step)
        steps = [step for step in steps if step in above]
    if not steps:
        raise TerrariumError(f"Nothing lies between {start} and {until}; choose an asset further down for --until.")
    return steps


def _named(lineage: Lineage, name: str) -> list[Step]:
    group = [step for step in lineage.steps if step.group == name]
    return group or [lineage.step(name)]


def to_do(segment: Segment, lineage: Lineage, store: ArtifactStore, instance: dg.DagsterInstance, fresh: bool = False) -> list[Step]:
    """Steps of a segment that have something to do: their inputs changed, they were never made, or what is above them here is to be made.

    The last is a guess on the safe side: a parent that comes out as it was leaves its children nothing to do, and they find that out for free.
    """
    if fresh:
        return list(segment.steps)
    stale: list[Step] = []
    for step in segment.steps:
        above = any(lineage.step(name) in stale for name in step.after)
        if above or not lineage.is_up_to_date(step, segment.partition, store) or not _is_told(step, segment.partition, instance):
            stale.append(step)
    return stale


def _is_told(step: Step, partition: str | None, instance: dg.DagsterInstance) -> bool:
    """Whether the instance knows that the assets exist: its database may be younger than the artifacts."""
    if partition is None:
        return all(instance.get_latest_materialization_event(key) is not None for key in step.keys)
    return all(partition in instance.get_materialized_partitions(key) for key in step.keys)
