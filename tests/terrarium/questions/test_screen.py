"""The screen: snippets, benchmarks and twins; an outage decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from terrarium.job import Outcome, SilentReport
from terrarium.questions.leaks import BenchmarkIndex, Shown, gives_away
from terrarium.questions.question import Operand, Question, Span, read_questions, write_questions
from terrarium.questions.screen import ScreenJob, screen
from terrarium.tables import read_drops, write_rows

MakeQuestion = Callable[..., Question]
HITS = pa.schema([("question_id", pa.string()), ("rank", pa.int64()), *((name, pa.string()) for name in ("url", "title", "snippet", "status"))])
BENCHMARKS = pa.schema(
    [
        ("benchmark", pa.string()),
        ("question_id", pa.string()),
        ("question", pa.string()),
        ("answers", pa.list_(pa.string())),
        ("capability", pa.string()),
    ]
)


def run(
    tmp_path: Path, questions: list[Question], hits: list[tuple[str, str, str]] | None = None, benchmarks: list[tuple[str, str]] | None = None
) -> tuple[Outcome, Path]:
    for name in ("q", "h", "b", "out"):
        (tmp_path / name).mkdir(exist_ok=True)
    write_questions(tmp_path / "q" / "questions.parquet", questions)
    rows = hits if hits is not None else [(question.question_id, "", "not_asked") for question in questions]
    write_rows(
        tmp_path / "h" / "hits.parquet",
        [{"question_id": key, "rank": 1, "url": "http://x.test", "title": "Arlow", "snippet": text, "status": status} for key, text, status in rows],
        HITS,
    )
    write_rows(
        tmp_path / "b" / "benchmarks.parquet",
        [
            {"benchmark": "bench", "question_id": str(place), "question": text, "answers": [answer], "capability": None}
            for place, (text, answer) in enumerate(benchmarks or [])
        ],
        BENCHMARKS,
    )
    job = ScreenJob(out=tmp_path / "out", questions=tmp_path / "q", hits=tmp_path / "h", benchmarks=tmp_path / "b")
    return screen(job, SilentReport()), tmp_path / "out"


@pytest.mark.parametrize(
    ("snippet", "status", "where"),
    [
        ("Arlow was founded in 1623.", "hit", "dropped"),
        ("Arlow has lime trees.", "hit", "questions"),
        ("", "nothing", "questions"),
        ("", "not_asked", "questions"),
        ("", "failed", "undecided"),
    ],
)
def test_what_a_web_snippet_answers_is_dropped_and_a_failed_search_decides_nothing(
    tmp_path: Path, a_question: MakeQuestion, snippet: str, status: str, where: str
) -> None:
    _, out = run(tmp_path, [a_question()], [("q1", snippet, status)])
    found = {
        "questions": len(read_questions(out / "questions.parquet")),
        "undecided": len(read_questions(out / "undecided.parquet")),
        "dropped": len(read_drops(out / "dropped.parquet")),
    }
    assert found == {name: int(name == where) for name in found}


def test_the_number_that_ranks_a_result_is_no_answer(a_question: MakeQuestion) -> None:
    question = a_question(answers=("12",), answer_kind="number", operands=(Operand("Arlow", "bridges", "12"),))
    assert not gives_away(question, [Shown("12. Arlow", "12. A town with bridges")])
    assert gives_away(question, [Shown("3. Arlow", "It has twelve bridges")])


def test_a_question_without_a_search_result_is_undecided(tmp_path: Path, a_question: MakeQuestion) -> None:
    _, out = run(tmp_path, [a_question()], [])
    assert len(read_questions(out / "undecided.parquet")) == 1


@pytest.mark.parametrize(
    ("theirs", "dropped"),
    [
        (("When did Arlow come into being?", "1623"), True),
        (("in which YEAR was the town Arlow founded", "in 1623"), True),
        (("Dear reader, please tell me in which year was Arlow founded, with thanks?", "1623"), True),
        (("When did Brask come into being?", "1623"), False),
        (("How many people live in Arlow?", "12,345"), False),
    ],
)
def test_a_benchmark_question_is_found_in_other_words(tmp_path: Path, a_question: MakeQuestion, theirs: tuple[str, str], dropped: bool) -> None:
    outcome, _ = run(tmp_path, [a_question()], benchmarks=[theirs])
    assert outcome.counts["questions"] == (0 if dropped else 1)


def test_an_aggregation_is_known_by_its_clues_and_its_answer(a_question: MakeQuestion) -> None:
    question = a_question(
        question="Which town lies on the Enn and was founded in 1623?",
        answers=("Arlow",),
        answer_kind="single",
        capability="aggregation",
        operands=(Operand("Arlow", "river", "Enn"), Operand("Arlow", "founded", "1623")),
    )
    assert BenchmarkIndex([("b", "Name the settlement at the river Enn that goes back to 1623.", ["Arlow"])]).same_as(question) == "b"
    assert BenchmarkIndex([("b", "Name the settlement at the river Enn that goes back to 1710.", ["Arlow"])]).same_as(question) is None


def test_one_fact_asked_twice_is_a_paraphrase_and_two_answers_make_it_ambiguous(tmp_path: Path, a_question: MakeQuestion) -> None:
    twice = a_question(question_id="q2", question="When was Arlow established?")
    _, out = run(tmp_path, [a_question(), twice])
    assert [question.question_id for question in read_questions(out / "questions.parquet")] == ["q1"]
    other = a_question(
        question_id="q3",
        answers=("1710",),
        operands=(Operand("Arlow", "founded", "1710"),),
        evidence=(Span("p2", 0, 1, "1710"),),
        fact_key="arlow · founded · other",
    )
    outcome, _ = run(tmp_path, [a_question(), other])
    assert outcome.counts["questions"] == 0 and outcome.drops == {"duplicates: ambiguous": 2}


def test_each_drop_says_why_and_shows_an_example(tmp_path: Path, a_question: MakeQuestion) -> None:
    outcome, out = run(tmp_path, [a_question(question="Why was Arlow founded?"), a_question(question_id="q2")])
    assert outcome.drops == {"closed: open-ended or a choice": 1}
    assert outcome.notes["examples"] == {"closed: open-ended or a choice": "Why was Arlow founded?"}
    assert [(drop.id, drop.step) for drop in read_drops(out / "dropped.parquet")] == [("q1", "closed")]


def test_statistics_are_given_away_only_by_all_their_operands_or_the_result(a_question: MakeQuestion) -> None:
    question = a_question(
        capability="statistics",
        question="How many more people live in Arlow than in Brask?",
        answers=("4,243",),
        answer_kind="number",
        operands=(Operand("Arlow", "population", "12,345"), Operand("Brask", "population", "8,102")),
    )
    assert not gives_away(question, [Shown("Arlow", "12,345 people live here")])
    assert gives_away(question, [Shown("Arlow", "12,345 people live here"), Shown("Brask", "8,102 souls")])
    assert gives_away(question, [Shown("Quiz", "Arlow has 4,243 people more than Brask")])
    assert not gives_away(
        replace(question, operands=(Operand("Arlow fire of 1907", "deaths", "1907"),), answers=("1907",)), [Shown("Arlow fire of 1907", "a fire")]
    )
