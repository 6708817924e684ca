"""The question: what is asked, what counts as an answer, where it was read, and where the sealed world still says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

import pyarrow as pa

from terrarium.tables import read_rows, write_rows

Capability = Literal["direct", "aggregation", "enumeration", "cross_verification", "statistics"]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)
AnswerKind = Literal["single", "list", "number", "date"]

_SPAN = pa.struct([("page_id", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())])

QUESTION_SCHEMA = pa.schema(
    [
        ("question_id", pa.string()),
        ("question", pa.string()),
        ("answers", pa.list_(pa.string())),
        ("answer_kind", pa.string()),
        ("capability", pa.string()),
        ("hops", pa.int64()),
        ("source_page_ids", pa.list_(pa.string())),
        ("evidence", pa.list_(_SPAN)),
        ("support", pa.list_(_SPAN)),
        ("operands", pa.list_(pa.struct([("subject", pa.string()), ("relation", pa.string()), ("value", pa.string())]))),
        ("language", pa.string()),
        ("as_of", pa.string()),
        ("round", pa.string()),
        ("split", pa.string()),
        ("share", pa.string()),
        ("maker", pa.string()),
        ("wording", pa.string()),
        ("fact_key", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a page's Markdown: characters `start` to `end`."""

    page_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Operand:
    """One elementary fact a question rests on, as it was read: (subject, relation, value)."""

    subject: str
    relation: str
    value: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `answers` are alternatives, except for `answer_kind` "list", where each entry is one item of the list.

    `split` is train, validation or test; `share` is sft or rl for train questions; `wording` names the phrasing used;
    `fact_key` is equal for questions that ask for the same fact or set of facts.
    """

    question_id: str
    question: str
    answers: tuple[str, ...]
    answer_kind: AnswerKind
    capability: Capability
    hops: int
    source_page_ids: tuple[str, ...]
    evidence: tuple[Span, ...]
    operands: tuple[Operand, ...] = ()
    support: tuple[Span, ...] = ()
    language: str = "en"
    as_of: str | None = None
    round: str = ""
    split: str | None = None
    share: str | None = None
    maker: str = "rules"
    wording: str = ""
    fact_key: str = ""


def write_questions(path: Path, questions: Iterable[Question]) -> int:
    """Write questions as Parquet, return how many."""
    return write_rows(path, (asdict(question) for question in questions), QUESTION_SCHEMA)


def read_questions(path: Path) -> list[Question]:
    """Read questions written by `write_questions`."""
    questions = []
    for row in read_rows(path, QUESTION_SCHEMA):
        row["answers"] = tuple(row["answers"])
        row["source_page_ids"] = tuple(row["source_page_ids"])
        row["evidence"] = tuple(Span(**span) for span in row["evidence"] or ())
        row["support"] = tuple(Span(**span) for span in row["support"] or ())
        row["operands"] = tuple(Operand(**operand) for operand in row["operands"] or ())
        questions.append(Question(**row))
    return questions
