"""Right and wrong answers, as a careful reader without the question's page would decide them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.rewards import Grade, grade

RIGHT = [
    ("1,234", "1234"),
    ("1 234", "1234"),
    ("1,234.50", "1234.5"),
    ("１２３", "123"),
    ("12 km", "12"),
    ("12 km", "12,000 m"),
    ("12 kilometres", "12 km"),
    ("5 sq km", "5 km2"),
    ("5.2 km²", "5.2"),
    ("45%", "45 percent"),
    ("0.45", "45%"),
    ("5 million", "5,000,000"),
    ("$5 million", "5 million dollars"),
    ("2.5 billion", "2500000000"),
    ("USD 5", "$5"),
    ("twelve", "12"),
    ("twenty-one", "21"),
    ("one hundred and five", "105"),
    ("三百二十", "320"),
    ("1.2万", "12000"),
    ("3½", "3.5"),
    ("-5", "−5"),
    ("3rd", "3"),
    ("about 300 people", "300"),
    ("12.333", "12.33"),
    ("The population was 5,430 in 2011.", "5430"),
    ("\\boxed{12}", "12"),
    ("4 July 1976", "July 4, 1976"),
    ("1976-07-04", "July 4th, 1976"),
    ("13/07/1976", "13 July 1976"),
    ("07/07/1976", "7 July 1976"),
    ("1976年7月4日", "4 July 1976"),
    ("It was founded in 1912.", "1912"),
    ("on 4 July 1912", "1912"),
    ("44 BC", "44 BC"),
    ("paris", "The Paris"),
    ("São Paulo", "Sao Paulo"),
    ("U.S.A.", "USA"),
    ("**Paris**", "Paris"),
    ("The answer is Paris.", "Paris"),
    ("Paris (France)", "Paris"),
    ("It was founded by Anna Holt in 1912", "Anna Holt"),
    ("Anna Holt, who was a baker", "Anna Holt"),
    ("答案是北京。", "北京"),
    ("The flag is red.", "red"),
    ("C++", "c++"),
    ("10:30", "10:30"),
    (12, 12),
]
WRONG = [
    ("", "x"),
    ("   ", "x"),
    (None, "None"),
    ("phone", "one"),
    ("Altona", "Alton"),
    ("Paris, London, Berlin", "Paris"),
    ("paris london berlin", "paris"),
    ("Paris or London", "Paris"),
    ("It is Anna Holt and John Doe", "Anna Holt"),
    ("北京、上海", "北京"),
    ("not Paris", "Paris"),
    ("不是北京", "北京"),
    ("London (not Paris)", "Paris"),
    ("Anna Holt Museum", "Anna Holt"),
    ("It may be Anna Holt", "Anna Holt"),
    ("It was never Anna Holt", "Anna Holt"),
    ("可能是北京", "北京"),
    ("I don't know", "know"),
    ("C#", "C++"),
    ("Vitamin", "Vitamin A"),
    ("04/07/1976", "4 July 1976"),
    ("1976", "4 July 1976"),
    ("4 July 1976", "5 July 1976"),
    ("in 1912 or in 1913", "1912"),
    ("January, February, March", "March"),
    ("12 miles", "12 km"),
    ("$5", "5 euro"),
    ("10 11 12", "12"),
    ("one, two, three", "two"),
    ("between 10 and 12", "12"),
    ("5", "-5"),
    ("12.3", "12.33"),
    ("12.4", "12"),
    ("1.234", "1234"),
    ("COVID-19", "19"),
    ("A12", "12"),
    ("10^2", "102"),
    ("10²", "102"),
    ("3½", "31"),
    ("100", "10"),
    ("12 million", "12"),
]


@pytest.mark.parametrize(("prediction", "answer"), RIGHT)
def test_right(prediction: Any, answer: Any) -> None:
    assert grade(prediction, [answer]).correct


@pytest.mark.parametrize(("prediction", "answer"), WRONG)
def test_wrong(prediction: Any, answer: Any) -> None:
    assert not grade(prediction, [answer]).correct


def test_any_alternative_counts() -> None:
    assert grade("NYC", ["New York City", "NYC"]).correct
    assert not grade("Boston", ["New York City", "NYC"]).correct


def test_the_method_is_told() -> None:
    assert grade("12 km", ["12,000 m"]) == Grade(True, "number")
    assert grade("4 July 1976", ["1976-07-04"]).method == "date"
    assert grade("", ["x"]).method == "empty"
    assert grade("x", []).method == "no_answer_known"


def _list_question(text: str = "Which towns lie on the Tarn?") -> Any:
    return SimpleNamespace(answer_kind="list", question=text)


@pytest.mark.parametrize(
    ("prediction", "correct"),
    [
        ("Berg, Ciro and Alton", True),
        ("1. Alton\n2. Berg\n3. Ciro", True),
        ("They are Alton, Berg and Ciro.", True),
        ("Towns on the Tarn: Berg, Ciro, Alton", True),
        ('["Ciro", "Berg", "Alton"]', True),
        (["ciro", "berg", "alton"], True),
        ("Alton, Alton, Berg, Ciro", True),
        ("Alton and Berg", False),
        ("Alton, Berg, Ciro, Dorn", False),
        ("Altona, Berg, Ciro", False),
        ("", False),
    ],
)
def test_lists_need_every_item_and_no_other(prediction: Any, correct: bool) -> None:
    assert grade(prediction, ["Alton", "Berg", "Ciro"], _list_question()).correct is correct


def test_items_that_hold_a_separator() -> None:
    answers = ["Salt and Pepper", "Rivers, Lakes", "Clock"]
    assert grade("Clock; Rivers, Lakes; Salt and Pepper", answers, _list_question()).correct
    assert not grade("Clock; Rivers; Salt and Pepper", answers, _list_question()).correct


def test_a_number_of_the_question_may_be_repeated() -> None:
    question = "How many people lived in Alton in the 3 districts?"
    assert grade("In the 3 districts lived 5,430 people", ["5430"], question).correct
    assert not grade("In the 4 districts lived 5,430 people", ["5430"], question).correct


def test_candidates_of_the_question_are_no_answer() -> None:
    question = "Which is longer, the Tarn or the Sill?"
    assert not grade("Tarn and Sill", ["Tarn"], question).correct
    assert not grade("Tarn, Sill", ["Tarn"], question).correct
    assert grade("the Tarn", ["Tarn"], question).correct


@given(st.text(max_size=60), st.text(max_size=30))
def test_never_raises_and_empty_answers_never_win(prediction: str, answer: str) -> None:
    assert isinstance(grade(prediction, [answer]).correct, bool)
    if not answer.strip():
        assert not grade(prediction, [answer]).correct


@given(st.integers(-(10**12), 10**12))
def test_a_number_equals_itself_in_every_dress_and_no_neighbour(value: int) -> None:
    for dress in (f"{value:,}", f" {value} ", f"{value}.0", f"The answer is {value:,}."):
        assert grade(dress, [str(value)]).correct, dress
    assert not grade(str(value + 1), [str(value)]).correct


@given(st.dates())
def test_a_date_equals_itself_in_every_dress(value: Any) -> None:
    if value.year < 1000:
        return
    written = f"{value.day} {value.strftime('%B')} {value.year}"
    for dress in (value.isoformat(), f"{value.strftime('%B')} {value.day}, {value.year}", f"{value.year}年{value.month}月{value.day}日"):
        assert grade(dress, [written]).correct, dress


@given(st.lists(st.sampled_from(["Alton", "Berg", "Ciro", "Dorn", "Ems"]), min_size=2, unique=True))
def test_listing_candidates_earns_nothing(names: list[str]) -> None:
    for joined in (", ".join(names), " or ".join(names), " ".join(names), "; ".join(names)):
        assert not grade(joined, [names[0]]).correct, joined
