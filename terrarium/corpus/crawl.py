"""The pages behind the search hits of the questions that passed: fetched, turned into Markdown, cleaned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from terrarium.corpus.fetch import fetch_pages
from terrarium.corpus.page import Page
from terrarium.corpus.page_file import write_page_file
from terrarium.corpus.seed_files import clean
from terrarium.corpus.urls import canonical_url, site_of
from terrarium.corpus.web import Limits, WebSettings
from terrarium.corpus.websearch import HIT_SCHEMA
from terrarium.errors import TerrariumError
from terrarium.job import Job, Outcome, Report
from terrarium.questions.question import read_questions
from terrarium.tables import Drop, read_rows, write_drops


class CrawlJob(Job):
    """Fetch the pages of `hits` that belong to the questions of `questions` (both folders)."""

    hits: Path
    questions: Path
    round: str
    web: WebSettings | None = None
    limits: Limits = Limits()


def crawl(job: CrawlJob, report: Report) -> Outcome:
    """Write pages.parquet and dropped.parquet; a page or site that fails costs itself alone, with a reason.

    Raises:
        TerrariumError: there are pages to fetch and the profile has no web section.
    """
    passed = {question.question_id for question in read_questions(job.questions / "questions.parquet")}
    urls = wanted_urls(job.hits / "hits.parquet", passed, job.limits.pages)
    if urls and job.web is None:
        raise TerrariumError("There are search hits to fetch but the profile has no web section; add one.")
    fetched = fetch_pages(urls, job.web, job.out / "web", report) if job.web and urls else []
    drops: list[Drop] = []
    pages: dict[str, Page] = {}
    for found in fetched:
        page = found.page
        if page is None:
            drops.append(Drop(found.url, "", "crawl", found.reason, found.detail))
        elif len(page.markdown) < job.limits.least_characters:
            drops.append(Drop(page.url, page.title, "crawl", "too_short", f"{len(page.markdown)} characters"))
        elif page.url in pages:
            # Two addresses led to one page: it is kept once, with both names.
            aliases = tuple(dict.fromkeys((*pages[page.url].aliases, *page.aliases)))
            pages[page.url] = replace(pages[page.url], aliases=aliases)
        else:
            pages[page.url] = replace(page, title=clean(page.title), markdown=clean(page.markdown), origin="crawl", round=job.round)
    kept = [pages[url] for url in sorted(pages)]
    write_page_file(job.out / "pages.parquet", kept)
    write_drops(job.out / "dropped.parquet", drops)
    reasons: dict[str, int] = {}
    for drop in drops:
        reasons[drop.reason] = reasons.get(drop.reason, 0) + 1
    sites = {site_of(page.url) for page in kept}
    size = sum(found.bytes for found in fetched)
    counts: dict[str, float] = {"pages": len(kept), "asked": len(urls), "sites": len(sites)}
    return Outcome(counts=counts, drops=reasons, costs={"pages_fetched": len(fetched), "bytes": size}, notes={"round": job.round})


def wanted_urls(hits: Path, passed: set[str], most: int | None = None) -> list[str]:
    """Addresses of the hits of the questions that passed, each page once: all first hits, then all second ones, and so on."""
    rows = [row for row in read_rows(hits, HIT_SCHEMA) if row["status"] == "hit" and row["url"] and row["question_id"] in passed]
    names: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: (row["rank"], row["question_id"])):
        try:
            names.setdefault(canonical_url(row["url"]), row["url"])
        except ValueError:
            continue
    return list(names.values())[:most]
