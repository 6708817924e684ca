"""Explains a question: its page and span, each gate it met, its pages in the sealed world, who tried it, and what learnt from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from terrarium.lineage.archive import Archive, Record
from terrarium.lineage.explanation import Event, Explanation, ancestors, costs_of
from terrarium.lineage.rows import ROLLOUT_COLUMNS, rows

MADE, SCREENED, ANSWERABLE = "extracted_questions", "screened_questions", "answerable_questions"
_KEPT = {MADE: "made", SCREENED: "passed the screen", ANSWERABLE: "answerable in the sealed world"}


def explain_question(archive: Archive, question_id: str, verify: bool = False) -> Explanation:
    """Everything the archive knows of a question id that it holds."""
    seen: list[Record] = []
    events: list[Event] = []
    row: dict[str, Any] = {}
    dropped = ""
    for asset in (MADE, SCREENED, ANSWERABLE):
        for record in archive.of(asset):
            found = rows(record, "questions.parquet", "question_id", [question_id])
            undecided = rows(record, "undecided.parquet", "question_id", [question_id], ["question_id"])
            drops = _drops(record, [question_id])
            if found:
                row = found[0]
                events.append(_event(record, _KEPT[asset], f"split {row.get('split')}, share {row.get('share') or 'none'}"))
            elif undecided:
                events.append(_event(record, "left undecided", "an outage; the next run tries again"))
            for drop in drops:
                dropped = dropped or f"{asset}: {drop['reason']}"
                row = row or {"question": drop["text"]}
            events += [_event(record, f"dropped at {drop['step']}", _why(drop)) for drop in drops]
            if found or undecided or drops:
                seen.append(record)
    tried = _tried(archive, question_id, events)
    seen += tried
    seen += _learnt(archive, question_id, events)
    sources = list(row.get("source_page_ids") or [])
    facts = {
        "question": row.get("question"),
        "answers": row.get("answers"),
        "capability": row.get("capability"),
        "maker": row.get("maker"),
        "wording": row.get("wording"),
        "split": row.get("split"),
        "share": row.get("share"),
        "round": row.get("round"),
        "as_of": row.get("as_of"),
        "dropped": dropped or None,
        "evidence": spans(archive, row.get("evidence") or []),
        "support": spans(archive, row.get("support") or []),
        "removed": _removed(archive, question_id, sources),
        "worlds": [record.manifest.notes.get("snapshot") for record in archive.of("world")],
    }
    descent = archive.descent(*seen)
    return Explanation(
        kind="question",
        id=question_id,
        title=str(row.get("question") or question_id),
        facts=facts,
        events=events,
        lineage=ancestors(archive, descent, verify),
        lost=archive.missing(*seen),
        costs=costs_of(archive, seen, descent),
    )


def spans(archive: Archive, held: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Spans of pages with the pages' addresses."""
    wanted = {span["page_id"] for span in held}
    urls = {
        row["page_id"]: row["url"]
        for record in archive.of("candidate_pages", "seed_pages")
        for row in rows(record, "pages.parquet", "page_id", wanted, ["page_id", "url"])
    }
    return [{**span, "url": urls.get(span["page_id"])} for span in held]


def _removed(archive: Archive, question_id: str, sources: Sequence[str]) -> list[dict[str, Any]]:
    """Pages kept from the world because of the question, its sources and their copies."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for record in archive.of("removed_sources"):
        held = rows(record, "removed.parquet", "because_of", [question_id, *sources]) + rows(record, "removed.parquet", "page_id", sources)
        held += rows(record, "removed.parquet", "question_id", [question_id])
        found |= {(row["page_id"], row["why"]): row for row in held}
    return list(found.values())


def _tried(archive: Archive, question_id: str, events: list[Event]) -> list[Record]:
    """Adds who tried the question with what outcome, and what the stages' filters made of it."""
    seen = []
    for record in archive.of("teacher_trajectories", "policy_rollouts", "checkpoint", "evaluation"):
        attempts = rows(record, "rollouts.parquet", "question_id", [question_id], ROLLOUT_COLUMNS)
        if attempts:
            seen.append(record)
        for policy, part in _by(attempts, "policy").items():
            right = Counter("undecided" if row["correct"] is None else "right" if row["correct"] else "wrong" for row in part)
            said = ", ".join(f"{count} {word}" for word, count in right.most_common())
            events.append(_event(record, f"tried by {policy}", f"{said}: {', '.join(row['rollout_id'] for row in part)}"))
    for record in archive.of("questions"):
        for row in rows(record, "attempts.parquet", "question_id", [question_id]):
            what = "kept by the filter" if row["kept"] else "dropped by the filter"
            events.append(_event(record, what, f"{row['reason']}, {row['correct']} of {row['attempts']} right"))
            seen.append(record)
    return seen


def _learnt(archive: Archive, question_id: str, events: list[Event]) -> list[Record]:
    """Adds which checkpoints were trained on the question."""
    seen = []
    for record in archive.of("curated_trajectories"):
        kept = rows(record, "trajectories.parquet", "question_id", [question_id], ["trajectory_id", "split"])
        events += [_event(record, "trajectory kept", f"{row['trajectory_id']}, split {row['split']}") for row in kept]
        for checkpoint in archive.of("sft_checkpoint"):
            if not any(parent.path == record.path for parent in checkpoint.manifest.parents):
                continue
            long = {drop["id"]: drop for drop in _drops(checkpoint, [row["trajectory_id"] for row in kept])}
            events += [_event(checkpoint, "trajectory dropped", _why(drop)) for drop in long.values()]
            used = [row for row in kept if row["split"] == "train" and row["trajectory_id"] not in long]
            if used:
                events.append(_event(checkpoint, "trained on it", f"{len(used)} trajectories"))
                seen.append(checkpoint)
    for record in archive.of("checkpoint"):
        if used := rows(record, "rollouts.parquet", "question_id", [question_id], ["rollout_id"]):
            events.append(_event(record, "trained on it", f"{len(used)} rollouts"))
            seen.append(record)
    return seen


def _by(found: Iterable[dict[str, Any]], name: str) -> dict[str, list[dict[str, Any]]]:
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        parts.setdefault(str(row[name]), []).append(row)
    return parts


def _drops(record: Record, ids: Sequence[str]) -> list[dict[str, Any]]:
    return rows(record, "dropped.parquet", "id", ids)


def _why(drop: dict[str, Any]) -> str:
    return f"{drop['reason']} ({drop['detail']})" if drop["detail"] and drop["detail"] != drop["reason"] else str(drop["reason"])


def _event(record: Record, what: str, detail: str = "") -> Event:
    return Event(asset=record.asset, what=what, detail=detail, path=record.path)
