"""Rounds of corpus growth: what a round was given when it was opened. Rounds are named, never renamed, and their content stays as it was.

The frontier is a plain table outside the graph, one URL a line, to which people and rollouts add; opening a round hands its content over.
So growth feeds back without a loop in the graph.
"""

from __future__ import annotations

import json
from pathlib import Path

FIRST_ROUND = "round_001"


def next_round(existing: list[str]) -> str:
    """The name after the last one: round_001, round_002, ..."""
    numbers = [int(name.removeprefix("round_")) for name in existing if name.removeprefix("round_").isdigit()]
    return f"round_{max(numbers, default=0) + 1:03d}"


def open_round(state: Path, name: str) -> list[str]:
    """Hand the frontier's URLs over to a round, once; return what the round holds.

    A round that was opened before keeps what it was given, and the frontier is left alone.
    """
    record = _record(state, name)
    if record.exists():
        return frontier_of(state, name)
    urls = sorted(set(_frontier(state)))
    record.parent.mkdir(parents=True, exist_ok=True)
    partial = record.with_suffix(".partial")
    partial.write_text(json.dumps({"frontier": urls}, indent=1), encoding="utf-8")
    partial.replace(record)
    _frontier_file(state).unlink(missing_ok=True)
    return urls


def frontier_of(state: Path, name: str) -> list[str]:
    """The URLs a round was opened with; empty for one that was added by hand in the UI."""
    try:
        return list(json.loads(_record(state, name).read_text(encoding="utf-8"))["frontier"])
    except FileNotFoundError:
        return []


def add_to_frontier(state: Path, urls: list[str]) -> None:
    """Ask that the next round fetches these."""
    state.mkdir(parents=True, exist_ok=True)
    with _frontier_file(state).open("a", encoding="utf-8") as file:
        file.writelines(url.strip() + "\n" for url in urls if url.strip())


def _frontier(state: Path) -> list[str]:
    try:
        return [line.strip() for line in _frontier_file(state).read_text(encoding="utf-8").splitlines() if line.strip()]
    except FileNotFoundError:
        return []


def _frontier_file(state: Path) -> Path:
    return state / "frontier.txt"


def _record(state: Path, name: str) -> Path:
    return state / "rounds" / f"{name}.json"
