"""Fetching over real HTTP: manners, faults that cost one page or one site, and going on after a kill."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from terrarium.corpus.fetch import Fetched, fetch_pages, read_journal
from terrarium.corpus.web import WebSettings
from terrarium.errors import TerrariumError
from terrarium.job import SilentReport


class _Count(SilentReport):
    def __init__(self) -> None:
        self.seen: list[tuple[int, int | None]] = []

    def progress(self, done: int, total: int | None, what: str) -> None:
        self.seen.append((done, total))


def _web(proxy: str, **more: object) -> WebSettings:
    return WebSettings(**{"proxy": proxy, "timeout_seconds": 1.5, "retries": 1, "max_bytes": 1_000_000, **more})  # type: ignore[arg-type]


def test_every_fault_costs_itself_alone(proxy: str, asked: list[str], tmp_path: Path) -> None:
    names = ["moved", "loop", "broken", "cut", "huge", "pdf", "challenge", "nowhere", "private/2", "latin", "town/9"]
    urls = [f"http://good.example/{name}" for name in names] + ["ftp://good.example/x", "https://tls.example/town/3"]
    urls += [f"http://dead.example/{number}" for number in range(12)]
    report = _Count()
    found = {entry.url: entry for entry in fetch_pages(urls, _web(proxy), tmp_path, report, sitemaps={"http://good.example/sitemap.xml": None})}
    reasons = {name: found[f"http://good.example/{name}"].reason for name in names}
    assert reasons == {
        "moved": "", "loop": "redirects", "broken": "http_500", "cut": "cut_off", "huge": "too_large", "pdf": "not_html", "challenge": "challenge",
        "nowhere": "gone", "private/2": "robots", "latin": "", "town/9": "",
    }  # fmt: skip
    assert found["ftp://good.example/x"].reason == "no_url"
    # https that the proxy cannot tunnel is tried once as http
    assert found["https://tls.example/town/3"].page is not None
    dead = [entry for url, entry in found.items() if "dead.example" in url]
    assert len(dead) == 12 and {entry.reason for entry in dead} <= {"no_answer", "site_given_up"}
    assert sum("dead.example" in url for url in asked) <= 8
    listed = [entry for entry in found.values() if entry.source]
    assert {entry.url.rsplit("/", 1)[-1] for entry in listed if entry.page} == {"1", "2", "3", "4", "5"}
    assert not any("elsewhere" in entry.url for entry in found.values())
    assert not any("good.example/private" in url for url in asked)
    moved = found["http://good.example/moved"].page
    assert moved is not None and moved.url == "https://good.example/town/1"
    assert "https://good.example/moved" in moved.aliases and moved.fetched_at
    assert "Köln" in found["http://good.example/latin"].page.markdown  # type: ignore[union-attr]
    assert report.seen[-1][0] == len(found)


def test_goes_on_where_a_killed_run_stopped(proxy: str, asked: list[str], tmp_path: Path) -> None:
    urls = [f"http://good.example/town/{number}" for number in range(4)]
    fetch_pages(urls[:2], _web(proxy), tmp_path, SilentReport())
    journal = tmp_path / "journal.jsonl"
    (tmp_path / "finished").unlink()
    with journal.open("a") as file:
        file.write('{"url": "http://good.example/town/2", "pa')
    asked.clear()
    found = fetch_pages(urls, _web(proxy), tmp_path, SilentReport())
    assert [entry.url for entry in found] == urls and all(entry.page for entry in found)
    assert sorted(url.rsplit("/", 1)[-1] for url in asked if "/town/" in url) == ["2", "3"]
    asked.clear()
    assert fetch_pages(urls, _web(proxy), tmp_path, SilentReport()) == found
    assert not asked


def test_pages_of_a_sitemap_are_not_asked_for_again_after_a_kill(proxy: str, asked: list[str], tmp_path: Path) -> None:
    sitemaps: dict[str, int | None] = {"http://good.example/sitemap.xml": None}
    whole = fetch_pages([], _web(proxy), tmp_path / "whole", SilentReport(), sitemaps=sitemaps)
    journal = tmp_path / "killed" / "journal.jsonl"
    journal.parent.mkdir()
    journal.write_text("".join((tmp_path / "whole" / "journal.jsonl").read_text().splitlines(keepends=True)[:3]))
    before = {found.url for found in read_journal(journal)}
    asked.clear()
    found = fetch_pages([], _web(proxy), tmp_path / "killed", SilentReport(), sitemaps=sitemaps)
    assert not before & set(asked)
    assert [(entry.url, entry.reason) for entry in found] == [(entry.url, entry.reason) for entry in whole]
    assert len(journal.read_text().splitlines()) == len(found)


def test_two_spellings_are_asked_for_once(proxy: str, asked: list[str], tmp_path: Path) -> None:
    found = fetch_pages(["http://good.example/town/1", "http://good.example/town/1?utm_source=x"], _web(proxy), tmp_path, SilentReport())
    assert len(found) == 1
    assert sum("/town/1" in url for url in asked) == 1


def test_a_site_that_stops_answering_is_given_up(proxy: str, asked: list[str], tmp_path: Path) -> None:
    web = _web(proxy, timeout_seconds=0.7, retries=0, concurrency=4)
    found = fetch_pages([*(f"http://stall.example/{number}" for number in range(40)), "http://good.example/town/1"], web, tmp_path, SilentReport())
    reasons = [entry.reason for entry in found if "stall" in entry.url]
    assert set(reasons) == {"no_answer", "site_given_up"} and reasons.count("no_answer") <= 8
    assert sum("stall" in url for url in asked) <= 9
    assert found[0].page is not None


def test_a_sitemap_is_cut_where_it_should(proxy: str, tmp_path: Path) -> None:
    found = fetch_pages(
        [], _web(proxy), tmp_path, SilentReport(), sitemaps={"http://good.example/sitemap.xml": 2, "http://other.example/sitemap.xml": 3}
    )
    assert sorted(entry.url for entry in found) == [f"http://good.example/town/{number}" for number in (1, 2)] + [
        f"http://other.example/town/{number}" for number in (1, 2, 3)
    ]


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads /proc")
def test_the_crawler_ends_with_the_process_that_started_it(proxy: str, asked: list[str], tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from terrarium.corpus.fetch import fetch_pages; from terrarium.corpus.web import WebSettings; "
        "from terrarium.job import SilentReport; "
        "fetch_pages(['http://dead.example/1'], WebSettings(proxy=sys.argv[1], timeout_seconds=60), Path(sys.argv[2]), SilentReport())"
    )
    starter = subprocess.Popen([sys.executable, "-c", code, proxy, str(tmp_path)], cwd=Path(__file__).resolve().parents[3])
    try:
        _until(lambda: any("dead.example" in url for url in asked), 60)
        crawlers = _crawlers(str(tmp_path))
        assert len(crawlers) == 1
    finally:
        starter.kill()
        starter.wait()
    _until(lambda: not _crawlers(str(tmp_path)), 20)


def _crawlers(folder: str) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "terrarium.corpus.spider" in line and folder in line:
            found.append(int(entry.parent.name))
    return found


def _until(happened: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.1)


def test_a_crawler_that_cannot_run_says_where_its_log_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("terrarium.corpus.fetch.sys.executable", "/bin/false")
    with pytest.raises(TerrariumError, match="crawler.log"):
        fetch_pages(["http://good.example/"], WebSettings(), tmp_path, SilentReport())


def test_an_unfinished_line_is_not_read(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_text('{"url": "u", "page": null, "reason": "gone", "detail": "", "bytes": 0, "source": ""}\n{"url": ')
    assert list(read_journal(journal)) == [Fetched("u", None, "gone")]
