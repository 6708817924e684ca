"""The corpus: pages of the seeds, and of the web behind what a search gave for questions made from them.

What a page is, how it is fetched and when two are the same stands in `terrarium.corpus`; here stands only what is made from what.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assets.inputs import Inputs
from assets.rounds import frontier_of
from assets.step import step
from terrarium.job import Job

if TYPE_CHECKING:
    from terrarium.corpus.seeds import SeedSource

# What a killed step goes on from: in the order in which answers came, with times.
JOURNALS = ("web", "journal", "journal.jsonl")


@step(
    "terrarium.corpus.seeds:gather",
    group="corpus",
    per="round",
    samples=("pages.parquet", "dropped.parquet"),
    outside=("web",),
    volatile={"seed_pages": JOURNALS},
    web=True,
)
def seed_pages(inputs: Inputs) -> Job:
    """Pages of the seed corpora (Wikipedia dumps, news, JSONL, sites, lists of URLs) and of the round's frontier."""
    profile = inputs.profile
    sources = [local_file(source, inputs) for source in profile.seeds]
    from_web(inputs)
    return inputs.job(
        sources=sources, frontier=frontier_of(inputs.store.folder, inputs.round), round=inputs.round, web=profile.web, limits=profile.limits
    )


@step(
    "terrarium.corpus.websearch:gather_hits",
    group="corpus",
    per="round",
    after=("extracted_questions",),
    warnings=("search_answered",),
    unfinished=("failed",),
    samples=("hits.parquet",),
    outside=("web",),
    volatile={"search_hits": JOURNALS},
    web=True,
)
def search_hits(inputs: Inputs) -> Job:
    """What the web search gave for each question, kept once: the screen reads the snippets, the crawl the URLs.

    `not_asked` where a profile has no web search.
    """
    from_web(inputs)
    return inputs.job(questions=inputs.folder("extracted_questions"), web=inputs.profile.web, search=inputs.profile.search)


@step(
    "terrarium.corpus.crawl:crawl",
    group="corpus",
    per="round",
    after=("search_hits", "screened_questions"),
    kinds=("python", "parquet", "scrapy"),
    samples=("pages.parquet", "dropped.parquet"),
    outside=("web",),
    volatile={"crawled_pages": JOURNALS},
    web=True,
)
def crawled_pages(inputs: Inputs) -> Job:
    """The pages behind the hits of the questions that passed: fetched, turned into Markdown, cleaned; vanished pages as tombstones."""
    from_web(inputs)
    return inputs.job(
        hits=inputs.folder("search_hits"),
        questions=inputs.folder("screened_questions"),
        round=inputs.round,
        web=inputs.profile.web,
        limits=inputs.profile.limits,
    )


@step(
    "terrarium.corpus.candidates:merge",
    group="corpus",
    after=("seed_pages", "crawled_pages"),
    samples=("pages.parquet", "dropped.parquet"),
)
def candidate_pages(inputs: Inputs) -> Job:
    """Every page of all rounds once: canonical URL with aliases, latest version, content hash, near-duplicate cluster; not yet sealed."""
    return inputs.job(pages=inputs.folders("seed_pages") + inputs.folders("crawled_pages"), settings=inputs.profile.candidates)


def from_web(inputs: Inputs) -> None:
    """A web that the profile brings is part of the fingerprint, by what it says of itself rather than by its port."""
    if (serve := inputs.profile.serve) is not None:
        inputs.also(web=serve.identity or list(serve.command))


def local_file(source: SeedSource, inputs: Inputs) -> SeedSource:
    """A source of seeds; if it is a file of this machine, its content becomes part of the fingerprint."""
    if "://" in source.location:
        return source
    return source.model_copy(update={"location": str(inputs.file(Path(source.location)))})


CORPUS = [seed_pages, search_hits, crawled_pages, candidate_pages]
