"""One loader writes page store and search index together: idempotently, in chunks, and so that a killed build continues.

A page enters both or neither. What the vectors are made of is a page's title with its summary, or its lead where it has none, and
its headings; Milvus' BM25 reads the whole page besides, since what a question names mostly stands further down.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from terrarium.corpus.page import PAGE_SCHEMA, Page
from terrarium.errors import TerrariumError
from terrarium.job import Gate, Job, Outcome, Report
from terrarium.tables import Drop, stable_id, write_drops
from terrarium.world.embed import Embedder, EmbedderSettings, open_embedder
from terrarium.world.index import IndexRow, IndexSettings, SearchIndex
from terrarium.world.loading import Plan, plan, read_removals, stream
from terrarium.world.passages import blocks
from terrarium.world.snippet import lead
from terrarium.world.store import PageStore, row_hash, unusable
from terrarium.world.vectors import VectorCache

CONTENT = "content.json"
_HEADINGS = 40


class BuildJob(Job):
    """Page store and search index from the candidate pages that were not removed. `out` is the same folder as `store`."""

    pages: Path
    removed: Path
    store: Path
    index: Path
    embedder: EmbedderSettings
    index_settings: IndexSettings = IndexSettings()
    store_url: str | None = Field(default=None, description="PostgreSQL; env:NAME reads the address from the environment")
    vectors: Path | None = Field(default=None, description="SQLite file that keeps vectors across builds")
    chunk: int = Field(default=256, ge=1, le=10_000)


class Content(BaseModel):
    """What lies in a store or index folder; the only file there whose bytes are the same for the same pages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    build: str
    pages: int
    digest: str
    embedder: str = ""
    lexical: bool = False
    settings: IndexSettings | None = None
    store_url: str | None = None

    @staticmethod
    def read(folder: Path) -> Content:
        """Read a folder's content.json.

        Raises:
            TerrariumError: the folder was not built to the end.
        """
        try:
            return Content.model_validate_json((folder / CONTENT).read_text())
        except (OSError, ValueError) as error:
            raise TerrariumError(f"The folder {folder} has no readable {CONTENT}; materialise page_store and search_index again.") from error

    def write(self, folder: Path) -> None:
        """Write content.json by rename."""
        partial = folder / (CONTENT + ".partial")
        partial.write_text(json.dumps(self.model_dump(mode="json"), indent=1, sort_keys=True))
        partial.replace(folder / CONTENT)


def index_text(page: Page, lead_words: int) -> str:
    """What a page is found by: title, summary or lead, headings."""
    body = " ".join(page.summary.split()) or lead(page.markdown[:20_000], page.title, lead_words)
    headings: list[str] = []
    words = 0
    for block in blocks(page.markdown[:200_000]):
        if block.kind == "heading" and block.lines[0].casefold() != page.title.casefold() and block.lines[0] not in headings:
            words += len(block.lines[0].split())
            if words > _HEADINGS:
                break
            headings.append(block.lines[0])
    return "\n".join(part for part in (page.title, body, "; ".join(headings)) if part)


def page_words(text: str, markdown: str) -> str:
    """What BM25 reads of a page: what its vectors are made of, then all its lines."""
    return "\n".join([text, *(line for block in blocks(markdown[:200_000]) for line in block.lines)])


def build(job: BuildJob, report: Report) -> Outcome:
    """Load the pages that were not removed into page store and search index, and repair both where an earlier attempt stopped.

    Raises:
        TerrariumError: an input is missing or damaged, or there is no page to load.
        Outage: the database or the search engine did not answer.
    """
    began = time.monotonic()
    removals = read_removals(job.removed)
    table = job.pages / "pages.parquet"
    if not table.is_file():
        raise TerrariumError(f"The table {table} does not exist; materialise candidate_pages first.")
    loading = plan(table, removals)
    if not loading.pages:
        raise TerrariumError(
            f"No page of {table} is left to load ({len(loading.removed)} removed, {loading.vanished} vanished); widen the corpus or the removal mode."
        )
    embedder = open_embedder(job.embedder)
    name = _build_name(job, embedder, loading)
    for folder in (job.store, job.index):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONTENT).unlink(missing_ok=True)
    with (
        PageStore.create(job.store, name, job.store_url) as store,
        SearchIndex.create(job.index, job.index_settings, name, embedder.dimension, embedder.lexical, report.say) as index,
    ):
        loader = _Loader(job, store, index, embedder, loading)
        try:
            loader.run(table, report)
        finally:
            loader.cache.close()
        stored, indexed = store.row_hashes(), index.row_hashes()
        contents = (
            Content(build=name, pages=len(stored), digest=store.digest(), store_url=job.store_url),
            Content(
                build=name,
                pages=len(indexed),
                digest=index.digest(),
                embedder=embedder.fingerprint,
                lexical=embedder.lexical,
                settings=job.index_settings,
            ),
        )
    write_drops(job.store / "dropped.parquet", loader.drops)
    gate = agreement(stored, indexed, len(loading.pages) - len(loader.drops))
    for folder, content in zip((job.store, job.index), contents, strict=True):
        content.write(folder)
    return Outcome(
        counts={
            "pages": len(stored),
            "addresses": sum(len(loading.pages[page_id]) for page_id in stored if page_id in loading.pages),
            "copies": loading.copies,
            "removed": len(loading.removed),
            "vanished": loading.vanished,
        },
        drops=_by_reason(loader.drops),
        gates=[gate],
        # What this attempt had to do, and the size of engines' own files: not the same in two builds of the same pages.
        costs={
            "work_seconds": round(time.monotonic() - began, 2),
            "written": loader.written,
            "unchanged": len(stored) - loader.written,
            "embedded": loader.cache.embedded,
            "store_bytes": _size(job.store),
            "index_bytes": _size(job.index),
        },
        notes={"build": name, "mode": removals.mode, "embedder": embedder.fingerprint},
    )


def agreement(stored: Mapping[str, str], indexed: Mapping[str, str], expected: int | None = None) -> Gate:
    """Whether store and index hold the same pages."""
    apart = set(stored) ^ set(indexed)
    passed = not apart and (expected is None or len(stored) == expected)
    detail = f"{len(stored)} pages in the store, {len(indexed)} in the index"
    if apart:
        detail += f"; {len(apart)} only in one, for example {min(apart)}"
    return Gate(
        name="index_matches_store", passed=passed, detail=detail, figures={"stored": len(stored), "indexed": len(indexed), "apart": len(apart)}
    )


class _Loader:
    """One pass over the pages: what is there already is left alone, what is no longer wanted is taken out."""

    def __init__(self, job: BuildJob, store: PageStore, index: SearchIndex, embedder: Embedder, loading: Plan) -> None:
        self.job = job
        self.store = store
        self.index = index
        self.loading = loading
        self.embedder = embedder
        self.cache = VectorCache(job.vectors, embedder)
        self.stored = store.row_hashes()
        self.indexed = index.row_hashes()
        self.drops: list[Drop] = []
        self.written = 0

    def run(self, table: Path, report: Report) -> None:
        self._forget(set(self.stored) - set(self.loading.pages), set(self.indexed) - set(self.loading.pages))
        done = 0
        report.progress(0, len(self.loading.pages), "pages")
        for rows in stream(table, self.loading.pages, self.job.chunk):
            self._load([_page(row) for row in rows])
            done += len(rows)
            report.progress(done, len(self.loading.pages), "pages")
        bad = {drop.id for drop in self.drops}
        self._forget(bad & set(self.stored), bad & set(self.indexed))

    def _load(self, pages: Sequence[Page]) -> None:
        """The store first: a page in the index alone would be a hit that cannot be opened."""
        bad = [Drop(page.page_id, page.url, "build", reason) for page in pages if (reason := unusable(page))]
        refused = {drop.id for drop in bad}
        good = [page for page in pages if page.page_id not in refused]
        changed = [page for page in good if self.stored.get(page.page_id) != row_hash(page, self.loading.pages[page.page_id])]
        drops = self.store.write(changed, self.loading.pages)
        self.drops.extend([*bad, *drops])
        refused = {drop.id for drop in self.drops}
        texts = {page.page_id: index_text(page, self.job.index_settings.lead_words) for page in good if page.page_id not in refused}
        words = {page.page_id: page_words(texts[page.page_id], page.markdown) for page in good if page.page_id in texts} if self._reads_pages else {}
        names = {page_id: stable_id(text, words.get(page_id, ""), self.embedder.fingerprint) for page_id, text in texts.items()}
        stale = [page_id for page_id in texts if self.indexed.get(page_id) != names[page_id]]
        if stale:
            vectors = self.cache.embed([texts[page_id] for page_id in stale])
            lexical = vectors.lexical or [None] * len(stale)
            rows = [
                IndexRow(page_id, names[page_id], texts[page_id], vectors.dense[i], lexical[i], words.get(page_id)) for i, page_id in enumerate(stale)
            ]
            self.index.upsert(rows)
        self.written += len({page.page_id for page in changed if page.page_id not in refused} | set(stale))

    @property
    def _reads_pages(self) -> bool:
        return self.job.index_settings.bm25_reads == "page" and not self.embedder.lexical

    def _forget(self, stored: set[str], indexed: set[str]) -> None:
        self.index.delete(indexed)
        self.store.delete(stored)


def _page(row: Mapping[str, Any]) -> Page:
    return Page(**{**{name: row[name] for name in PAGE_SCHEMA.names}, "aliases": tuple(row["aliases"] or ())})


def _build_name(job: BuildJob, embedder: Embedder, loading: Plan) -> str:
    """Equal for the same pages and settings: on a server it keeps builds apart, and lets a killed one find its rows."""
    settings = json.dumps(job.index_settings.identity(), sort_keys=True)
    return stable_id(settings, embedder.fingerprint, loading.digest)


def _by_reason(drops: Sequence[Drop]) -> dict[str, int]:
    return {reason: sum(drop.reason == reason for drop in drops) for reason in sorted({drop.reason for drop in drops})}


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
