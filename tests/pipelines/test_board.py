"""The board tells which step, how far and how long still, and survives half-written lines."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pytest
from rich.console import Console

from pipelines.board import Board, label, span


@pytest.mark.parametrize(("seconds", "words"), [(0.4, "0 s"), (59.6, "1 min 00 s"), (200, "3 min 20 s"), (3900, "1 h 05 min")])
def test_spans(seconds: float, words: str) -> None:
    assert span(seconds) == words


def note(file: Path, **fields: object) -> None:
    with file.open("a") as stream:
        stream.write(json.dumps(fields) + "\n")


def test_it_follows_the_file_and_estimates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, out = tmp_path / "progress.jsonl", io.StringIO()
    monkeypatch.setattr("pipelines.board.PLAIN_EVERY_SECONDS", 0.0)
    with Board(Console(file=out, width=200), file) as board:
        board.plan({"seed_pages [round_001]": 100.0, "world": 50.0, "benchmarks": None})
        assert board.remaining_seconds() == 150.0
        board.done(["benchmarks"])
        # A later plan no longer lists what is finished; it still counts.
        board.plan({"seed_pages [round_001]": 100.0, "world": 50.0})
        note(file, asset="seed_pages", partition="round_001", state="running", done=10, total=40, what="pages")
        with file.open("a") as stream:
            stream.write('{"asset": "seed_')
        time.sleep(1.2)
        assert (board.remaining_seconds() or 0) < 150.0
        with file.open("a") as stream:
            stream.write("\n")
        note(file, asset="seed_pages", partition="round_001", state="done")
        time.sleep(1.2)
        assert board.remaining_seconds() == 50.0
    text = out.getvalue()
    assert "seed_pages [round_001]: 10 of 40 pages" in text
    assert "step 2 of 3" in text
    assert "about" in text


def test_nothing_known_is_said_to_be_unknown(tmp_path: Path) -> None:
    board = Board(Console(file=io.StringIO()), tmp_path / "none")
    board.plan({"world": None})
    assert board.remaining_seconds() is None
    board.plan({"world": None, "seed_pages": 30.0})
    assert "at least 30 s still" in board._still()
    assert label("world", None) == "world" and label("b", "x") == "b [x]"
