"""The report of one recipe: every checkpoint on the same held-out questions, what training did, and rollouts one can read.

One HTML file that needs nothing else. Text that came from the web or from a model is shown as text, never run.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from terrarium.agent.rollout import Rollout, Termination, read_rollouts
from terrarium.errors import TerrariumError
from terrarium.evaluation import metrics, plots
from terrarium.evaluation.cost import live_cost
from terrarium.job import Job, Outcome, Report
from terrarium.questions.question import CAPABILITIES, Question, read_questions

TEMPLATE = Path(__file__).with_name("report.html.jinja")


class ReportJob(Job):
    """What a report is made from. Folders are given by stage number; a stage that was passed through has no folders."""

    recipe: str
    evaluations: list[Path] = Field(description="evaluation folders, stage_0 first")
    questions: Path
    attempts: dict[int, Path] = {}
    filters: dict[int, Path] = {}
    training: dict[int, Path] = {}
    passed_through: dict[int, str] = Field(default={}, description="stage -> why it was passed through")
    lineage: dict[str, Any] = Field(default={}, description="counts of earlier steps, shown as a table")
    prices: dict[str, float] = {}
    rollouts_shown: int = 24


def report(job: ReportJob, report: Report) -> Outcome:
    """Write `report.html`, `scores.json` and `plots/*.png`."""
    models, emptied = _models(job.evaluations, "models"), _models(job.evaluations, "emptied")
    stages = {stage: _stage(job, stage) for stage in sorted({*job.attempts, *job.filters, *job.training, *job.passed_through})}
    searches = sum(scores["searches"] for scores in models.values()) + sum(stage.get("searches", 0) for stage in stages.values())
    visits = sum(scores["visits"] for scores in models.values()) + sum(stage.get("visits", 0) for stage in stages.values())
    summary = {
        "recipe": job.recipe,
        "models": models,
        "emptied": emptied,
        "stages": {f"stage_{stage}": value for stage, value in stages.items()},
        "lineage": job.lineage,
        "tool_calls": {"searches": searches, "visits": visits, "live_cost_usd": live_cost(searches, visits, job.prices)},
    }
    pictures = _pictures(job, models, stages)
    rollouts = _shown(job)
    (job.out / "scores.json").write_text(json.dumps(summary, indent=1, ensure_ascii=False), encoding="utf-8")
    (job.out / "report.html").write_text(_html(summary, pictures, rollouts), encoding="utf-8")
    report.say(f"report of {job.recipe}: {len(models)} checkpoints, {len(rollouts)} rollouts shown")
    counts: dict[str, float] = {"checkpoints": len(models), "searches": searches, "visits": visits}
    for name, scores in models.items():
        if scores["accuracy"]["value"] is not None:
            counts[f"accuracy_{name}"] = scores["accuracy"]["value"]
    return Outcome(counts=counts)


def _models(evaluations: Sequence[Path], kind: str) -> dict[str, Any]:
    """Scores by checkpoint; `kind` is "models", or "emptied" for runs whose tool results were emptied."""
    models: dict[str, Any] = {}
    for folder in evaluations:
        path = folder / "scores.json"
        if not path.exists():
            raise TerrariumError(f"The evaluation {folder} has no scores.json; make that evaluation again.")
        models.update(json.loads(path.read_text(encoding="utf-8")).get(kind, {}))
    return models


def _stage(job: ReportJob, stage: int) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if stage in job.passed_through:
        facts["passed_through"] = job.passed_through[stage]
    if stage in job.attempts:
        rollouts = read_rollouts(job.attempts[stage] / "rollouts.parquet")
        attempts = metrics.attempts_by_question(rollouts)
        most = max((n for _, n in attempts.values()), default=0)
        histogram: dict[int, int] = dict.fromkeys(range(most + 1), 0)
        for correct, n in attempts.values():
            if n == most:
                histogram[correct] += 1
        graded = [rollout for rollout in rollouts if not rollout.termination.outage]
        facts |= {
            "tried": len(attempts),
            "attempts": most,
            "histogram": histogram,
            "survivors": sum(1 <= correct <= n - 1 for correct, n in attempts.values()),
            "pass_at_k": {k: metrics.mean_pass_at_k(attempts.values(), k) for k in range(1, most + 1)},
            "at_limit": metrics.Share(sum(r.termination.at_limit for r in graded), len(graded)).as_dict(),
            "searches": sum(r.searches for r in rollouts),
            "visits": sum(r.visits for r in rollouts),
        }
    if stage in job.training:
        log = _log(job.training[stage])
        path = job.training[stage] / "rollouts.parquet"
        trained = read_rollouts(path) if path.exists() else []
        facts["steps"] = len(log)
        facts["groups_with_spread"] = _mean(log, "groups_with_spread")
        facts["searches"] = facts.get("searches", 0) + sum(r.searches for r in trained)
        facts["visits"] = facts.get("visits", 0) + sum(r.visits for r in trained)
        facts["training_rollouts"] = len(trained)
    return facts


def _log(folder: Path) -> list[dict[str, float]]:
    path = folder / "training_log.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _mean(rows: Sequence[Mapping[str, float]], name: str) -> float | None:
    values = [row[name] for row in rows if name in row]
    return sum(values) / len(values) if values else None


def _pictures(job: ReportJob, models: Mapping[str, Any], stages: Mapping[int, Mapping[str, Any]]) -> dict[str, str]:
    folder = job.out / "plots"
    folder.mkdir(exist_ok=True)
    measured = {f"stage {stage}": facts for stage, facts in stages.items() if "histogram" in facts}
    logs = {f"stage {stage}": _log(path) for stage, path in job.training.items()}
    plots.learning_curve(folder / "learning_curve.png", models)
    plots.capabilities(folder / "capabilities.png", models)
    plots.difficulty_histogram(folder / "difficulty.png", {name: facts["histogram"] for name, facts in measured.items()})
    curves = {name: {k: value for k, value in facts["pass_at_k"].items() if value is not None} for name, facts in measured.items()}
    plots.pass_at_k_curve(folder / "pass_at_k.png", curves)
    plots.browse_ratio_by_outcome(folder / "browse_ratio.png", models)
    plots.training_curves(folder / "reward.png", logs, "reward", "Reward while training")
    names = {
        "learning_curve": "Accuracy of each checkpoint on the same held-out questions, with 95% intervals",
        "capabilities": "Accuracy by capability",
        "difficulty": "How many of n attempts were right, by question",
        "pass_at_k": "Unbiased pass@k of the policy each stage started from",
        "browse_ratio": "Share of visits among tool calls, by outcome",
        "reward": "Mean reward of each optimiser step",
    }
    return {names[name]: base64.b64encode((folder / f"{name}.png").read_bytes()).decode() for name in names}


def _shown(job: ReportJob) -> list[dict[str, Any]]:
    """Rollouts to read: the same questions for every checkpoint, so that one sees what training changed."""
    questions = {question.question_id: question for question in read_questions(job.questions / "questions.parquet")}
    by_question: dict[str, list[Rollout]] = {}
    for folder in job.evaluations:
        for rollout in read_rollouts(folder / "rollouts.parquet"):
            if not rollout.termination.outage and not rollout.sampling.get("emptied"):
                by_question.setdefault(rollout.question_id, []).append(rollout)
    # Questions on which checkpoints differ teach a reader the most.
    ordered = sorted(by_question, key=lambda key: (len({r.correct for r in by_question[key]}) < 2, key))
    shown: list[dict[str, Any]] = []
    for key in ordered:
        if key not in questions or len(shown) >= job.rollouts_shown:
            continue
        shown.extend(_readable(questions[key], rollout) for rollout in by_question[key])
    return shown


def _readable(question: Question, rollout: Rollout) -> dict[str, Any]:
    return {
        "question": question.question,
        "answers": list(question.answers),
        "capability": question.capability,
        "policy": rollout.policy,
        "correct": rollout.correct,
        "answer": rollout.answer,
        "termination": str(rollout.termination),
        "forced": rollout.termination is Termination.ANSWERED_WHEN_FORCED,
        "turns": [
            {
                "thought": turn.thought,
                "calls": [{"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)} for call in turn.calls],
                "observation": turn.observation,
                "malformed": turn.malformed,
            }
            for turn in rollout.turns
        ],
    }


def _html(summary: Mapping[str, Any], pictures: Mapping[str, str], rollouts: Sequence[Mapping[str, Any]]) -> str:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["share"] = _percent
    environment.filters["interval"] = _interval
    kinds = [kind for kind in CAPABILITIES if any(scores["by_capability"][kind]["total"] for scores in summary["models"].values())]
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(summary=summary, pictures=pictures, rollouts=rollouts, kinds=kinds)


def _percent(share: Mapping[str, Any] | None) -> str:
    if not share or share["value"] is None:
        return "–"
    return f"{share['value']:.0%} ({share['hits']}/{share['total']})"


def _interval(share: Mapping[str, Any]) -> str:
    return "–" if share["value"] is None else f"{share['low']:.0%}–{share['high']:.0%}"
