"""Explains a rollout: question, policy and the checkpoint behind it, world, sampling, how it ended, who graded it, what learnt from it."""

from __future__ import annotations

import json
from typing import Any

from terrarium.lineage.archive import Archive, Record
from terrarium.lineage.explanation import Event, Explanation, ancestors, costs_of
from terrarium.lineage.rows import ROLLOUT_COLUMNS, rows

_MADE_OF = ("checkpoint", "sft_checkpoint", "base_model")


def explain_rollout(archive: Archive, rollout_id: str, verify: bool = False) -> Explanation:
    """Everything the archive knows of a rollout id that it holds."""
    events: list[Event] = []
    seen: list[Record] = []
    row: dict[str, Any] = {}
    policies: list[str] = []
    for record in archive.of("teacher_trajectories", "policy_rollouts", "checkpoint", "evaluation"):
        found = rows(record, "rollouts.parquet", "rollout_id", [rollout_id], ROLLOUT_COLUMNS)
        if not found:
            continue
        row = row or found[0]
        seen.append(record)
        events.append(Event(asset=record.asset, what="made", detail=f"by {found[0]['policy']} in {found[0]['snapshot']}", path=record.path))
        policies += _policies(record)
        events += _uses(archive, record, found[0])
    row["sampling"] = json.loads(row["sampling"]) if row.get("sampling") else {}
    asked = [
        found for record in archive.of("answerable_questions") for found in rows(record, "questions.parquet", "question_id", [row["question_id"]])
    ]
    row["question"] = asked[0]["question"] if asked else None
    row["answers"] = asked[0]["answers"] if asked else None
    row["policy_from"] = list(dict.fromkeys(policies))
    descent = archive.descent(*seen)
    verdict = "undecided" if row["correct"] is None else "right" if row["correct"] else "wrong"
    return Explanation(
        kind="rollout",
        id=rollout_id,
        title=f"{row['policy']} on {row['question'] or row['question_id']}: {verdict}",
        facts=row,
        events=events,
        lineage=ancestors(archive, descent, verify),
        lost=archive.missing(*seen),
        costs=costs_of(archive, seen, descent),
    )


def _policies(record: Record) -> list[str]:
    """The artifacts whose weights sampled: an update's rollouts begin from the stage's parent."""
    names = [parent for parent in record.manifest.parents if parent.asset in _MADE_OF or parent.asset.endswith("/checkpoint")]
    return [f"{parent.asset} {parent.data_version} ({parent.path})" for parent in names]


def _uses(archive: Archive, record: Record, row: dict[str, Any]) -> list[Event]:
    if record.asset.endswith("/checkpoint"):
        return [Event(asset=record.asset, what="trained on it", detail=f"as {row['policy']}", path=record.path)]
    events = []
    for below in archive.living:
        if not any(parent.path == record.path for parent in below.manifest.parents):
            continue
        if below.asset.endswith("/questions"):
            for kept in rows(below, "attempts.parquet", "question_id", [row["question_id"]]):
                what = "kept its question" if kept["kept"] else "dropped its question"
                events.append(Event(asset=below.asset, what=what, detail=f"{kept['correct']} of {kept['attempts']} right", path=below.path))
        elif below.asset == "curated_trajectories":
            events += [
                Event(asset=below.asset, what=f"dropped at {drop['step']}", detail=drop["reason"], path=below.path)
                for drop in rows(below, "dropped.parquet", "id", [row["rollout_id"]])
            ]
            kept_rows = rows(below, "trajectories.parquet", "question_id", [row["question_id"]], ["trajectory_id", "split"])
            for kept in kept_rows:
                events.append(Event(asset=below.asset, what="trajectory kept", detail=f"{kept['trajectory_id']}, {kept['split']}", path=below.path))
            if any(kept["split"] == "train" for kept in kept_rows):
                made = [one for one in archive.of("sft_checkpoint") if any(parent.path == below.path for parent in one.manifest.parents)]
                events += [Event(asset=one.asset, what="trained on it", path=one.path) for one in made]
    return events
