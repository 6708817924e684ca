"""Sealing: from a page store and an index to a world with an identity, after both tools were probed for what must not be in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from terrarium.errors import TerrariumError
from terrarium.job import Gate, Job, Outcome, Report
from terrarium.journal import Journal
from terrarium.questions.question import Question, read_questions
from terrarium.tables import batches, stable_id, write_rows
from terrarium.world.build import Content, agreement
from terrarium.world.embed import EmbedderSettings, open_embedder
from terrarium.world.index import SearchIndex
from terrarium.world.loading import Plan, Removals, plan, read_removals
from terrarium.world.probe import PROBE_SCHEMA, Probe, Target, addresses_of, evidence_sentences, probe
from terrarium.world.snapshot import HIDDEN, PLACES, WORLD, Places, WorldFile, snapshot_id, write_json
from terrarium.world.store import PageStore
from terrarium.world.tools import ToolSettings
from terrarium.world.world import open_world

HIDDEN_SCHEMA = pa.schema([("question_id", pa.string()), ("page_id", pa.string())])


class SealJob(Job):
    """The world of a page store and a search index. `pages` are the candidates: the removed ones are probed for by title and address."""

    store: Path
    index: Path
    removed: Path
    pages: Path
    questions: list[Path]
    embedder: EmbedderSettings
    tools: ToolSettings = ToolSettings()


def seal(job: SealJob, report: Report) -> Outcome:
    """Probe both tools for every removed page, compare store and index, and write the snapshot.

    Raises:
        TerrariumError: store and index are of different builds, or an input is missing.
        Outage: a tool failed while it was probed.
    """
    stored, indexed = Content.read(job.store), Content.read(job.index)
    if stored.build != indexed.build or indexed.settings is None:
        raise TerrariumError(
            f"The page store {job.store} and the search index {job.index} are of different builds; materialise both again, together."
        )
    removals = read_removals(job.removed)
    loading = plan(job.pages / "pages.parquet", removals)
    questions = [question for folder in job.questions for question in read_questions(folder / "questions.parquet")]
    hidden = hidden_pages(removals, loading, questions)
    embedder = open_embedder(job.embedder).fingerprint
    if embedder != indexed.embedder:
        raise TerrariumError(
            f"The embedder of the profile is not the one the search index {job.index} was built with; materialise search_index again."
        )
    digest = removal_digest(removals, loading, hidden)
    identity = WorldFile(
        snapshot=snapshot_id(stored.digest, indexed.digest, digest, embedder, indexed.settings, job.tools),
        mode=removals.mode,
        pages=stored.pages,
        removed=len(loading.removed),
        build=stored.build,
        store_digest=stored.digest,
        index_digest=indexed.digest,
        removal_digest=digest,
        embedder_fingerprint=embedder,
        lexical=indexed.lexical,
        embedder=job.embedder,
        index_settings=indexed.settings,
        tools=job.tools,
        store_url=stored.store_url,
    )
    matches = _matches(job, identity, report)
    write_rows(
        job.out / HIDDEN,
        ({"question_id": question, "page_id": page} for question, pages in sorted(hidden.items()) for page in sorted(pages)),
        HIDDEN_SCHEMA,
    )
    write_json(job.out / PLACES, Places.of(job.store, job.index, job.out))
    write_json(job.out / WORLD, identity)
    targets = _targets(job, loading, hidden, questions)
    with open_world(job.out, report.say) as world, Journal(job.out / "probed.jsonl") as journal:
        found = probe(world, targets, report, journal)
    write_rows(job.out / "probe.parquet", (asdict(row) for row in found.rows), PROBE_SCHEMA)
    journal.forget()
    return Outcome(
        counts={
            "pages": stored.pages,
            "removed": len(loading.removed),
            "questions_with_hidden_pages": len(hidden),
            "probed": len(targets),
            "visits_probed": sum(row.asked for row in found.rows if row.tool == "visit"),
            "searches_probed": sum(row.asked for row in found.rows if row.tool == "search"),
            "leaks": found.leaks,
            "pages_repeating_evidence": len(found.repeats),
        },
        gates=[reachable(found, removals.mode), matches],
        notes={"snapshot": identity.snapshot, "mode": removals.mode, "pages_repeating_evidence": sorted(found.repeats)[:20]},
    )


def hidden_pages(removals: Removals, loading: Plan, questions: list[Question]) -> dict[str, frozenset[str]]:
    """question id -> ids of the world's pages hidden from it; empty unless the mode is "question". Copies are hidden by the page that stays."""
    if removals.mode != "question":
        return {}
    hidden: dict[str, set[str]] = defaultdict(set)
    for question, pages in removals.by_question.items():
        hidden[question].update(pages)
    for entry in questions:
        hidden[entry.question_id].update(entry.source_page_ids)
    mapped = {question: frozenset(loading.stays.get(page, page) for page in pages) for question, pages in hidden.items()}
    return {question: pages & frozenset(loading.pages) for question, pages in mapped.items() if pages & frozenset(loading.pages)}


def removal_digest(removals: Removals, loading: Plan, hidden: Mapping[str, frozenset[str]]) -> str:
    """Names what is removed for whom."""
    pairs = [f"{question}:{page}" for question, pages in sorted(hidden.items()) for page in sorted(pages)]
    return stable_id(removals.mode, *sorted(loading.removed), "", *pairs, length=32)


def reachable(found: Probe, mode: str) -> Gate:
    """Whether the probe reached a removed page."""
    leaking = [row for row in found.rows if row.leaks]
    detail = f"{len({row.page_id for row in found.rows})} pages probed, removal mode {mode}"
    if leaking:
        detail += f"; {len(leaking)} leaks, for example {leaking[0].tool} of {leaking[0].url} by {leaking[0].example[:80]!r}"
    return Gate(name="no_removed_page_reachable", passed=not leaking, detail=detail, figures={"leaks": len(leaking), "probed": len(found.rows)})


def _matches(job: SealJob, identity: WorldFile, report: Report) -> Gate:
    """Store and index as they lie there, not as their builder said they were."""
    with (
        PageStore.open(job.store, identity.build, identity.store_url) as store,
        SearchIndex.open(job.index, identity.index_settings, identity.build, identity.lexical, report.say) as index,
    ):
        gate = agreement(store.row_hashes(), index.row_hashes(), identity.pages)
        if store.digest() != identity.store_digest or index.digest() != identity.index_digest:
            return gate.model_copy(update={"passed": False, "detail": gate.detail + "; rows were changed after the build"})
        return gate


def _targets(job: SealJob, loading: Plan, hidden: Mapping[str, frozenset[str]], questions: list[Question]) -> list[Target]:
    """Pages removed for everybody, by all that was read from them; then each page hidden from a question, by what that question was read from."""
    sentences = evidence_sentences(questions, loading.stays)
    wanted = loading.removed.union(*hidden.values())
    rows = {row["page_id"]: row for row in _rows(job.pages / "pages.parquet", wanted)}
    targets = []
    for page_id in sorted(loading.removed & rows.keys()):
        row = rows[page_id]
        texts = tuple(dict.fromkeys(text for said in sentences.get(page_id, {}).values() for text in said))
        targets.append(Target(page_id, row["url"], row["title"], addresses_of(row), texts))
    for question, pages in sorted(hidden.items()):
        for page_id in sorted(pages):
            row = rows[page_id]
            texts = sentences.get(page_id, {}).get(question, ())
            targets.append(Target(page_id, row["url"], row["title"], addresses_of(row, loading.pages[page_id]), texts, question))
    return targets


def _rows(pages: Path, wanted: frozenset[str]) -> list[dict[str, Any]]:
    columns = ["page_id", "url", "aliases", "title"]
    return [row for batch in batches(pages, columns=columns, size=8192) for row in batch if row["page_id"] in wanted]
