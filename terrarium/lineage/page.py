"""Explains a page: which round brought it, its addresses and copies, why it was kept from a world, and the questions that lean on it."""

from __future__ import annotations

from typing import Any

from terrarium.lineage.archive import Archive, Record
from terrarium.lineage.explanation import Event, Explanation, ancestors, costs_of
from terrarium.lineage.rows import rows

_COLUMNS = [
    "page_id",
    "url",
    "aliases",
    "title",
    "language",
    "published_at",
    "licence",
    "revision",
    "content_hash",
    "duplicate_of",
    "origin",
    "round",
    "fetched_at",
    "vanished_at",
]


def explain_page(archive: Archive, page_id: str, verify: bool = False) -> Explanation:
    """Everything the archive knows of a page id that it holds."""
    seen: list[Record] = []
    events: list[Event] = []
    page: dict[str, Any] = {}
    for record in archive.of("seed_pages", "crawled_pages", "candidate_pages"):
        for row in rows(record, "pages.parquet", "page_id", [page_id], _COLUMNS):
            page = row if record.asset == "candidate_pages" or not page else page
            what = "vanished" if row.get("vanished_at") else "held"
            events.append(_event(record, what, f"{row['round']}, origin {row['origin']}, content {row['content_hash']}"))
            seen.append(record)
    for record in archive.of("seed_pages", "crawled_pages", "candidate_pages", "page_store"):
        for drop in rows(record, "dropped.parquet", "id", [page_id, *([page["url"]] if page else [])]):
            events.append(_event(record, f"dropped at {drop['step']}", f"{drop['reason']} {drop['detail']}".strip()))
            seen.append(record)
    copies = [
        row
        for record in archive.of("candidate_pages")
        for row in rows(record, "pages.parquet", "duplicate_of", [page_id], ["page_id", "url", "duplicate_of"])
    ]
    removed: list[dict[str, Any]] = []
    for record in archive.of("removed_sources"):
        held = rows(record, "removed.parquet", "page_id", [page_id])
        events += [_event(record, f"removed: {row['why']}", f"because of {row['because_of']}") for row in held]
        removed += held
    facts = {
        **page,
        "copies": copies,
        "removed": removed,
        "snapshots": _snapshots(archive, page_id, page),
        "asked_from": _questions(archive, "extracted_questions", "source_page_ids", page_id),
        "supports": _questions(archive, "answerable_questions", "support", page_id),
    }
    descent = archive.descent(*seen)
    return Explanation(
        kind="page",
        id=page_id,
        title=str(page.get("title") or page.get("url") or page_id),
        facts=facts,
        events=events,
        lineage=ancestors(archive, descent, verify),
        lost=archive.missing(*seen),
        costs=costs_of(archive, seen, descent),
    )


def _snapshots(archive: Archive, page_id: str, page: dict[str, Any]) -> list[dict[str, Any]]:
    """Every world whose candidates held the page, and whether it could be reached there."""
    found = []
    for world in archive.of("world"):
        above = archive.descent(world)
        if not any(rows(record, "pages.parquet", "page_id", [page_id], ["page_id"]) for record in above if record.asset == "candidate_pages"):
            continue
        hidden = [row for record in above if record.asset == "removed_sources" for row in rows(record, "removed.parquet", "page_id", [page_id])]
        dropped = [row for record in above if record.asset == "page_store" for row in rows(record, "dropped.parquet", "id", [page_id])]
        gone = bool(page.get("duplicate_of") or page.get("vanished_at") or dropped)
        everywhere = [row for row in hidden if row["question_id"] is None]
        state = "removed" if everywhere else "left out" if gone else "hidden from some questions" if hidden else "there"
        found.append({"snapshot": world.manifest.notes.get("snapshot"), "path": world.path, "page": state})
    return found


def _questions(archive: Archive, asset: str, column: str, page_id: str) -> list[dict[str, Any]]:
    found = {
        row["question_id"]: {"question_id": row["question_id"], "question": row["question"]}
        for record in archive.of(asset)
        for row in rows(record, "questions.parquet", column, [page_id], ["question_id", "question", column])
    }
    return list(found.values())


def _event(record: Record, what: str, detail: str) -> Event:
    return Event(asset=record.asset, what=what, detail=detail, path=record.path)
