"""Reciprocal rank fusion: several rankings of the same pages into one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

# Page ids with the scores of one leg, best first.
Leg = tuple[tuple[str, float], ...]


def fuse(legs: Sequence[Leg], k: int, hidden: Collection[str] = (), weights: Sequence[float] | None = None) -> list[tuple[str, float]]:
    """Pages by the sum of weight / (k + rank) over the legs that hold them (Cormack, Clarke and Buettcher 2009, where all weigh 1);
    ties by page id.

    Hidden pages leave no gap: ranks are counted as if they were not there.
    """
    scores: dict[str, float] = {}
    for leg, weight in zip(legs, weights or [1.0] * len(legs), strict=True):
        for rank, page_id in enumerate((page_id for page_id, _ in leg if page_id not in hidden), start=1):
            scores[page_id] = scores.get(page_id, 0.0) + weight / (k + rank)
    return sorted(((page_id, round(score, 9)) for page_id, score in scores.items()), key=lambda hit: (-hit[1], hit[0]))
