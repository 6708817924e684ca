"""YAML settings: variables, bases, includes, overrides, and one sentence for whatever is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from resources.settings_files import lay_over, read_settings
from terrarium.errors import TerrariumError


def _write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_variable_is_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(tmp_path / "a.yaml", "seeds: [{location: '${SEEDS}'}]\nport: '${PORT:-8711}'\n")
    monkeypatch.setenv("SEEDS", "dump.xml.bz2")
    monkeypatch.delenv("PORT", raising=False)
    assert read_settings(path) == {"seeds": [{"location": "dump.xml.bz2"}], "port": "8711"}
    monkeypatch.setenv("PORT", "9000")
    assert read_settings(path)["port"] == "9000"


def test_a_variable_that_is_not_set_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEEDS", raising=False)
    path = _write(tmp_path / "a.yaml", "seeds: [{location: '${SEEDS}'}]\n")
    with pytest.raises(TerrariumError, match=r"^a.yaml takes seeds.0.location from the environment variable SEEDS, which is not set"):
        read_settings(path)


def test_a_base_lies_below_key_by_key(tmp_path: Path) -> None:
    _write(tmp_path / "low.yaml", "agent: {turns: 4, context: 512}\nrecipes: [a, b]\n")
    path = _write(tmp_path / "high.yaml", "base: low\nagent: {turns: 6}\nrecipes: [c]\n")
    assert read_settings(path) == {"agent": {"turns": 6, "context": 512}, "recipes": ["c"]}


def test_what_a_file_above_replaces_needs_no_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEEDS", raising=False)
    _write(tmp_path / "lowest.yaml", "seeds: ['${SEEDS}']\nweb: {proxy: '${SEEDS}', seconds: 3}\n")
    _write(tmp_path / "low.yaml", "base: lowest\nweb: {proxy: none}\n")
    path = _write(tmp_path / "high.yaml", "base: low\nseeds: [mine.xml]\n")
    assert read_settings(path) == {"seeds": ["mine.xml"], "web": {"proxy": "none", "seconds": 3}}
    with pytest.raises(TerrariumError, match="lowest.yaml takes seeds.0 from the environment variable SEEDS"):
        read_settings(tmp_path / "low.yaml")


def test_bases_in_a_circle_are_an_error(tmp_path: Path) -> None:
    _write(tmp_path / "a.yaml", "base: b\n")
    _write(tmp_path / "b.yaml", "base: a\n")
    with pytest.raises(TerrariumError, match="are their own base"):
        read_settings(tmp_path / "a.yaml")


def test_an_include_is_the_content_of_a_file_beside(tmp_path: Path) -> None:
    _write(tmp_path / "prices.yaml", "search: 1.0\n")
    assert read_settings(_write(tmp_path / "a.yaml", "prices: {include: prices.yaml}\n")) == {"prices": {"search": 1.0}}
    with pytest.raises(TerrariumError, match="no.yaml cannot be read"):
        read_settings(_write(tmp_path / "a.yaml", "prices: {include: no.yaml}\n"))


@pytest.mark.parametrize(
    ("text", "says"), [("a: [1\n", "not readable YAML"), ("- 1\n", "hold no keys"), ("", "hold no keys"), ("a: \x00", "not readable")]
)
def test_a_damaged_file_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(TerrariumError, match=says) as caught:
        read_settings(_write(tmp_path / "a.yaml", text))
    assert "\n" not in str(caught.value)


def test_dotted_overrides_reach_numbered_keys_and_change_nothing_else() -> None:
    settings = {"stage_sizes": {1: {"steps": 10, "group": 4}}, "agent": {"turns": 4}}
    laid = lay_over(settings, {"stage_sizes.1.steps": 2, "evaluation.per_capability": 3})
    assert laid == {"stage_sizes": {1: {"steps": 2, "group": 4}}, "agent": {"turns": 4}, "evaluation": {"per_capability": 3}}
    assert settings["stage_sizes"][1]["steps"] == 10
