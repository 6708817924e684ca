"""What local tool calls would have cost on the live web, under a price file."""

from __future__ import annotations

from collections.abc import Mapping


def live_cost(searches: int, visits: int, prices: Mapping[str, float]) -> dict[str, float]:
    """US dollars by search provider, page reading included.

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
