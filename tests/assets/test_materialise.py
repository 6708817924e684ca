"""A step that was stopped ends its run: no other branch goes on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg

from assets.lineage import Lineage
from assets.materialise import asset_of
from assets.step import step
from resources.artifacts import ArtifactStore
from resources.web import PracticeWeb
from terrarium.job import Job, Outcome
from tests.assets.small import HereProcess

WORK = "tests.assets.small:add"


class Interrupted(HereProcess):
    """Whatever is begun here gets an interrupt, as a person gives it."""

    def run(self, context: Any, function: str, job: Job, needs: Any = "cpu", on_progress: Any = None, env: Any = None) -> Outcome:
        BEGUN.append(str(job.out))
        raise KeyboardInterrupt


BEGUN: list[str] = []


def test_an_interrupt_stops_the_branches_that_do_not_wait_for_the_stopped_step(tmp_path: Path) -> None:
    @step(WORK, group="one")
    def left(inputs: Any) -> Job:
        """One branch."""
        return inputs.job(own=1)

    @step(WORK, group="one")
    def right(inputs: Any) -> Job:
        """Another branch."""
        return inputs.job(own=2)

    profile = SimpleNamespace(name="small", seed=0, recipes=(), stages=1)
    lineage = Lineage(profile, [left, right])  # type: ignore[arg-type]
    retries = dg.RetryPolicy(max_retries=2, delay=5)
    BEGUN.clear()
    result = dg.materialize(
        [asset_of(one, lineage, {}, "cpu", retries) for one in lineage.steps],
        resources={"store": ArtifactStore(root=str(tmp_path)), "process": Interrupted(), "web": PracticeWeb()},
        raise_on_error=False,
    )
    assert not result.success
    assert len(BEGUN) == 1
