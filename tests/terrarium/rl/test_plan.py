"""Which questions are trained on in which step."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.errors import TerrariumError
from terrarium.rl.plan import seeded_order, training_plan

NAMES = [f"q{number}" for number in range(23)]


@given(size=st.integers(1, 23), questions=st.integers(1, 6), steps=st.integers(1, 20), seed=st.integers(0, 5))
def test_a_step_has_no_question_twice_and_all_come_equally_often(size: int, questions: int, steps: int, seed: int) -> None:
    ids = NAMES[:size]
    if size < questions:
        with pytest.raises(TerrariumError, match=f"{size} survived"):
            training_plan(ids, questions, steps, seed)
        return
    plan = training_plan(ids, questions, steps, seed)
    assert [len(set(step)) for step in plan] == [questions] * steps
    assert plan == training_plan(list(reversed(ids)), questions, steps, seed)
    assert plan[:1] == training_plan(ids, questions, 1, seed)
    counts = Counter(name for step in plan for name in step)
    assert max(counts.values()) - min(counts.get(name, 0) for name in ids) <= 2


def test_each_pass_has_an_order_of_its_own() -> None:
    plan = training_plan(NAMES, 1, 2 * len(NAMES), 1)
    first, second = plan[: len(NAMES)], plan[len(NAMES) :]
    assert sorted(first) == sorted(second)
    assert first != second


def test_the_order_depends_on_the_seed_and_a_new_question_moves_no_other() -> None:
    assert seeded_order(NAMES, 1) != seeded_order(NAMES, 2)
    assert sorted(seeded_order(NAMES, 1)) == sorted(NAMES)
    assert [name for name in seeded_order([*NAMES, "new"], 1) if name != "new"] == seeded_order(NAMES, 1)
