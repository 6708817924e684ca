"""What is measured: benchmarks, the checkpoints that no recipe changes, one report a recipe, and recipes beside each other.

The evaluation of each stage stands with its stage; metrics, intervals, plots and pages stand in `terrarium.evaluation`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from assets.inputs import Inputs
from assets.show import facts
from assets.step import Step, step
from resources.manifest import Artifact
from terrarium.job import Job

PICTURES = ("plots/learning_curve.png", "plots/capabilities.png", "plots/difficulty.png", "plots/pass_at_k.png", "plots/browse_ratio.png")


@step("terrarium.evaluation.benchmarks:load", group="evaluation", gates=("no_question_twice",), samples=("benchmarks.parquet",))
def benchmarks(inputs: Inputs) -> Job:
    """Benchmark questions, decrypted where the publisher encrypts, with versions and checksums; kept out of every training table."""
    return inputs.job(files=[file.model_copy(update={"path": inputs.file(file.path)}) for file in inputs.profile.benchmarks])


@step(
    "terrarium.evaluation.run:evaluate",
    group="stage_0",
    names=("stage_0/evaluation",),
    descriptions={"stage_0/evaluation": "Held-out rollouts and scores of the base model and of the cold start, which every recipe shares."},
    per="recipe",
    after=("base_model", "sft_checkpoint", "answerable_questions", "benchmarks", "world"),
    needs="gpu",
    kinds=("pytorch", "parquet"),
    outside=("recipe",),
    samples=("scores.parquet", "rollouts.parquet"),
)
def starting_evaluation(inputs: Inputs) -> Job:
    """Base model and cold start on the same held-out questions that the stages are measured on."""
    return evaluation_job(inputs, {"base": inputs.parent("base_model"), "sft": inputs.parent("sft_checkpoint")}, stage=0)


def evaluation_job(inputs: Inputs, models: dict[str, Artifact], stage: int, parent: Artifact | None = None) -> Job:
    """Held-out rollouts of some checkpoints, all with the agent of the profile's evaluation."""
    profile = inputs.profile
    return inputs.job(
        models={name: artifact.path for name, artifact in models.items()},
        questions=inputs.folder("answerable_questions"),
        benchmarks=inputs.folder("benchmarks"),
        world=inputs.folder("world"),
        agent=profile.evaluation.agent,
        settings=profile.evaluation.settings,
        recipe=inputs.recipe.name if stage else "",
        stage=stage,
        # Not moved by the attempt: the seed draws the sample, and all checkpoints are measured on the same questions.
        seed=profile.seed,
        parent=parent.path if parent else None,
    )


def report_steps(stages: int) -> list[Step]:
    """The report of each recipe and the comparison of all."""
    numbers = range(1, stages + 1)

    @step(
        "terrarium.evaluation.report:report",
        group="evaluation",
        per="recipe",
        after=(
            "stage_0/evaluation",
            *(f"stage_{k}/{what}" for k in numbers for what in ("policy_rollouts", "questions", "checkpoint", "evaluation")),
            "answerable_questions",
        ),
        kinds=("python", "html"),
        pictures=PICTURES,
    )
    def evaluation_report(inputs: Inputs) -> Job:
        """Accuracy with intervals over the stages, pass@k, browse ratio by correctness, by capability, cost; plots and rollouts one can read."""
        evaluations = [inputs.parent("stage_0/evaluation")]
        attempts: dict[int, Path] = {}
        filters: dict[int, Path] = {}
        training: dict[int, Path] = {}
        passed: dict[int, str] = {}
        for k in numbers:
            for made, name in ((attempts, "policy_rollouts"), (filters, "questions"), (training, "checkpoint")):
                artifact = inputs.parent(f"stage_{k}/{name}")
                if artifact.passed_through:
                    passed[k] = artifact.passed_through
                else:
                    made[k] = artifact.path
            evaluation = inputs.parent(f"stage_{k}/evaluation")
            if not evaluation.passed_through:
                evaluations.append(evaluation)
        return inputs.job(
            recipe=inputs.recipe.name,
            evaluations=[artifact.path for artifact in evaluations],
            questions=inputs.folder("answerable_questions"),
            attempts=attempts,
            filters=filters,
            training=training,
            passed_through=passed,
            lineage=told(inputs, evaluations[0]),
            prices=inputs.profile.prices,
        )

    @step(
        "terrarium.evaluation.compare:compare",
        group="evaluation",
        after=("evaluation_report",),
        kinds=("python", "html"),
        pictures=("comparison.png",),
    )
    def recipe_comparison(inputs: Inputs) -> Job:
        """Recipes and seeds beside each other, on the same held-out questions."""
        reports = inputs.all_of("evaluation_report")
        return inputs.job(reports={recipe: artifact.path for recipe, artifact in reports.items()})

    return [evaluation_report, recipe_comparison]


def told(inputs: Inputs, artifact: Artifact) -> dict[str, Any]:
    """Counts, drops and notes of everything an artifact descends from, by asset (and a number where several rounds made one)."""
    found: dict[str, Any] = {}
    for ancestor in inputs.descent(artifact):
        name = ancestor.asset
        while name in found:
            match = re.fullmatch(r"(.+) \((\d+)\)", name)
            name = f"{match[1]} ({int(match[2]) + 1})" if match else f"{name} (2)"
        found[name] = facts(ancestor)
    return dict(sorted(found.items()))
