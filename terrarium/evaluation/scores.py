"""One checkpoint's scores on held-out questions: pooled, by capability, by wording, with behaviour and cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from terrarium.agent.rollout import Rollout
from terrarium.evaluation import metrics
from terrarium.questions.question import CAPABILITIES, Question


def scores_of(rollouts: Sequence[Rollout], questions: Iterable[Question], seen_wordings: set[str]) -> dict[str, Any]:
    """Scores as plain JSON. `seen_wordings` are the wordings that occur among training questions."""
    by_id = {question.question_id: question for question in questions}
    known = [rollout for rollout in rollouts if rollout.question_id in by_id]

    def pick(test: Any) -> list[Rollout]:
        return [rollout for rollout in known if test(by_id[rollout.question_id])]

    right = [rollout for rollout in known if rollout.correct is True]
    wrong = [rollout for rollout in known if rollout.correct is not True and not rollout.termination.outage]
    graded = right + wrong
    return {
        "accuracy": metrics.accuracy(known).as_dict(),
        "by_capability": {
            capability: metrics.accuracy(pick(lambda question, c=capability: question.capability == c)).as_dict() for capability in CAPABILITIES
        },
        "by_wording": {
            "seen": metrics.accuracy(pick(lambda question: question.wording in seen_wordings)).as_dict(),
            "unseen": metrics.accuracy(pick(lambda question: question.wording not in seen_wordings)).as_dict(),
        },
        "outages": sum(rollout.termination.outage for rollout in known),
        "terminations": metrics.terminations(known),
        "at_limit": metrics.Share(sum(rollout.termination.at_limit for rollout in graded), len(graded)).as_dict(),
        "malformed_turns": metrics.malformed_share(known).as_dict(),
        "browse_ratio": {
            "pooled": metrics.browse_ratio(known),
            "mean": metrics.mean_browse_ratio(known),
            "correct": metrics.browse_ratio(right),
            "wrong": metrics.browse_ratio(wrong),
        },
        "searches": sum(rollout.searches for rollout in known),
        "visits": sum(rollout.visits for rollout in known),
        "turns_mean": sum(len(rollout.turns) for rollout in known) / len(known) if known else None,
        "tokens_sampled": sum(sum(rollout.loss_mask) for rollout in known),
    }


def fixed_sample(questions: Iterable[Question], per_capability: int | None, seed: int, split: str = "test") -> list[Question]:
    """The same questions for every checkpoint: up to `per_capability` of each capability of one split, drawn by hash, not by order.

    Args:
        per_capability: None takes all.
    """
    from terrarium.tables import stable_id

    held_out = [question for question in questions if question.split == split]
    drawn: list[Question] = []
    for capability in CAPABILITIES:
        those = [question for question in held_out if question.capability == capability]
        those.sort(key=lambda question: stable_id("evaluation", str(seed), question.question_id))
        drawn.extend(those if per_capability is None else those[:per_capability])
    return drawn
