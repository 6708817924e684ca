"""Steps in small, so slow that they can be killed between two rows; started by `tests.terrarium.killing`."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

from terrarium.corpus.page import read_pages
from terrarium.job import Outcome, Report
from terrarium.questions.extract import ExtractJob
from terrarium.questions.support import SupportJob
from terrarium.rl.train import TrainJob
from terrarium.world.seal import SealJob

PAUSE = 0.15


def slow(function: Any) -> Any:
    """The same, a little later."""

    def slowly(*arguments: Any, **named: Any) -> Any:
        time.sleep(PAUSE)
        return function(*arguments, **named)

    return slowly


def extract(job: ExtractJob, report: Report) -> Outcome:
    """Extraction, slow at each page."""
    from terrarium.questions import extract as module

    module.facts_of = slow(module.facts_of)
    return module.extract(job, report)


def answerable(job: SupportJob, report: Report) -> Outcome:
    """The support check in a world of all pages that are no seeds, slow at each search."""
    import terrarium.world
    from terrarium.questions import support
    from tests.terrarium.questions.test_support import FakeWorld

    FakeWorld.search = slow(FakeWorld.search)  # type: ignore[method-assign]
    others = [page for page in read_pages(job.pages / "pages.parquet") if "office.test" in page.url or "blog.test" in page.url]
    terrarium.world.open_world = lambda *_: FakeWorld({page.page_id: page for page in others})  # type: ignore[assignment]
    return support.answerable(job, report)


def seal(job: SealJob, report: Report) -> Outcome:
    """Sealing with an embedder of words, slow at each page it probes for."""
    from terrarium.world import probe, world
    from terrarium.world import seal as module
    from tests.terrarium.world.conftest import WordEmbedder

    embedder = WordEmbedder()
    module.open_embedder = world.open_embedder = lambda settings: embedder  # type: ignore[assignment,return-value]
    probe._visited = slow(probe._visited)
    return module.seal(job, report)


def train(job: TrainJob, report: Report) -> Outcome:
    """A stage of reinforcement learning in an empty world; a rollout is right if its first token is even."""
    from terrarium.rl import source
    from terrarium.rl.train import train_in
    from tests.terrarium.rl.conftest import EmptyWorld

    real = source.run_rollouts

    def graded(policy: Any, tasks: Sequence[Any], *arguments: Any, **named: Any) -> Any:
        rollouts = real(policy, tasks, *arguments, **named)
        return [dataclasses.replace(rollout, correct=rollout.token_ids[rollout.turns[0].start] % 2 == 0) for rollout in rollouts]

    source.run_rollouts = graded
    return train_in(job, EmptyWorld(), report)
