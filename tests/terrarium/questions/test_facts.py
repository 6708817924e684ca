"""Facts: what is read out of boxes, tables, lines and sentences, and what is rightly not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from terrarium.corpus.page import Page
from terrarium.questions.entity import entity_of, page_name
from terrarium.questions.facts import facts_of

MakePage = Callable[..., Page]


def read(make_page: MakePage, markdown: str, title: str = "Arlow") -> set[tuple[str, str, str, str | None]]:
    return {(fact.subject, fact.relation, fact.shown, fact.as_of) for fact in facts_of(make_page("http://x.test/a", title, markdown))}


def test_a_box_a_series_a_list_and_lines_are_read(make_page: MakePage) -> None:
    markdown = """| Arlow | |
|---|---|
| Population (2021) | 12,345 |
| Revenue | 84 million crowns (2023) |
| Mayor | Jane Doe (since 2019) |
| Quarters | Old Town; Docks |
| populationDensity | 14/km² |

## Population

| Year | Population |
|---|---|
| 2001 | 11,000 |
| 2011 | 11,500 |

Elevation: 84 m
"""
    assert read(make_page, markdown) == {
        ("Arlow", "population", "12,345", "2021"),
        ("Arlow", "revenue", "84 million crowns", "2023"),
        ("Arlow", "mayor", "Jane Doe", "2019"),
        ("Arlow", "districts", "Old Town, Docks", None),
        ("Arlow", "density", "14 /km²", None),
        ("Arlow", "population", "11,000", "2001"),
        ("Arlow", "population", "11,500", "2011"),
        ("Arlow", "elevation", "84 m", None),
    }


def test_rows_are_about_their_first_cell_and_columns_are_relations(make_page: MakePage) -> None:
    markdown = """| Town | Area | Founded |
|---|---|---|
| Brask | 12.0 km² | 1710 |
| Corvey | 51.2 km² | 1512 |

| Name | Indicator | Value |
|---|---|---|
| Dunmar | Residents (2021) | 4,410 |
"""
    assert read(make_page, markdown, "List of towns") == {
        ("Brask", "area", "12.0 km²", None),
        ("Brask", "founded", "1710", None),
        ("Corvey", "area", "51.2 km²", None),
        ("Corvey", "founded", "1512", None),
        ("Dunmar", "population", "4,410", "2021"),
    }


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("The mayor of Arlow is Jane Doe as of 2024.", ("Arlow", "mayor", "Jane Doe", "2024")),
        ("As of 2021, Arlow has a population of 12,345.", ("Arlow", "population", "12,345", "2021")),
        ("Arlow was founded in 1623.", ("Arlow", "founded", "1623", None)),
        ("Jane Doe is the mayor of Arlow (as of 2024).", ("Arlow", "mayor", "Jane Doe", "2024")),
        ("Arlow has 3 quarters: Old Town, Docks and Heights.", ("Arlow", "districts", "Old Town, Docks, Heights", None)),
        ("Arlow has 12,345 inhabitants.", ("Arlow", "population", "12,345", None)),
    ],
)
def test_plain_sentences_are_read(make_page: MakePage, sentence: str, fact: tuple[str, str, str, str | None]) -> None:
    assert read(make_page, sentence) == {fact}


@pytest.mark.parametrize(
    "markdown",
    [
        "The mayor of Upper Arlow is Jane Doe.",
        "The mayor of Arlow is Jane Doe, who was born in Brask.",
        "| Arlow | |\n|---|---|\n| Area | about 34 km² |\n| Founded | 1623–1710 |",
        "| Arlow | |\n|---|---|\n| Founded | 12 March 500 BC |\n| Mayor | unknown |",
        "| Town | Population (thousands) |\n|---|---|\n| Brask | 12 |",
        "| Arlow | |\n|---|---|\n| Height | 5 ft 11 in |\n| Population | 12–14 |\n| Capacity | 1.02 male(s)/female |",
        "| Arlow | |\n|---|---|\n| Area | 34–36 km² |\n| Elevation | 12 m – 80 m |",
        "Source: Census.gov",
    ],
)
def test_what_is_uncertain_partial_or_of_another_is_not_read(make_page: MakePage, markdown: str) -> None:
    assert read(make_page, markdown) == set()


def test_chinese_sentences_are_read(make_page: MakePage) -> None:
    found = read(make_page, "卡恩比是一座小镇。2024年，卡恩比的人口为12345人。卡恩比海拔84米。卡恩比的镇长是李明。", "卡恩比简介")
    assert found == {("卡恩比", "population", "12345", "2024"), ("卡恩比", "elevation", "84 米", None), ("卡恩比", "mayor", "李明", None)}


def test_spans_show_where_a_fact_stands(make_page: MakePage) -> None:
    page = make_page("http://x.test/a", "Arlow", "Hello.\n\nArlow was founded in 1623. It rained.")
    (fact,) = facts_of(page)
    assert page.markdown[fact.start : fact.end] == "Arlow was founded in 1623."


@pytest.mark.parametrize(
    ("title", "name", "qualifier"),
    [
        ("Mercury (planet) - Some Site", "Mercury", "planet"),
        ("Arlow: a closer look", "Arlow", ""),
        ("Notes on Arlow", "Arlow", ""),
        ("Arlow in figures", "Arlow", ""),
        ("Economy of Angola", "Angola", ""),
        ("卡恩比简介", "卡恩比", ""),
        ("Jean-Luc Ode", "Jean-Luc Ode", ""),
    ],
)
def test_a_title_names_its_entity(title: str, name: str, qualifier: str) -> None:
    assert page_name(title) == (name, qualifier)


def test_an_entity_has_the_article_and_the_noun_of_its_page(make_page: MakePage) -> None:
    museum = entity_of(
        make_page("http://x.test/m", "Arlow Museum", "The Arlow Museum is a small museum in the north. Guests of the Arlow Museum like it.")
    )
    assert (museum.in_text, museum.noun) == ("the Arlow Museum", "museum")
    plain = entity_of(make_page("http://x.test/p", "Arlow", "Arlow is a town. People of Arlow like Arlow. It is not the Arlow of old."))
    assert plain.in_text == "Arlow"
    mission = entity_of(make_page("http://x.test/a", "Apollo 8", "Apollo 8 was a mission. The crew of Apollo 8 rested. The Apollo 8 crew slept."))
    assert (mission.in_text, mission.noun) == ("Apollo 8", "mission")


@pytest.mark.parametrize(
    "table",
    [
        "| Population | 4,120 |\n| Area |\n| Mayor | Ana Lind |",
        "| Name | Value |\n|---|---|\n| Population | 4,120 |\n| Area |\n| Mayor | Ana Lind | x |",
        "| Town |\n|---|\n| Arvik | 4,120 | 12 |",
        "| Town | Population | Area |\n|---|---|---|\n| Arvik | 4,120 |\n| Bolstad | 5,000 | 12 km² |",
        "| Year |\n|---|\n| 2001 | 4,120 |",
        "|  |  |\n|---|---|\n| 2001 |",
    ],
)
def test_a_row_of_another_width_costs_itself_alone(table: str) -> None:
    page = Page.make("https://a.example/arvik", "Arvik", f"Arvik is a town.\n\n{table}\n")
    for fact in facts_of(page):
        assert fact.value in table
