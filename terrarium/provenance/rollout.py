"""Where a rollout comes from: whose it is, on which question, in which world, under which settings, and what it taught."""

from __future__ import annotations

import json
from typing import Any

from terrarium.provenance.account import Account
from terrarium.provenance.artifact import snapshot_of, state_path
from terrarium.provenance.rows import first, rollout_files, rows_of
from terrarium.provenance.state import Holding, Record, State


def tell_rollout(state: State, rollout_id: str) -> Account | None:
    """Everything the state knows of a rollout; None where it holds none of that id."""
    for held in rollout_files(state):
        rows = rows_of(held.record, "rollouts.parquet", "rollout_id", rollout_id)
        if rows:
            return _tell(state, held, rows[0])
    return None


def _tell(state: State, held: Holding, row: dict[str, Any]) -> Account:
    sampling = json.loads(row["sampling"])
    right = {True: "right", False: "wrong", None: "not graded"}[row["correct"]]
    account = Account(
        kind="rollout", subject=row["rollout_id"], summary=f"{row['policy']} answered {row['answer']!r}: {right} ({row['termination']})."
    )
    hit = first(state, "answerable_questions", "questions.parquet", "question_id", row["question_id"])
    account.tell(
        "question",
        {"id": row["question_id"]} | ({"asked": hit[1]["question"], "answers": hit[1]["answers"], "split": hit[1]["split"]} if hit else {}),
    )
    family = [held.record, *state.descent(held.record)]
    worlds = [record for record in family if record.asset == "world" and snapshot_of(record) == row["snapshot"]]
    account.tell(
        "made in",
        {
            "artifact": state_path(state, held.record),
            "asset": held.name,
            "recipe": row["recipe"],
            "stage": row["stage"],
            "snapshot of the world": row["snapshot"],
            "world": state_path(state, worlds[0]) if worlds else "",
        },
    )
    account.tell("policy", _policy(state, held.record, row["policy"]))
    account.tell("sampling", {name: value for name, value in sampling.items() if name != "agent"} | (sampling.get("agent") or {}))
    account.tell(
        "graded",
        {
            "right": row["correct"],
            "method": row["grade"],
            "judge": row["judge"],
            "outage": row["error"],
            "searches": row["searches"],
            "visits": row["visits"],
        },
    )
    turns = [
        {"turn": number, "thought": turn["thought"], "calls": turn["calls"], "malformed": turn["malformed"], "advantage": turn["advantage"]}
        for number, turn in enumerate(row["turns"], start=1)
    ]
    account.tell("turns", rows=turns)
    if held.asset.endswith("/checkpoint"):
        account.tell("trained", {"checkpoint": f"{held.name}, {state_path(state, held.record)}"})
    return account


def _policy(state: State, record: Record, name: str) -> dict[str, Any]:
    """The checkpoint whose weights sampled: the parent with a model, or for a step of training the parent moved on by that many updates."""
    models = [state.record(parent.path) for parent in record.manifest.parents if parent.asset.endswith("checkpoint") or parent.asset == "base_model"]
    found = {parent.asset: f"{state_path(state, parent)} {parent.manifest.data_version}" for parent in models if parent is not None}
    return {"name": name, **found}
