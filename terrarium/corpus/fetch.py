"""Fetch pages over HTTP: a crawler process beside this one, and a journal from which a killed run goes on.

Scrapy keeps the manners (robots.txt, retries, limits a host, time-outs, sizes). It runs in a process of its own because its
reactor starts only once in a process; it ends when this one does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from terrarium.corpus.page import Page
from terrarium.corpus.web import WebSettings
from terrarium.errors import TerrariumError
from terrarium.job import Report


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of one address: a page, or a reason. `source` says which seed it came from ("" = asked for directly)."""

    url: str
    page: Page | None
    reason: str = ""
    detail: str = ""
    bytes: int = 0
    source: str = ""


def fetch_pages(
    urls: Sequence[str],
    web: WebSettings,
    folder: Path,
    report: Report,
    *,
    sitemaps: Mapping[str, int | None] | None = None,
) -> list[Fetched]:
    """Fetch addresses, and the pages that sitemaps list (at most so many each), into `folder/journal.jsonl`; return what the journal holds.

    Addresses that the journal already answers are not asked again. The result is in the order of the addresses' text.

    Raises:
        TerrariumError: the crawler could not run at all. A page or site that fails is a `Fetched` with a reason.
    """
    folder.mkdir(parents=True, exist_ok=True)
    journal = folder / "journal.jsonl"
    done = {found.url for found in read_journal(journal)}
    finished = folder / "finished"
    wanted = [url for url in dict.fromkeys(urls) if url not in done]
    if (wanted or sitemaps) and not finished.exists():
        order = {"urls": wanted, "sitemaps": dict(sitemaps or {}), "journal": str(journal), "web": web.model_dump(mode="json")}
        order_file = folder / "order.json"
        order_file.write_text(json.dumps(order), encoding="utf-8")
        _mend(journal)
        _run(order_file, web, report, len(done))
    finished.touch()
    # A sitemap that failed is asked again by the attempt that goes on; what came last of an address counts, unless it was a page before.
    found: dict[str, Fetched] = {}
    for entry in read_journal(journal):
        if entry.page is not None or entry.url not in found or found[entry.url].page is None:
            found[entry.url] = entry
    return [found[url] for url in sorted(found)]


def read_journal(journal: Path) -> Iterator[Fetched]:
    """The finished lines of a journal; a last line that a killed process left half-written is passed over."""
    if not journal.exists():
        return
    with journal.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("\n"):
                return
            row: dict[str, Any] = json.loads(line)
            page = row.pop("page")
            yield Fetched(page=Page(**{**page, "aliases": tuple(page["aliases"])}) if page else None, **row)


def journal_line(found: Fetched) -> str:
    """One finished address as a line."""
    return json.dumps(asdict(found), ensure_ascii=True) + "\n"


def _mend(journal: Path) -> None:
    """Cut off a half-written last line, so that what is appended stands on its own."""
    if not journal.exists() or not journal.stat().st_size:
        return
    with journal.open("rb+") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            file.truncate(whole)


def _run(order_file: Path, web: WebSettings, report: Report, done: int) -> None:
    environment = dict(os.environ)
    if web.proxy:
        for name in [name for name in environment if name.lower() in ("http_proxy", "https_proxy", "no_proxy", "all_proxy")]:
            del environment[name]
        environment |= {"http_proxy": web.proxy, "https_proxy": web.proxy}
    root = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(part for part in (root, environment.get("PYTHONPATH")) if part)
    errors = order_file.with_name("crawler.log")
    with (
        errors.open("w", encoding="utf-8") as log,
        subprocess.Popen(
            [sys.executable, "-m", "terrarium.corpus.spider", str(order_file)], stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        ) as child,
    ):
        try:
            assert child.stdout is not None
            for line in child.stdout:
                finished, _, known = line.strip().partition(" ")
                if finished.isdigit() and known.isdigit():
                    report.progress(done + int(finished), done + int(known), "pages fetched")
            status = child.wait()
        finally:
            if child.poll() is None:
                child.terminate()
                try:
                    child.wait(10)
                except subprocess.TimeoutExpired:
                    child.kill()
    if status != 0:
        tail = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or ["no message"]
        raise TerrariumError(
            f"The crawler stopped with status {status} ({tail[0][:300]}); its log is {errors}, and the next run goes on from its journal."
        )
