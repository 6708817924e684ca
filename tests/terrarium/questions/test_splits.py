"""Splits and wordings are pure functions of names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.errors import TerrariumError
from terrarium.questions.splits import share_of, split_of
from terrarium.questions.wording import choose, dated, plural, reserved_for_test, spoken_date

FRACTIONS = {"train": 0.6, "validation": 0.1, "test": 0.3}


def test_a_split_depends_on_the_entity_alone_however_it_is_written() -> None:
    for number in range(40):
        spellings = (f"Arlow Museum {number}", f"the Arlow Museum {number}", f"ARLOW  MUSEUM {number}")
        assert len({split_of(name, FRACTIONS) for name in spellings}) == 1
    assert len({split_of(f"Entity {number}", FRACTIONS) for number in range(40)}) == 3


def test_fractions_are_kept_over_many_entities() -> None:
    dealt = [split_of(f"Entity {number}", FRACTIONS) for number in range(4000)]
    assert all(abs(dealt.count(name) / len(dealt) - share) < 0.03 for name, share in FRACTIONS.items())


@pytest.mark.parametrize("fractions", [{"train": 0.5, "test": 0.2}, {"train": 1.5, "test": -0.5}, {"all": 1.0}])
def test_fractions_that_cannot_be_are_refused(fractions: dict[str, float]) -> None:
    with pytest.raises(TerrariumError, match="add up to 1"):
        split_of("Arlow", fractions)


@given(st.text(min_size=1))
def test_nothing_goes_to_an_empty_part(key: str) -> None:
    assert share_of(key, {"sft": 0.0, "rl": 1.0}) == "rl"
    assert split_of(key, {"train": 1.0}) == "train"


@given(st.integers(2, 12))
def test_a_third_of_the_wordings_is_kept_for_test_and_never_all(count: int) -> None:
    held = reserved_for_test("group", count, 1 / 3)
    assert len(held) < count and abs(len(held) - count / 3) <= 1


def test_only_test_questions_use_the_wordings_kept_for_them() -> None:
    templates = [f"{number} {{s}}?" for number in range(6)]
    used = {split: {choose("g", templates, split, str(key), 1 / 3).id for key in range(300)} for split in FRACTIONS}  # type: ignore[union-attr]
    assert used["train"] == used["validation"]
    assert len(used["train"]) == 4 and len(used["test"]) == 6 and used["train"] < used["test"]


def test_wordings_for_years_and_dates_fit_their_answers() -> None:
    templates = ["y:In which year?", "d:On what date?"]
    assert choose("g", templates, "train", "k", 0, full_date=True).template == "On what date?"  # type: ignore[union-attr]
    assert choose("g", templates, "train", "k", 0, full_date=False).template == "In which year?"  # type: ignore[union-attr]
    assert choose("g", templates, "train", "k", 0) is None


def test_dates_are_spoken() -> None:
    assert spoken_date("2024-02-14") == "February 2024" and spoken_date("2024", "zh") == "2024年"
    assert dated("Who leads it?", "2024", "en", "k", first=True) == "As of 2024, who leads it?"
    assert {dated("Who leads it?", "2024", "en", str(key)) for key in range(20)} == {"As of 2024, who leads it?", "Who leads it as of 2024?"}
    assert dated("Who?", None, "en", "k") == "Who?"


@pytest.mark.parametrize(
    ("one", "several"), [("has 3 seats", "have 3 seats"), ("was built", "were built"), ("covers 3 km²", "cover 3 km²"), ("carries 3", "carry 3")]
)
def test_clauses_about_several(one: str, several: str) -> None:
    assert plural(one) == several
