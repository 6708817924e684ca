"""The screen: which questions are good enough to look for support, which are not and why, and which could not be judged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from terrarium.job import Job, Outcome, Report, track
from terrarium.questions.gates import GATES
from terrarium.questions.leaks import BenchmarkIndex, Shown, content_words, gives_away
from terrarium.questions.question import Question, read_questions, write_questions
from terrarium.questions.values import fold
from terrarium.tables import Drop, read_rows, write_drops


class ScreenSettings(BaseModel):
    """How strict the comparisons are. Both are shares of content words, from 0 to 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    paraphrase_overlap: float = Field(default=0.9, ge=0.5, le=1, description="two questions with one answer are one from here on")
    benchmark_overlap: float = Field(default=0.8, ge=0.5, le=1, description="a benchmark's question with the same answer stands in ours from here on")


class ScreenJob(Job):
    """Reads `questions`/questions.parquet, `hits`/hits.parquet, `benchmarks`/benchmarks.parquet; writes questions, dropped, undecided."""

    questions: Path
    hits: Path
    benchmarks: Path
    settings: ScreenSettings = ScreenSettings()


def screen(job: ScreenJob, report: Report) -> Outcome:
    """Pass, drop with a reason, or leave undecided where the web search failed. An outage drops nothing and keeps nothing.

    Raises:
        TerrariumError: an input table is missing or damaged.
    """
    questions = read_questions(job.questions / "questions.parquet")
    hits = _hits(job.hits / "hits.parquet")
    benchmarks = BenchmarkIndex(
        ((row["benchmark"], row["question"], row["answers"] or ()) for row in read_rows(job.benchmarks / "benchmarks.parquet")),
        job.settings.benchmark_overlap,
    )
    refused = {question.question_id: fault for question in questions if (fault := _fault(question))}
    # Only a question that may go on makes another one superfluous.
    twins = _twins([question for question in questions if question.question_id not in refused], job.settings.paraphrase_overlap)
    passed: list[Question] = []
    undecided: list[Question] = []
    drops: list[Drop] = []
    for question in track(questions, report, "questions screened", len(questions)):
        step, reason = refused.get(question.question_id) or _compare(question, benchmarks, twins)
        if reason is None:
            status, results = hits.get(question.question_id, ("failed", []))
            if gives_away(question, results):
                step, reason = "snippets", "answered by a web snippet"
            elif status == "failed":
                undecided.append(question)
                continue
        if reason is None:
            passed.append(question)
        else:
            drops.append(Drop(question.question_id, question.question, step, reason.partition(":")[0], reason))
    write_questions(job.out / "questions.parquet", passed)
    write_questions(job.out / "undecided.parquet", undecided)
    write_drops(job.out / "dropped.parquet", drops)
    by_capability = Counter(question.capability for question in passed)
    counts: dict[str, float] = {"questions": len(passed), "undecided": len(undecided), "dropped": len(drops)}
    counts |= {f"questions_{name}": count for name, count in sorted(by_capability.items())}
    examples: dict[str, str] = {}
    for drop in drops:
        examples.setdefault(f"{drop.step}: {drop.reason}", drop.text)
    return Outcome(counts=counts, drops=dict(Counter(f"{drop.step}: {drop.reason}" for drop in drops)), notes={"examples": examples})


def _fault(question: Question) -> tuple[str, str] | None:
    """The first gate that refuses a question, and why."""
    return next(((name, reason) for name, gate in GATES if (reason := gate(question)) is not None), None)


def _compare(question: Question, benchmarks: BenchmarkIndex, twins: dict[str, str]) -> tuple[str, str | None]:
    if question.question_id in twins:
        return "duplicates", twins[question.question_id]
    benchmark = benchmarks.same_as(question)
    return ("benchmarks", f"stands in a benchmark: {benchmark}") if benchmark else ("", None)


def _hits(path: Path) -> dict[str, tuple[str, list[Shown]]]:
    """What the web search gave for each question: its status and the results shown. One failed page of results makes it failed."""
    found: dict[str, tuple[str, list[Shown]]] = {}
    for row in read_rows(path):
        status, results = found.get(row["question_id"], (row["status"], []))
        if row["status"] == "hit":
            results.append(Shown(row["title"] or "", row["snippet"] or ""))
        found[row["question_id"]] = ("failed" if "failed" in (status, row["status"]) else row["status"], results)
    return found


def _twins(questions: Sequence[Question], overlap: float) -> dict[str, str]:
    """Questions that say what an earlier one says, and questions with the same words but another answer (all of them ambiguous)."""
    twins: dict[str, str] = {}
    texts: dict[str, Question] = {}
    facts: dict[tuple[str, str, str], Question] = {}
    answers: dict[str, list[tuple[set[str], Question]]] = defaultdict(list)
    for question in questions:
        text = fold(question.question)
        answer = "; ".join(sorted(fold(answer) for answer in (question.answers if question.answer_kind == "list" else question.answers[:1])))
        first = texts.setdefault(text, question)
        if first is not question:
            same_answer = answer == "; ".join(sorted(fold(item) for item in (first.answers if first.answer_kind == "list" else first.answers[:1])))
            twins[question.question_id] = "duplicate" if same_answer else "ambiguous: one question, two answers"
            if not same_answer:
                twins[first.question_id] = "ambiguous: one question, two answers"
            continue
        if facts.setdefault((question.capability, question.fact_key or text, answer), question) is not question:
            twins[question.question_id] = "paraphrase"
            continue
        words = content_words(question.question)
        for others, other in answers[answer]:
            if other.capability == question.capability and len(words & others) >= overlap * max(len(words | others), 1):
                twins[question.question_id] = "paraphrase"
                break
        else:
            answers[answer].append((words, question))
    return twins
