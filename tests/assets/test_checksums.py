"""Checksums follow content, not names; a missing file is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from assets.checksums import checksum
from terrarium.errors import TerrariumError


def test_content_counts_and_names_do_not(tmp_path: Path) -> None:
    for name, text in (("a", "one"), ("b", "one"), ("c", "two")):
        (tmp_path / name).write_text(text)
    state = tmp_path / "state"
    assert checksum(state, tmp_path / "a") == checksum(state, tmp_path / "b") != checksum(state, tmp_path / "c")
    (tmp_path / "a").write_text("three")
    assert checksum(state, tmp_path / "a") != checksum(state, tmp_path / "b")


def test_a_folder_is_its_files_and_their_places(tmp_path: Path) -> None:
    for folder, name in (("x", "1"), ("y", "1"), ("z", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("same")
    state = tmp_path / "state"
    assert checksum(state, tmp_path / "x") == checksum(state, tmp_path / "y") != checksum(state, tmp_path / "z")


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(TerrariumError, match="cannot be read"):
        checksum(tmp_path, tmp_path / "nowhere")
