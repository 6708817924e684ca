"""GRPO's and IGPO's advantages: given cases, slow second implementations, and what must not matter."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terrarium.errors import TerrariumError
from terrarium.rl.advantages import group_advantages, has_spread, igpo
from terrarium.rl.igpo import IgpoOptions, ig_scale, normalise, turn_rewards

CASES: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "igpo_cases.json").read_text())

rewards = st.lists(st.one_of(st.none(), st.sampled_from([0.0, 1.0]), st.floats(-3, 3)), min_size=1, max_size=12)


@pytest.mark.parametrize("std", ["population", "sample", "none"])
@given(values=rewards)
@settings(max_examples=350)
def test_group_advantages_equal_a_slow_second_implementation(std: Any, values: list[float | None]) -> None:
    valid = [value for value in values if value is not None]
    got = group_advantages(values, std=std)
    if not has_spread(values):
        assert got == [0.0] * len(values)
        return
    divisor = {"population": statistics.pstdev(valid), "sample": statistics.stdev(valid), "none": 1.0}[std]
    for value, advantage in zip(values, got, strict=True):
        expected = 0.0 if value is None else (value - statistics.fmean(valid)) / divisor
        assert advantage == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_group_advantages_of_a_known_group() -> None:
    assert group_advantages([1, 0, 0, 0]) == pytest.approx([math.sqrt(3), *[-1 / math.sqrt(3)] * 3])
    assert group_advantages([1, 0], std="sample") == pytest.approx([math.sqrt(0.5), -math.sqrt(0.5)])
    assert group_advantages([1, None, 0], std="none") == [0.5, 0.0, -0.5]


@pytest.mark.parametrize("values", [[], [1.0], [None, None], [1.0, None], [0.3, 0.1 + 0.2, 0.3], [1e6 + 0.1 + 0.2, 1e6 + 0.3], [0, 0, 0, 0]])
def test_a_group_without_spread_is_exactly_zero(values: list[float | None]) -> None:
    assert group_advantages(values) == [0.0] * len(values)


@given(values=st.lists(st.sampled_from([0.0, 1.0, None]), min_size=2, max_size=8), shift=st.floats(-100, 100))
def test_a_constant_on_all_rewards_changes_nothing(values: list[float | None], shift: float) -> None:
    moved = [None if value is None else value + shift for value in values]
    assert group_advantages(moved) == pytest.approx(group_advantages(values), abs=1e-9)


@given(values=rewards, order=st.randoms(use_true_random=False))
def test_permuting_rollouts_permutes_advantages(values: list[float | None], order: Any) -> None:
    places = list(range(len(values)))
    order.shuffle(places)
    assert group_advantages([values[place] for place in places]) == pytest.approx([group_advantages(values)[place] for place in places], abs=1e-9)


def test_what_is_no_deviation_and_no_reward_is_refused() -> None:
    with pytest.raises(TerrariumError, match="population, sample or none"):
        group_advantages([0, 1], std="median")  # type: ignore[arg-type]
    with pytest.raises(TerrariumError, match="not finite"):
        group_advantages([0.0, math.nan])


@pytest.mark.parametrize("name", CASES)
def test_igpo_equals_the_given_cases(name: str) -> None:
    case = CASES[name]
    options = IgpoOptions.of(case["options"])
    rows = [turn_rewards(rollout, options) for rollout in case["rollouts"]]
    for row, raw in zip(rows, case["raw"], strict=True):
        assert [None if value is None else pytest.approx(value, abs=1e-6) for value in raw] == row.raw
    normalise([rows], options)
    for row, z in zip(rows, case["z"], strict=True):
        assert [None if value is None else pytest.approx(value, abs=1e-6) for value in z] == row.z
    got = igpo(case["rollouts"], **case["options"])
    for advantages, expected in zip(got, case["advantage"], strict=True):
        assert advantages == pytest.approx(expected, abs=1e-6)


def test_ig_scale_has_a_floor_and_a_cap() -> None:
    options = IgpoOptions()
    assert ig_scale([0.0], [0.5], options) == pytest.approx(0.6, abs=1e-5)
    assert ig_scale([1.0], [0.0], options) == 10.0
    assert ig_scale([0.8], [], options) == pytest.approx(0.8, abs=1e-5)


turns = st.sampled_from(["search", "visit", None])


@st.composite
def batches(draw: Any) -> list[dict[str, Any]]:
    rollouts = []
    for number in range(draw(st.integers(2, 6))):
        tools = [*draw(st.lists(turns, max_size=5)), "answer"]
        size = {"min_size": len(tools), "max_size": len(tools)}
        rollouts.append(
            {
                "group": f"g{number % 2}",
                "tools": tools,
                "V": draw(st.lists(st.integers(-40, 0).map(lambda value: value / 10), **size)),
                "outcome": draw(st.sampled_from([0.0, 1.0])),
                "fmt_ok": draw(st.lists(st.sampled_from([True, True, True, False]), **size)),
            }
        )
    return rollouts


options = st.fixed_dictionaries(
    {
        "assign": st.sampled_from(["merge", "copy", "all"]),
        "ig_type": st.sampled_from(["log_prob_diff", "prob_diff"]),
        "norm": st.sampled_from(["joint", "separate", "scaled_separate", "raw_ig"]),
        "scope": st.sampled_from(["batch", "group"]),
        "adaptive_min": st.sampled_from([0.0, 0.2]),
        "penalty": st.sampled_from(["before", "after"]),
    }
)


@given(batch=batches(), chosen=options, order=st.randoms(use_true_random=False))
def test_igpo_of_a_permuted_batch_is_the_permuted_advantages(batch: list[dict[str, Any]], chosen: dict[str, Any], order: Any) -> None:
    places = list(range(len(batch)))
    order.shuffle(places)
    expected = [igpo(batch, **chosen)[place] for place in places]
    for got, wanted in zip(igpo([batch[place] for place in places], **chosen), expected, strict=True):
        assert got == pytest.approx(wanted, abs=1e-6)


def _slow_by_token(batch: list[dict[str, Any]], gamma: float) -> list[list[float]]:
    """Merge, scaled_separate over the batch, written the other way round: rewards on a line of tokens, three a turn."""
    lines, places = [], []
    for rollout in batch:
        line: dict[int, float] = {}
        scored = rollout["V"][0]
        for turn, tool in enumerate(rollout["tools"][:-1]):
            if tool == "visit":
                line[3 * turn + 2] = rollout["V"][turn + 1] - scored or 1e-10
                scored = rollout["V"][turn + 1]
            if not rollout["fmt_ok"][turn]:
                line[3 * turn + 2] = -1.0
        last = 3 * (len(rollout["tools"]) - 1) + 2
        line[last] = rollout["outcome"] if rollout["fmt_ok"][-1] else -1.0
        lines.append(line)
        places.append(last)
    z: list[dict[int, float]] = [{} for _ in batch]
    for group in {rollout["group"] for rollout in batch}:
        members = [index for index, rollout in enumerate(batch) if rollout["group"] == group]
        for outcome in (True, False):
            pool = [(index, at) for index in members for at in lines[index] if (at == places[index]) is outcome]
            values = [lines[index][at] for index, at in pool]
            mean = sum(values) / len(values) if values else 0.0
            spread = 1.0 if len(values) < 2 else math.sqrt(sum((value - mean) ** 2 for value in values) / len(values) + 1e-8)
            for index, at in pool:
                z[index][at] = (lines[index][at] - mean) / (spread + 1e-6)
    of_outcomes = [abs(z[index][places[index]]) for index in range(len(batch))]
    of_gains = [abs(value) for index in range(len(batch)) for at, value in z[index].items() if at != places[index]]
    scale = min(max(sum(of_outcomes) / len(of_outcomes), 0.3) / ((sum(of_gains) / len(of_gains) if of_gains else 1.0) + 1e-6), 10.0)
    result = []
    for index, rollout in enumerate(batch):
        tokens = []
        for token in range(3 * len(rollout["tools"])):
            ahead = sorted(at for at in z[index] if at >= token)
            tokens.append(sum(gamma**power * z[index][at] * (1.0 if at == places[index] else scale) for power, at in enumerate(ahead)))
        result.append([tokens[3 * turn] for turn in range(len(rollout["tools"]))])
    return result


@given(batch=batches())
@settings(max_examples=300)
def test_igpo_equals_a_slow_second_implementation(batch: list[dict[str, Any]]) -> None:
    for got, wanted in zip(igpo(batch), _slow_by_token(batch, 0.95), strict=True):
        assert got == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_a_gain_of_exactly_zero_keeps_its_place() -> None:
    idle = {"group": "g", "tools": ["visit", "answer"], "V": [-1.0, -1.0], "outcome": 1.0}
    assert turn_rewards(idle, IgpoOptions()).raw == [1e-10, 1.0]
    assert igpo([idle, {**idle, "outcome": 0.0}])[0][0] == pytest.approx(0.95, abs=1e-4)


def test_a_penalty_after_normalising_is_never_a_reward() -> None:
    worse = {"group": "g", "tools": ["visit", "visit", "answer"], "V": [0.0, -5.0, -9.0], "outcome": 0.0}
    malformed = {"group": "g", "tools": ["visit", "answer"], "V": [0.0, 0.0], "outcome": 0.0, "fmt_ok": [False, True]}
    before, after = (igpo([worse, malformed], gamma=0.0, penalty=penalty)[1][0] for penalty in ("before", "after"))
    assert before > 0
    assert after == -1.0


def test_what_igpo_does_not_know_is_refused() -> None:
    rollout = {"group": "g", "tools": ["visit", "answer"], "V": [0.0, 0.0], "outcome": 0.0}
    with pytest.raises(TerrariumError, match="no option 'gama'"):
        igpo([rollout], gama=1.0)
    with pytest.raises(TerrariumError, match="one of merge, copy, all"):
        igpo([rollout], assign="some")
    with pytest.raises(TerrariumError, match="2 tools, 1 beliefs"):
        igpo([{**rollout, "V": [0.0]}])
