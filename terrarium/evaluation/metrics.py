"""The numbers an evaluation reports, as pure functions of rollouts.

Intervals are Wilson score intervals (E. B. Wilson, 1927), which stay sensible at 0 of 12 and 12 of 12.
Outages are never in a denominator: they are counted beside the score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from terrarium.agent.rollout import Rollout

NORMAL_95 = 1.959963984540054


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Probability that k of n attempts drawn without replacement hold a correct one: 1 - C(n-c, k) / C(n, k).

    The unbiased estimator of Chen et al., "Evaluating Large Language Models Trained on Code" (arXiv 2107.03374), equation 1.

    Raises:
        ValueError: k > n, k < 1, or `correct` outside 0..n.
    """
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} needs at least {k} attempts, there are {n}")
    if not 0 <= correct <= n:
        raise ValueError(f"{correct} correct of {n} attempts cannot be")
    if n - correct < k:
        return 1.0
    return 1.0 - math.comb(n - correct, k) / math.comb(n, k)


def any_of_first_k(correct: Sequence[bool], k: int) -> bool:
    """The plain protocol: is any of the first k attempts right?

    Raises:
        ValueError: fewer than k attempts, or k < 1.
    """
    if not 1 <= k <= len(correct):
        raise ValueError(f"the first {k} of {len(correct)} attempts cannot be taken")
    return any(correct[:k])


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `total`, with its 95% Wilson interval; an empty total has no share."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.hits, self.total) if self.total else None

    def as_dict(self) -> dict[str, float | int | None]:
        """`hits`, `total`, `value`, `low`, `high`; the last three are None for an empty total."""
        low, high = self.interval or (None, None)
        return {"hits": self.hits, "total": self.total, "value": self.value, "low": low, "high": high}


def wilson(hits: int, total: int, z: float = NORMAL_95) -> tuple[float, float]:
    """The Wilson score interval of `hits` of `total`, clipped to [0, 1].

    Raises:
        ValueError: an empty total or hits outside it.
    """
    if total < 1 or not 0 <= hits <= total:
        raise ValueError(f"no interval for {hits} of {total}")
    share = hits / total
    divisor = 1 + z * z / total
    centre = (share + z * z / (2 * total)) / divisor
    half = z / divisor * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share))


def accuracy(rollouts: Iterable[Rollout]) -> Share:
    """Correct rollouts of those that could be graded; an unanswered one is wrong, an outage is not counted."""
    graded = [rollout for rollout in rollouts if not rollout.termination.outage]
    return Share(sum(rollout.correct is True for rollout in graded), len(graded))


def browse_ratio(rollouts: Iterable[Rollout]) -> float | None:
    """Visits over searches plus visits, pooled over rollouts; None where no tool was called (DR-Venus, arXiv 2604.19859)."""
    searches = visits = 0
    for rollout in rollouts:
        searches += rollout.searches
        visits += rollout.visits
    return visits / (searches + visits) if searches + visits else None


def mean_browse_ratio(rollouts: Iterable[Rollout]) -> float | None:
    """The mean of the rollouts' own browse ratios, over rollouts that called a tool."""
    ratios = [rollout.visits / (rollout.searches + rollout.visits) for rollout in rollouts if rollout.searches + rollout.visits]
    return sum(ratios) / len(ratios) if ratios else None


def mean_pass_at_k(attempts: Iterable[tuple[int, int]], k: int) -> float | None:
    """Mean unbiased pass@k over questions given as (correct, valid attempts); questions with fewer than k attempts are left out."""
    values = [pass_at_k(n, correct, k) for correct, n in attempts if n >= k]
    return sum(values) / len(values) if values else None


def malformed_share(rollouts: Iterable[Rollout]) -> Share:
    """Turns whose call or answer could not be read, of all turns."""
    turns = [turn for rollout in rollouts for turn in rollout.turns]
    return Share(sum(turn.malformed is not None for turn in turns), len(turns))


def terminations(rollouts: Iterable[Rollout]) -> dict[str, int]:
    """How many rollouts ended in which way."""
    return dict(sorted(Counter(str(rollout.termination) for rollout in rollouts).items()))


def attempts_by_question(rollouts: Iterable[Rollout]) -> dict[str, tuple[int, int]]:
    """question id -> (correct, valid attempts). Outages are no attempts."""
    counts: dict[str, list[int]] = {}
    for rollout in rollouts:
        if rollout.termination.outage:
            continue
        entry = counts.setdefault(rollout.question_id, [0, 0])
        entry[0] += rollout.correct is True
        entry[1] += 1
    return {question: (correct, valid) for question, (correct, valid) in counts.items()}
