"""An account of where something comes from: one shape for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console
from rich.table import Table

_WIDEST = 200


class Section(BaseModel):
    """One heading: facts by name, or rows of equal columns, or both."""

    model_config = ConfigDict(extra="forbid")
    title: str
    facts: dict[str, Any] = Field(default_factory=dict)
    rows: list[dict[str, Any]] = Field(default_factory=list)
    more: int = Field(default=0, description="rows that were left out of `rows`")


class Account(BaseModel):
    """What is told of one checkpoint (or other artifact), question, page or rollout."""

    model_config = ConfigDict(extra="forbid")
    kind: str
    subject: str
    summary: str
    sections: list[Section] = Field(default_factory=list)

    def tell(self, title: str, facts: Mapping[str, Any] | None = None, rows: Sequence[Mapping[str, Any]] = (), most: int | None = None) -> None:
        """Add a section, unless it would be empty; at most `most` rows."""
        kept = [dict(row) for row in rows[:most]]
        told = {name: value for name, value in (facts or {}).items() if value not in (None, "", [], {})}
        if told or kept:
            self.sections.append(Section(title=title, facts=told, rows=kept, more=len(rows) - len(kept)))


def show(account: Account, console: Console) -> None:
    """Print an account as text. What came from the web is printed as it is, never read as markup."""
    console.print(f"{account.kind} {account.subject}", style="bold", markup=False, highlight=False)
    console.print(account.summary, markup=False, highlight=False)
    for section in account.sections:
        console.print(f"\n{section.title}", style="bold", markup=False, highlight=False)
        for name, value in section.facts.items():
            console.print(f"  {name}: {_short(value)}", markup=False, highlight=False)
        if section.rows:
            from rich.text import Text

            table = Table(*section.rows[0], box=None, padding=(0, 2))
            for row in section.rows:
                table.add_row(*(Text(_short(value)) for value in row.values()))
            console.print(table)
        if section.more:
            console.print(f"  and {section.more:,} more (--json tells all)", markup=False, highlight=False)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, Mapping):
        value = ", ".join(f"{name} {_short(part)}" for name, part in value.items())
    elif isinstance(value, list | tuple):
        value = ", ".join(_short(part) for part in value)
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
