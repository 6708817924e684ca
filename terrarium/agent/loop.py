"""The one loop of teaching, difficulty, training and evaluation: what is trained is what is measured.

Token in, token out: ids that were sampled are appended and never encoded again, observations are masked. Rollouts step in batches,
turn by turn; which rollouts share a batch is a function of the inputs, and a batch is kept or redone whole.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from terrarium.agent.attempt import Attempt, Grader, Task
from terrarium.agent.policies.base import Policy, Request, Sampling
from terrarium.agent.rollout import Rollout, read_rollouts, write_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.agent.tools import World, observe
from terrarium.errors import Outage
from terrarium.job import Report, SilentReport
from terrarium.tables import stable_id

__all__ = ["Clock", "Task", "run_rollouts"]


class Clock(Protocol):
    """Seconds of a clock that never goes back."""

    def __call__(self) -> float:
        """Seconds since some moment."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What rollouts are made for; part of their ids, so of their noise."""

    name: str = ""
    recipe: str = ""
    stage: int = 0


def run_rollouts(
    policy: Policy,
    tasks: Sequence[Task],
    world: World,
    settings: AgentSettings,
    report: Report | None = None,
    *,
    seed: int = 0,
    purpose: str = "",
    recipe: str = "",
    stage: int = 0,
    emptied: bool = False,
    journal: Path | None = None,
    grader: Grader | None = None,
    clock: Clock = time.monotonic,
) -> list[Rollout]:
    """Let `policy` try every task in `world`.

    Args:
        tasks: questions and attempt numbers; a pair occurs once.
        seed, purpose: with policy name, stage, question and attempt they name a rollout, and its name seeds its noise. The recipe does not.
        recipe, stage: written into the records.
        emptied: tools are called, but the policy sees nothing of what they give (does it read, or guess?).
        journal: a folder in which each finished batch is kept; batches found there are not run again.
        grader: other than `terrarium.rewards.grade`.

    Returns:
        One rollout a task, in the order of `tasks`.
    """
    report = report or SilentReport()
    sampling = Sampling(settings.temperature, settings.top_p, seed)
    place = Purpose(purpose, recipe, stage)
    rollouts: list[Rollout] = []
    queue = iter(tasks)
    report.progress(0, len(tasks), "rollouts")
    while batch := list(islice(queue, settings.concurrency)):
        attempts = [Attempt(task, _rollout_id(policy, task, seed, place), policy.codec, settings, clock) for task in batch]
        kept = _kept(journal, attempts)
        if kept is None:
            _run_batch(policy, attempts, world, settings, sampling, emptied)
            kept = [attempt.rollout(policy.name, place.recipe, place.stage, world.snapshot, sampling, emptied, grader) for attempt in attempts]
            _keep(journal, kept)
        rollouts += kept
        report.progress(len(rollouts), len(tasks), "rollouts")
    return rollouts


def _rollout_id(policy: Policy, task: Task, seed: int, place: Purpose) -> str:
    return stable_id(policy.name, place.name, str(place.stage), str(seed), task.question.question_id, str(task.attempt))


def _run_batch(policy: Policy, attempts: list[Attempt], world: World, settings: AgentSettings, sampling: Sampling, emptied: bool) -> None:
    """Step the attempts together until all have ended."""
    while active := [attempt for attempt in attempts if attempt.termination is None]:
        requests = [Request(attempt.rollout_id, len(attempt.turns), attempt.ids, attempt.budget()) for attempt in active]
        try:
            samples = policy.sample(requests, sampling)
        except Outage as error:
            for attempt in active:
                attempt.policy_failed(str(error))
            break
        for attempt, sample in zip(active, samples, strict=True):
            calls = attempt.take(sample)
            if calls:
                # Each question may see a world of its own, so calls are not merged across rollouts.
                attempt.observe(observe(world.for_question(attempt.task.question), calls, settings.search_k), emptied)
        policy.forget(attempt.rollout_id for attempt in active if attempt.termination is not None)
    policy.forget(attempt.rollout_id for attempt in attempts)


def _journal_file(journal: Path, attempts: Sequence[Attempt] | Sequence[Rollout]) -> Path:
    return journal / f"batch-{stable_id(*(attempt.rollout_id for attempt in attempts))}.parquet"


def _kept(journal: Path | None, attempts: list[Attempt]) -> list[Rollout] | None:
    if journal is None or not (path := _journal_file(journal, attempts)).exists():
        return None
    return read_rollouts(path)


def _keep(journal: Path | None, rollouts: list[Rollout]) -> None:
    if journal is not None:
        write_rollouts(_journal_file(journal, rollouts), rollouts)
