"""An explanation as text: for a terminal, and short, as Markdown, for the UI."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from terrarium.lineage.archive import Archive, Record
from terrarium.lineage.explanation import Ancestor, Explanation
from terrarium.lineage.ledger import LARGEST

CHARACTERS = 4000
_LONG = 600


def tell(console: Console, explanation: Explanation) -> None:
    """Print it whole; long values are cut, JSON holds them."""
    console.print(f"[bold]{escape(explanation.title)}[/bold]\n{explanation.kind} {escape(explanation.id)}\n", highlight=False)
    for name, value in explanation.facts.items():
        if value not in (None, "", [], {}):
            for line in _lines(name, value):
                console.print(escape(line), highlight=False, soft_wrap=True)
    if explanation.events:
        table = Table("where", "what", "detail", title="What happened", title_justify="left", box=None)
        for event in explanation.events:
            table.add_row(event.asset, escape(event.what), escape(_cut(event.detail, 300)))
        console.print(table)
    console.print("Descent", style="italic")
    for above in explanation.lineage:
        made_from = ", ".join(parent.asset for parent in above.parents) or "outside"
        line = f"  {above.asset} {_content(above)}, code {above.code_version}, made {above.made_at}, from {made_from}"
        console.print(escape(line), highlight=False, soft_wrap=True)
    for parent in explanation.lost:
        console.print(f"Gone or changed since: {parent.asset} {parent.data_version} in {escape(parent.path)}", highlight=False)
    table = Table("cost", "own", "whole descent", title="Costs", title_justify="left", box=None)
    for name, value in explanation.costs.descent.items():
        table.add_row(name, _number(explanation.costs.own.get(name)), _number(value))
    console.print(table)
    bills = ", ".join(f"${dollars:,.2f} with {provider}" for provider, dollars in explanation.costs.live_usd.items())
    if bills:
        console.print(f"Live, the tool calls of the descent would have cost {bills}.", highlight=False)


def short(archive: Archive, record: Record) -> str:
    """The descent of an artifact as Markdown of at most `CHARACTERS` characters."""
    lines = []
    descent = archive.descent(record)
    for above in descent:
        made_from = ", ".join(parent.asset for parent in above.manifest.parents) or "outside"
        lines.append(
            f"- `{above.asset}` {above.manifest.data_version.removeprefix('sha256:')[:12]}, code {above.manifest.code_version}, from {made_from}"
        )
    lost = [f"- gone or changed since: `{parent.asset}` in {parent.path}" for parent in archive.missing(record)]
    costs = ", ".join(f"{name} {_number(value)}" for name, value in archive.costs(*descent).items() if name not in LARGEST)
    kept: list[str] = []
    end = [f"\nCosts of all: {_cut(costs, 800)}"] if costs else []
    room = CHARACTERS - sum(len(line) + 1 for line in end) - 40
    for number, line in enumerate((*lost, *lines)):
        if sum(len(one) + 1 for one in kept) + len(line) > room:
            kept.append(f"- and {len(lost) + len(lines) - number} more")
            break
        kept.append(line)
    return "\n".join((*kept, *end))[:CHARACTERS]


def _content(above: Ancestor) -> str:
    mark = {None: "", True: " verified", False: " DIFFERS"}[above.verified]
    return above.data_version + mark


def _lines(name: str, value: Any) -> list[str]:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [f"{name}:", *(f"  {_cut(_flat(item), _LONG)}" for item in value)]
    return [f"{name}: {_cut(_flat(value), _LONG)}"]


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_flat(item)}" for key, item in value.items() if item not in (None, "", [], {}))
    if isinstance(value, list | tuple):
        return ", ".join(map(_flat, value))
    return " ".join(str(value).split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if float(value).is_integer() or value >= 100 else f"{value:,.2f}"
