"""The ledger adds up, and the published bill comes out of the price file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from terrarium.agent.rollout import RolloutTurn
from terrarium.errors import TerrariumError
from terrarium.lineage.explanation import PRICES
from terrarium.lineage.ledger import Prices, money, rollout_costs, total
from tests.terrarium.evaluation.samples import rollout


def test_the_published_bill() -> None:
    """45.8 M searches and 27.4 M visits: $45,802 (Serper) or $229,012 (SerpAPI), and $13,709 for pages with Jina (arXiv 2604.17931)."""
    bill = money({"searches": 45_802_000, "visits": 27_418_000}, Prices.read(PRICES))
    assert bill == pytest.approx({"serper": 45_802 + 13_709, "serpapi": 229_010 + 13_709})
    assert 59_000 <= bill["serper"] < 60_000 and round(bill["serpapi"], -3) == 243_000


def test_sums_take_the_largest_memory_and_leave_out_shares() -> None:
    first = {"searches": 2, "tokens_in/a": 5, "peak_memory_bytes": 10, "rollout_seconds": 99}
    assert total([first, {"searches": 3, "tokens_in/a": 1, "tokens_in/b": 4, "peak_memory_bytes": 7, "sampled_tokens": 6}]) == {
        "peak_memory_bytes": 10,
        "searches": 5,
        "tokens_in/a": 6,
        "tokens_in/b": 4,
        "tokens_out/unnamed": 6,
    }


def test_computing_and_tokens_have_a_price_too() -> None:
    prices = Prices(cpu_hour=0.1, gpu_hour=2.0, tokens_in_per_million=1.0, tokens_out_per_million=10.0)
    costs = {"cpu_seconds": 7200, "gpu_seconds": 1800, "tokens_in/a": 1e6, "tokens_out/a": 1e5, "tokens_out/b": 1e5}
    assert money(costs, prices) == pytest.approx({"own": 0.2 + 1.0 + 1.0 + 2.0})


def test_tokens_are_counted_by_model_and_every_turn_reads_what_stands_before_it() -> None:
    turns = tuple(RolloutTurn("a", "", (), "", None, start, start + 2) for start in (10, 30))
    sampled = tuple(int(10 <= place < 12 or 30 <= place < 32) for place in range(32))
    made = replace(rollout("q", True, policy="large"), turns=turns, loss_mask=sampled, searches=1, visits=2)
    other = replace(rollout("q", False, policy="small"), turns=(), loss_mask=(1,), searches=0, visits=0)
    costs = rollout_costs([made, made, other])
    assert costs == {"searches": 2, "visits": 4, "tokens_in/large": 80, "tokens_out/large": 8, "tokens_in/small": 0, "tokens_out/small": 1}
    assert rollout_costs([made], model="stage-1")["tokens_out/stage-1"] == 4


@pytest.mark.parametrize(
    ("text", "said"), [("serper: 1", "no price"), ("read_per_1000: -1", "read_per_1000"), ("x_per_1000: -1", "x_per_1000"), (": [", "no YAML")]
)
def test_a_price_file_that_is_none_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "prices.yaml").write_text(text)
    with pytest.raises(TerrariumError, match=said):
        Prices.read(tmp_path / "prices.yaml")
    with pytest.raises(TerrariumError, match="cannot be read"):
        Prices.read(tmp_path / "absent.yaml")
