"""Reciprocal rank fusion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.world.fusion import fuse


def test_sum_of_reciprocal_ranks() -> None:
    fused = dict(fuse([(("a", 9.0), ("b", 8.0)), (("b", 1.0), ("c", 0.5))], 60))
    assert fused == pytest.approx({"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62}, abs=1e-8)


def test_ties_go_to_the_smaller_page_id() -> None:
    assert [page for page, _ in fuse([(("z", 1.0),), (("a", 1.0),)], 60)] == ["a", "z"]


def test_hidden_pages_leave_no_gap() -> None:
    legs = [(("h", 9.0), ("a", 8.0), ("b", 7.0)), (("b", 3.0), ("h", 2.0))]
    assert fuse(legs, 60, {"h"}) == fuse([(("a", 8.0), ("b", 7.0)), (("b", 3.0),)], 60)


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=3))
def test_order_of_legs_does_not_matter(ids: list[list[str]]) -> None:
    legs = [tuple((page, float(-rank)) for rank, page in enumerate(leg)) for leg in ids]
    assert fuse(legs, 60) == fuse(legs[::-1], 60)


def test_a_leg_that_weighs_less_gives_way() -> None:
    dense, sparse = (("a", 0.9), ("b", 0.8)), (("b", 7.0), ("c", 6.0), ("a", 1.0))
    assert fuse([dense, sparse], 5)[0] == ("b", round(1 / 7 + 1 / 6, 9))
    assert [page for page, _ in fuse([(("x", 1.0),), (("y", 1.0),)], 5, weights=[0.25, 1.0])] == ["y", "x"]
