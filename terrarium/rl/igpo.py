"""The four steps of IGPO, one function each: a reward for every turn, normalising, IG-Scale, and the discounted sum.

Sources: IGPO is arXiv 2510.14967, DR-Venus is arXiv 2604.19859; "as released" means DR-Venus's training code, which differs from its
paper in places (DR-Venus's README names the repository). The beliefs V come from outside: V[t] is the mean log-probability of the
reference answer's tokens at the start of turn t.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from statistics import fmean
from typing import Any, Literal

from terrarium.errors import TerrariumError

# The released code finds rewarded turns by "reward is not zero"; a gain of exactly zero must keep its turn's place.
_SMALLEST_GAIN = 1e-10
_IN_VARIANCE = 1e-8
_IN_DIVISOR = 1e-6


@dataclass(frozen=True, slots=True)
class IgpoOptions:
    """What differs between IGPO and DR-Venus, and between DR-Venus's paper and its code. Defaults are the released code's.

    assign: "merge" = a turn whose tool is in `tools` gains V after it minus V where it was last scored, and the turns in between share
        its advantage (browse-aware, as released); "copy" = its one-turn difference, and the searches right before it receive the same
        reward (browse-aware, the paper's other reading); "all" = every turn but the last gains its one-turn difference (plain IGPO).
    tools: tools that carry gain; empty = all turns but the last.
    ig_type: difference of log-probabilities (DR-Venus) or of probabilities (IGPO).
    norm: joint (IGPO), separate, scaled_separate (DR-Venus: separate and IG-Scale), raw_ig.
    scope: where IG-Scale takes its means: the whole batch (as released) or each group.
    gamma: discount a rewarded turn. adaptive_min > 0: gamma = adaptive_min ** (1 / rewarded turns).
    lam: format penalty. penalty: "before" = it replaces the reward of a malformed turn and is normalised with the others (as released,
        so it can end up a reward in a group that did worse); "after" = malformed turns are kept out of the pools, and -lam replaces
        their normalised reward.
    ig_weight, w_ig, w_out: weights of gain and outcome after normalising. by_std: divide by the deviation.
    eps_scale: the small number in IG-Scale's divisor (released 1e-6, paper 1e-8). scale_floor and scale_cap: its eta and s_max.
    """

    assign: Literal["merge", "copy", "all"] = "merge"
    tools: Sequence[str] = ("visit",)
    ig_type: Literal["log_prob_diff", "prob_diff"] = "log_prob_diff"
    norm: Literal["joint", "separate", "scaled_separate", "raw_ig"] = "scaled_separate"
    scope: Literal["batch", "group"] = "batch"
    gamma: float = 0.95
    adaptive_min: float = 0.0
    lam: float = 1.0
    penalty: Literal["before", "after"] = "before"
    ig_weight: float = 1.0
    by_std: bool = True
    w_out: float = 1.0
    w_ig: float = 1.0
    eps_scale: float = 1e-6
    scale_floor: float = 0.3
    scale_cap: float = 10.0

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> IgpoOptions:
        """Options by name.

        Raises:
            TerrariumError: a name or a choice is not known.
        """
        known = [item.name for item in fields(cls)]
        for name in options:
            if name not in known:
                raise TerrariumError(f"IGPO has no option {name!r}; it has {', '.join(known)}.")
        for name, choices in _CHOICES.items():
            if options.get(name, choices[0]) not in choices:
                raise TerrariumError(f"IGPO's option {name} cannot be {options[name]!r}; it is one of {', '.join(choices)}.")
        return cls(**options)


_CHOICES: dict[str, tuple[str, ...]] = {
    "assign": ("merge", "copy", "all"),
    "ig_type": ("log_prob_diff", "prob_diff"),
    "norm": ("joint", "separate", "scaled_separate", "raw_ig"),
    "scope": ("batch", "group"),
    "penalty": ("before", "after"),
}


@dataclass(slots=True)
class TurnRewards:
    """One rollout's rewards: `raw` before and `z` after normalising, None on turns that carry none; the last turn is the outcome's.

    `fixed` names the turns whose reward stays out of normalising (penalty "after").
    """

    raw: list[float | None]
    z: list[float | None] = field(default_factory=list)
    fixed: frozenset[int] = frozenset()

    @property
    def gains(self) -> list[int]:
        """The turns that carry gain and are normalised."""
        return [turn for turn, reward in enumerate(self.raw[:-1]) if reward is not None and turn not in self.fixed]

    @property
    def outcomes(self) -> list[int]:
        """The outcome's turn, unless it is kept out."""
        last = len(self.raw) - 1
        return [] if last in self.fixed else [last]


def turn_rewards(rollout: Mapping[str, Any], options: IgpoOptions) -> TurnRewards:
    """Gain of each turn, outcome of the last, penalty where malformed.

    Gain of turn t: V[t+1] - V[reference] (DR-Venus (2)), or the difference of exp(V) (IGPO (I2)). A malformed turn's reward is replaced
    by -lam (DR-Venus (3)), the answer's too.

    Raises:
        TerrariumError: `tools`, `V` and `fmt_ok` differ in length, or there is no turn.
    """
    tools, beliefs = list(rollout["tools"]), [float(value) for value in rollout["V"]]
    well_formed = list(rollout.get("fmt_ok") or [True] * len(tools))
    if not tools or not len(tools) == len(beliefs) == len(well_formed):
        raise TerrariumError(
            f"A rollout of group {rollout['group']!r} has {len(tools)} tools, {len(beliefs)} beliefs and {len(well_formed)} format marks; "
            "IGPO needs one of each a turn."
        )
    if options.ig_type == "prob_diff":
        beliefs = [math.exp(value) for value in beliefs]
    raw = [*_gains(tools, beliefs, options), float(rollout["outcome"])]
    malformed = [turn for turn, fine in enumerate(well_formed) if not fine]
    for turn in malformed:
        raw[turn] = -options.lam
    return TurnRewards(raw=raw, fixed=frozenset(malformed) if options.penalty == "after" else frozenset())


def _gains(tools: list[str | None], beliefs: list[float], options: IgpoOptions) -> list[float | None]:
    last = len(tools) - 1
    carries = [options.assign == "all" or not options.tools or tool in options.tools for tool in tools[:last]]
    gains: list[float | None] = [None] * last
    reference = 0
    for turn in range(last):
        if not carries[turn]:
            continue
        before = reference if options.assign == "merge" else turn
        gains[turn] = beliefs[turn + 1] - beliefs[before] or _SMALLEST_GAIN
        reference = turn + 1
    if options.assign == "copy":
        for turn in reversed(range(last - 1)):
            if gains[turn] is None and tools[turn] == "search":
                gains[turn] = gains[turn + 1]
    return gains


def normalise(groups: list[list[TurnRewards]], options: IgpoOptions) -> None:
    """Fill `z` of every rollout: pools within a question, then IG-Scale over the batch or the group, then the weights.

    joint: one pool of gains and outcomes (IGPO (I4)); otherwise outcomes and gains apart (DR-Venus (4)). raw_ig: gain over its deviation
    without centring, plus the rollout's normalised outcome.
    """
    for group in groups:
        for rewards in group:
            rewards.z = list(rewards.raw)
        gains = [(rewards, turn) for rewards in group for turn in rewards.gains]
        outcomes = [(rewards, turn) for rewards in group for turn in rewards.outcomes]
        if options.norm == "joint":
            _to_z(gains + outcomes, options.by_std)
        else:
            _to_z(outcomes, options.by_std)
            _to_z(gains, options.by_std, centre=options.norm != "raw_ig")
    if options.norm == "scaled_separate":
        for pool in [groups] if options.scope == "batch" else [[group] for group in groups]:
            _ig_scale([rewards for group in pool for rewards in group], options)
    for rewards in (rewards for group in groups for rewards in group):
        _weigh(rewards, options)


def _to_z(pool: Iterable[tuple[TurnRewards, int]], by_std: bool, centre: bool = True) -> None:
    """z = (r - mean) / (sqrt(population variance + 1e-8) + 1e-6) of one pool; a pool of one has deviation 1."""
    places = list(pool)
    values = [float(rewards.raw[turn] or 0.0) for rewards, turn in places]
    if not values:
        return
    mean = fmean(values)
    deviation = 1.0 if len(values) == 1 else math.sqrt(fmean((value - mean) ** 2 for value in values) + _IN_VARIANCE)
    for (rewards, turn), value in zip(places, values, strict=True):
        centred = value - mean if centre else value
        rewards.z[turn] = centred / (deviation + _IN_DIVISOR) if by_std else centred


def ig_scale(outcomes: Sequence[float], gains: Sequence[float], options: IgpoOptions) -> float:
    """IG-Scale (DR-Venus (5)): s = min(max(mean |z of outcomes|, eta) / (mean |z of gains| + eps), s_max); a mean of nothing is 1."""
    of_outcomes = fmean(map(abs, outcomes)) if outcomes else 1.0
    of_gains = fmean(map(abs, gains)) if gains else 1.0
    return min(max(of_outcomes, options.scale_floor) / (of_gains + options.eps_scale), options.scale_cap)


def _ig_scale(pool: list[TurnRewards], options: IgpoOptions) -> None:
    outcomes = [float(rewards.z[turn] or 0.0) for rewards in pool for turn in rewards.outcomes]
    gains = [(rewards, turn) for rewards in pool for turn in rewards.gains]
    scale = ig_scale(outcomes, [float(rewards.z[turn] or 0.0) for rewards, turn in gains], options)
    for rewards, turn in gains:
        rewards.z[turn] = scale * float(rewards.z[turn] or 0.0)


def _weigh(rewards: TurnRewards, options: IgpoOptions) -> None:
    outcome = float(rewards.z[-1] or 0.0) if rewards.outcomes else 0.0
    for turn in rewards.gains:
        gain = options.ig_weight * float(rewards.z[turn] or 0.0)
        rewards.z[turn] = options.w_ig * (gain + outcome if options.norm == "raw_ig" else gain)
    for turn in rewards.outcomes:
        rewards.z[turn] = options.w_out * outcome


def discount(z: Sequence[float | None], options: IgpoOptions) -> list[float]:
    """Sum of a rollout's rewards from each turn on (DR-Venus (6)): A = z + gamma * A of the next rewarded turn.

    A turn without reward takes the advantage of the next rewarded one, undiscounted. raw_ig knows no discount: each turn keeps its z.
    """
    rewarded = sum(reward is not None for reward in z)
    gamma = options.gamma
    if options.norm == "raw_ig":
        gamma = 0.0
    elif options.adaptive_min > 0 and rewarded > 1:
        gamma = options.adaptive_min ** (1.0 / rewarded)
    advantages = [0.0] * len(z)
    following = 0.0
    for turn in reversed(range(len(z))):
        reward = z[turn]
        if reward is not None:
            following = reward + gamma * following
        advantages[turn] = following
    return advantages
