"""Run checkpoints on held-out questions in the sealed world, and score them.

Every checkpoint gets the same questions, drawn by hash. A batch of rollouts is kept when it ends, so a killed evaluation continues.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from terrarium.agent.attempt import Task
from terrarium.agent.loop import run_rollouts
from terrarium.agent.policies import Policy, TransformersPolicy
from terrarium.agent.policies.in_process import Precision
from terrarium.agent.rollout import Rollout, write_rollouts
from terrarium.agent.settings import AgentSettings
from terrarium.agent.tools import World
from terrarium.errors import TerrariumError
from terrarium.evaluation import metrics
from terrarium.evaluation.benchmarks import read_benchmarks
from terrarium.evaluation.scores import fixed_sample, scores_of
from terrarium.job import Gate, Job, Outcome, Report
from terrarium.lineage.ledger import rollout_costs
from terrarium.questions.question import Question, read_questions


class EvaluationSettings(BaseModel):
    """What is asked of each checkpoint."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    per_capability: int | None = Field(default=12, ge=1, description="test questions a capability; None = all")
    benchmark_questions: int = Field(default=0, ge=0, description="questions of each benchmark; 0 = none")
    emptied: tuple[str, ...] = Field(default=(), description="checkpoints that are also run with emptied tool results: do they read, or guess?")
    precision: Precision = "auto"


class EvaluationJob(Job):
    """Which checkpoints to evaluate where. `models` maps a name to a folder that holds `model/`."""

    models: dict[str, Path]
    questions: Path
    benchmarks: Path
    world: Path
    agent: AgentSettings
    settings: EvaluationSettings = EvaluationSettings()
    recipe: str = ""
    stage: int = 0
    seed: int = 0
    parent: Path | None = Field(default=None, description="evaluation of the parent checkpoint, for the warning that a checkpoint got worse")


def evaluate(job: EvaluationJob, report: Report) -> Outcome:
    """Write `rollouts.parquet` and `scores.json` ({"models": {name: scores}, "emptied": …, "benchmarks": …}).

    Raises:
        TerrariumError: no test question is there.
    """
    from terrarium.world import open_world

    questions = read_questions(job.questions / "questions.parquet")
    sample = fixed_sample(questions, job.settings.per_capability, job.seed)
    if not sample:
        raise TerrariumError(f"{job.questions} holds no test question; let more questions pass, or give the test split a larger share.")
    seen = {question.wording for question in questions if question.split == "train"}
    benchmarks = _benchmark_questions(job.benchmarks, job.settings.benchmark_questions)
    runs: list[Rollout] = []
    scores: dict[str, dict[str, Any]] = {"models": {}, "emptied": {}, "benchmarks": {}}
    with open_world(job.world) as world:
        for name, folder in job.models.items():
            policy = TransformersPolicy(folder / "model", name, job.settings.precision)
            held_out = _run(job, policy, sample, world, report, "evaluation")
            runs += held_out
            scores["models"][name] = scores_of(held_out, sample, seen)
            if name in job.settings.emptied:
                blind = _run(job, policy, sample, world, report, "emptied", emptied=True)
                scores["emptied"][name] = scores_of(blind, sample, seen)
                runs += blind
            if benchmarks:
                on_benchmarks = _run(job, policy, benchmarks, world, report, "benchmarks")
                scores["benchmarks"][name] = scores_of(on_benchmarks, benchmarks, seen)
                runs += on_benchmarks
            value = scores["models"][name]["accuracy"]
            report.say(f"{name}: {value['hits']} of {value['total']} right")
    write_rollouts(job.out / "rollouts.parquet", runs)
    (job.out / "scores.json").write_text(json.dumps(scores, indent=1, ensure_ascii=False), encoding="utf-8")
    shutil.rmtree(job.out / "journal", ignore_errors=True)
    return Outcome(counts=_counts(scores, sample, runs), gates=_gates(job, scores), costs=_costs(runs))


def _run(
    job: EvaluationJob, policy: Policy, questions: Sequence[Question], world: World, report: Report, purpose: str, emptied: bool = False
) -> list[Rollout]:
    journal = job.out / "journal" / f"{policy.name}-{purpose}"
    journal.mkdir(parents=True, exist_ok=True)
    tasks = [Task(question) for question in questions]
    return run_rollouts(
        policy, tasks, world, job.agent, report, seed=job.seed, purpose=purpose, recipe=job.recipe, stage=job.stage, emptied=emptied, journal=journal
    )


def _benchmark_questions(folder: Path, most: int) -> list[Question]:
    taken: dict[str, int] = {}
    questions = []
    for row in read_benchmarks(folder) if most else []:
        taken[row["benchmark"]] = taken.get(row["benchmark"], 0) + 1
        if taken[row["benchmark"]] > most:
            continue
        capability: Literal["direct"] = row["capability"] or "direct"
        questions.append(
            Question(
                question_id=row["question_id"],
                question=row["question"],
                answers=tuple(row["answers"]),
                answer_kind="list" if capability == "enumeration" and len(row["answers"]) > 1 else "single",
                capability=capability,
                hops=1,
                source_page_ids=(),
                evidence=(),
                split="benchmark",
                maker=row["benchmark"],
            )
        )
    return questions


def _counts(scores: dict[str, dict[str, Any]], sample: Sequence[Question], runs: Sequence[Rollout]) -> dict[str, float]:
    counts: dict[str, float] = {"questions": len(sample), "rollouts": len(runs), "outages": sum(r.termination.outage for r in runs)}
    for name, value in scores["models"].items():
        if value["accuracy"]["value"] is not None:
            counts[f"accuracy_{name}"] = value["accuracy"]["value"]
            counts[f"right_{name}"] = value["accuracy"]["hits"]
        if value["browse_ratio"]["pooled"] is not None:
            counts[f"browse_ratio_{name}"] = value["browse_ratio"]["pooled"]
    return counts


def _costs(runs: Sequence[Rollout]) -> dict[str, float]:
    return {**rollout_costs(runs), "rollout_seconds": sum(r.seconds for r in runs)}


def _gates(job: EvaluationJob, scores: dict[str, dict[str, Any]]) -> list[Gate]:
    """A checkpoint below its parent's interval is worth a warning; no number of rollouts makes it an error."""
    if job.parent is None:
        return []
    before = list(json.loads((job.parent / "scores.json").read_text(encoding="utf-8"))["models"].values())[-1]["accuracy"]
    now = list(scores["models"].values())[-1]["accuracy"]
    if before["total"] == 0 or now["total"] == 0:
        return []
    low, _ = metrics.wilson(before["hits"], before["total"])
    return [
        Gate(
            name="no_worse_than_parent",
            passed=now["value"] >= low,
            severity="warn",
            detail=f"{now['hits']} of {now['total']} right, the parent {before['hits']} of {before['total']}",
            figures={"accuracy": now["value"], "parent_accuracy": before["value"]},
        )
    ]
