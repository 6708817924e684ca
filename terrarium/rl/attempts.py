"""What a stage's starting policy can do: n rollouts on candidate questions, until enough of them are neither too easy nor too hard."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from terrarium.agent.loop import Task, run_rollouts
from terrarium.agent.rollout import Rollout, write_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.errors import Outage, TerrariumError
from terrarium.job import Gate, Job, Outcome, Report, SilentReport
from terrarium.lineage.ledger import rollout_costs
from terrarium.questions.difficulty import keep
from terrarium.questions.question import Question, read_questions
from terrarium.rl.curve import step_figures
from terrarium.rl.parent import check_parent
from terrarium.rl.plan import seeded_order
from terrarium.rl.refill import Tried, run_with_refills
from terrarium.rl.settings import Precision

if TYPE_CHECKING:
    from terrarium.agent.policies import Policy
    from terrarium.agent.tools import World


class AttemptJob(Job):
    """`model` is the parent checkpoint's folder (the model lies at `<it>/model`); `questions` and `world` are folders of artifacts."""

    model: Path
    questions: Path
    world: Path
    agent: AgentSettings
    attempts: int = Field(ge=2, description="valid rollouts a question (n)")
    survivors: int = Field(gt=0, description="enough questions with 1 to n-1 correct")
    candidates: int = Field(gt=0, description="most questions tried")
    seed: int
    recipe: str
    stage: int
    dtype: Precision = "auto"


def attempt(job: AttemptJob, report: Report) -> Outcome:
    """Try the stage's candidates with its starting policy; writes rollouts.parquet (outages included, marked as such).

    Raises:
        TerrariumError: there is no training question or no model, or the context is larger than the model's.
        Outage: a whole batch was lost to outages; what was done before is kept in `job.out`.
    """
    from terrarium.agent.policies import TransformersPolicy
    from terrarium.rl.hardware import fast_dtype
    from terrarium.world import open_world

    pool = training_questions(job.questions)
    if not pool:
        raise TerrariumError(f"No question of {job.questions} has split train and share rl, so stage {job.stage} has nothing to try; make more.")
    check_parent(job.model / "model", job.agent.context_tokens)
    dtype = fast_dtype(job.dtype)
    with open_world(job.world, report.say) as world:
        policy = TransformersPolicy(job.model / "model", name=f"start-of-stage-{job.stage}", dtype=dtype)
        return try_candidates(job, pool, policy, world, report, notes={"sampling_dtype": dtype})


def training_questions(folder: Path) -> list[Question]:
    """The questions of an artifact that reinforcement learning may train on."""
    questions = read_questions(folder / "questions.parquet")
    return [question for question in questions if question.split == "train" and question.share == "rl"]


def try_candidates(
    job: AttemptJob, pool: Sequence[Question], policy: Policy, world: World, report: Report, notes: dict[str, object] | None = None
) -> Outcome:
    """The work of `attempt` with its model and world at hand."""
    by_id = {question.question_id: question for question in pool}
    order = seeded_order(by_id, job.seed, "candidates", job.stage)[: job.candidates]
    batch_size = max(1, job.agent.concurrency // job.attempts)
    journal = job.out / "journal"
    groups: list[list[Rollout]] = []
    lost: list[Rollout] = []
    survivors = 0
    queue = iter(order)
    while survivors < job.survivors and (batch := list(islice(queue, batch_size))):
        tried = _try_batch(job, [by_id[name] for name in batch], policy, world, journal / f"{len(groups):05d}")
        lost += tried.lost
        for start in range(0, len(tried.rollouts), job.attempts):
            group = tried.rollouts[start : start + job.attempts]
            groups.append(group)
            survivors += _middling(group)
        report.progress(len(groups), len(order), f"candidate questions of stage {job.stage} ({survivors} of {job.survivors} found)")
    rollouts = [*(rollout for group in groups for rollout in group), *lost]
    write_rollouts(job.out / "rollouts.parquet", rollouts)
    shutil.rmtree(journal, ignore_errors=True)
    figures = step_figures(groups)
    correct = [sum(bool(rollout.correct) for rollout in group) for group in groups if all(rollout.correct is not None for rollout in group)]
    undecided = sum(not _middling(group) and any(rollout.correct is None for rollout in group) for group in groups)
    histogram = {str(value): correct.count(value) for value in range(job.attempts + 1)}
    return Outcome(
        counts={"candidates": len(groups), "survivors": survivors, "rollouts": len(rollouts), "undecided": undecided}
        | {name: figures.get(name, 0.0) for name in ("accuracy", "at_limit", "malformed", "tool_calls", "length", "outages")},
        gates=[
            Gate(
                name="enough_survivors",
                passed=survivors >= job.survivors,
                severity="warn",
                detail=f"of {len(groups)} candidates {survivors} are neither always right nor always wrong; {job.survivors} were asked for",
                figures={"survivors": survivors, "candidates": len(groups)},
            )
        ],
        costs={
            **rollout_costs(rollouts),
            "rollout_seconds": sum(rollout.seconds for rollout in rollouts),
        },
        notes={"histogram": histogram, "figures": figures, **(notes or {})},
    )


def _try_batch(job: AttemptJob, questions: Sequence[Question], policy: Policy, world: World, journal: Path) -> Tried:
    def run(tasks: Sequence[Task]) -> list[Rollout]:
        return run_rollouts(
            policy,
            tasks,
            world,
            job.agent,
            SilentReport(),
            seed=job.seed,
            purpose="difficulty",
            recipe=job.recipe,
            stage=job.stage,
            journal=journal,
        )

    tasks = [Task(question, number) for question in questions for number in range(job.attempts)]
    tried = run_with_refills(run, tasks, job.attempts)
    if tried.outages == len(tasks):
        # What is kept would be taken for done, so what an outage spoiled goes.
        shutil.rmtree(journal, ignore_errors=True)
        why = tried.rollouts[0].error or "no reason given"
        raise Outage(f"All {len(tasks)} rollouts of a batch of stage {job.stage} were lost to outages ({why}); earlier batches are kept.")
    return tried


def _middling(group: Sequence[Rollout]) -> bool:
    """Whether the question is known to be neither always nor never solved, as the difficulty filter will find."""
    valid = [rollout.correct for rollout in group if rollout.correct is not None]
    return len(valid) > 1 and keep(sum(valid), len(valid))
