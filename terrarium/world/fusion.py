"""Reciprocal rank fusion: several rankings of the same pages into one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

# Page ids with the scores of one leg, best first.
Leg = tuple[tuple[str, float], ...]


def fuse(legs: Sequence[Leg], k: int, hidden: Collection[str] = ()) -> list[tuple[str, float]]:
    """Pages by the sum of 1 / (k + rank) over the legs that hold them (Cormack, Clarke and Buettcher 2009); ties by page id.

    Hidden pages leave no gap: ranks are counted as if they were not there.
    """
    scores: dict[str, float] = {}
    for leg in legs:
        for rank, page_id in enumerate((page_id for page_id, _ in leg if page_id not in hidden), start=1):
            scores[page_id] = scores.get(page_id, 0.0) + 1.0 / (k + rank)
    return sorted(((page_id, round(score, 9)) for page_id, score in scores.items()), key=lambda hit: (-hit[1], hit[0]))
