"""The journal of a step: what was finished is given back once, what was cut off is not."""

from __future__ import annotations

from pathlib import Path

from terrarium.journal import Journal


def test_what_was_finished_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with Journal(path) as journal:
        assert journal.take("a") is None
        journal.add("a", {"text": "zwei\nZeilen 京"})
        journal.add("b", [])
    with path.open("a") as file:
        file.write('{"key": "c", "row"')
    with Journal(path) as journal:
        assert journal.kept == 2
        assert journal.take("a") == {"text": "zwei\nZeilen 京"} and journal.take("a") is None
        assert journal.take("c") is None
        journal.add("c", 3)
    with Journal(path) as journal:
        assert [journal.take(key) for key in "abc"] == [{"text": "zwei\nZeilen 京"}, [], 3]
        journal.forget()
    assert not path.exists()
