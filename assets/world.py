"""The sealed world: page store and search index, made together by one loader, then probed for leaks and published as a snapshot.

Engines, ranking, snippets and the two tools stand in `terrarium.world`.
"""

from __future__ import annotations

from assets.inputs import Inputs
from assets.step import step
from terrarium.job import Job


@step(
    "terrarium.world.build:build",
    group="world",
    names=("page_store", "search_index"),
    descriptions={
        "page_store": "Full Markdown of every page of the world by canonical URL. One step makes this and the search index, together.",
        "search_index": "Page-level hybrid index: one row a page (title and summary), dense and sparse. One step makes this and the page store.",
    },
    after=("candidate_pages", "removed_sources"),
    kinds=("milvus", "sqlite"),
    gates=("index_matches_store",),
    # The engines' own files differ from run to run; what they hold is told by content.json.
    volatile={"page_store": ("pages.sqlite*",), "search_index": ("milvus*",)},
    outside=("vectors",),
)
def page_store_and_search_index(inputs: Inputs) -> Job:
    """Both from the candidate pages that were not removed."""
    profile = inputs.profile
    return inputs.job(
        pages=inputs.folder("candidate_pages"),
        removed=inputs.folder("removed_sources"),
        store=inputs.out_of("page_store"),
        index=inputs.out_of("search_index"),
        embedder=profile.embedder,
        index_settings=profile.index,
        store_url=profile.store_url,
        vectors=inputs.store.folder / "vectors.sqlite",
    )


@step(
    "terrarium.world.seal:seal",
    group="world",
    after=("page_store", "search_index", "removed_sources", "candidate_pages", "screened_questions"),
    kinds=("milvus", "sqlite"),
    gates=("no_removed_page_reachable", "index_matches_store"),
    samples=("probe.parquet",),
    # Says where store and index lie.
    volatile={"world": ("places.json",)},
)
def world(inputs: Inputs) -> Job:
    """The sealed world: both tools probed for leaks, then a snapshot: one id over pages, removals, embedder, index, snippet rule and ranker."""
    profile = inputs.profile
    return inputs.job(
        store=inputs.folder("page_store"),
        index=inputs.folder("search_index"),
        removed=inputs.folder("removed_sources"),
        pages=inputs.folder("candidate_pages"),
        questions=inputs.folders("screened_questions"),
        embedder=profile.embedder,
        tools=profile.tools,
    )


WORLD = [page_store_and_search_index, world]
