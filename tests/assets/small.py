"""A small lineage of our own: steps that write numbers, done in this process."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import dagster as dg

from assets.inputs import job_type
from assets.lineage import Lineage
from assets.materialise import asset_of
from assets.step import PassThrough, Step, step
from resources.artifacts import ArtifactStore
from resources.process import ChildProcess
from resources.web import PracticeWeb
from terrarium.errors import TerrariumError
from terrarium.job import Gate, Job, Outcome, Report, SilentReport

CALLS: list[str] = []


class AddJob(Job):
    """Add numbers that lie in folders to one of its own."""

    own: int
    folders: list[Path] = []
    place: str = ""
    good: bool = True
    undecided: int = 0


def add(job: AddJob, report: Report) -> Outcome:
    CALLS.append(str(job.out))
    if seconds := float(os.environ.get("SLOW_SECONDS") or 0):
        (Path(os.environ["TERRARIUM_STATE"]) / f"slow-{os.getpid()}.pid").write_text(str(os.getpid()))
        time.sleep(seconds)
    numbers = [json.loads((folder / "number.json").read_text()) for folder in job.folders]
    if job.own < 0:
        raise TerrariumError(f"The number {job.own} is negative; give another.")
    (job.out / "number.json").write_text(json.dumps(job.own + sum(numbers)))
    return Outcome(
        counts={"number": job.own + sum(numbers), "undecided": job.undecided}, gates=[Gate(name="good", passed=job.good, detail="as it was told")]
    )


class HereProcess(ChildProcess):
    """Does the work in this process."""

    def run(self, context: Any, function: str, job: Job, needs: Any = "cpu", on_progress: Any = None, env: Any = None) -> Outcome:
        import importlib

        module, name = function.split(":")
        job_type(function)
        try:
            return getattr(importlib.import_module(module), name)(job, SilentReport())
        except TerrariumError as error:
            raise dg.Failure(str(error), allow_retries=False) from error


def small(first: int = 1, place: str = "", passing: bool = False, good: bool = True, read_undeclared: bool = False, undecided: int = 0) -> list[Step]:
    """a (unpartitioned) -> b (by recipe) -> c (by recipe, may pass b through) -> d (unpartitioned, all recipes)."""
    work = f"{__name__}:add"

    @step(work, group="one", outside=("place", "undecided"), gates=("good",), unfinished=("undecided",))
    def a(inputs: Any) -> Job:
        """The first
        number."""
        return inputs.job(own=first, place=place, good=good, undecided=undecided)

    @step(work, group="two", after=("a",), per="recipe", gates=("good",))
    def b(inputs: Any) -> Job:
        """a and the length of the recipe's name."""
        if read_undeclared:
            inputs.folder("d")
        return inputs.job(own=len(inputs.partition), folders=[inputs.folder("a")])

    @step(work, group="two", names=("deep/c",), descriptions={"deep/c": "b and one"}, after=("b",), per="recipe", needs="gpu", gates=("good",))
    def c(inputs: Any) -> Job | PassThrough:
        if passing:
            return PassThrough(inputs.parent("b"), "nothing to add")
        return inputs.job(own=1, folders=[inputs.folder("b")])

    @step(work, group="three", after=("deep/c",), gates=("good",))
    def d(inputs: Any) -> Job:
        """All of c."""
        return inputs.job(own=0, folders=inputs.folders("deep/c"))

    return [a, b, c, d]


def here(step: Step, job: Job) -> Outcome:
    return add(job, SilentReport())  # type: ignore[arg-type]


def definitions(lineage: Lineage, root: Path, process: ChildProcess | None = None) -> dg.Definitions:
    partitions = {"recipe": dg.StaticPartitionsDefinition(["x", "yy"]), "round": dg.DynamicPartitionsDefinition(name="rounds")}
    return dg.Definitions(
        assets=[asset_of(one, lineage, partitions, one.needs, dg.RetryPolicy(max_retries=2, delay=5)) for one in lineage.steps],  # type: ignore[arg-type]
        resources={"store": ArtifactStore(root=str(root)), "process": process or HereProcess(), "web": PracticeWeb()},
        executor=dg.in_process_executor,
    )
