"""What a page is made of before it becomes HTML: blocks of content, and the statements they make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from littleweb.facts import Statement

Cell = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph or heading."""

    tag: Literal["p", "h2"]
    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list; with `links`, each item is a link to the address beside it."""

    tag: Literal["ul", "ol"]
    items: tuple[str, ...]
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A data table. A cell that is a tuple is a list inside the cell."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Infobox:
    """The box of an encyclopedia article: title and (label, value) rows."""

    title: str
    rows: tuple[tuple[str, Cell], ...]


Block = Text | Items | Table | Infobox


@dataclass(slots=True)
class Document:
    """The content of one page: title, blocks in order, what they state, and the sentence a search engine would show."""

    title: str
    blocks: list[Block]
    statements: list[Statement] = field(default_factory=list)
    description: str = ""
    published: str | None = None
    notice: str | None = None

    def text(self) -> str:
        """All visible content as plain text, one block or row a line."""
        lines = [self.title]
        for block in self.blocks:
            if isinstance(block, Text):
                lines.append(block.text)
            elif isinstance(block, Items):
                lines.extend(block.items)
            elif isinstance(block, Table):
                lines.append(" | ".join(block.headers))
                lines.extend(" | ".join(_flat(cell) for cell in row) for row in block.rows)
            else:
                lines.extend(f"{label} | {_flat(cell)}" for label, cell in block.rows)
        return "\n".join(lines)


def _flat(cell: Cell) -> str:
    return cell if isinstance(cell, str) else ", ".join(cell)
