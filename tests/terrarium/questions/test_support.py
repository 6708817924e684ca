"""Support: only what other pages of the world say, and its snippets do not, is answerable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from terrarium.corpus.page import Page, write_pages
from terrarium.job import Outcome, SilentReport
from terrarium.questions import support
from terrarium.questions.question import Question, read_questions, write_questions
from terrarium.questions.support import SupportJob, SupportSettings, answerable
from terrarium.tables import read_drops

Run = Callable[..., list[Question]]


@dataclass
class Found:
    title: str
    snippet: str


@dataclass
class Result:
    status: str
    hits: tuple[Found, ...] = ()
    error: str | None = None


@dataclass
class FakeWorld:
    """A world of given pages whose search shows given snippets, or fails."""

    pages: dict[str, Page]
    shows: tuple[Found, ...] = ()
    status: str = "found"
    hidden: frozenset[str] = field(default_factory=frozenset)

    def page(self, page_id: str) -> Page | None:
        return self.pages.get(page_id)

    def for_question(self, question: Question) -> FakeWorld:
        return self

    def search(self, queries: list[str], k: int | None = None) -> list[Result]:
        return [Result(self.status, self.shows, "down" if self.status == "failed" else None) for _ in queries]

    def __enter__(self) -> FakeWorld:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Outcome, list[Question], list[str], list[Question]]]:
    def run(
        questions: list[Question], pages: list[Page], world: FakeWorld, **settings: object
    ) -> tuple[Outcome, list[Question], list[str], list[Question]]:
        for name in ("q", "p", "out"):
            (tmp_path / name).mkdir(exist_ok=True)
        write_questions(tmp_path / "q" / "questions.parquet", questions)
        write_pages(tmp_path / "p" / "pages.parquet", pages)
        monkeypatch.setattr("terrarium.world.open_world", lambda path: world)
        job = SupportJob(out=tmp_path / "out", questions=[tmp_path / "q"], pages=tmp_path / "p", world=tmp_path, settings=SupportSettings(**settings))  # type: ignore[arg-type]
        outcome = answerable(job, SilentReport())
        out = tmp_path / "out"
        return (
            outcome,
            read_questions(out / "questions.parquet"),
            [drop.reason for drop in read_drops(out / "dropped.parquet")],
            read_questions(out / "undecided.parquet"),
        )

    return run


def world_of(pages: list[Page], **more: object) -> FakeWorld:
    return FakeWorld({page.page_id: page for page in pages}, **more)  # type: ignore[arg-type]


def test_all_that_others_say_is_answerable_and_shows_where(
    seeds: list[Page], others: list[Page], run_extract: Run, judge: Callable[..., tuple]
) -> None:  # type: ignore[type-arg]
    questions = run_extract(seeds, fractions={"train": 0.6, "test": 0.4})
    outcome, kept, reasons, undecided = judge(questions, [*seeds, *others], world_of(others))
    assert len(kept) >= 0.9 * len(questions) and not undecided, reasons
    source_ids = {page.page_id for page in seeds}
    for question in kept:
        assert question.support and not {span.page_id for span in question.support} & source_ids
        assert (question.share in ("sft", "rl")) == (question.split == "train")
    assert all(gate.passed for gate in outcome.gates) and len(outcome.gates) == 3


def test_without_other_pages_nothing_is_answerable_unless_nothing_is_removed(
    seeds: list[Page], run_extract: Run, judge: Callable[..., tuple]
) -> None:  # type: ignore[type-arg]
    questions = run_extract(seeds, fractions={"train": 1.0}, capabilities=("direct", "statistics"))
    _, kept, reasons, _ = judge(questions, seeds, world_of([]))
    assert not kept and set(reasons) == {"no support in the world"}
    _, kept, reasons, _ = judge(questions, seeds, world_of(seeds), mode="none")
    assert len(kept) == len(questions), reasons


def test_one_missing_operand_costs_the_question(seeds: list[Page], others: list[Page], run_extract: Run, judge: Callable[..., tuple]) -> None:  # type: ignore[type-arg]
    questions = [
        question
        for question in run_extract(seeds, fractions={"train": 1.0}, capabilities=("statistics",))
        if {"Brask"} < {operand.subject for operand in question.operands}
    ]
    left = [page for page in others if "Brask" not in page.title]
    _, kept, reasons, _ = judge(questions, [*seeds, *others], world_of(left))
    assert questions and not kept and set(reasons) == {"no support in the world"}


def test_contradictions_cost_the_question(
    seeds: list[Page], others: list[Page], run_extract: Run, judge: Callable[..., tuple], make_page: Callable[..., Page]
) -> None:  # type: ignore[type-arg]
    (question,) = [
        question for question in run_extract(seeds, fractions={"train": 1.0}, capabilities=("direct",)) if question.fact_key == "dunmar · founded"
    ]
    newer = make_page("http://late.test/Dunmar", "Dunmar", "Dunmar was founded in 1888.", published_at="2025-01-01")
    older = make_page("http://early.test/Dunmar", "Dunmar", "Dunmar was founded in 1888.", published_at="2001-01-01")
    assert judge([question], [*seeds, *others, newer], world_of([*others, newer]))[2] == ["contradicted by a newer page"]
    assert judge([question], [*seeds, *others, older], world_of([*others, older]))[2] == []
    alone = [page for page in others if page.url.endswith("office.test/Dunmar")]
    assert judge([question], [*alone, older], world_of([*alone, older]))[2] == ["contradicted by as many pages as support it"]


def test_agreement_needs_two_sites(seeds: list[Page], others: list[Page], run_extract: Run, judge: Callable[..., tuple]) -> None:  # type: ignore[type-arg]
    questions = run_extract(seeds, fractions={"train": 1.0}, capabilities=("cross_verification",))
    office = [page for page in others if "office" in page.url]
    assert set(judge(questions, [*seeds, *others], world_of(office))[2]) == {"too few independent pages agree"}
    assert judge(questions, [*seeds, *others], world_of(others))[2] == []


def test_what_the_worlds_snippets_show_is_dropped_and_an_outage_decides_nothing(
    seeds: list[Page], others: list[Page], run_extract: Run, judge: Callable[..., tuple]
) -> None:  # type: ignore[type-arg]
    (question,) = [
        question for question in run_extract(seeds, fractions={"train": 1.0}, capabilities=("direct",)) if question.fact_key == "dunmar · founded"
    ]
    told = world_of(others, shows=(Found("Dunmar", "Established in 1801, it sleeps."),))
    assert judge([question], [*seeds, *others], told)[2] == ["given away by the world's snippets"]
    _, kept, reasons, undecided = judge([question], [*seeds, *others], world_of(others, status="failed"))
    assert (kept, reasons, [row.question_id for row in undecided]) == ([], [], [question.question_id])


def test_an_aggregation_that_fits_another_entity_is_dropped(
    seeds: list[Page], others: list[Page], run_extract: Run, judge: Callable[..., tuple], make_page: Callable[..., Page]
) -> None:  # type: ignore[type-arg]
    questions = [
        question for question in run_extract(seeds, fractions={"train": 1.0}, capabilities=("aggregation",)) if question.answers == ("Dunmar",)
    ]
    twin = make_page("http://office.test/Fenwick", "Fenwick", others[6].markdown.replace("Dunmar", "Fenwick"))
    assert "Dunmar" in others[6].markdown
    _, kept, reasons, _ = judge(questions, [*seeds, *others, twin], world_of([*others, twin]))
    assert questions and not kept and set(reasons) == {"another entity fits as well"}


def test_a_source_serves_one_split_alone(a_question: Callable[..., Question], make_page: Callable[..., Page]) -> None:
    page = make_page("http://x.test/a", "Arlow", "Text.")
    copy = make_page("http://y.test/a", "Arlow", "Text", duplicate_of=page.page_id)
    train = a_question(source_page_ids=(page.page_id,))
    test = replace(train, question_id="q2", split="test", source_page_ids=(copy.page_id,))
    kept, drops = support._one_split([train, test], [page, copy])
    assert kept == [train] and [drop.reason for drop in drops] == ["its source is used by another split"]
