"""The ledger: what rollouts cost, how costs add up, and what the papers' calls are worth."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from terrarium.agent.rollout import Rollout, Termination
from terrarium.ledger import NAMES, added, live_cost, rollout_costs

PRICES = Path(__file__).parents[2] / "profiles" / "prices.yaml"


def rollout(policy: str, mask: tuple[int, ...], searches: int = 0, visits: int = 0) -> Rollout:
    return Rollout(
        rollout_id="r",
        question_id="q",
        policy=policy,
        recipe="",
        stage=1,
        snapshot="s",
        sampling={},
        messages=(),
        turns=(),
        token_ids=tuple(range(len(mask))),
        loss_mask=mask,
        logprobs=(0.0,) * len(mask),
        answer=None,
        termination=Termination.ANSWERED,
        correct=False,
        searches=searches,
        visits=visits,
    )


def test_tokens_are_counted_in_and_out_and_by_model() -> None:
    costs = rollout_costs([rollout("stage-1-step-0", (0, 0, 1), 2, 1), rollout("stage-1-step-7", (0, 1, 1, 1)), rollout("sft", (0, 1), 1)])
    assert costs == {
        "searches": 3,
        "visits": 1,
        "tokens_in": 4,
        "tokens_out": 5,
        "tokens_in/stage-1": 3,
        "tokens_out/stage-1": 4,
        "tokens_in/sft": 1,
        "tokens_out/sft": 1,
    }
    assert {name.partition("/")[0] for name in costs} <= NAMES.keys()


@given(st.lists(st.dictionaries(st.sampled_from(["searches", "wall_seconds", "peak_memory_bytes"]), st.integers(0, 10**9)), max_size=5))
def test_costs_add_up_and_memory_is_the_largest(costs: list[dict[str, int]]) -> None:
    total = added(costs)
    for name in {name for one in costs for name in one}:
        values = [one.get(name, 0) for one in costs]
        assert total[name] == (max(values) if name == "peak_memory_bytes" else sum(values))


def test_the_published_calls_cost_what_was_published() -> None:
    """LiteResearcher (arXiv 2604.17931): 45.8 M searches and 27.4 M visits would have cost $59K (Serper, Jina) to $243K (SerpAPI, Jina)."""
    prices = {name: value for name, value in yaml.safe_load(PRICES.read_text(encoding="utf-8")).items() if isinstance(value, int | float)}
    costs = live_cost(45_802_000, 27_418_000, prices)
    assert costs["serper"] == pytest.approx(59_511, abs=2)
    assert costs["serpapi"] == pytest.approx(242_719, abs=2)
    assert round(costs["serper"], -3) in (59_000, 60_000)
    assert round(costs["serpapi"], -3) == 243_000
