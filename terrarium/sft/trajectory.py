"""The curated trajectory: a conversation to learn from, and how often it is to be seen."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from terrarium.tables import read_rows, write_rows

TRAJECTORY_SCHEMA = pa.schema(
    [
        ("trajectory_id", pa.string()),
        ("question_id", pa.string()),
        ("messages", pa.string()),
        ("turns", pa.int64()),
        ("copies", pa.int64()),
        ("split", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One conversation. `messages` have a role (system, user, assistant) and a content, as the chat template takes them.

    `copies` says how many rows of a pass it makes; `split` is train or validation.
    """

    trajectory_id: str
    question_id: str
    messages: tuple[dict[str, Any], ...]
    turns: int
    copies: int = 1
    split: Literal["train", "validation"] = "train"


def write_trajectories(path: Path, trajectories: Iterable[Trajectory]) -> int:
    """Write trajectories as Parquet, return how many."""
    return write_rows(
        path,
        (
            {
                "trajectory_id": item.trajectory_id,
                "question_id": item.question_id,
                "messages": json.dumps(item.messages, ensure_ascii=False, sort_keys=True),
                "turns": item.turns,
                "copies": item.copies,
                "split": item.split,
            }
            for item in trajectories
        ),
        TRAJECTORY_SCHEMA,
    )


def read_trajectories(path: Path) -> list[Trajectory]:
    """Read trajectories written by `write_trajectories`."""
    return [Trajectory(**{**row, "messages": tuple(json.loads(row["messages"]))}) for row in read_rows(path, TRAJECTORY_SCHEMA)]
