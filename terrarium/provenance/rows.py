"""Rows of artifacts' tables by their key, read without loading the rest."""

from __future__ import annotations

from typing import Any

from terrarium.provenance.account import Account
from terrarium.provenance.state import Holding, Record, State


def rows_of(record: Record, file: str, column: str, value: str, columns: list[str] | None = None) -> list[dict[str, Any]]:
    """The rows of a Parquet file of an artifact whose `column` is `value`; empty where the file or the row is missing."""
    import pyarrow.parquet as pq

    path = record.path / file
    if not path.exists():
        return []
    found: list[dict[str, Any]] = pq.read_table(path, columns=columns, filters=[(column, "=", value)]).to_pylist()
    return found


def first(state: State, asset: str, file: str, column: str, value: str) -> tuple[Holding, dict[str, Any]] | None:
    """The first such row among all that `asset` is now, over its partitions."""
    for held in state.current(asset):
        rows = rows_of(held.record, file, column, value)
        if rows:
            return held, rows[0]
    return None


def dropped(state: State, identity: str) -> list[dict[str, Any]]:
    """Where a page, question or rollout was left out, and why."""
    found = []
    for held in state.holdings:
        if held.why is None:
            for row in rows_of(held.record, "dropped.parquet", "id", identity):
                found.append({"asset": held.name, "step": row["step"], "reason": row["reason"], "detail": row["detail"]})
    return found


def tell_dropped(state: State, identity: str) -> Account | None:
    """What is known of a row that was dropped before any table held it; None where nothing of that id was dropped."""
    drops = dropped(state, identity)
    if not drops:
        return None
    texts = [row["text"] for held in state.holdings for row in rows_of(held.record, "dropped.parquet", "id", identity)]
    account = Account(kind="dropped row", subject=identity, summary=next((text for text in texts if text), "It has no text."))
    account.tell("dropped", rows=drops)
    return account


def rollout_files(state: State) -> list[Holding]:
    """What holds rollouts, each artifact once."""
    seen: dict[Any, Holding] = {}
    for held in state.holdings:
        if held.why is None and (held.record.path / "rollouts.parquet").exists():
            seen.setdefault(held.record.path, held)
    return list(seen.values())
