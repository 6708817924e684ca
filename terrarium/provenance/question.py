"""Where a question comes from, what became of it at every gate, and what was trained or measured with it."""

from __future__ import annotations

from typing import Any

from terrarium.provenance.account import Account
from terrarium.provenance.artifact import snapshot_of
from terrarium.provenance.rows import dropped, first, rollout_files, rows_of
from terrarium.provenance.state import State

# The gates a question passes, in order: asset and what it means to be in its table.
GATES = (
    ("extracted_questions", "drawn from pages"),
    ("screened_questions", "passed the screen"),
    ("answerable_questions", "the sealed world supports its answer"),
)


def tell_question(state: State, question_id: str) -> Account | None:
    """Everything the state knows of a question; None where it knows none of that id."""
    found = [(held, row) for name, _ in GATES if (hit := first(state, name, "questions.parquet", "question_id", question_id)) for held, row in [hit]]
    undecided = [
        (held, row) for name, _ in GATES if (hit := first(state, name, "undecided.parquet", "question_id", question_id)) for held, row in [hit]
    ]
    drops = dropped(state, question_id)
    if not found and not undecided:
        return None
    row = (found or undecided)[-1][1]
    account = Account(kind="question", subject=question_id, summary=row["question"])
    account.tell(
        "itself",
        {
            "answers": row["answers"],
            "kind of answer": row["answer_kind"],
            "capability": row["capability"],
            "hops": row["hops"],
            "as of": row["as_of"],
            "language": row["language"],
            "round": row["round"],
            "maker": row["maker"],
            "wording": row["wording"],
            "split": row["split"],
            "share": row["share"],
        },
    )
    account.tell(
        "read on",
        rows=[
            {"page": _page(state, span["page_id"]), "span": f"{span['start']}-{span['end']}", "text": span["text"]} for span in row["evidence"] or []
        ],
    )
    account.tell("facts it rests on", rows=row["operands"] or [])
    account.tell(
        "supported in the sealed world by", rows=[{"page": _page(state, span["page_id"]), "text": span["text"]} for span in row["support"] or []]
    )
    passed = {held.asset: held for held, _ in found}
    account.tell(
        "gates",
        rows=[
            {
                "asset": name,
                "result": "passed" if name in passed else "undecided" if any(held.asset == name for held, _ in undecided) else "not there",
                "meaning": meaning,
            }
            for name, meaning in GATES
        ],
    )
    account.tell("dropped", rows=drops)
    account.tell("its sources, removed from the world", rows=_removed(state, row["source_page_ids"] or []))
    account.tell("worlds", {held.name: snapshot_of(held.record) for held in state.current("world")})
    account.tell("difficulty", rows=_difficulty(state, question_id))
    account.tell("rollouts", rows=_rollouts(state, question_id))
    account.tell("cold start", rows=_taught(state, question_id))
    return account


def _page(state: State, page_id: str) -> str:
    hit = first(state, "candidate_pages", "pages.parquet", "page_id", page_id)
    return f"{page_id} {hit[1]['url']}" if hit else page_id


def _removed(state: State, sources: list[str]) -> list[dict[str, Any]]:
    found = []
    for held in state.current("removed_sources"):
        for source in sources:
            for column in ("page_id", "because_of"):
                for row in rows_of(held.record, "removed.parquet", column, source):
                    line = {"page": f"{row['page_id']} {row['url']}", "why": row["why"], "because of": row["because_of"]}
                    if line not in found:
                        found.append(line)
    return found


def _difficulty(state: State, question_id: str) -> list[dict[str, Any]]:
    found = []
    for held in state.holdings:
        if held.why is None:
            for row in rows_of(held.record, "attempts.parquet", "question_id", question_id):
                found.append({"filter": held.name, "right": f"{row['correct']} of {row['attempts']}", "kept": row["kept"], "reason": row["reason"]})
    return found


def _rollouts(state: State, question_id: str) -> list[dict[str, Any]]:
    columns = ["rollout_id", "question_id", "policy", "answer", "termination", "correct", "grade", "judge", "error"]
    return [
        {"in": held.name, "trained on": held.asset.endswith("/checkpoint"), **{name: row[name] for name in columns if name != "question_id"}}
        for held in rollout_files(state)
        for row in rows_of(held.record, "rollouts.parquet", "question_id", question_id, columns)
    ]


def _taught(state: State, question_id: str) -> list[dict[str, Any]]:
    return [
        {"in": held.name, "trajectory": row["trajectory_id"], "turns": row["turns"], "copies": row["copies"], "split": row["split"]}
        for held in state.current("curated_trajectories")
        for row in rows_of(
            held.record, "trajectories.parquet", "question_id", question_id, ["trajectory_id", "question_id", "turns", "copies", "split"]
        )
    ]
