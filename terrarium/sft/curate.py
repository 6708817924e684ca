"""Four steps from teacher trajectories to rows to learn from (DR-Venus, arXiv 2604.19859, section on data): format alignment,
pruning and deduplication, correctness filter, turn-aware resampling. Each counts what it took and says why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from terrarium.agent.rollout import Rollout, read_rollouts
from terrarium.job import Gate, Job, Outcome, Report, track
from terrarium.questions.question import Question, read_questions
from terrarium.rewards import grade
from terrarium.rewards.text import words
from terrarium.sft.draft import Draft, align, pruned
from terrarium.sft.structure import structure_faults
from terrarium.sft.trajectory import Trajectory, write_trajectories
from terrarium.tables import Drop, read_rows, stable_id, write_drops

STEPS = ("teacher", "aligned", "pruned", "correct", "checked")


class CurateSettings(BaseModel):
    """What is kept. Thresholds and weights of resampling are DR-Venus'; profiles with short trajectories give their own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system_prompt: str = Field(default="short", description="the one system prompt of all rows")
    allowed_tools: tuple[str, ...] = ("search", "visit")
    minimum_calls: int = Field(default=1, ge=0, description="trajectories with fewer calls are left out")
    maximum_failures: int | None = Field(default=None, ge=0, description="trajectories with more malformed turns are left out")
    thresholds: tuple[int, ...] = Field(default=(50, 100), description="turns up to which a weight counts")
    weights: tuple[int, ...] = Field(default=(1, 2, 5), description="copies; one more than thresholds")
    count_turns: str = Field(default="cleaned", pattern="^(original|cleaned)$", description="which turns resampling counts")
    validation_share: float = Field(default=0.08, ge=0.0, lt=1.0, description="share of the questions kept for validation")
    benchmark_overlap: float = Field(default=0.95, gt=0.0, le=1.0, description="share of a benchmark question's words that makes it the same")
    seed: int = 0


class CurateJob(Job):
    """`rollouts`, `questions` and `benchmarks` are folders of artifacts."""

    rollouts: Path
    questions: Path
    benchmarks: Path
    settings: CurateSettings


def curate(job: CurateJob, report: Report) -> Outcome:
    """Write `trajectories.parquet` and `dropped.parquet`; counts after each step are in the notes."""
    settings = job.settings
    questions = {question.question_id: question for question in read_questions(job.questions / "questions.parquet")}
    benchmarks = [frozenset(words(str(row["question"]))) for row in read_rows(job.benchmarks / "benchmarks.parquet")]
    rollouts = read_rollouts(job.rollouts / "rollouts.parquet")
    counts = dict.fromkeys(STEPS, 0)
    removed = {"disallowed_calls": 0, "repeated_calls": 0, "malformed_turns": 0}
    drops: list[Drop] = []
    kept: dict[str, tuple[Draft, int]] = {}
    for rollout in track(rollouts, report, "trajectories"):
        counts["teacher"] += 1
        question = questions.get(rollout.question_id)
        draft, why = _clean(rollout, question, settings, counts, removed)
        if draft is None:
            drops.append(_drop(rollout, question, *why))
            continue
        assert question is not None
        if reason := _forbidden(question, benchmarks, settings):
            drops.append(_drop(rollout, question, "decontamination", reason))
            continue
        trajectory_id = stable_id(question.question_id, *(message["content"] for message in draft.messages))
        if trajectory_id in kept:
            drops.append(_drop(rollout, question, "pruning", "same_trajectory"))
            continue
        counts["checked"] += 1
        kept[trajectory_id] = (draft, _original_turns(rollout))
    trajectories = [_trajectory(name, draft, original, settings) for name, (draft, original) in kept.items()]
    write_trajectories(job.out / "trajectories.parquet", trajectories)
    write_drops(job.out / "dropped.parquet", drops)
    return _outcome(trajectories, drops, counts, removed, questions)


def resample_weight(turns: int, thresholds: Sequence[int] = (50, 100), weights: Sequence[int] = (1, 2, 5)) -> int:
    """Copies of a trajectory: `weights[i]` for up to `thresholds[i]` turns, the last weight beyond (DR-Venus, section 3.1).

    Raises:
        ValueError: thresholds do not rise, or there is not one weight more than thresholds.
    """
    if len(weights) != len(thresholds) + 1:
        raise ValueError(f"{len(thresholds)} thresholds need {len(thresholds) + 1} weights, not {len(weights)}")
    if list(thresholds) != sorted(set(thresholds)):
        raise ValueError("thresholds must rise")
    return next((weight for threshold, weight in zip(thresholds, weights, strict=False) if turns <= threshold), weights[-1])


def is_validation(question_id: str, share: float, seed: int) -> bool:
    """Whether a question's trajectories are for validation; a function of the question alone, so that no question is on both sides."""
    return int(stable_id(str(seed), "validation", question_id, length=8), 16) / 16**8 < share


def _clean(
    rollout: Rollout, question: Question | None, settings: CurateSettings, counts: dict[str, int], removed: dict[str, int]
) -> tuple[Draft | None, tuple[str, str]]:
    """A rollout after the steps that look at it alone, or step and reason of its drop."""
    if question is None:
        return None, ("alignment", "unknown_question")
    draft = align(rollout, question, settings.system_prompt)
    if draft is None:
        return None, ("alignment", "no_answer")
    counts["aligned"] += 1
    if settings.maximum_failures is not None and sum(turn.malformed for turn in draft.turns) > settings.maximum_failures:
        return None, ("pruning", "too_many_malformed_turns")
    draft, cut = pruned(draft, settings.allowed_tools)
    for name, number in cut.items():
        removed[name] += number
    if sum(len(turn.calls) for turn in draft.turns) < settings.minimum_calls:
        return None, ("pruning", "too_few_calls")
    counts["pruned"] += 1
    if rollout.correct is None:
        return None, ("correctness", "undecided")
    if not grade(draft.answer, question.answers, question).correct:
        return None, ("correctness", "wrong_answer")
    counts["correct"] += 1
    faults = structure_faults(draft.messages)
    if faults:
        return None, ("structure", faults[0])
    return draft, ("", "")


def _forbidden(question: Question, benchmarks: Sequence[frozenset[str]], settings: CurateSettings) -> str | None:
    """Why a question may not be trained on."""
    if question.split != "train" or question.share not in ("sft", None):
        return "question_is_not_for_sft"
    asked = frozenset(words(question.question))
    if any(len(asked & other) >= settings.benchmark_overlap * len(asked | other) for other in benchmarks if other):
        return "benchmark_question"
    return None


def _trajectory(name: str, draft: Draft, original: int, settings: CurateSettings) -> Trajectory:
    turns = original if settings.count_turns == "original" else len(draft.turns)
    return Trajectory(
        trajectory_id=name,
        question_id=draft.question_id,
        messages=tuple(draft.messages),
        turns=turns,
        copies=resample_weight(turns, settings.thresholds, settings.weights),
        split="validation" if is_validation(draft.question_id, settings.validation_share, settings.seed) else "train",
    )


def _outcome(
    trajectories: list[Trajectory], drops: list[Drop], counts: dict[str, int], removed: dict[str, int], questions: dict[str, Question]
) -> Outcome:
    train = [item for item in trajectories if item.split == "train"]
    rows = sum(item.copies for item in train)
    reasons: dict[str, int] = {}
    for drop in drops:
        reasons[drop.reason] = reasons.get(drop.reason, 0) + 1
    sides = {split: {item.question_id for item in trajectories if item.split == split} for split in ("train", "validation")}
    tested = {item.question_id for item in trajectories if questions[item.question_id].split != "train"}
    longest = max((item.copies for item in train), default=0)
    share = {
        "longest_share_before": sum(item.copies == longest for item in train) / len(train) if train else 0.0,
        "longest_share_after": sum(item.copies for item in train if item.copies == longest) / rows if rows else 0.0,
    }
    capabilities: dict[str, int] = {}
    for item in trajectories:
        capability = questions[item.question_id].capability
        capabilities[capability] = capabilities.get(capability, 0) + 1
    counted: dict[str, float] = {"trajectories": len(trajectories), "train": len(train), "rows": rows, "validation": len(trajectories) - len(train)}
    return Outcome(
        counts=counted | {f"{name}_removed": float(number) for name, number in removed.items()},
        drops=reasons,
        gates=[
            Gate(name="trajectories_to_learn_from", passed=bool(train), detail=f"{len(train)} trajectories are left for training"),
            Gate(name="no_test_question", passed=not tested, detail=f"{len(tested)} trajectories are of questions outside the train split"),
            Gate(name="split_by_question", passed=not sides["train"] & sides["validation"], detail="no question is in train and validation"),
        ],
        notes={"steps": counts, "capabilities": dict(sorted(capabilities.items())), **share},
    )


def _original_turns(rollout: Rollout) -> int:
    return len(rollout.turns)


def _drop(rollout: Rollout, question: Question | None, step: str, reason: str) -> Drop:
    asked = re.sub(r"\s+", " ", question.question) if question is not None else ""
    return Drop(rollout.rollout_id, asked, step, reason, detail=rollout.answer or str(rollout.termination))
