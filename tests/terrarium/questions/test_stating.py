"""Stating: subject, relation and value in one row, line or sentence; near misses state nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from terrarium.corpus.page import Page
from terrarium.questions.names import NameFinder
from terrarium.questions.question import Operand
from terrarium.questions.reading import Library

NAMES = ("Arlow", "Upper Arlow", "Arlow Museum", "Brask", "Jane Doe", "River Enn", "Red Line")
PEOPLE = Operand("Arlow", "population", "12,345")
MAYOR = Operand("Arlow", "mayor", "Jane Doe")
FOUNDED = Operand("Arlow", "founded", "1623")


def said(make_page: Callable[..., Page], markdown: str, operand: Operand, year: int | None = None, title: str = "A page") -> bool:
    return bool(Library([make_page("http://x.test/a", title, markdown)], NAMES).said(operand, year))


@pytest.mark.parametrize(
    ("markdown", "operand", "year"),
    [
        ("Arlow is home to 12,345 people.", PEOPLE, 2021),
        ("In 2021, 12,345 people lived in Arlow.", PEOPLE, 2021),
        ("Arlow counted 10,020 inhabitants in 2011 and 12,345 in 2021.", PEOPLE, 2021),
        ("Arlow, founded in 1623 and rebuilt in 1710, has 12,345 residents.", FOUNDED, None),
        ("Since 2019 the town hall of Arlow is led by Jane Doe.", MAYOR, 2019),
        ("- Residents of Arlow (2021): 12,345", PEOPLE, 2021),
        ("| Name | Item | Value |\n|---|---|---|\n| Arlow | Residents (2021) | 12,345 |", PEOPLE, 2021),
        ("| Town | Inhabitants | Founded |\n|---|---|---|\n| Brask | 8,102 | 1710 |\n| Arlow | 12,345 | 1623 |", FOUNDED, None),
        ("2021年，Arlow的人口为12345人。", PEOPLE, 2021),
        ("Arlow's mayor, Jane Doe, waved.", MAYOR, 2024),
        ("The Red Line calls at Old Gate, Harbour and Hill.", Operand("Red Line", "stations", "Harbour"), None),
    ],
)
def test_a_statement_in_other_words_is_read(make_page: Callable[..., Page], markdown: str, operand: Operand, year: int | None) -> None:
    assert said(make_page, markdown, operand, year)


@pytest.mark.parametrize(
    ("markdown", "operand", "year"),
    [
        ("Upper Arlow is home to 12,345 people.", PEOPLE, None),
        ("The Arlow Museum has 12,345 visitors. People like Arlow.", PEOPLE, None),
        ("Arlow Heights is home to 12,345 people.", PEOPLE, None),
        ("Arlow is old. 12,345 people live in Brask.", PEOPLE, None),
        ("Near Arlow lies Brask, home to 12,345 people.", PEOPLE, None),
        ("Arlow was home to 12,345 people in 2011.", PEOPLE, 2021),
        ("Arlow spent 12,345 crowns on a fountain.", PEOPLE, None),
        ("Arlow is not home to 12,345 people.", PEOPLE, None),
        ("Arlow has 8,000 inhabitants and the region 12,345 sheep.", PEOPLE, None),
        ("Arlow was founded in 1710 and rebuilt in 1623.", FOUNDED, None),
        ("Jane Doe, former mayor of Arlow, waved.", MAYOR, 2024),
        ("Jane Doe was seen in Arlow.", Operand("Arlow", "architect", "Jane Doe"), None),
        ("| Name | Item | Value |\n|---|---|---|\n| Arlow | Households (2021) | 12,345 |", PEOPLE, 2021),
        ("| Name | Item | Value |\n|---|---|---|\n| Arlow | Residents (2011) | 12,345 |", PEOPLE, 2021),
    ],
)
def test_a_near_miss_is_no_statement(make_page: Callable[..., Page], markdown: str, operand: Operand, year: int | None) -> None:
    assert not said(make_page, markdown, operand, year)


def test_a_box_speaks_of_what_its_page_is_about(make_page: Callable[..., Page]) -> None:
    box = "| Facts | |\n|---|---|\n| Residents (2021) | 12,345 |\n| Founded | 1623 |"
    assert said(make_page, box, PEOPLE, 2021, "Arlow | town guide")
    assert not said(make_page, box, PEOPLE, 2021, "Brask | town guide")
    assert not said(make_page, box, PEOPLE, 2021, "Arlow and Brask")


def test_other_values_are_found_as_denials(make_page: Callable[..., Page]) -> None:
    page = make_page(
        "http://x.test/a", "Arlow", "| Arlow | |\n|---|---|\n| Population (2021) | 13,000 |\n| Founded | 1623 |\n| Mayor (2019) | Otto Hult |"
    )
    library = Library([page], NAMES)
    assert [fact.value for fact in library.denied(PEOPLE, 2021)] == ["13,000"]
    assert library.denied(FOUNDED, None) == [] and library.denied(MAYOR, 2024) == []


def test_the_longest_known_name_is_found() -> None:
    finder = NameFinder(["Arlow", "Upper Arlow", "Arlow United", "Mill", "北京", "Schind & Sons"])
    text = "In Upper Arlow, Arlow United beat Arlow's boys at the mill; New Arlow and 北京市 of Schind & Sons watched Mill."
    assert [mention.name for mention in finder.find(text)] == ["upper arlow", "arlow united", "arlow", "北京", "schind & sons", "mill"]
