"""The cost ledger: what steps count, under which names, and what it is worth under a price file.

Every step's outcome holds its costs by these names; they stand beside the data and are part of no hash. A name may be followed by
`/<model>`: the same, of one model. Money is never stored: it is counts times prices, and prices change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from terrarium.agent.rollout import Rollout

NAMES: Mapping[str, str] = {
    "searches": "searches asked of the web, or by rollouts of the world",
    "visits": "pages visited by rollouts",
    "pages_fetched": "addresses asked over HTTP",
    "bytes": "bytes received over HTTP",
    "embedded_texts": "texts that an embedder turned into vectors",
    "tokens_in": "tokens that a model read: prompts and observations",
    "tokens_out": "tokens that a model wrote",
    "trained_tokens": "tokens that went through a training pass",
    "cpu_seconds": "processor time of the step's process and its children",
    "gpu_seconds": "seconds for which the step held a GPU",
    "wall_seconds": "seconds from the step's start to its end; of a step that was resumed, of its last part",
    "rollout_seconds": "seconds that rollouts took, added up over rollouts that went on side by side",
    "build_seconds": "seconds of loading store and index",
    "sampling_seconds": "seconds of sampling inside a training stage",
    "training_seconds": "seconds of training passes and updates",
    "peak_memory_bytes": "most memory of the step's process at once",
}

# A policy that trains has a name a step; to the ledger it is one model.
_STEP = re.compile(r"-step-\d+$")

# What two steps need at once is no sum.
_LARGEST = frozenset({"peak_memory_bytes"})


def rollout_costs(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """What rollouts cost: searches, visits, and tokens read and written, together and by model.

    A token is read once: the policies keep keys and values across turns.
    """
    costs: dict[str, float] = {"searches": 0, "visits": 0, "tokens_in": 0, "tokens_out": 0}
    for rollout in rollouts:
        written = sum(rollout.loss_mask)
        read = len(rollout.token_ids) - written
        model = _STEP.sub("", rollout.policy)
        for name, value in (("searches", rollout.searches), ("visits", rollout.visits), ("tokens_in", read), ("tokens_out", written)):
            costs[name] += value
        for name, value in ((f"tokens_in/{model}", read), (f"tokens_out/{model}", written)):
            costs[name] = costs.get(name, 0) + value
    return costs


def added(costs: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The costs of several steps together: sums, and of memory the largest."""
    total: dict[str, float] = {}
    for one in costs:
        for name, value in one.items():
            known = total.get(name, 0.0)
            total[name] = max(known, value) if name in _LARGEST else known + value
    return total


def live_cost(searches: float, visits: float, prices: Mapping[str, float]) -> dict[str, float]:
    """What calls of the sealed world would have cost on the live web: US dollars by search provider, page reading included.

    Args:
        prices: dollars a thousand calls; `read_per_1000` for pages, every other `<provider>_per_1000` for searches.

    Returns:
        provider -> dollars; empty when no search price is given.
    """
    reading = visits / 1000 * prices.get("read_per_1000", 0.0)
    return {
        name.removesuffix("_per_1000"): searches / 1000 * price + reading
        for name, price in sorted(prices.items())
        if name.endswith("_per_1000") and name != "read_per_1000"
    }
