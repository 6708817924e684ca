"""A round takes the frontier over once and keeps it."""

from __future__ import annotations

from pathlib import Path

from assets.rounds import add_to_frontier, frontier_of, next_round, open_round


def test_names_follow_each_other() -> None:
    assert next_round([]) == "round_001"
    assert next_round(["round_001", "round_009", "by hand"]) == "round_010"


def test_the_frontier_goes_to_the_round_that_is_opened(tmp_path: Path) -> None:
    add_to_frontier(tmp_path, ["http://b.example/", "http://a.example/", "", "http://a.example/"])
    assert open_round(tmp_path, "round_002") == ["http://a.example/", "http://b.example/"]
    add_to_frontier(tmp_path, ["http://c.example/"])
    assert open_round(tmp_path, "round_002") == ["http://a.example/", "http://b.example/"]
    assert open_round(tmp_path, "round_003") == ["http://c.example/"]
    assert frontier_of(tmp_path, "round_004") == []
