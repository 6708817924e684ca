"""How the policy does on validation questions while it trains, and when to stop: test questions are never looked at here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from terrarium.agent.loop import Task, run_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.errors import TerrariumError
from terrarium.job import SilentReport
from terrarium.questions.question import Question, read_questions
from terrarium.rl.plan import seeded_order
from terrarium.rl.settings import StageSettings

if TYPE_CHECKING:
    from terrarium.agent.policies import Policy
    from terrarium.agent.tools import World

ACCURACY = "validation_accuracy"


def validation_sample(folder: Path, size: int, seed: int) -> list[Question]:
    """A fixed sample of the validation questions.

    Raises:
        TerrariumError: there is none.
    """
    questions = {question.question_id: question for question in read_questions(folder / "questions.parquet") if question.split == "validation"}
    if not questions:
        raise TerrariumError(f"{folder} has no validation question, and the stage is to look at them; make more, or unset validate_every.")
    return [questions[name] for name in seeded_order(questions, seed, "validation")[:size]]


@dataclass(frozen=True, slots=True)
class Validation:
    """Looks at the sample every `stage.validate_every` steps, with the stage's own limits and noise."""

    questions: Sequence[Question]
    policy: Callable[[str], AbstractContextManager[Policy]]
    world: World
    agent: AgentSettings
    stage: StageSettings
    seed: int
    recipe: str
    journal: Path

    def look(self, step: int) -> dict[str, float]:
        """Accuracy after `step` updates, where it is time to look; nothing otherwise. Outages take no part."""
        if self.stage.validate_every is None or step % self.stage.validate_every:
            return {}
        with self.policy(f"stage-{self.stage.number}-step-{step}") as policy:
            rollouts = run_rollouts(
                policy,
                [Task(question) for question in self.questions],
                self.world,
                self.agent,
                SilentReport(),
                seed=self.seed,
                purpose="validation",
                recipe=self.recipe,
                stage=self.stage.number,
                journal=self.journal / f"validation-{step:05d}",
            )
        graded = [rollout.correct for rollout in rollouts if rollout.correct is not None]
        return {ACCURACY: sum(graded) / len(graded)} if graded else {}


def plateau(rows: Sequence[Mapping[str, float]], patience: int | None) -> bool:
    """Whether the last `patience` looks brought nothing better than the best one before them."""
    looks = [row[ACCURACY] for row in rows if ACCURACY in row]
    return patience is not None and len(looks) > patience and max(looks[-patience:]) <= max(looks[:-patience])
