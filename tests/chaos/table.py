"""The table of rounds in docs/reliability.md: one row a round, appended as it ends."""

from __future__ import annotations

import time
from pathlib import Path

from tests.chaos.round import Result

HEAD = "| date | seed | victim | moment | seconds | starts | end state |\n|---|---|---|---|---|---|---|\n"


def row(result: Result, date: str | None = None) -> str:
    """One round as a line of the table."""
    said = "equal" if result.equal else "; ".join(result.differences[:6]).replace("|", "/").replace("\n", " ")
    if not result.met:
        said += " (the victim did not come in time)"
    plan = result.plan
    date = date or time.strftime("%Y-%m-%d %H:%M")
    return f"| {date} | {plan.seed} | {plan.victim} | {plan.told} | {result.seconds:.0f} | {result.starts} | {said} |"


def append(path: Path, result: Result) -> None:
    """Append a round to the table at the end of a document."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if HEAD.splitlines()[0] not in text:
        text = (text.rstrip("\n") + "\n\n" if text else "") + HEAD
    path.write_text(text.rstrip("\n") + "\n" + row(result) + "\n", encoding="utf-8")
