"""Advantages: how much better each rollout, or each turn of it, did than its group. Pure functions on lists of floats.

What is here reads like the papers: GRPO's group normalisation (arXiv 2402.03300, equation of outcome supervision), IGPO's information
gain for every turn (arXiv 2510.14967), and what DR-Venus changed about it (arXiv 2604.19859: log-probabilities, browse-aware credit,
format penalty, IG-Scale, discount). What is not here: how a rollout is graded, and how beliefs are scored.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from terrarium.errors import TerrariumError
from terrarium.rl.igpo import IgpoOptions, TurnRewards, discount, normalise, turn_rewards

Deviation = Literal["population", "sample", "none"]

# Rewards of one group that differ by less than this, relative to their size, are equal: no outcome is graded that finely, float sums are.
_NOISE = 1e-9


def has_spread(rewards: Iterable[float | None]) -> bool:
    """Whether a group can teach anything: at least two valid rewards that differ by more than float noise."""
    valid = [reward for reward in rewards if reward is not None]
    if len(valid) < 2:
        return False
    return max(valid) - min(valid) > _NOISE * max(1.0, abs(max(valid)), abs(min(valid)))


def group_advantages(rewards: Sequence[float | None], std: Deviation = "population") -> list[float]:
    """GRPO's advantage of each rollout of one group.

    A = (r - mean(r)) / deviation(r) over the valid rollouts of one question (DeepSeekMath, arXiv 2402.03300, section 4.1.2).
    `std` is the population deviation (the paper's formula), the sample deviation with n - 1 (as TRL computes it, without its 1e-4 in
    the divisor), or none (the mean is taken away only, as in Dr. GRPO, arXiv 2503.20783).

    Args:
        rewards: one number a rollout; None where an outage left nothing to grade, which takes no part and gets 0.0.

    Returns:
        One advantage a rollout, in order. All exactly 0.0 where the valid rewards do not differ.

    Raises:
        TerrariumError: `std` is none of the three, or a reward is not finite.
    """
    if std not in ("population", "sample", "none"):
        raise TerrariumError(f"The deviation {std!r} of an advantage is not known; use population, sample or none.")
    valid = [reward for reward in rewards if reward is not None]
    if not all(math.isfinite(reward) for reward in valid):
        raise TerrariumError(f"A reward of the group {list(rewards)} is not finite; look at the grader that gave it.")
    if not has_spread(rewards):
        return [0.0] * len(rewards)
    mean = math.fsum(valid) / len(valid)
    scale = 1.0
    if std != "none":
        count = len(valid) if std == "population" else len(valid) - 1
        scale = math.sqrt(math.fsum((reward - mean) ** 2 for reward in valid) / count)
    return [0.0 if reward is None else (reward - mean) / scale for reward in rewards]


def igpo(rollouts: Sequence[Mapping[str, Any]], **options: Any) -> list[list[float]]:
    """IGPO's advantage of every turn, with DR-Venus's changes as options.

    Args:
        rollouts: of one batch, in any order. Each a mapping: `group` (question), `tools` (the tool of each turn; the last is "answer";
            None = no readable call), `V` (mean log-probability of the reference answer at the start of each turn, so as long as
            `tools`), `outcome` (reward of the answer), and `fmt_ok` (one bool a turn; all true when absent).
        options: fields of `IgpoOptions`.

    Returns:
        For each rollout one advantage a turn, to be given to every token the policy sampled in that turn.

    Raises:
        TerrariumError: an option is not known, or a rollout's lists differ in length.
    """
    chosen = IgpoOptions.of(options)
    rewards = [turn_rewards(rollout, chosen) for rollout in rollouts]
    groups: dict[Any, list[TurnRewards]] = defaultdict(list)
    for rollout, reward in zip(rollouts, rewards, strict=True):
        groups[rollout["group"]].append(reward)
    normalise(list(groups.values()), chosen)
    return [discount(reward.z, chosen) for reward in rewards]
