"""Explains an artifact, a checkpoint above all: what it was made from, in which world, judged by whom, by which settings, at what cost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from terrarium.lineage.archive import Archive, Record
from terrarium.lineage.explanation import Event, Explanation, ancestors, costs_of
from terrarium.lineage.rows import column

SHOWN = 20


def explain_artifact(archive: Archive, record: Record, verify: bool = False) -> Explanation:
    """The whole descent of one artifact."""
    descent = archive.descent(record)
    names = archive.names(record)
    return Explanation(
        kind="artifact",
        id=record.manifest.fingerprint,
        title=f"{record.asset}, {', '.join(names) if names else 'current for nothing any more'}",
        facts={
            "worlds": worlds(descent),
            "removed_sources": removals(descent),
            "judges": judges(descent),
            "trained_on": trained_on(record),
            "settings": record.manifest.config,
            "versions": {"code": record.manifest.code_version, **record.making.versions},
            "notes": record.manifest.notes,
        },
        events=[event for above in descent for event in _passed(above)],
        lineage=ancestors(archive, descent, verify),
        lost=archive.missing(record),
        costs=costs_of(archive, [record], descent),
    )


def worlds(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The world snapshots of a descent."""
    found = []
    for record in records:
        if record.asset == "world" and record.file("world.json").exists():
            world = json.loads(record.file("world.json").read_text(encoding="utf-8"))
            kept = ("snapshot", "mode", "pages", "removed", "store_digest", "index_digest", "removal_digest", "embedder_fingerprint")
            found.append({"path": record.path} | {name: world[name] for name in kept if name in world})
    return found


def removals(records: Sequence[Record]) -> list[dict[str, Any]]:
    """How many pages were kept from the world, by reason."""
    return [
        {
            "path": record.path,
            "mode": record.manifest.notes.get("mode") or record.manifest.config.get("mode"),
            "pages": dict(Counter(map(str, column(record, "removed.parquet", "why"))).most_common()),
        }
        for record in records
        if record.asset == "removed_sources"
    ]


def judges(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Who graded the rollouts of a descent, and how often each grade was given."""
    found = []
    for record in records:
        who = column(record, "rollouts.parquet", "judge")
        if who:
            grades = Counter(str(grade) for grade in column(record, "rollouts.parquet", "grade"))
            found.append({"asset": record.asset, "path": record.path, "judges": dict(Counter(map(str, who))), "grades": dict(grades.most_common(8))})
    return found


def trained_on(record: Record) -> dict[str, Any]:
    """The questions and rollouts an RL checkpoint learnt from; empty for what is none."""
    asked = column(record, "rollouts.parquet", "question_id") if record.asset.endswith("/checkpoint") else []
    if not asked:
        return {}
    times = Counter(asked)
    return {"rollouts": len(asked), "questions": len(times), "question_ids": sorted(times)[:SHOWN]}


def _passed(record: Record) -> list[Event]:
    gates = [
        Event(
            asset=record.asset,
            what=f"gate {gate.name}: {'passed' if gate.passed else 'failed' if gate.severity == 'error' else 'warned'}",
            detail=gate.detail,
            path=record.path,
        )
        for gate in record.manifest.gates
    ]
    drops = sorted(record.manifest.drops.items(), key=lambda item: -item[1])
    return gates + [Event(asset=record.asset, what=f"dropped {rows:,}", detail=reason, path=record.path) for reason, rows in drops]
