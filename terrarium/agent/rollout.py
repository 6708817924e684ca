"""The rollout: one attempt of a policy at one question, turn by turn and token by token."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import pyarrow as pa

from terrarium.tables import read_rows, write_rows


class Termination(StrEnum):
    """How a rollout ended. An outage is never a wrong answer; where a forced answer fails, it is the limit that forced it."""

    ANSWERED = "answered"
    ANSWERED_WHEN_FORCED = "answered_when_forced"
    NO_ANSWER = "no_answer"
    TURN_LIMIT = "turn_limit"
    CONTEXT_LIMIT = "context_limit"
    TIME_LIMIT = "time_limit"
    TOOL_OUTAGE = "tool_outage"
    POLICY_OUTAGE = "policy_outage"

    @property
    def outage(self) -> bool:
        return self in (Termination.TOOL_OUTAGE, Termination.POLICY_OUTAGE)

    @property
    def at_limit(self) -> bool:
        """Ended at a turn or context limit (section 4 of the design)."""
        return self in (Termination.ANSWERED_WHEN_FORCED, Termination.TURN_LIMIT, Termination.CONTEXT_LIMIT)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call a turn makes. `arguments` is a JSON object."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RolloutTurn:
    """One turn: what the policy wrote (tokens `start` to `end` of the rollout's `token_ids`), and what it saw in return.

    `text` is the turn as sampled; `gain` and `advantage` are filled by training.
    """

    text: str
    thought: str
    calls: tuple[ToolCall, ...]
    observation: str
    malformed: str | None
    start: int
    end: int
    gain: float | None = None
    advantage: float | None = None


@dataclass(frozen=True, slots=True)
class Rollout:
    """One attempt. `token_ids` is prompt + everything after; `loss_mask` is 1 on sampled tokens; `logprobs` is 0.0 elsewhere.

    `correct` is None when there was nothing to grade (an outage). `messages` is the conversation as the template saw it.
    """

    rollout_id: str
    question_id: str
    policy: str
    recipe: str
    stage: int
    snapshot: str
    sampling: dict[str, Any]
    messages: tuple[dict[str, Any], ...]
    turns: tuple[RolloutTurn, ...]
    token_ids: tuple[int, ...]
    loss_mask: tuple[int, ...]
    logprobs: tuple[float, ...]
    answer: str | None
    termination: Termination
    correct: bool | None
    grade: str = ""
    judge: str = "exact"
    error: str | None = None
    searches: int = 0
    visits: int = 0
    seconds: float = field(default=0.0, compare=False)


_TURN = pa.struct(
    [
        ("text", pa.string()),
        ("thought", pa.string()),
        ("calls", pa.string()),
        ("observation", pa.string()),
        ("malformed", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("gain", pa.float64()),
        ("advantage", pa.float64()),
    ]
)

ROLLOUT_SCHEMA = pa.schema(
    [
        ("rollout_id", pa.string()),
        ("question_id", pa.string()),
        ("policy", pa.string()),
        ("recipe", pa.string()),
        ("stage", pa.int64()),
        ("snapshot", pa.string()),
        ("sampling", pa.string()),
        ("messages", pa.string()),
        ("turns", pa.list_(_TURN)),
        ("token_ids", pa.list_(pa.int32())),
        ("loss_mask", pa.list_(pa.int8())),
        ("logprobs", pa.list_(pa.float32())),
        ("answer", pa.string()),
        ("termination", pa.string()),
        ("correct", pa.bool_()),
        ("grade", pa.string()),
        ("judge", pa.string()),
        ("error", pa.string()),
        ("searches", pa.int64()),
        ("visits", pa.int64()),
        ("seconds", pa.float64()),
    ]
)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def rollout_to_row(rollout: Rollout) -> dict[str, Any]:
    """A rollout as a row of `ROLLOUT_SCHEMA`; nested tool arguments become JSON strings."""
    row = asdict(rollout)
    row["sampling"] = _dump(row["sampling"])
    row["messages"] = _dump(row["messages"])
    row["termination"] = str(rollout.termination)
    for turn in row["turns"]:
        turn["calls"] = _dump(turn["calls"])
    return row


def rollout_from_row(row: dict[str, Any]) -> Rollout:
    """The inverse of `rollout_to_row`."""
    row = dict(row)
    row["sampling"] = json.loads(row["sampling"])
    row["messages"] = tuple(json.loads(row["messages"]))
    row["termination"] = Termination(row["termination"])
    row["turns"] = tuple(
        RolloutTurn(**{**turn, "calls": tuple(ToolCall(**call) for call in json.loads(turn["calls"]))}) for turn in row["turns"] or ()
    )
    for name in ("token_ids", "loss_mask", "logprobs"):
        row[name] = tuple(row[name])
    return Rollout(**row)


def write_rollouts(path: Path, rollouts: Iterable[Rollout]) -> int:
    """Write rollouts as Parquet, return how many."""
    return write_rows(path, map(rollout_to_row, rollouts), ROLLOUT_SCHEMA)


def read_rollouts(path: Path) -> list[Rollout]:
    """Read rollouts written by `write_rollouts`."""
    return [rollout_from_row(row) for row in read_rows(path, ROLLOUT_SCHEMA)]
