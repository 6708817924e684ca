"""Where a page comes from, whether the world holds it, and which questions were drawn from it or lean on it."""

from __future__ import annotations

from typing import Any

from terrarium.corpus.urls import canonical_url
from terrarium.provenance.account import Account
from terrarium.provenance.artifact import snapshot_of
from terrarium.provenance.rows import dropped, first, rows_of
from terrarium.provenance.state import State

_PAGES = ("candidate_pages", "crawled_pages", "seed_pages")


def tell_page(state: State, named: str) -> Account | None:
    """Everything the state knows of a page, by its id or any of its addresses; None where it knows no such page."""
    row = _find(state, named)
    if row is None:
        return None
    page_id = row["page_id"]
    account = Account(kind="page", subject=page_id, summary=f"{row['title']} ({row['url']})")
    account.tell(
        "itself",
        {
            name.replace("_", " "): row[name]
            for name in (
                "origin",
                "round",
                "fetched_at",
                "published_at",
                "vanished_at",
                "language",
                "licence",
                "revision",
                "content_hash",
                "duplicate_of",
            )
        }
        | {"characters": len(row["markdown"] or ""), "aliases": row["aliases"]},
    )
    versions = []
    for name in _PAGES:
        for held in state.current(name):
            for version in rows_of(
                held.record, "pages.parquet", "page_id", page_id, ["page_id", "url", "round", "content_hash", "fetched_at", "vanished_at"]
            ):
                versions.append({"in": held.name, **{key: version[key] for key in ("round", "content_hash", "fetched_at", "vanished_at")}})
    account.tell("kept in", rows=versions)
    removed = [entry for held in state.current("removed_sources") for entry in rows_of(held.record, "removed.parquet", "page_id", page_id)]
    account.tell(
        "removed from the world",
        rows=[{"why": entry["why"], "because of": entry["because_of"], "question": entry["question_id"]} for entry in removed],
    )
    gone = bool(removed) or row["vanished_at"] is not None
    account.tell("worlds", {held.name: f"snapshot {snapshot_of(held.record)}: {'hidden' if gone else 'in it'}" for held in state.current("world")})
    account.tell("near-duplicates of it", rows=_copies(state, page_id))
    drawn, leaning = _questions(state, page_id)
    account.tell("questions drawn from it", rows=drawn)
    account.tell("questions that it supports", rows=leaning)
    account.tell("dropped", rows=[*dropped(state, page_id), *dropped(state, row["url"])])
    return account


def _find(state: State, named: str) -> dict[str, Any] | None:
    wanted = [("page_id", named)]
    try:
        address = canonical_url(named)
        wanted.append(("url", address))
    except ValueError:
        address = ""
    for name in _PAGES:
        for column, value in wanted:
            hit = first(state, name, "pages.parquet", column, value)
            if hit is not None:
                return hit[1]
    return _by_alias(state, {named, address} - {""}) if "://" in named else None


def _by_alias(state: State, names: set[str]) -> dict[str, Any] | None:
    import pyarrow.parquet as pq

    for name in _PAGES:
        for held in state.current(name):
            file = held.record.path / "pages.parquet"
            for page in pq.read_table(file, columns=["page_id", "aliases"]).to_pylist():
                if names & set(page["aliases"] or ()):
                    return rows_of(held.record, "pages.parquet", "page_id", page["page_id"])[0]
    return None


def _copies(state: State, page_id: str) -> list[dict[str, Any]]:
    return [
        {"page": row["page_id"], "url": row["url"]}
        for held in state.current("candidate_pages")
        for row in rows_of(held.record, "pages.parquet", "duplicate_of", page_id, ["page_id", "url", "duplicate_of"])
    ]


def _questions(state: State, page_id: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    import pyarrow.parquet as pq

    drawn: dict[str, dict[str, Any]] = {}
    leaning: dict[str, dict[str, Any]] = {}
    for name in ("answerable_questions", "screened_questions", "extracted_questions"):
        for held in state.current(name):
            columns = ["question_id", "question", "split", "source_page_ids", "support"]
            for row in pq.read_table(held.record.path / "questions.parquet", columns=columns).to_pylist():
                line = {"question": row["question_id"], "text": row["question"], "split": row["split"], "last seen in": held.name}
                if page_id in (row["source_page_ids"] or ()):
                    drawn.setdefault(row["question_id"], line)
                if any(span["page_id"] == page_id for span in row["support"] or ()):
                    leaning.setdefault(row["question_id"], line)
    return list(drawn.values()), list(leaning.values())
