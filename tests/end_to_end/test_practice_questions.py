"""Questions of the practice web, held against its truth: enough of them, of every capability, and right; also on another seed and other templates.

Pages come from the generator without HTTP, and the world is the pages that neither seed nor copy a seed, with a search that gives nothing away.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from littleweb.truth import truth_rows
from littleweb.web import Web
from terrarium.corpus.extract import page_from_html
from terrarium.corpus.page import Page, write_pages
from terrarium.corpus.websearch import HIT_SCHEMA
from terrarium.evaluation.benchmarks import BENCHMARK_SCHEMA
from terrarium.job import SilentReport
from terrarium.questions.extract import ExtractJob, ExtractSettings, extract
from terrarium.questions.question import CAPABILITIES, Operand, Question, read_questions
from terrarium.questions.screen import ScreenJob, screen
from terrarium.questions.support import SupportJob, answerable
from terrarium.questions.values import dates, fold, numbers
from terrarium.tables import stable_id, write_rows

pytestmark = pytest.mark.slow

BENCHMARK = Path(__file__).parents[2] / "littleweb" / "benchmark.jsonl"


@dataclass(frozen=True)
class Made:
    """What one web gave: the questions that passed, what was dropped by the screen, and the web's truth by subject."""

    questions: list[Question]
    screened_out: Counter[str]
    truth: dict[str, list[dict[str, Any]]]


class Silent:
    """A world of `pages` whose search finds nothing."""

    hidden: frozenset[str] = frozenset()

    def __init__(self, pages: list[Page]) -> None:
        self._pages = {page.page_id: page for page in pages}

    def page(self, page_id: str) -> Page | None:
        return self._pages.get(page_id)

    def for_question(self, question: Question) -> Silent:
        return self

    def search(self, queries: list[str], k: int | None = None) -> list[Any]:
        return [type("Result", (), {"status": "nothing_found", "hits": (), "error": None})() for _ in queries]

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def grow(folder: Path, seed: int, templates: int, monkeypatch: pytest.MonkeyPatch) -> Made:
    web = Web(seed, "country", templates)
    roles: dict[str, str] = {}
    pages: list[Page] = []
    for spec in web.plan.pages:
        if spec.kind in ("entity", "overview"):
            page = page_from_html(web.html(spec.url).encode(), spec.url, "text/html; charset=utf-8")
            roles[page.page_id] = spec.site.role
            pages.append(page)
    places = {name: folder / name for name in ("seeds", "extracted", "hits", "benchmarks", "screened", "pages", "answerable")}
    for place in places.values():
        place.mkdir(parents=True)
    write_pages(places["seeds"] / "pages.parquet", [page for page in pages if roles[page.page_id] == "seed"])
    write_pages(places["pages"] / "pages.parquet", pages)
    rows = [json.loads(line) for line in BENCHMARK.read_text(encoding="utf-8").splitlines()]
    named = [{"benchmark": "practice", "question_id": stable_id(row["question"]), **row} for row in rows]
    write_rows(places["benchmarks"] / "benchmarks.parquet", named, BENCHMARK_SCHEMA)
    extract(ExtractJob(out=places["extracted"], pages=places["seeds"], settings=ExtractSettings(seed=7, max_questions=400)), SilentReport())
    drawn = read_questions(places["extracted"] / "questions.parquet")
    unasked = [{"question_id": question.question_id, "status": "not_asked"} for question in drawn]
    write_rows(places["hits"] / "hits.parquet", unasked, HIT_SCHEMA)
    job = ScreenJob(out=places["screened"], questions=places["extracted"], hits=places["hits"], benchmarks=places["benchmarks"])
    drops = screen(job, SilentReport()).drops
    world = Silent([page for page in pages if roles[page.page_id] == "independent"])
    monkeypatch.setattr("terrarium.world.open_world", lambda path: world)
    answerable(SupportJob(out=places["answerable"], questions=[places["screened"]], pages=places["pages"], world=folder), SilentReport())
    truth: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in truth_rows(web):
        truth[fold(row["subject"])].append(row)
    return Made(read_questions(places["answerable"] / "questions.parquet"), Counter(drops), dict(truth))


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Made:
    with pytest.MonkeyPatch.context() as monkeypatch:
        return grow(tmp_path_factory.mktemp("ours"), 7, 1, monkeypatch)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Made:
    with pytest.MonkeyPatch.context() as monkeypatch:
        return grow(tmp_path_factory.mktemp("other"), 11, 2, monkeypatch)


UNITS = {"km2": "km²", "m3s": "m³/s", "crowns": "million"}


def agrees(operand: Operand, row: dict[str, Any]) -> bool:
    """Does this row of the truth state the operand's value?"""
    if row["items"]:
        return fold(operand.value) in {fold(item) for item in row["items"]}
    if row["type"] in ("number", "series"):
        read, told = numbers(operand.value), numbers(f"{row['value']} {UNITS.get(row['unit'], row['unit'] or '')}".strip())
        return bool(read and told and read[0].base == told[0].base and read[0].dimension == told[0].dimension)
    if row["type"] in ("date", "year"):
        read_dates, told_dates = dates(operand.value), dates(row["value"])
        return bool(read_dates and told_dates and read_dates[0].key() == told_dates[0].key())
    return fold(operand.value) == fold(row["value"])


def is_right(question: Question, made: Made) -> bool:
    """Every operand is true; a plain fact is answered by its value; a description fits one entity alone, the answer."""
    if not all(any(agrees(operand, row) for row in made.truth.get(fold(operand.subject), ())) for operand in question.operands):
        return False
    if question.capability in ("direct", "cross_verification") and question.answer_kind != "list":
        return any(fold(operand.value).startswith(fold(answer)) for operand in question.operands for answer in question.answers)
    if question.capability == "aggregation":
        return fold(question.answers[0]) in {fold(operand.subject) for operand in question.operands}
    return True


def test_there_are_enough_of_every_capability(ours: Made) -> None:
    count = Counter(question.capability for question in ours.questions)
    assert len(ours.questions) >= 1000
    assert len({question.fact_key for question in ours.questions}) >= 700
    assert all(count[capability] >= 100 for capability in CAPABILITIES), count
    assert sum(question.split == "test" for question in ours.questions) >= 200


def test_splits_share_no_fact_and_shares_share_no_question(ours: Made) -> None:
    splits: dict[str, set[str | None]] = defaultdict(set)
    for question in ours.questions:
        splits[question.fact_key].add(question.split)
    assert all(len(found) == 1 for found in splits.values())
    assert {question.share for question in ours.questions if question.split == "train"} == {"sft", "rl"}
    assert {question.share for question in ours.questions if question.split != "train"} == {None}


def test_a_third_of_the_wordings_stand_only_in_test(ours: Made) -> None:
    seen = {question.wording for question in ours.questions if question.split != "test"}
    tested = {question.wording for question in ours.questions if question.split == "test"}
    assert 0.2 < len(tested - seen) / len(tested | seen) < 0.45


def test_planted_benchmark_questions_are_dropped(ours: Made) -> None:
    assert sum(number for reason, number in ours.screened_out.items() if "benchmark" in reason) >= 5


def test_what_passes_is_right(ours: Made) -> None:
    wrong = [question.question for question in ours.questions if not is_right(question, ours)]
    assert len(wrong) <= 0.01 * len(ours.questions), wrong[:10]


def test_another_seed_with_other_templates_gives_nearly_as_many_and_as_right(ours: Made, other: Made) -> None:
    assert len(other.questions) >= 0.6 * len(ours.questions)
    wrong = [question.question for question in other.questions if not is_right(question, other)]
    assert len(wrong) <= 0.01 * len(other.questions), wrong[:10]
