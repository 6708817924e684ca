"""A small hand-written web: a seed encyclopedia and newspaper, independent pages in other words, a mirror, near-namesakes, a Chinese page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from terrarium.corpus.page import Page, write_pages
from terrarium.corpus.urls import canonical_url
from terrarium.job import SilentReport
from terrarium.questions.extract import ExtractJob, ExtractSettings, extract
from terrarium.questions.question import Operand, Question, Span, read_questions


def make_page(url: str, title: str, markdown: str, **more: object) -> Page:
    return Page.make(canonical_url(url), title, markdown, **more)


def town(name: str, people: int, area: str, founded: int, mayor: str, river: str) -> str:
    return f"""| {name} | |
|---|---|
| Population (2021) | {people:,} |
| Area | {area} km² |
| Founded | {founded} |
| Mayor (2024) | {mayor} |
| River | {river} |
| Quarters | {name} Old Town; {name} Docks; {name} Heights |

{name} is a quiet town in the north. Its market square is known for its lime trees and its slow clocks, which nobody minds at all.
"""


TOWNS = {
    "Arlow": (12_345, "34.5", 1623, "Jane Doe", "River Enn"),
    "Brask": (8_102, "12.0", 1710, "Otto Hult", "River Enn"),
    "Corvey": (23_900, "51.2", 1512, "Ida Renn", "River Sill"),
    "Dunmar": (4_410, "7.9", 1801, "Nils Ode", "River Sill"),
    "Upper Arlow": (990, "3.3", 1899, "Pia Strand", "River Enn"),
    "Estery": (15_020, "29.4", 1655, "Karl Vane", "River Sill"),
}


@pytest.fixture
def seeds() -> list[Page]:
    """Encyclopedia pages of six towns and newspaper pages about two of them."""
    pages = [
        make_page(f"http://encyclopedia.test/{name.replace(' ', '_')}", name, town(name, *facts), published_at="2024-03-01")
        for name, facts in TOWNS.items()
    ]
    for name in ("Arlow", "Corvey"):
        people, area, founded, mayor, river = TOWNS[name]
        text = (
            f"We went to {name} on a wet morning.\n\nThe mayor of {name} is {mayor} as of 2024. {name} was founded in {founded}.\n\n"
            f"The river of {name} is the {river}.\n"
        )
        pages.append(make_page(f"http://courier.test/{name}", f"{name}: a closer look", text, published_at="2024-05-02"))
    return pages


@pytest.fixture
def others() -> list[Page]:
    """Independent pages: an office with tables, a blog in sentences; for all towns."""
    pages = []
    for name, (people, area, founded, mayor, river) in TOWNS.items():
        entries = {
            "Residents (2021)": f"{people:,}",
            "Land area": f"{area} km²",
            "Established": str(founded),
            "Mayor in office (2024)": mayor,
            "Lies on the river": river,
            "Districts": f"{name} Old Town; {name} Docks; {name} Heights",
        }
        rows = "\n".join(f"| {name} | {label} | {value} |" for label, value in entries.items())
        pages.append(
            make_page(
                f"http://office.test/{name}",
                f"{name} in figures",
                f"Figures.\n\n| Name | Item | Value |\n|---|---|---|\n{rows}\n",
                published_at="2024-04-01",
            )
        )
        prose = (
            f"I like it here.\n\n{name} was home to {people:,} people in 2021. {name} extends over {area} square kilometres. "
            f"{name} was established in {founded}. {mayor} serves as mayor of {name} as of 2024. {name} stands on the banks of the {river}."
        )
        pages.append(make_page(f"http://blog.test/{name}", f"Notes on {name}", prose, published_at="2024-06-01"))
    return pages


@pytest.fixture
def run_extract(tmp_path: Path) -> Callable[..., list[Question]]:
    def run(pages: list[Page], **settings: object) -> list[Question]:
        source, out = tmp_path / "seeds", tmp_path / "extracted"
        source.mkdir(exist_ok=True)
        out.mkdir(exist_ok=True)
        write_pages(source / "pages.parquet", pages)
        extract(ExtractJob(out=out, pages=source, round="first", settings=ExtractSettings(**settings)), SilentReport())  # type: ignore[arg-type]
        return read_questions(out / "questions.parquet")

    return run


def a_question(**changes: object) -> Question:
    """A sound question about Arlow; `changes` spoil it."""
    question = Question(
        question_id="q1",
        question="In which year was Arlow founded?",
        answers=("1623",),
        answer_kind="date",
        capability="direct",
        hops=1,
        source_page_ids=("p1",),
        evidence=(Span("p1", 0, 16, "| Founded | 1623 |"),),
        operands=(Operand("Arlow", "founded", "1623"),),
        split="train",
        wording="direct/founded/en/0",
        fact_key="arlow · founded",
    )
    return replace(question, **changes)  # type: ignore[arg-type]


@pytest.fixture(name="a_question")
def _a_question() -> Callable[..., Question]:
    return a_question


@pytest.fixture(name="make_page")
def _make_page() -> Callable[..., Page]:
    return make_page
