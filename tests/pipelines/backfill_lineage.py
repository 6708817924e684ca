"""A code location for backfill tests: two stages of two steps over recipes, with the policies and the executor of the project.

Each step notes when it began and ended in `work.jsonl` of the state folder, and fails while a file `fail-<asset>-<recipe>` lies there.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg

from assets.lineage import Lineage
from assets.step import Step, step
from pipelines.definitions import EXECUTOR, assets_of
from resources.artifacts import ArtifactStore
from resources.io import refusing_io_manager
from resources.state import state_folder
from resources.web import PracticeWeb
from terrarium.errors import TerrariumError
from terrarium.job import Gate, Job, Outcome, Report
from tests.assets.small import HereProcess

RECIPES = ("both-1", "both-2", "bad-1", "bad-2", "seen-1", "seen-2")


class NoteJob(Job):
    """Work that takes a moment."""

    asset: str
    recipe: str
    parents: list[Path]


def note(job: NoteJob, report: Report) -> Outcome:
    state = state_folder()
    began = time.time()
    time.sleep(0.3)
    failing = (state / f"fail-{job.asset.replace('/', '.')}-{job.recipe}").exists()
    with (state / "work.jsonl").open("a", encoding="utf-8") as file:
        row = {"asset": job.asset, "recipe": job.recipe, "began": began, "ended": time.time(), "failed": failing, "pid": os.getpid()}
        file.write(json.dumps(row) + "\n")
    if failing:
        raise TerrariumError(f"{job.asset} of {job.recipe} was told to fail; take its file away.")
    (job.out / "made.txt").write_text(f"{job.asset} {job.recipe}")
    return Outcome(gates=[Gate(name="good", passed=True)])


def _stage(k: int) -> list[Step]:
    made: list[Step] = []
    for name, before in ((f"stage_{k}/questions", f"stage_{k - 1}/checkpoint" if k > 2 else None), (f"stage_{k}/checkpoint", f"stage_{k}/questions")):

        @step(
            f"{__name__}:note",
            group=f"stage_{k}",
            names=(name,),
            descriptions={name: "Made for a backfill."},
            per="recipe",
            after=(before,) if before else (),
            needs="gpu",
            gates=("good",),
        )
        def build(inputs: Any, name: str = name, before: str | None = before) -> Job:
            return inputs.job(asset=name, recipe=inputs.partition, parents=[inputs.folder(before)] if before else [])

        made.append(build)
    return made


profile: Any = SimpleNamespace(name="small", seed=0, recipes=RECIPES, stages=3, recipe=lambda name: SimpleNamespace(name=name))
lineage = Lineage(profile, [*_stage(2), *_stage(3)])
defs = dg.Definitions(
    assets=assets_of(lineage),
    resources={"store": ArtifactStore(), "process": HereProcess(), "web": PracticeWeb(), "io_manager": refusing_io_manager},
    executor=EXECUTOR,
)
