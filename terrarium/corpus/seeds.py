"""Seed pages of a round: from files and from the web, every page once, with its licence and revision, and the round's frontier.

What is kept while it runs is one journal a source; a killed run goes on inside the file it was reading.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from terrarium.corpus.fetch import Fetched, fetch_pages
from terrarium.corpus.page import Page
from terrarium.corpus.page_file import write_page_file
from terrarium.corpus.seed_files import Record, Redirect, clean, read_source
from terrarium.corpus.web import Limits, WebSettings
from terrarium.errors import TerrariumError
from terrarium.job import Job, Outcome, Report
from terrarium.tables import Drop, write_drops

SeedKind = Literal["sitemap", "urls", "wikipedia", "jsonl", "lite_jsonl_zst", "parquet_news", "parquet_wiki", "html_folder"]
_WEB_KINDS = ("sitemap", "urls")


class SeedSource(BaseModel):
    """One seed corpus.

    `location` is the URL of a sitemap; a file of URLs, one a line, or URLs separated by spaces; or the path of a file or folder.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: SeedKind
    location: str = Field(min_length=1)
    name: str = ""
    licence: str | None = None
    language: str | None = None
    limit: int | None = Field(default=None, ge=1, description="pages taken from this source, in its order")
    site: str = Field(default="https://folder.invalid", description="address that stands for the root of an html_folder")


class GatherJob(Job):
    """Collect the seeds of one round. `frontier` holds URLs that rollouts and people asked for."""

    sources: list[SeedSource]
    frontier: list[str] = Field(default_factory=list)
    round: str
    web: WebSettings | None = None
    limits: Limits = Limits()


def gather(job: GatherJob, report: Report) -> Outcome:
    """Write pages.parquet and dropped.parquet.

    Raises:
        TerrariumError: a source cannot be read, or a web source is named without web settings. What was read before a damaged place
            of a file stands in pages.parquet nevertheless.
    """
    journals = job.out / "journal"
    journals.mkdir(parents=True, exist_ok=True)
    online = [source for source in job.sources if source.kind in _WEB_KINDS]
    if (online or job.frontier) and job.web is None:
        raise TerrariumError("The round has seeds on the web but the profile has no web section; add one, or take those seeds out.")
    fault: TerrariumError | None = None
    for number, source in enumerate(job.sources):
        if source.kind not in _WEB_KINDS:
            try:
                _journal_file(source, number, journals, job.limits, report)
            except TerrariumError as error:
                fault = fault or error
    fetched: list[Fetched] = []
    if job.web is not None and (online or job.frontier):
        fetched = fetch_pages(
            [*(url for source in online if source.kind == "urls" for url in _listed(source)), *job.frontier],
            job.web,
            job.out / "web",
            report,
            sitemaps={source.location: _least(source.limit, job.limits.pages_per_source) for source in online if source.kind == "sitemap"},
        )
    outcome = _write(job, journals, fetched)
    if fault is not None:
        raise TerrariumError(f"{fault} The {outcome.counts['pages']:,.0f} pages read before that stand in {job.out / 'pages.parquet'}.") from fault
    if not outcome.counts["pages"]:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(outcome.drops.items())) or "the sources were empty"
        raise TerrariumError(f"No seed gave a page ({reasons}); see dropped.parquet in {job.out}, and whether the web's proxy answers.")
    return outcome


def require_place(source: SeedSource) -> None:
    """Refuse a seed whose file or folder is not there, before any other work is done.

    Raises:
        TerrariumError: it is not there.
    """
    if source.location.startswith(("http://", "https://")) or Path(source.location).exists():
        return
    raise TerrariumError(f"The seeds {source.location} ({source.kind}) do not exist; correct the location of this seed in the profile, or SEEDS=.")


def _least(*numbers: int | None) -> int | None:
    known = [number for number in numbers if number is not None]
    return min(known) if known else None


def _listed(source: SeedSource) -> list[str]:
    path = Path(source.location)
    if source.location.startswith(("http://", "https://")):
        urls = source.location.split()
    elif path.is_file():
        urls = [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip() and not line.startswith("#")]
    else:
        raise TerrariumError(f"The list of seed URLs {path} does not exist; correct the location of this seed in the profile.")
    if not urls:
        raise TerrariumError(f"The list of seed URLs {path} is empty.")
    return urls[: source.limit]


def _journal_file(source: SeedSource, number: int, journals: Path, limits: Limits, report: Report) -> None:
    """Read a file source to its end (or limit) into its journal; go on where the journal ends."""
    journal, done = journals / f"{number}.jsonl", journals / f"{number}.done"
    if done.exists():
        return
    start, pages = _mended(journal)
    most = _least(source.limit, limits.pages_per_source)
    what = f"pages of {source.name or Path(source.location).name}"
    with journal.open("a", encoding="utf-8") as file:
        for at, record in read_source(source, start):
            if most is not None and pages >= most and isinstance(record, Page):
                break
            pages += isinstance(record, Page)
            file.write(json.dumps({"at": at, type(record).__name__.lower(): asdict(record)}, ensure_ascii=True) + "\n")
            report.progress(pages, most, what)
    done.touch()


def _mended(journal: Path) -> tuple[int, int]:
    """Cut off a half-written last line; the number of the next record, and how many pages there are."""
    start = pages = whole = 0
    if journal.exists():
        with journal.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                row = json.loads(line)
                start, pages = row["at"] + 1, pages + ("page" in row)
        with journal.open("rb+") as file:
            file.truncate(whole)
    return start, pages


def _records(journals: Path, count: int) -> Iterator[tuple[int, Record]]:
    for number in range(count):
        journal = journals / f"{number}.jsonl"
        if not journal.exists():
            continue
        with journal.open(encoding="utf-8") as lines:
            for line in lines:
                if line.endswith("\n"):
                    yield number, _record(json.loads(line))


def _record(row: dict[str, Any]) -> Record:
    if "page" in row:
        return Page(**{**row["page"], "aliases": tuple(row["page"]["aliases"])})
    return Drop(**row["drop"]) if "drop" in row else Redirect(**row["redirect"])


def _write(job: GatherJob, journals: Path, fetched: list[Fetched]) -> Outcome:
    """Pages in the order of the sources, the web's last; of one URL the first."""
    aliases: dict[str, list[str]] = {}
    titles: set[str] = set()
    for _, record in _records(journals, len(job.sources)):
        if isinstance(record, Redirect):
            aliases.setdefault(record.target, []).append(record.url)
        elif isinstance(record, Page):
            titles.add(record.url)
    chains = {url: target for target, urls in aliases.items() for url in urls}
    for target in [target for target in aliases if target not in titles]:
        # A redirect to a redirect: its target's target is the page.
        final, steps = target, 0
        while final in chains and final not in titles and steps < 10:
            final, steps = chains[final], steps + 1
        if final != target and final in titles:
            aliases.setdefault(final, []).extend([target, *aliases[target]])
    drops: list[Drop] = []
    licences = {source.location: source.licence for source in job.sources}
    seen: set[str] = set()
    bytes_read = sum(found.bytes for found in fetched)

    def pages() -> Iterator[Page]:
        for number, record in _records(journals, len(job.sources)):
            if isinstance(record, Drop):
                drops.append(record)
            elif isinstance(record, Page):
                more = tuple(dict.fromkeys((*record.aliases, *(url for url in aliases.get(record.url, ()) if url != record.url))))
                yield from taken(replace(record, aliases=more), job.sources[number].name or job.sources[number].location)
        for found in fetched:
            if found.page is None:
                drops.append(Drop(found.url, "", "seed", found.reason, found.detail))
            else:
                yield from taken(replace(found.page, licence=found.page.licence or licences.get(found.source)), found.url)

    def taken(page: Page, where: str) -> Iterator[Page]:
        if page.url in seen:
            drops.append(Drop(page.url, page.title, "seed", "same_page", f"seen before this one from {where}"))
        elif len(page.markdown) < job.limits.least_characters:
            drops.append(Drop(page.url, page.title, "seed", "too_short", f"{len(page.markdown)} characters"))
        elif job.limits.pages is not None and len(seen) >= job.limits.pages:
            drops.append(Drop(page.url, page.title, "seed", "beyond_limit", f"the round takes {job.limits.pages} pages"))
        else:
            seen.add(page.url)
            yield replace(page, title=clean(page.title), markdown=clean(page.markdown), origin="seed", round=job.round)

    count = write_page_file(job.out / "pages.parquet", pages())
    write_drops(job.out / "dropped.parquet", drops)
    reasons: dict[str, int] = {}
    for drop in drops:
        reasons[drop.reason] = reasons.get(drop.reason, 0) + 1
    counts: dict[str, float] = {
        "pages": count,
        "redirects": sum(len(urls) for urls in aliases.values()),
        "fetched": len(fetched),
        "sources": len(job.sources),
    }
    return Outcome(counts=counts, drops=reasons, costs={"pages_fetched": len(fetched), "bytes": bytes_read}, notes={"round": job.round})
