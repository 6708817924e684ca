"""The rollouts of training: sampled from the weights as they stand, graded, and given their advantages; kept on disk as they come."""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from terrarium.agent.loop import Task, run_rollouts
from terrarium.agent.rollout import Rollout, read_rollouts, write_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.errors import Outage, TerrariumError
from terrarium.job import SilentReport
from terrarium.questions.question import Question
from terrarium.rl.advantages import group_advantages
from terrarium.rl.curve import reward, step_figures
from terrarium.rl.refill import PAUSES, run_with_refills
from terrarium.rl.settings import StageSettings
from terrarium.rl.trainer import Batch

if TYPE_CHECKING:
    from terrarium.agent.policies import Policy
    from terrarium.agent.tools import World


@dataclass(slots=True)
class RolloutSource:
    """Rollouts for the trainer through the one agent loop.

    `policy` gives one with the trainer's present weights, to be held while sampling, under the name that its rollouts shall carry.
    `journal` keeps each batch as it is finished, under the step's number: a stage that was killed finds them again, and since it comes
    to the same weights at the same step they are the ones it would sample. `figures` are those of the last step.
    """

    questions: Mapping[str, Question]
    policy: Callable[[str], AbstractContextManager[Policy]]
    world: World
    agent: AgentSettings
    stage: StageSettings
    seed: int
    recipe: str
    journal: Path
    pauses: Sequence[float] = PAUSES
    figures: dict[str, float] = field(default_factory=dict)

    def batch(self, step: int, question_ids: Sequence[str]) -> Batch:
        """Sample `group` rollouts of each question.

        Raises:
            Outage: every rollout was lost to outages, also when tried again.
        """
        kept = self.kept(step)[: len(question_ids) * self.stage.group]
        if [rollout.question_id for rollout in kept] == [name for name in question_ids for _ in range(self.stage.group)]:
            return self._again(kept, len(self.kept(step)) - len(kept))
        began = time.monotonic()
        folder = self.journal / f"step-{step:05d}"

        def run(policy: Policy, tasks: Sequence[Task]) -> list[Rollout]:
            return run_rollouts(
                policy,
                tasks,
                self.world,
                self.agent,
                SilentReport(),
                seed=self.seed,
                purpose="training",
                recipe=self.recipe,
                stage=self.stage.number,
                journal=folder,
            )

        tasks = [Task(self.questions[name], number) for name in question_ids for number in range(self.stage.group)]
        with self.policy(f"stage-{self.stage.number}-step-{step}") as policy:
            tried = run_with_refills(partial(run, policy), tasks, self.stage.group, self.pauses)
        if tried.outages == len(tasks):
            shutil.rmtree(folder, ignore_errors=True)
            why = tried.rollouts[0].error or "no reason given"
            raise Outage(f"All rollouts of step {step + 1} of stage {self.stage.number} were lost to outages ({why}); earlier steps are kept.")
        groups = [tried.rollouts[start : start + self.stage.group] for start in range(0, len(tasks), self.stage.group)]
        seconds = time.monotonic() - began
        sampled = sum(sum(rollout.loss_mask) for rollout in tried.rollouts)
        self.figures = step_figures(groups) | {
            "sampling_seconds": seconds,
            "sampled_tokens_a_second": sampled / max(seconds, 1e-9),
            "refilled": float(len(tried.lost)),
        }
        batch = with_advantages(groups, self.stage)
        write_rollouts(self._file(step), [*batch.rollouts, *tried.lost])
        shutil.rmtree(folder, ignore_errors=True)
        return batch

    def kept(self, step: int) -> list[Rollout]:
        """What the journal holds of a finished batch: its rollouts in order, then those lost to outages."""
        return read_rollouts(self._file(step)) if self._file(step).exists() else []

    def _file(self, step: int) -> Path:
        return self.journal / f"step-{step:05d}.parquet"

    def _again(self, rollouts: list[Rollout], lost: int) -> Batch:
        """The batch of a step that was sampled before a kill: the same figures but those of the time it took."""
        size = self.stage.group
        figures = step_figures([rollouts[start : start + size] for start in range(0, len(rollouts), size)])
        self.figures = figures | {"sampling_seconds": 0.0, "refilled": float(lost)}
        return Batch(rollouts, [[turn.advantage or 0.0 for turn in rollout.turns] for rollout in rollouts])


def with_advantages(groups: Sequence[Sequence[Rollout]], stage: StageSettings) -> Batch:
    """Give every turn of every rollout its advantage: GRPO's of the group.

    Raises:
        TerrariumError: the stage's algorithm is not one that is built.
    """
    if stage.algorithm != "grpo":
        raise TerrariumError(f"Stage {stage.number} asks for the algorithm {stage.algorithm!r}; the trainer knows grpo.")
    rollouts: list[Rollout] = []
    advantages: list[list[float]] = []
    for group in groups:
        for rollout, advantage in zip(group, group_advantages([reward(rollout) for rollout in group], stage.std), strict=True):
            turns = tuple(dataclasses.replace(turn, advantage=advantage) for turn in rollout.turns)
            rollouts.append(dataclasses.replace(rollout, turns=turns))
            advantages.append([advantage] * len(turns))
    return Batch(rollouts, advantages)
