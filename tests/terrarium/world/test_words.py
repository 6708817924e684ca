"""Units, terms and token estimates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from terrarium.world.words import estimate_tokens, han_of, han_share, terms, units, without_han


def test_terms_fold_stem_and_drop_stop_words() -> None:
    assert terms("What was the population of the Étoile museums?") == ["population", "etoil", "museum"]
    assert terms("founded founding") == ["found", "found"]
    assert terms("12,345 and 1898") == ["12345", "1898"]
    assert terms("river") == terms("Rivers")
    assert terms("class status") == ["class", "status"]


def test_han_characters_are_pairs() -> None:
    assert terms("北京大学") == ["北京", "京大", "大学"]
    assert terms("区") == ["区"]
    assert terms("A线 station") == ["线", "station"]


def test_a_unit_counts_what_it_is_long() -> None:
    assert sum(unit.words for unit in units("one two three")) == 3
    assert sum(unit.words for unit in units("北京大学")) == 2
    assert sum(unit.words for unit in units("x" * 400)) > 20


def test_scripts_are_told_apart() -> None:
    assert han_of("Beijing 北京 and 上海") == "北京 上海"
    assert without_han("Beijing 北京 and 上海") == "Beijing and"
    assert han_share("北京ab") == 0.5
    assert han_share("!!") == 0.0


@given(st.text())
def test_units_cover_every_visible_character_in_order(text: str) -> None:
    found = units(text)
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))
    assert "".join(text[unit.start : unit.end] for unit in found) == "".join(text.split())


@given(st.text(), st.text())
def test_estimates_grow_with_the_text(first: str, second: str) -> None:
    assert estimate_tokens(first) <= estimate_tokens(first + " " + second)
    assert terms(first) == terms(first)
