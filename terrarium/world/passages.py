"""A page's Markdown as passages that can be read on their own: paragraphs, rows of tables with their header, items of lists.

Small tables and short lists stay whole. Nothing here knows what is asked (evidence.py does).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from terrarium.world.words import estimate_tokens, units

BlockKind = Literal["heading", "paragraph", "list", "table"]

_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_MARK = re.compile(r"(\*\*\*|\*\*|__|`{1,3}|~~)")
_EMPHASIS = re.compile(r"(?<![\w*])[*_](?=\S)([^*_\n]+)(?<=\S)[*_](?![\w*])")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|>~-])")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9À-ÞΑ-ЯА-Я])|(?<=[。！？])")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Prof|No|Nos|vs|ca|c|approx|Jr|Sr|Co|Inc|Ltd|[ap]\.m|e\.g|i\.e|U\.S)\.$")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of Markdown: `lines` are plain text, one a paragraph, item or row (cells joined by " | "); level is a heading's."""

    kind: BlockKind
    lines: tuple[str, ...]
    level: int = 0
    columns: int = 0
    has_header: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage, in page order. `group` is equal for rows of one table and items of one list; `head` is shown once above a
    group's passages (table header, or heading and introduction of a list); `context` counts for ranking only."""

    order: int
    group: int
    text: str
    head: str = ""
    context: str = ""
    tokens: int = 0


def plain(markdown: str) -> str:
    """One line of Markdown without its marks: links and emphasis are their text, images their description."""
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", markdown))
    text = _EMPHASIS.sub(r"\1", _MARK.sub("", _TAG.sub(" ", text)))
    return re.sub(r"\s+", " ", _ESCAPE.sub(r"\1", text)).strip()


def blocks(markdown: str) -> Iterator[Block]:
    """The blocks of a page in order."""
    lines = markdown.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        heading = _HEADING.match(line)
        start = at
        at += 1
        if not line.strip() or re.fullmatch(r"\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|```.*)", line):
            continue
        if heading:
            if text := plain(heading[2]):
                yield Block("heading", (text,), level=len(heading[1]))
        elif _is_row(line):
            while at < len(lines) and _is_row(lines[at]):
                at += 1
            yield from _table(lines[start:at])
        elif _ITEM.match(line):
            while at < len(lines) and lines[at].strip() and (_ITEM.match(lines[at]) or lines[at].startswith((" ", "\t"))):
                at += 1
            yield _list(lines[start:at])
        else:
            while at < len(lines) and lines[at].strip() and not (_HEADING.match(lines[at]) or _is_row(lines[at]) or _ITEM.match(lines[at])):
                at += 1
            if text := plain(" ".join(part.strip().lstrip(">").strip() for part in lines[start:at])):
                yield Block("paragraph", (text,))


def _is_row(line: str) -> bool:
    stripped = line.strip()
    return stripped.startswith("|") and len(_CELL.findall(stripped)) >= 2


def _table(lines: list[str]) -> Iterator[Block]:
    rows: list[str] = []
    columns = 0
    has_header = len(lines) > 1 and bool(_RULE.match(lines[1]))
    for line in lines:
        if _RULE.match(line):
            continue
        cells = [plain(cell) for cell in _CELL.split(line.strip().removeprefix("|").removesuffix("|"))]
        columns = max(columns, len(cells))
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            rows.append(" | ".join(cells))
        elif not rows:
            has_header = False
    if rows:
        yield Block("table", tuple(rows), columns=columns, has_header=has_header and len(rows) > 1)


def _list(lines: list[str]) -> Block:
    items: list[str] = []
    for line in lines:
        if _ITEM.match(line) or not items:
            items.append(plain(_ITEM.sub("", line)))
        else:
            items[-1] += " " + plain(line)
    return Block("list", tuple(item for item in items if item))


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph; abbreviations and initials do not end one."""
    found: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        before = text[start : match.end()]
        if before.strip() and not _ABBREVIATION.search(before.rstrip()):
            found.append(before.strip())
            start = match.end()
    if text[start:].strip():
        found.append(text[start:].strip())
    return found


def passages(markdown: str, passage_tokens: int) -> list[Passage]:
    """The passages of a page, none much longer than `passage_tokens` where a boundary allows it."""
    found: list[Passage] = []
    headings: list[tuple[int, str]] = []
    all_blocks = list(blocks(markdown))
    intro = ""
    for group, block in enumerate(all_blocks):
        if block.kind == "heading":
            headings = [(level, text) for level, text in headings if level < block.level] + [(block.level, block.lines[0])]
        else:
            context = " ".join(text for _, text in headings)
            heading = headings[-1][1] if headings and headings[-1][0] > 1 else ""
            following = all_blocks[group + 1].kind if group + 1 < len(all_blocks) else ""
            if (
                block.kind == "paragraph"
                and following in ("list", "table")
                and block.lines[0].endswith((":", "："))
                and estimate_tokens(block.lines[0]) <= passage_tokens
            ):
                intro = block.lines[0]
                continue
            for text, head, extra in _pieces(block, passage_tokens, heading, intro):
                found.append(Passage(len(found), group, text, head, f"{context} {extra}".strip(), estimate_tokens(text)))
        intro = ""
    return found


def _pieces(block: Block, limit: int, heading: str, intro: str) -> Iterator[tuple[str, str, str]]:
    """(text, head, context for ranking) of each passage of a block."""
    whole = "\n".join(block.lines)
    above = "\n".join(text for text in (heading, intro) if text)
    if block.kind == "paragraph":
        for text in _packed(sentences(block.lines[0]), limit):
            yield text, "", ""
    elif block.kind == "list":
        if estimate_tokens(whole) <= limit:
            yield "\n".join(f"- {line}" for line in block.lines), above, intro
        else:
            for line in block.lines:
                yield f"- {line}", above, intro
    elif estimate_tokens(whole) <= limit or not block.has_header:
        pieces = [whole] if estimate_tokens(whole) <= limit else list(block.lines)
        for text in pieces:
            yield text, above, intro
    else:
        header = block.lines[0]
        head = f"{above}\n{header}" if above else header
        # Of two columns the first names the row: the header says nothing that sets rows apart, and often is a row itself.
        extra = header if block.columns > 2 else ""
        if block.columns <= 2:
            yield "", head, header
        for line in block.lines[1:]:
            yield line, head, extra


def _packed(parts: list[str], limit: int) -> Iterator[str]:
    """Neighbouring sentences together as long as they fit; a sentence that is too long alone is cut between words."""
    kept: list[str] = []
    for part in parts:
        if kept and estimate_tokens(" ".join((*kept, part))) > limit:
            yield " ".join(kept)
            kept = []
        if estimate_tokens(part) > 2 * limit:
            yield from _cut(part, limit)
        else:
            kept.append(part)
    if kept:
        yield " ".join(kept)


def _cut(text: str, limit: int) -> Iterator[str]:
    start, tokens = 0, 0
    for unit in units(text):
        cost = estimate_tokens(text[unit.start : unit.end])
        if tokens and tokens + cost > limit:
            yield text[start : unit.start].strip()
            start, tokens = unit.start, 0
        tokens += cost
    if text[start:].strip():
        yield text[start:].strip()
