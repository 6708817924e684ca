"""What orchestration adds is what a step takes beyond its work; it is measured on real runs."""

from __future__ import annotations

import time
from collections.abc import Iterator

import dagster as dg
import pytest

from pipelines.overhead import RUN_LIMIT_SHARE, Overhead, bridged, covered, measure
from terrarium.errors import TerrariumError


def run(instance: dg.DagsterInstance, **metadata: float | bool) -> None:
    @dg.asset
    def slow() -> dg.MaterializeResult:
        time.sleep(0.5)
        return dg.MaterializeResult(metadata=metadata)

    assert dg.materialize([slow], instance=instance).success


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


def test_a_step_adds_what_it_takes_beyond_its_work(instance: dg.DagsterInstance) -> None:
    run(instance, **{"cost/work_seconds": 0.4, "cost/wall_seconds": 0.49})
    found = measure(instance)
    assert [step.step for step in found.steps] == ["slow"]
    assert found.steps[0].work == 0.4 and 0.1 <= found.steps[0].added < 3
    assert found.worked == pytest.approx(0.4) and found.share > 0


def test_an_artifact_that_was_found_was_no_work(instance: dg.DagsterInstance) -> None:
    run(instance, **{"cost/work_seconds": 900.0, "reused": True})
    found = measure(instance)
    assert (found.steps[0].work, found.worked) == (0.0, 0.0) and found.share == 1.0


def test_without_runs_there_is_nothing_to_measure(instance: dg.DagsterInstance) -> None:
    with pytest.raises(TerrariumError, match="make run first"):
        measure(instance)


def test_what_overlaps_counts_once_and_a_person_s_pause_not_at_all() -> None:
    assert covered([(5, 9), (0, 4), (3, 6)]) == 9
    assert bridged([(0, 10), (20, 30), (200, 210)], gap=60) == [(0, 30), (200, 210)]
    assert Overhead((), 100.0, 95.0).share == pytest.approx(0.05) and RUN_LIMIT_SHARE == 0.1
