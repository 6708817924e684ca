"""What a finished stage says of itself: counts, gates and costs, out of its log and its rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from terrarium.agent.rollout import Rollout
from terrarium.job import Gate, Outcome
from terrarium.lineage.ledger import rollout_costs
from terrarium.rl.settings import StageSettings
from terrarium.rl.validation import plateau

TIMES = ("seconds", "sampling_seconds", "training_seconds", "sampled_tokens_a_second", "trained_tokens_a_second")
"""Figures of a step that are of its making."""


def summary(stage: StageSettings, rows: Sequence[dict[str, float]], rollouts: Sequence[Rollout], steps: int, notes: dict[str, Any]) -> Outcome:
    """Counts, gates and costs of a finished stage, out of its log and rollouts."""

    def mean(name: str, part: Sequence[dict[str, float]] = rows) -> float:
        values = [row[name] for row in part if name in row]
        return fmean(values) if values else 0.0

    stopped = plateau(rows, stage.patience)
    third = max(1, len(rows) // 3)
    spread, at_limit = mean("groups_with_spread"), mean("at_limit")
    mismatches = sum(row["token_mismatches"] for row in rows)
    return Outcome(
        counts={
            "steps": steps,
            "questions": len({rollout.question_id for rollout in rollouts}),
            "rollouts": len(rollouts),
            "outages": sum(row["outages"] for row in rows),
            "reward_first_third": mean("reward", rows[:third]),
            "reward_last_third": mean("reward", rows[-third:]),
            **{name: mean(name) for name in ("groups_with_spread", "at_limit", "malformed", "tool_calls", "browse_ratio", "length", "turns")},
        },
        gates=[
            Gate(
                name="steps_done",
                passed=steps == stage.steps or stopped,
                detail=f"{steps} of {stage.steps} updates were made" + (", then validation was on a plateau" if stopped else ""),
                figures={"steps": steps, "planned": stage.steps},
            ),
            Gate(
                name="token_ids_as_sampled",
                passed=mismatches == 0,
                detail=f"{mismatches:.0f} of {len(rollouts)} training rows differ from their rollout in tokens, mask or log-probabilities",
                figures={
                    "mismatches": mismatches,
                    "rows": len(rollouts),
                    "drift": mean("drift"),
                    "worst_drift": max(row["worst_drift"] for row in rows),
                },
            ),
            Gate(
                name="groups_have_spread",
                passed=spread >= 0.5,
                severity="warn",
                detail=f"{spread:.0%} of the groups had right and wrong rollouts; the others taught nothing",
                figures={"share": spread},
            ),
            Gate(
                name="share_at_limit",
                passed=True,
                severity="warn",
                detail=f"{at_limit:.1%} of the rollouts ended at a turn or context limit (context {stage.context})",
                figures={"share": at_limit},
            ),
        ],
        costs={
            **rollout_costs(rollouts, model=f"stage-{stage.number}"),
            f"tokens_trained/stage-{stage.number}": sum(row.get("trained_tokens", 0.0) for row in rows),
            "sampling_seconds": sum(row["sampling_seconds"] for row in rows),
            "training_seconds": sum(row["training_seconds"] for row in rows),
        },
        # Reports are made from notes, so what differs between two equal runs stands in the log and in the costs.
        notes={"step_figures": {name: value for name, value in (rows[-1] if rows else {}).items() if name not in TIMES}, **notes},
    )
