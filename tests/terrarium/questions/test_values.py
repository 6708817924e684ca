"""Values: what is a number, a date or a word in a text, and when two of them mean the same."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.questions.values import dates, fold, kind_of, numbers, places, plain, same, stands_in


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2024 100", ["2024", "100"]),
        ("3.4 million people", ["3400000"]),
        ("twenty-one stations, one hundred and five", ["21", "105"]),
        ("人口12万人，三百二十一人", ["120000", "321"]),
        ("a hundred thousand", ["100000"]),
        ("1,200,300.", ["1200300"]),
        ("phone, network, often, someone", []),
        ("the 1990s and the 21st", []),
        ("12,345 km² and 34 km", ["12345", "34"]),
        ("$1.5 m", ["1500000"]),
        ("统一的一个国家", ["1"]),
        ("3-4", ["3", "4"]),
        ("the A4 sheet of HR12", []),
    ],
)
def test_numbers_are_read_as_values(text: str, values: list[str]) -> None:
    assert [number.value for number in numbers(text)] == [Decimal(value) for value in values]


@given(st.integers(min_value=0, max_value=10**12))
def test_an_integer_is_the_same_however_it_is_grouped(value: int) -> None:
    assert same(str(value), f"{value:,}", "number")
    assert not same(str(value), str(value + 1), "number")


@given(st.text(max_size=200))
def test_reading_never_raises_and_spans_lie_in_the_text(text: str) -> None:
    for found in (*numbers(text), *dates(text)):
        assert 0 <= found.start < found.end <= len(text)
    plain(text)
    fold(text)


@pytest.mark.parametrize("text", ["12 March 1923", "March 12, 1923", "1923-03-12", "1923年3月12日", "12th of March 1923", "12.3.1923"])
def test_a_date_in_any_spelling_is_the_same_date(text: str) -> None:
    assert same(text, "12 March 1923", "date")


def test_what_is_no_calendar_date_is_no_date() -> None:
    assert [when.key() for when in dates("31 February 1900 and 1923-13-40")] == [(1900, 0, 0), (1923, 0, 0)]


def test_a_full_date_covers_its_year_and_not_the_other_way_round() -> None:
    assert places("1823", "founded on 3 May 1823", "date")
    assert not places("3 May 1823", "founded in 1823", "date")


@pytest.mark.parametrize(
    ("value", "text", "kind", "stands"),
    [
        ("one", "a phone", "text", False),
        ("12", "twelve seats", "number", True),
        ("34 km", "34,000 m long", "number", True),
        ("34 km", "34 kg", "number", False),
        ("34", "1934", "number", False),
        ("St John's", "in **St John’s** there", "name", True),
        ("Ode", "Oder is a river", "name", False),
        ("Jane Doe", "[Jane Doe](http://x.test/a_(b)) wrote", "name", True),
        ("北京", "他住在北京市", "name", True),
    ],
)
def test_a_value_stands_in_a_text_at_word_boundaries_and_as_a_value(value: str, text: str, kind: str, stands: bool) -> None:
    assert stands_in(value, text, kind) is stands  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "kind"),
    [("12 March 1923", "date"), ("1923", "date"), ("12,345", "number"), ("34 km", "number"), ("Jane Doe", "name"), ("glass", "text")],
)
def test_a_free_value_shows_its_kind(value: str, kind: str) -> None:
    assert kind_of(value) == kind


def test_literal_markdown_characters_are_looked_through() -> None:
    assert plain(r"A\_B \* **bold** m²") == "A_B * bold m²"
