"""Every page once: latest version, all its names, exact and near copies marked. Not yet sealed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from terrarium.corpus.dedup import near_duplicates
from terrarium.corpus.extract import lead
from terrarium.corpus.page import Page, read_pages
from terrarium.corpus.page_file import write_page_file
from terrarium.corpus.urls import canonical_url, site_of
from terrarium.job import Job, Outcome, Report, track
from terrarium.tables import Drop, write_drops


class MergeSettings(BaseModel):
    """`near_duplicates` False marks exact copies only."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    near_duplicates: bool = True
    domains_shown: int = Field(default=40, ge=0)


class MergeJob(Job):
    """Merge the pages of all rounds; `pages` are folders with a pages.parquet each.

    A later round is one whose name sorts later; pages that name no round are as old as their folder's place in the list.
    """

    pages: list[Path]
    settings: MergeSettings = MergeSettings()


@dataclass(slots=True)
class _Known:
    """A page as far as it was read: its latest version, when it was first seen, and whether it ever was a seed."""

    page: Page
    first: str
    latest: str
    seed: bool
    aliases: dict[str, None]


def merge(job: MergeJob, report: Report) -> Outcome:
    """Write pages.parquet (with `duplicate_of`) and dropped.parquet."""
    known: dict[str, _Known] = {}
    versions = 0
    for order, folder in enumerate(track(job.pages, report, "tables of pages")):
        for page in read_pages(folder / "pages.parquet"):
            versions += 1
            _add(known, page, page.round or f"{order:06d}")
    drops = _join_moved(known)
    for entry in [entry for entry in known.values() if entry.page.vanished_at]:
        drops.append(Drop(entry.page.url, entry.page.title, "merge", "vanished", f"gone since {entry.page.vanished_at}"))
        del known[entry.page.url]
    pages = _marked(list(known.values()), job.settings.near_duplicates, report)
    write_page_file(job.out / "pages.parquet", sorted(pages, key=lambda page: page.url))
    write_drops(job.out / "dropped.parquet", drops)
    copies = sum(page.duplicate_of is not None for page in pages)
    domains = Counter(site_of(page.url) for page in pages)
    notes = {
        "domains": dict(sorted(domains.items(), key=lambda item: (-item[1], item[0]))[: job.settings.domains_shown]),
        "languages": dict(sorted(Counter(page.language for page in pages).items())),
        "origins": dict(sorted(Counter(page.origin for page in pages).items())),
        "licences": dict(sorted(Counter(page.licence or "not stated" for page in pages).items())),
    }
    counts: dict[str, float] = {"pages": len(pages), "versions": versions, "copies": copies, "distinct": len(pages) - copies, "domains": len(domains)}
    return Outcome(counts=counts, drops=dict(Counter(drop.reason for drop in drops)), notes=notes)


def _add(known: dict[str, _Known], page: Page, age: str) -> None:
    entry = known.get(page.url)
    if entry is None:
        known[page.url] = _Known(page, age, age, page.origin == "seed", dict.fromkeys(page.aliases))
        return
    entry.aliases |= dict.fromkeys(page.aliases)
    entry.seed = entry.seed or page.origin == "seed"
    entry.first = min(entry.first, age)
    # Of one round's two versions the one fetched later; a seed file's version has no time and gives way.
    if (age, page.fetched_at or "", page.content_hash) >= (entry.latest, entry.page.fetched_at or "", entry.page.content_hash):
        entry.page, entry.latest = page, age


def _join_moved(known: dict[str, _Known]) -> list[Drop]:
    """A page whose address now leads to another page is an old name of that one."""
    drops: list[Drop] = []
    for entry in sorted(known.values(), key=lambda entry: (entry.latest, entry.page.url)):
        for alias in list(entry.aliases):
            try:
                name = canonical_url(alias)
            except ValueError:
                del entry.aliases[alias]
                continue
            other = known.get(name)
            if other is None or other is entry or entry.page.url not in known:
                continue
            if other.latest < entry.latest:
                entry.aliases |= other.aliases
                entry.first, entry.seed = min(entry.first, other.first), entry.seed or other.seed
                drops.append(Drop(name, other.page.title, "merge", "moved", f"leads to {entry.page.url} now"))
                del known[name]
            else:
                # It is a page of its own by now.
                del entry.aliases[alias]
    return drops


def _marked(entries: list[_Known], near: bool, report: Report) -> list[Page]:
    """Pages with `duplicate_of`: of copies the oldest stays, a seed before others of its age, then the shortest address."""
    entries = sorted(entries, key=lambda entry: (entry.first, not entry.seed, len(entry.page.url), entry.page.url))
    texts = [entry.page.markdown for entry in entries]
    if near:
        stays = near_duplicates(texts, lambda done: report.progress(done, len(texts), "pages compared"))
    else:
        first: dict[str, int] = {}
        stays = [first.setdefault(" ".join(text.split()), position) for position, text in enumerate(texts)]
    pages = []
    for position, entry in enumerate(entries):
        original = entries[stays[position]].page.page_id if stays[position] != position else None
        aliases = tuple(name for name in entry.aliases if name != entry.page.url)
        origin = "seed" if entry.seed else entry.page.origin
        pages.append(
            replace(entry.page, aliases=aliases, duplicate_of=original, origin=origin, summary=entry.page.summary or lead(entry.page.markdown))
        )
    return pages
