"""The cold start: trajectories made in the world, cleaned, and a base model that learns their form from them.

Teachers, curation and training stand in `terrarium.sft`.
"""

from __future__ import annotations

from assets.inputs import Inputs
from assets.step import step
from terrarium.job import Job


@step(
    "terrarium.sft.teacher:teach",
    group="sft",
    after=("answerable_questions", "world"),
    gates=("something_to_learn",),
    samples=("rollouts.parquet", "dropped.parquet"),
)
def teacher_trajectories(inputs: Inputs) -> Job:
    """Trajectories made in the world by a teacher on the training questions that reinforcement learning does not use, or imported."""
    profile = inputs.profile
    return inputs.job(
        questions=inputs.folder("answerable_questions"),
        world=inputs.folder("world"),
        agent=profile.teacher.agent,
        limit=profile.teacher.limit,
        capabilities=profile.teacher.capabilities,
        quotes=profile.teacher.quotes,
        seed=inputs.seed(profile.seed),
    )


@step(
    "terrarium.sft.curate:curate",
    group="sft",
    after=("teacher_trajectories", "answerable_questions", "benchmarks"),
    gates=("trajectories_to_learn_from", "no_test_question", "split_by_question"),
    samples=("trajectories.parquet", "dropped.parquet"),
)
def curated_trajectories(inputs: Inputs) -> Job:
    """Teacher trajectories after format alignment, pruning and deduplication, the correctness filter, and turn-aware resampling."""
    return inputs.job(
        rollouts=inputs.folder("teacher_trajectories"),
        questions=inputs.folder("answerable_questions"),
        benchmarks=inputs.folder("benchmarks"),
        settings=inputs.profile.curation,
    )


@step("terrarium.sft.base_model:prepare", group="sft", kinds=("pytorch", "huggingface"))
def base_model(inputs: Inputs) -> Job:
    """The model everything starts from: name or folder, revision, hash of weights, licence, tokenizer, chat template."""
    source = inputs.profile.base_model
    if source.kind == "folder" and source.folder is not None:
        source = source.model_copy(update={"folder": inputs.file(source.folder)})
    if source.fresh is not None:
        fresh = source.fresh.model_copy(update={"tokenizer_text": inputs.file(source.fresh.tokenizer_text)})
        source = source.model_copy(update={"fresh": fresh})
    return inputs.job(source=source)


@step(
    "terrarium.sft.train:train",
    group="sft",
    after=("base_model", "curated_trajectories"),
    needs="gpu",
    kinds=("pytorch", "huggingface"),
    gates=("token_audit",),
    volatile={"sft_checkpoint": ("checkpoints", "training_log.jsonl")},
    code_version="2",
    warnings=("validation_loss_fell",),
)
def sft_checkpoint(inputs: Inputs) -> Job:
    """The cold start: supervised fine-tuning of the base model, with the loss on the assistant's turns alone."""
    return inputs.job(model=inputs.folder("base_model"), trajectories=inputs.folder("curated_trajectories"), settings=inputs.profile.sft)


SFT = [teacher_trajectories, curated_trajectories, base_model, sft_checkpoint]
