"""Every trap of the hostile web ends as its truth says, fetched over real HTTP by the fetcher that rounds use."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from littleweb.server import LittlewebServer
from littleweb.traps import APART, COPIES, TRAPS, Trap
from littleweb.web import Web
from terrarium.agent.protocol import neutralise
from terrarium.corpus.candidates import MergeJob, MergeSettings, merge
from terrarium.corpus.fetch import Fetched, fetch_pages
from terrarium.corpus.page import Page, read_pages, write_pages
from terrarium.corpus.urls import canonical_url
from terrarium.corpus.web import WebSettings
from terrarium.job import SilentReport

BY_NAME = {trap.name: trap for trap in TRAPS}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Fetched], list[str]]]:
    """What became of every trap's address, and every address that was asked for."""
    asked: list[str] = []
    web = Web(7, "tiny", hostile=True)
    reply = web.answer

    def answer(method: str, url: str, body: bytes = b""):  # type: ignore[no-untyped-def]
        asked.append(url)
        return reply(method, url, body)

    web.answer = answer  # type: ignore[method-assign]
    server = LittlewebServer(web, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = WebSettings(
        proxy=f"http://127.0.0.1:{server.server_address[1]}", timeout_seconds=3, retries=0, concurrency=32, concurrency_per_host=32, give_up_after=50
    )
    folder = tmp_path_factory.mktemp("traps")
    found = fetch_pages([trap.url for trap in TRAPS], settings, folder, SilentReport())
    yield {entry.url: entry for entry in found}, asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_it_ends_as_its_truth_says(crawled: tuple[dict[str, Fetched], list[str]], trap: Trap) -> None:
    found, asked = crawled
    if trap.same_as:
        assert canonical_url(trap.url) == canonical_url(trap.same_as) or _page(found, trap.url).url == canonical_url(trap.same_as)
        original = _page(found, trap.same_as) if trap.same_as in found else _page(found, trap.url)
        assert original.url == canonical_url(trap.same_as)
    elif trap.reason:
        entry = found[trap.url]
        assert (entry.page, entry.reason) == (None, trap.reason), entry.detail
        assert entry.detail
    else:
        text = f"{_page(found, trap.url).title}\n{_page(found, trap.url).markdown}"
        assert trap.says in text
        assert not [word for word in trap.lacks if word in text]
    assert not set(trap.never) & set(asked)


def _page(found: dict[str, Fetched], url: str) -> Page:
    entry = found.get(url)
    assert entry is not None and entry.page is not None, entry
    return entry.page


def test_control_markers_of_a_page_are_text_to_the_policy(crawled: tuple[dict[str, Fetched], list[str]]) -> None:
    text = _page(crawled[0], BY_NAME["scripts and control markers"].url).markdown
    assert "im_start" in text and "tool_call" in text
    shown = neutralise(text)
    for marker in ("<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_response>", "<answer>"):
        assert marker not in shown


def test_copies_are_one_and_other_facts_are_apart(crawled: tuple[dict[str, Fetched], list[str]], tmp_path: Path) -> None:
    pages = {name: _page(crawled[0], BY_NAME[name].url) for name in {*APART, *(name for pair in COPIES for name in pair)}}
    write_pages(tmp_path / "in" / "pages.parquet", pages.values())
    out = tmp_path / "out"
    out.mkdir()
    merge(MergeJob(out=out, pages=[tmp_path / "in"], settings=MergeSettings(near_duplicates=True)), SilentReport())
    merged = {page.page_id: page for page in read_pages(out / "pages.parquet")}
    for copy, original in COPIES:
        one, other = merged[pages[copy].page_id], merged[pages[original].page_id]
        assert {one.duplicate_of, other.duplicate_of} in ({None, other.page_id}, {None, one.page_id})
    kept = [merged[pages[name].page_id].duplicate_of or pages[name].page_id for name in APART]
    assert len(set(kept)) == len(APART)


def test_the_other_sites_are_as_they_were() -> None:
    plain, hostile = Web(7, "tiny"), Web(7, "tiny", hostile=True)
    for url in list(plain.pages)[::7]:
        assert plain.answer("GET", url) == hostile.answer("GET", url)
    assert plain.answer("GET", BY_NAME["plain"].url).status == 502
