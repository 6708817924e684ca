"""From hits to pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from terrarium.corpus.crawl import CrawlJob, crawl, wanted_urls
from terrarium.corpus.page import read_pages
from terrarium.corpus.web import WebSettings
from terrarium.corpus.websearch import HIT_SCHEMA
from terrarium.errors import TerrariumError
from terrarium.job import SilentReport
from terrarium.questions.question import Question, write_questions
from terrarium.tables import read_drops, write_rows


def _inputs(folder: Path, hits: list[tuple[str, int, str]]) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    rows = [{"question_id": question, "rank": rank, "url": url, "title": "", "snippet": "", "status": "hit"} for question, rank, url in hits]
    rows.append({"question_id": "q1", "rank": None, "url": None, "title": None, "snippet": None, "status": "failed"})
    write_rows(folder / "hits.parquet", rows, HIT_SCHEMA)
    write_questions(folder / "questions.parquet", [Question(name, "?", ("x",), "single", "direct", 1, (), ()) for name in ("q1", "q2")])
    return {"hits": folder, "questions": folder, "round": "r1"}


HITS = [
    ("q1", 1, "http://good.example/town/1"),
    ("q1", 2, "http://good.example/moved"),
    ("q2", 1, "http://good.example/town/2"),
    ("q2", 2, "http://www.good.example/town/1#x"),
    ("q2", 3, "http://good.example/nowhere"),
    ("dropped", 1, "http://good.example/town/4"),
]


def test_pages_behind_hits_of_questions_that_passed(proxy: str, tmp_path: Path) -> None:
    job = CrawlJob(out=tmp_path / "out", web=WebSettings(proxy=proxy, timeout_seconds=2, retries=0), **_inputs(tmp_path / "in", HITS))
    outcome = crawl(job, SilentReport())
    pages = read_pages(tmp_path / "out" / "pages.parquet")
    assert [page.url for page in pages] == ["https://good.example/town/1", "https://good.example/town/2"]
    assert "https://good.example/moved" in pages[0].aliases
    assert {page.origin for page in pages} == {"crawl"} and {page.round for page in pages} == {"r1"}
    assert [drop.reason for drop in read_drops(tmp_path / "out" / "dropped.parquet")] == ["gone"]
    assert outcome.costs["pages_fetched"] == 4


def test_first_hits_of_all_questions_come_first(tmp_path: Path) -> None:
    inputs = _inputs(tmp_path, HITS)
    assert wanted_urls(inputs["hits"] / "hits.parquet", {"q1", "q2"}, 2) == ["http://good.example/town/1", "http://good.example/town/2"]


def test_nothing_to_fetch_needs_no_web(tmp_path: Path) -> None:
    assert crawl(CrawlJob(out=tmp_path, **_inputs(tmp_path, [])), SilentReport()).counts["pages"] == 0
    with pytest.raises(TerrariumError, match="no web section"):
        crawl(CrawlJob(out=tmp_path, **_inputs(tmp_path, HITS)), SilentReport())
