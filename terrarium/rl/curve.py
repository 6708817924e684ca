"""What one sees of a training step: figures of its rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from terrarium.agent.rollout import Rollout, Termination
from terrarium.rl.advantages import has_spread


def reward(rollout: Rollout) -> float | None:
    """The outcome: 1 for a right answer, 0 for any other end, None after an outage."""
    return None if rollout.correct is None else float(rollout.correct)


def step_figures(groups: Sequence[Sequence[Rollout]]) -> dict[str, float]:
    """Figures of the groups of one step. Shares are of valid rollouts, outages are counted apart; lengths are tokens.

    `browse_ratio` is visits over all tool uses; `malformed` is the share of turns that could not be read.
    """
    rollouts = [rollout for group in groups for rollout in group]
    valid = [rollout for rollout in rollouts if not rollout.termination.outage]
    figures = {
        "groups": float(len(groups)),
        "groups_with_spread": _share([has_spread([reward(rollout) for rollout in group]) for group in groups]),
        "rollouts": float(len(rollouts)),
        "outages": float(len(rollouts) - len(valid)),
    }
    if not valid:
        return figures
    searches, visits = (float(sum(getattr(rollout, name) for rollout in valid)) for name in ("searches", "visits"))
    turns = [turn for rollout in valid for turn in rollout.turns]
    figures |= {
        "reward": fmean(reward(rollout) or 0.0 for rollout in valid),
        "accuracy": _share([bool(rollout.correct) for rollout in valid]),
        "tool_calls": (searches + visits) / len(valid),
        "searches": searches / len(valid),
        "visits": visits / len(valid),
        "browse_ratio": visits / (searches + visits) if searches + visits else 0.0,
        "length": fmean(len(rollout.token_ids) for rollout in valid),
        "sampled_tokens": fmean(sum(rollout.loss_mask) for rollout in valid),
        "turns": fmean(len(rollout.turns) for rollout in valid),
        "at_limit": _share([rollout.termination.at_limit for rollout in valid]),
        "no_answer": _share([rollout.answer is None for rollout in valid]),
        "malformed": _share([turn.malformed is not None for turn in turns]),
    }
    for termination in Termination:
        if not termination.outage:
            figures[f"ended_{termination}"] = _share([rollout.termination is termination for rollout in valid])
    return figures


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
