"""One stage of reinforcement learning: from the parent's weights, on the stage's questions, to a checkpoint."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terrarium.agent.rollout import write_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.checkpoints import last_checkpoint
from terrarium.errors import TerrariumError
from terrarium.job import Job, Outcome, Report
from terrarium.questions.question import Question, read_questions
from terrarium.rl.hardware import Dtype, fast_dtype
from terrarium.rl.parent import load_parent, save_model
from terrarium.rl.plan import training_plan
from terrarium.rl.settings import Precision, StageSettings
from terrarium.rl.source import RolloutSource
from terrarium.rl.steps import StepLog, watch
from terrarium.rl.summary import summary
from terrarium.rl.trainer import build_trainer, not_finite
from terrarium.rl.validation import Validation, validation_sample

if TYPE_CHECKING:
    from terrarium.agent.policies import Policy
    from terrarium.agent.tools import World

LOG = "training_log.jsonl"


class TrainJob(Job):
    """`model` is the parent checkpoint's folder (the model lies at `<it>/model`), `questions` that of the stage's surviving questions,
    `validation` that of all answerable ones; `world` is the sealed world's. `agent` holds the stage's limits.
    """

    model: Path
    questions: Path
    validation: Path
    world: Path
    agent: AgentSettings
    stage: StageSettings
    seed: int
    recipe: str
    sampling_dtype: Precision = "auto"


def train(job: TrainJob, report: Report) -> Outcome:
    """Train one stage; writes model/, training_log.jsonl and rollouts.parquet. Goes on from the last checkpoint in `job.out`.

    Raises:
        TerrariumError: too few questions, no model, a context larger than the model's, or numbers that went astray.
        Outage: the world or the policy stayed away; everything so far is kept in `job.out`.
    """
    from terrarium.world import open_world

    with open_world(job.world, report.say) as world:
        return train_in(job, world, report)


def train_in(job: TrainJob, world: World, report: Report) -> Outcome:
    """The work of `train` with its world at hand."""
    questions = {question.question_id: question for question in _stage_questions(job.questions)}
    plan = training_plan(sorted(questions), job.stage.questions, job.stage.steps, job.seed, "training", job.stage.number)
    model, tokenizer = load_parent(job.model / "model", job.stage.context)
    dtype = fast_dtype(job.sampling_dtype)
    sampled: dict[str, Any] = {
        "policy": _current_policy(model, job.model / "model", dtype),
        "world": world,
        "agent": job.agent,
        "stage": job.stage,
        "seed": job.seed,
        "recipe": job.recipe,
        "journal": job.out / "journal",
    }
    source = RolloutSource(questions=questions, **sampled)
    validation = None
    if job.stage.validate_every is not None:
        validation = Validation(questions=validation_sample(job.validation, job.stage.validation_questions, job.seed), **sampled)
    checkpoints = job.out / "checkpoints"
    done, checkpoint = last_checkpoint(checkpoints)
    log = StepLog(job.out / LOG, done)
    if checkpoint is not None:
        report.say(f"Stage {job.stage.number} goes on after step {done} of {job.stage.steps}.")
    trainer = build_trainer(model, tokenizer, source, plan, job.stage, checkpoints, job.seed)
    trainer.add_callback(watch(trainer, log, source, validation, report))
    report.progress(done, job.stage.steps, f"updates of stage {job.stage.number}")
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    if not _all_finite(model):
        raise not_finite("weights", trainer)
    save_model(trainer.accelerator.unwrap_model(trainer.model), job.model / "model", job.out / "model")
    rollouts = [rollout for step in range(trainer.state.global_step) for rollout in source.kept(step)]
    write_rollouts(job.out / "rollouts.parquet", rollouts)
    notes = {"sampling_dtype": dtype, "training_dtype": fast_dtype(job.stage.precision), "parameters": sum(p.numel() for p in model.parameters())}
    outcome = summary(job.stage, log.rows, rollouts, int(trainer.state.global_step), notes)
    shutil.rmtree(job.out / "journal", ignore_errors=True)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return outcome


def _current_policy(model: Any, folder: Path, dtype: Dtype) -> Callable[[str], AbstractContextManager[Policy]]:
    """A policy with the trainer's weights of the moment, for as long as it is held.

    It is a copy, since float32 weights stay the optimiser's alone; between the samplings it takes no memory.
    """
    from terrarium.agent.policies import TransformersPolicy

    policy = TransformersPolicy(folder, name="", dtype=dtype)
    policy.rest()

    @contextmanager
    def current(name: str) -> Iterator[Policy]:
        policy.update(model)
        policy.name = name
        try:
            yield policy
        finally:
            policy.rest()

    return current


def _stage_questions(folder: Path) -> list[Question]:
    questions = read_questions(folder / "questions.parquet")
    wrong = [question.question_id for question in questions if question.split != "train"]
    if wrong:
        raise TerrariumError(f"{len(wrong)} questions of {folder} are not of split train (first: {wrong[0]}); a stage trains on nothing else.")
    return questions


def _all_finite(model: Any) -> bool:
    return all(bool(parameter.isfinite().all()) for parameter in model.parameters())
