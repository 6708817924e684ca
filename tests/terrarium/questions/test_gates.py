"""Gates: each stops its fault, and lets the sound question through."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from terrarium.questions.gates import GATES
from terrarium.questions.question import Operand, Question, Span

MakeQuestion = Callable[..., Question]


def refusals(question: Question) -> list[str]:
    return [name for name, gate in GATES if gate(question)]


def test_a_sound_question_passes(a_question: MakeQuestion) -> None:
    assert refusals(a_question()) == []


@pytest.mark.parametrize(
    ("gate", "text"),
    [
        ("shape", "In which year was Arlow founded"),
        ("shape", "In which year was {s} founded, Arlow?"),
        ("names_no_source", "According to the chronicle, in which year was Arlow founded?"),
        ("names_no_source", "In which year was Arlow founded, as stated in the article?"),
        ("names_no_source", "In which year does arlow.example say Arlow was founded?"),
        ("names_no_source", "根据本文，Arlow成立于哪一年？"),
        ("closed", "Why was Arlow founded?"),
        ("closed", "How did Arlow come to be?"),
        ("closed", "Was Arlow founded in this century?"),
        ("closed", "Arlow为什么成立？"),
        ("dated", "In which year was Arlow most recently founded, so far?"),
        ("dated", "Arlow目前成立于哪一年？"),
        ("specific", "In which year was the town founded?"),
        ("specific", "In which year was Upper Arlowe founded?"),
        ("specific", "Was it 1623 in which Arlow was founded, or in which year?"),
    ],
)
def test_a_faulty_question_is_stopped(a_question: MakeQuestion, gate: str, text: str) -> None:
    assert gate in refusals(a_question(question=text))


@pytest.mark.parametrize(
    ("gate", "changes"),
    [
        ("shape", {"answers": ()}),
        ("shape", {"evidence": ()}),
        ("short", {"answers": ("it was in the year of the great flood that swept the old bridge away",), "answer_kind": "single"}),
        ("stands_in_evidence", {"answers": ("1632",), "operands": (Operand("Arlow", "founded", "1632"),)}),
        ("stands_in_evidence", {"answers": ("162",), "answer_kind": "number", "operands": ()}),
        ("dated", {"operands": (Operand("Arlow", "mayor", "Jane Doe"),), "answers": ("Jane Doe",), "answer_kind": "single"}),
    ],
)
def test_a_faulty_answer_is_stopped(a_question: MakeQuestion, gate: str, changes: dict[str, object]) -> None:
    assert gate in refusals(a_question(**changes))


def test_words_in_names_are_no_faults(a_question: MakeQuestion) -> None:
    title = a_question(
        question="Who wrote The Current of Today?",
        answers=("Pia Strand",),
        answer_kind="single",
        operands=(Operand("The Current of Today", "author", "Pia Strand"),),
        evidence=(Span("p", 0, 1, "| Author | Pia Strand |"),),
        fact_key="current of today · author",
    )
    assert refusals(title) == []
    river = a_question(
        question="Where is the source of the River Enn?",
        answers=("Hollow Hill",),
        answer_kind="single",
        operands=(Operand("River Enn", "source", "Hollow Hill"),),
        evidence=(Span("p", 0, 1, "| Source | Hollow Hill |"),),
    )
    assert refusals(river) == []


def test_computed_answers_are_computed_again(a_question: MakeQuestion) -> None:
    computed = a_question(
        question="What is the combined population of Arlow and Brask as of 2021?",
        answers=("20,447",),
        answer_kind="number",
        capability="statistics",
        operands=(Operand("Arlow", "population", "12,345"), Operand("Brask", "population", "8,102")),
        evidence=(Span("p", 0, 1, "12,345"), Span("q", 0, 1, "8,102")),
        wording="statistics/population/sum/0",
        as_of="2021",
        fact_key="arlow · population · 2021 + brask · population · 2021 · sum",
    )
    assert refusals(computed) == []
    wrong = a_question(**{**{name: getattr(computed, name) for name in computed.__slots__}, "answers": ("20,448",)})
    assert refusals(wrong) == ["stands_in_evidence"]


def test_numbers_are_compared_as_values(a_question: MakeQuestion) -> None:
    spelled = a_question(
        question="How many stations does the Red Line have?",
        answers=("12",),
        answer_kind="number",
        operands=(Operand("Red Line", "number_of_stations", "12"),),
        evidence=(Span("p", 0, 1, "The Red Line has twelve stations."),),
    )
    assert refusals(spelled) == []
    inside = a_question(
        question="How many stations does the Red Line have?",
        answers=("1",),
        answer_kind="number",
        operands=(Operand("Red Line", "number_of_stations", "1"),),
        evidence=(Span("p", 0, 1, "Someone phoned the station."),),
    )
    assert refusals(inside) == ["stands_in_evidence"]
