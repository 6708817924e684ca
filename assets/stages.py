"""The stages of the curriculum: one factory makes the four assets of stage k, so that the whole chain can be seen.

Partitioned assets may not form a loop, so each stage has assets of its own: rollouts of its starting policy, the questions they leave,
the checkpoint learned from those, and its evaluation. What a recipe lacks, or where too little is left to learn from, passes its parent through.
How a policy learns stands in `terrarium.rl`.
"""

from __future__ import annotations

import pyarrow.parquet as pq

from assets.evaluation import evaluation_job
from assets.inputs import Inputs
from assets.step import PassThrough, Step, step
from resources.manifest import Artifact
from terrarium.errors import TerrariumError
from terrarium.job import Job
from terrarium.rl.settings import StageSettings


def make_stage(k: int) -> list[Step]:
    """The four steps of stage k. It starts from the checkpoint of the stage before, stage 1 from the cold start."""
    group = f"stage_{k}"
    before = f"stage_{k - 1}/checkpoint" if k > 1 else "sft_checkpoint"
    rollouts, questions, checkpoint, evaluation = (f"{group}/{name}" for name in ("policy_rollouts", "questions", "checkpoint", "evaluation"))

    def settings(inputs: Inputs) -> StageSettings | None:
        return inputs.recipe.stage(k)

    def lacking(inputs: Inputs, parent: Artifact) -> PassThrough:
        return PassThrough(parent, f"recipe {inputs.recipe.recipe} has no stage {k}")

    @step(
        "terrarium.rl.attempts:attempt",
        group=group,
        names=(rollouts,),
        descriptions={rollouts: f"Rollouts of the policy that stage {k} starts from, several a question, until enough questions survive."},
        per="recipe",
        after=(before, "answerable_questions", "world"),
        needs="gpu",
        kinds=("pytorch", "parquet"),
        outside=("recipe",),
        warnings=("enough_survivors",),
        samples=("rollouts.parquet",),
    )
    def attempt(inputs: Inputs) -> Job | PassThrough:
        parent = inputs.parent(before)
        stage = settings(inputs)
        if stage is None:
            return lacking(inputs, parent)
        return inputs.job(
            model=parent.path,
            questions=inputs.folder("answerable_questions"),
            world=inputs.folder("world"),
            agent=stage.agent(inputs.profile.agent),
            attempts=stage.attempts,
            survivors=stage.survivors,
            candidates=stage.candidates,
            seed=inputs.seed(inputs.recipe.seed),
            recipe=inputs.recipe.name,
            stage=k,
        )

    @step(
        "terrarium.questions.difficulty:select",
        group=group,
        names=(questions,),
        descriptions={questions: f"The difficulty filter of stage {k}: questions with 1 to n-1 right of n valid attempts; the histogram."},
        per="recipe",
        after=(rollouts, "answerable_questions"),
        warnings=("enough_questions_survive",),
        samples=("questions.parquet", "attempts.parquet", "dropped.parquet"),
    )
    def select(inputs: Inputs) -> Job | PassThrough:
        parent = inputs.parent(rollouts)
        stage = settings(inputs)
        if stage is None:
            return lacking(inputs, parent)
        return inputs.job(rollouts=parent.path, questions=inputs.folder("answerable_questions"), attempts=stage.attempts, minimum=stage.minimum)

    @step(
        "terrarium.rl.train:train",
        group=group,
        names=(checkpoint,),
        descriptions={checkpoint: f"What stage {k} learned by reinforcement learning, starting from the checkpoint before."},
        per="recipe",
        after=(before, questions, "answerable_questions", "world"),
        needs="gpu",
        kinds=("pytorch", "huggingface"),
        gates=("steps_done", "token_ids_as_sampled"),
        # Times stand in the log; the rest is what a killed stage goes on from.
        volatile={checkpoint: ("checkpoints", "journal", "training_log.jsonl")},
        warnings=("groups_have_spread", "share_at_limit"),
        outside=("recipe",),
    )
    def train(inputs: Inputs) -> Job | PassThrough:
        parent = inputs.parent(before)
        stage = settings(inputs)
        if stage is None:
            return lacking(inputs, parent)
        chosen = inputs.parent(questions)
        survivors = pq.read_metadata(chosen.file("questions.parquet")).num_rows
        if survivors < stage.minimum:
            return PassThrough(parent, f"only {survivors} questions survived the difficulty filter, a stage needs {stage.minimum}")
        return inputs.job(
            model=parent.path,
            questions=chosen.path,
            validation=inputs.folder("answerable_questions"),
            world=inputs.folder("world"),
            agent=stage.agent(inputs.profile.agent),
            stage=stage,
            seed=inputs.seed(inputs.recipe.seed),
            recipe=inputs.recipe.name,
        )

    @step(
        "terrarium.evaluation.run:evaluate",
        group=group,
        names=(evaluation,),
        descriptions={evaluation: f"Held-out rollouts and scores of the checkpoint of stage {k}."},
        per="recipe",
        after=(checkpoint, f"stage_{k - 1}/evaluation", "answerable_questions", "benchmarks", "world"),
        needs="gpu",
        kinds=("pytorch", "parquet"),
        outside=("recipe",),
        warnings=("no_worse_than_parent",),
        samples=("scores.parquet", "rollouts.parquet"),
    )
    def evaluate(inputs: Inputs) -> Job | PassThrough:
        made = inputs.parent(checkpoint)
        earlier = inputs.parent(f"stage_{k - 1}/evaluation")
        if made.passed_through:
            return PassThrough(earlier, made.passed_through)
        return evaluation_job(inputs, {f"stage_{k}": made}, stage=k, parent=earlier)

    return [attempt, select, train, evaluate]


def make_stages(stages: int) -> list[Step]:
    """All stages that any recipe of the profile has.

    Raises:
        TerrariumError: there is none.
    """
    if stages < 1:
        raise TerrariumError("No recipe of this profile has a stage; name one with stages in the profile.")
    return [made for k in range(1, stages + 1) for made in make_stage(k)]
