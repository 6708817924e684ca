"""A page's Markdown as units that can be read one by one: sentences, `label: value` lines, table rows and list items.

Every unit knows where it stands in the page, under which headings, and in which block, so that what is read from it can be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from terrarium.questions.values import has_cjk, plain
from terrarium.questions.words import words

UnitKind = Literal["sentence", "label", "row", "item"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One readable piece of a page: characters `start` to `end` of its Markdown, `text` without marks.

    `headings` is the path of headings above it, `block` counts paragraphs, tables and lists. A label unit has `label` and `value`;
    a row has `cells` and the table's `header` (empty when it has none); `context` is the line that introduces a list ("Its stations are:").
    """

    kind: UnitKind
    text: str
    start: int
    end: int
    headings: tuple[str, ...]
    block: int
    label: str = ""
    value: str = ""
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    context: str = ""


_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?P<body>.+)$")
_SEPARATOR = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
# A label is short, starts a line, and is followed by a colon; "12:30" and "http://" are none.
_LABEL = re.compile(
    r"^(?:[-*+]\s+)?(?P<mark>\*\*|__)?(?P<label>[^\s:：*|#][^:：|\n]{0,90}?)\s*(?:(?P=mark)\s*[:：]|[:：]\s*(?P=mark))\s*(?P<value>\S.*)$"
)
_PLAIN_LABEL = re.compile(r"^(?:[-*+]\s+)?(?P<label>[^\W\d_][^:：|\n.!?。]{0,90}?)\s*[:：](?!//)\s*(?P<value>\S.*)$")
_VERB = re.compile(r"\b(?:is|was|are|were|has|had|have|joins?|serves?|produces?|follows?|belongs?|shows?|created)\b")
_ABBREVIATIONS = frozenset(words("abbreviations"))
_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)|[。！？]+[”』」）]*|\n{2,}|\n(?=\s*\n)")


def split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Character ranges of the sentences of one paragraph; abbreviations, initials and decimals do not end one."""
    start = 0
    for match in _END.finditer(text):
        if text[match.start()] == "." and match.end() - match.start() == 1:
            word = re.search(r"[\w.]*$", text[start : match.start()])
            last = (word[0] if word else "").casefold()
            following = text[match.end() :].lstrip()[:1]
            if (
                last in _ABBREVIATIONS
                or (len(last) == 1 and last.isalpha() and last != "i")
                or re.fullmatch(r"(?:[a-z]\.)+[a-z]", last)
                or following.islower()
            ):
                continue
        end = match.end()
        if text[start:end].strip():
            yield start + len(text[start:end]) - len(text[start:end].lstrip()), end
        start = end
    if text[start:].strip():
        yield start + len(text[start:]) - len(text[start:].lstrip()), start + len(text[start:].rstrip())


def units(markdown: str) -> list[Unit]:
    """All units of a page in reading order. Headings are no units; they stand above those that follow."""
    return list(_Reader(markdown).read())


class _Reader:
    def __init__(self, markdown: str) -> None:
        self.markdown = markdown
        self.headings: list[tuple[int, str]] = []
        self.block = 0
        self.context = ""

    def read(self) -> Iterator[Unit]:
        lines: list[tuple[int, str]] = []
        offset = 0
        for line in self.markdown.splitlines(keepends=True):
            lines.append((offset, line.rstrip("\r\n")))
            offset += len(line)
        at = 0
        while at < len(lines):
            start, line = lines[at]
            stripped = line.strip()
            heading = _HEADING.match(stripped)
            if not stripped:
                at += 1
            elif heading:
                level = len(heading[1])
                self.headings = [(depth, text) for depth, text in self.headings if depth < level] + [(level, plain(heading[2]))]
                self.context = ""
                at += 1
            elif stripped.startswith("|") and stripped.count("|") >= 2:
                end = at
                while end < len(lines) and lines[end][1].strip().startswith("|"):
                    end += 1
                self.block += 1
                yield from self._table(lines[at:end])
                at = end
            elif _ITEM.match(line):
                end = at
                while end < len(lines) and (_ITEM.match(lines[end][1]) or (lines[end][1].startswith((" ", "\t")) and lines[end][1].strip())):
                    end += 1
                self.block += 1
                yield from self._items(lines[at:end])
                at = end
            else:
                end = at + 1
                while end < len(lines) and self._goes_on(lines[end][1]):
                    end += 1
                self.block += 1
                yield from self._paragraph(lines[at:end])
                at = end

    @staticmethod
    def _goes_on(line: str) -> bool:
        """Whether a line continues a paragraph."""
        text = line.strip()
        return bool(text) and not text.startswith("|") and not _HEADING.match(text) and not _ITEM.match(line)

    def _make(self, kind: UnitKind, start: int, end: int, text: str | None = None, **more: object) -> Unit:
        shown = plain(self.markdown[start:end]) if text is None else text
        return Unit(kind, shown, start, end, tuple(text for _, text in self.headings), self.block, **more)  # type: ignore[arg-type]

    def _table(self, lines: list[tuple[int, str]]) -> Iterator[Unit]:
        rows: list[tuple[int, str, tuple[str, ...]]] = []
        header: tuple[str, ...] = ()
        for number, (start, line) in enumerate(lines):
            if _SEPARATOR.match(line):
                if len(rows) == 1 and number == 1:
                    header = rows[0][2]
                continue
            inner = line.strip().removeprefix("|").removesuffix("|")
            rows.append((start, line, tuple(plain(cell) for cell in _CELL.split(inner))))
        if header and not any(header):
            rows, header = rows[1:], ()
        for start, line, cells in rows:
            lead = len(line) - len(line.lstrip())
            yield self._make("row", start + lead, start + len(line.rstrip()), " | ".join(cells), cells=cells, header=header, context=self.context)

    def _items(self, lines: list[tuple[int, str]]) -> Iterator[Unit]:
        for start, line in lines:
            match = _ITEM.match(line)
            first = match.start("body") if match else len(line) - len(line.lstrip())
            body = line[first:].rstrip()
            label = _LABEL.match(body) or _PLAIN_LABEL.match(body)
            if len(body.split()) >= 4 and re.search(r"[.!?。！？]$", body) and (not label or _VERB.search(label["label"])):
                for begin, past in split_sentences(body):
                    yield self._make("sentence", start + first + begin, start + first + past)
            elif label:
                yield self._make(
                    "label", start + first, start + first + len(body), label=plain(label["label"]), value=plain(label["value"]), context=self.context
                )
            else:
                yield self._make("item", start + first, start + first + len(body), context=self.context)

    def _paragraph(self, lines: list[tuple[int, str]]) -> Iterator[Unit]:
        labels = [_LABEL.match(line.strip()) or _PLAIN_LABEL.match(line.strip()) for _, line in lines]
        labels = [
            None if label and line.rstrip().endswith(".") and _VERB.search(label["label"]) else label
            for label, (_, line) in zip(labels, lines, strict=True)
        ]
        short = [
            bool(label) and (len(line.strip()) <= 160 or bool(_LABEL.match(line.strip()))) for label, (_, line) in zip(labels, lines, strict=True)
        ]
        run: list[tuple[int, str]] = []
        for (start, line), label, is_label in zip(lines, labels, short, strict=True):
            if label is None or not is_label:
                run.append((start, line))
                continue
            yield from self._sentences(run)
            run = []
            lead = len(line) - len(line.lstrip())
            yield self._make("label", start + lead, start + len(line.rstrip()), label=plain(label["label"]), value=plain(label["value"]))
        yield from self._sentences(run)

    def _sentences(self, run: list[tuple[int, str]]) -> Iterator[Unit]:
        if not run:
            return
        start, end = run[0][0], run[-1][0] + len(run[-1][1])
        text = self.markdown[start:end]
        last = ""
        for first, past in split_sentences(text):
            unit = self._make("sentence", start + first, start + past)
            if unit.text:
                last = unit.text
                yield unit
        self.context = last if last.endswith((":", "：")) or len(last) < (60 if has_cjk(last) else 160) else ""


def list_items(value: str) -> tuple[str, ...]:
    """The members of a list written in one cell or line: by line breaks, semicolons, bullets or commas; one member if it is none."""
    for separator in (r"\s*(?:<br\s*/?>|;|；|•|·)\s*", r"\s*、\s*"):
        parts = [part.strip(" .。") for part in re.split(separator, value) if part.strip(" .。")]
        if len(parts) > 1:
            return tuple(parts)
    # A comma inside a number or in brackets does not part members.
    parts = [part.strip(" .。") for part in re.split(r",\s+(?![^(]*\))(?:and\s+)?|\s+and\s+(?=[^,]*$)|，\s*", value) if part.strip(" .。")]
    return tuple(parts)
