"""Difficulty: which questions a policy sometimes solves and sometimes does not, counted over attempts that were no outage."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
from pydantic import Field

from terrarium.agent.rollout import read_rollouts
from terrarium.job import Gate, Job, Outcome, Report, track
from terrarium.questions.question import Question, read_questions, write_questions
from terrarium.tables import Drop, write_drops, write_rows

ATTEMPTS_SCHEMA = pa.schema(
    [("question_id", pa.string()), ("correct", pa.int64()), ("attempts", pa.int64()), ("kept", pa.bool_()), ("reason", pa.string())]
)


@dataclass(frozen=True, slots=True)
class Attempts:
    """How often a question was answered right, of so many valid attempts, and what follows."""

    question_id: str
    correct: int
    attempts: int
    kept: bool
    reason: str


class DifficultyJob(Job):
    """Reads `rollouts`/rollouts.parquet and `questions`/questions.parquet; writes questions, attempts and dropped."""

    rollouts: Path
    questions: Path
    attempts: int = Field(ge=2, description="valid attempts a question needs")
    minimum: int = Field(default=1, ge=0, description="survivors a stage needs to be trained")


def keep(correct: int, attempts: int) -> bool:
    """Whether a question is of middling difficulty: solved at least once, and missed at least once.

    Raises:
        ValueError: the counts are negative or more are correct than were attempted.
    """
    if not 0 <= correct <= attempts:
        raise ValueError(f"{correct} correct of {attempts} attempts is impossible")
    return 1 <= correct <= attempts - 1


def select(job: DifficultyJob, report: Report) -> Outcome:
    """Keep the questions of middling difficulty. Too few of them is no failure: the stage is passed through and marked so.

    Raises:
        TerrariumError: an input is missing or damaged.
    """
    valid: dict[str, list[bool]] = defaultdict(list)
    outages: Counter[str] = Counter()
    for rollout in read_rollouts(job.rollouts / "rollouts.parquet"):
        if rollout.termination.outage or rollout.correct is None:
            outages[rollout.question_id] += 1
        else:
            valid[rollout.question_id].append(rollout.correct)
    known = {question.question_id: question for question in read_questions(job.questions / "questions.parquet")}
    survivors: list[Question] = []
    judged: list[Attempts] = []
    drops: list[Drop] = []
    tried = [question for question_id, question in known.items() if question_id in valid or question_id in outages]
    for question in track(tried, report, "questions judged", len(tried)):
        verdict = _judge(question.question_id, valid[question.question_id], job.attempts)
        judged.append(verdict)
        if verdict.kept:
            survivors.append(question)
        else:
            drops.append(Drop(question.question_id, question.question, "difficulty", verdict.reason, f"{verdict.correct} of {verdict.attempts}"))
    write_questions(job.out / "questions.parquet", survivors)
    write_rows(job.out / "attempts.parquet", map(asdict, judged), ATTEMPTS_SCHEMA)
    write_drops(job.out / "dropped.parquet", drops)
    return _outcome(judged, survivors, drops, sum(outages.values()), job)


def _judge(question_id: str, correct: list[bool], wanted: int) -> Attempts:
    right, attempts = sum(correct), len(correct)
    if attempts < 2 or (attempts < wanted and not keep(right, attempts)):
        # Too few valid attempts to call it always or never solved; a question solved once and missed once is known to be neither.
        return Attempts(question_id, right, attempts, False, "too few valid attempts")
    if keep(right, attempts):
        return Attempts(question_id, right, attempts, True, "kept")
    return Attempts(question_id, right, attempts, False, "never solved" if right == 0 else "always solved")


def _outcome(judged: list[Attempts], survivors: list[Question], drops: list[Drop], outages: int, job: DifficultyJob) -> Outcome:
    histogram = Counter(verdict.correct for verdict in judged if verdict.attempts >= job.attempts)
    total, right = sum(verdict.attempts for verdict in judged), sum(verdict.correct for verdict in judged)
    too_few = len(survivors) < job.minimum
    gate = Gate(
        name="enough_questions_survive",
        passed=not too_few,
        severity="warn",
        detail=f"{len(survivors)} of {len(judged)} questions are neither always nor never solved; {job.minimum} are needed." if too_few else "",
        figures={"survivors": len(survivors), "minimum": job.minimum},
    )
    counts: dict[str, float] = {
        "questions": len(survivors),
        "tried": len(judged),
        "attempts": total,
        "outages": outages,
        "mean_correct": right / total if total else 0.0,
    }
    counts |= {f"questions_{name}": count for name, count in sorted(Counter(question.capability for question in survivors).items())}
    notes = {"histogram": {str(correct): histogram[correct] for correct in range(job.attempts + 1)}, "too_few": too_few}
    return Outcome(counts=counts, drops=dict(Counter(drop.reason for drop in drops)), gates=[gate], notes=notes)
