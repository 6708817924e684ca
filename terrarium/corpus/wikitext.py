"""Wikitext to Markdown: infoboxes, numbers and dates in templates, tables and lists stay as text; references, navigation and files go.

mwparserfromhell finds templates, links and tags; lines (headings, lists, tables) are read afterwards from the text it leaves.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, Heading, HTMLEntity, Tag, Template, Text, Wikilink

from terrarium.corpus.infobox import is_box, labelled
from terrarium.corpus.tables import markdown_table, rows_markdown, spread
from terrarium.corpus.templates import template_text

# Stand for markup while the text is still parsed: a table's beginning, a bar that separates no cells, a finished block, a break in a cell.
_TABLE, _BAR, _BLOCK, _BREAK = "\x02", "\x03", "\x04", "\x05"
_REFERENCE = re.compile(
    r"<ref\b[^>/]*/\s*>|<ref\b[^>]*>.*?</ref\s*>|<!--.*?-->|<(gallery|timeline|score|imagemap|templatestyles|graph|mapframe|hiero)\b[^>]*?(?:/>|>.*?</\1\s*>)",
    re.DOTALL | re.I,
)
_UNCLOSED_COMMENT = re.compile(r"<!--.*\Z", re.DOTALL)
_LEFT_TAG = re.compile(
    r"</?(?:center|div|span|small|big|li|ul|ol|p|font|u|s|tt|td|tr|th|table|includeonly|onlyinclude|noinclude|section|ref)\b[^<>\n]*>", re.IGNORECASE
)
_SWITCH = re.compile(r"__[A-Z]{3,}__")
_HEADING = re.compile(r"^(={1,6})\s*(.*?)\s*\1\s*$")
_LIST = re.compile(r"^([*#:;]+)\s*(.*)$")
_DROPPED_SECTIONS = re.compile(
    r"^(?:references|external links|see also|notes|further reading|footnotes|sources|citations|notes and references|references and notes|gallery|"
    r"参考文献|外部链接|参见|注释|参考资料|相关条目)$",
    re.IGNORECASE,
)
_NAMESPACES = re.compile(
    r"^\s*(?:file|image|category|media|wikipedia|template|help|portal|user|talk|special|module|draft|分类|文件|图像)\s*:", re.IGNORECASE
)
_INTERWIKI = re.compile(r"^\s*[a-z]{2,3}(?:-[a-z]+)?\s*:[^\s]")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_DROPPED_TAGS = frozenset(
    (
        "ref",
        "references",
        "gallery",
        "timeline",
        "score",
        "imagemap",
        "templatestyles",
        "style",
        "script",
        "section",
        "hiero",
        "indicator",
        "categorytree",
    )
)
_ATTRIBUTE_SPAN = re.compile(r"(colspan|rowspan)\s*=\s*[\"']?\s*(\d{1,3})", re.IGNORECASE)
# `style="..." | text`; the bar is missing where a template ("{{yes}}") brings its own.
_ATTRIBUTES = re.compile(
    r"^[\s!]*(?:(?:colspan|rowspan|style|class|align|valign|bgcolor|width|height|scope|id|title|abbr|lang|dir|data-[\w-]+|nowrap)"
    r"(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s|\"']+)|(?=\s*\|))\s*[;!]?\s*)+\|?(?!\|)",
    re.IGNORECASE,
)
_MAX_DEPTH = 24


def markdown_of(wikitext: str, title: str = "") -> str:
    """The article as Markdown. Never raises on wikitext that is broken: what cannot be parsed is kept as the text it is."""
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", wikitext).replace("\r\n", "\n")
    text = _UNCLOSED_COMMENT.sub("", _REFERENCE.sub("", text))
    text = re.sub(r"</?br\s*/?\s*>|<li\s*>(?!.*</li>)", "<br/>", text, flags=re.IGNORECASE)
    text = re.sub(r"^([:*#\s]*)\{\|", rf"\1{_TABLE}", text, flags=re.MULTILINE)
    reader = _Reader(title)
    rendered = reader.text(mwparserfromhell.parse(text, skip_style_tags=True))
    rendered = _LEFT_TAG.sub("", re.sub(r"'{2,}", "", _SWITCH.sub("", html.unescape(rendered))))
    lines = list(_blocks(rendered.replace("\u00a0", " ").split("\n"), title))
    markdown = "\n".join(_without_empty_sections(lines))
    markdown = re.sub(f"{_BLOCK}(\\d+){_BLOCK}", lambda found: f"\n\n{reader.boxes[int(found[1])]}\n\n", markdown)
    markdown = markdown.replace(_BAR, "|").replace(_BREAK, "; ").replace(_TABLE, "")
    # What a dropped pronunciation or note leaves behind: "(; Altdorf, )".
    markdown = re.sub(r":\s*,", ":", re.sub(r"(?<=\w)[,;:]\s*\)", ")", re.sub(r"\(\s*[;,:]\s*(?=\S)", "(", markdown)))
    markdown = re.sub(r"\s?\(\s*\)", "", markdown)
    markdown = re.sub(r"(?<=\S)[ \t]{2,}", " ", markdown)
    markdown = re.sub(r"(?<=\w)[ \t]+([,.;:])(?=\s|$)", r"\1", markdown)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", markdown)).strip()


class _Reader:
    """Renders parsed nodes to text; boxes of facts are set aside as finished Markdown."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.boxes: list[str] = []

    def text(self, code: Any, depth: int = 0, in_cell: bool = False) -> str:
        if code is None or depth > _MAX_DEPTH:
            return ""
        return "".join(self.node(node, depth, in_cell) for node in code.nodes)

    def node(self, node: Any, depth: int, in_cell: bool) -> str:
        if isinstance(node, Text):
            return str(node.value)
        if isinstance(node, Template):
            return self.template(node, depth, in_cell)
        if isinstance(node, Wikilink):
            return self.link(node, depth, in_cell)
        if isinstance(node, Heading):
            return f"\n{'=' * node.level} {self.text(node.title, depth + 1).strip()} {'=' * node.level}\n"
        if isinstance(node, ExternalLink):
            return self.text(node.title, depth + 1, in_cell) if node.title is not None else ("" if node.brackets else str(node.url))
        if isinstance(node, HTMLEntity):
            return _BAR if str(node) in ("&#124;", "&vert;") else str(node.normalize())
        if isinstance(node, Tag):
            return self.tag(node, depth, in_cell)
        return ""

    def template(self, node: Template, depth: int, in_cell: bool) -> str:
        name = re.sub(r"[\s_]+", " ", self.text(node.name, depth + 1)).strip().lower()
        box = is_box(name)
        arguments: dict[str, str] = {}
        for parameter in node.params:
            value = self.text(parameter.value, depth + 1, in_cell=box or in_cell).strip()
            arguments[str(parameter.name).strip()] = value
        if name in ("pagename", "title", "subpagename"):
            return self.title
        if not box:
            return template_text(name, arguments, in_cell).replace("|", _BAR)
        facts = labelled({key: _one_line(value) for key, value in arguments.items()})
        heading = _one_line(arguments.get("name") or arguments.get("title") or "") or self.title
        facts = [(label, value) for label, value in facts if label.lower() not in ("name", "title")]
        if not facts:
            return ""
        if in_cell:
            return "; ".join(f"{label}: {value}" for label, value in facts)
        self.boxes.append(markdown_table([[heading, ""], *([label, value] for label, value in facts)]))
        return f"\n{_BLOCK}{len(self.boxes) - 1}{_BLOCK}\n"

    def link(self, node: Wikilink, depth: int, in_cell: bool) -> str:
        target = str(node.title)
        if _NAMESPACES.match(target) or (node.text is None and _INTERWIKI.match(target)):
            return ""
        if node.text is not None:
            label = self.text(node.text, depth + 1, in_cell)
            return label.replace("|", _BAR) if label.strip() else re.sub(r"\s*\([^)]*\)$", "", target)
        return self.text(node.title, depth + 1, in_cell).lstrip(":").replace("_", " ").partition("#")[0] or target.lstrip("#")

    def tag(self, node: Tag, depth: int, in_cell: bool) -> str:
        name = str(node.tag).strip().lower()
        if node.wiki_markup and name in ("li", "dt", "dd"):
            return str(node.wiki_markup)
        if name in _DROPPED_TAGS:
            return ""
        if name == "br":
            return _BREAK
        if name == "hr":
            return "\n"
        if name in ("nowiki", "pre", "math", "code", "syntaxhighlight", "source", "chem", "ce"):
            return str(node.contents or "").replace("|", _BAR).replace("\n", " " if in_cell or name in ("math", "nowiki") else "\n ")
        inner = self.text(node.contents, depth + 1, in_cell)
        if name == "sup" and re.fullmatch(r"\s*[+−-]?\d+\s*", inner):
            return inner.strip().translate(_RAISED)
        if name == "li":
            return f"\n* {inner.strip()}"
        return f"\n{inner}\n" if name in ("p", "div", "blockquote", "center", "ul", "ol", "tr", "table", "dl") and not in_cell else inner


def _one_line(text: str) -> str:
    """A value on one line; the items of a list are set apart by "; "."""
    lines = [re.sub(r"\s+", " ", line.strip().lstrip("*#:").strip()) for line in re.split(rf"[\n{_BREAK}]", text)]
    joined = re.sub(r"([,:(–-]);(?= )", r"\1", "; ".join(line.strip(" ;") for line in lines if line.strip(" ;")))
    return _LEFT_TAG.sub("", re.sub(r"'{2,}", "", html.unescape(re.sub(rf"{_BLOCK}\d+{_BLOCK}", "", joined)))).replace(_BAR, "|").strip()


def _blocks(lines: list[str], title: str) -> Iterator[str]:
    """Lines of wikitext as lines of Markdown."""
    index = 0
    skipping = 0
    while index < len(lines):
        line = lines[index].rstrip()
        index += 1
        heading = _HEADING.match(line)
        if heading:
            level, name = len(heading[1]), heading[2].strip()
            if skipping and level > skipping:
                continue
            skipping = level if _DROPPED_SECTIONS.match(name) else 0
            if not skipping and name:
                yield f"\n{'#' * max(2, level)} {name}\n"
            continue
        if _TABLE in line[:12]:
            end = _table_end(lines, index)
            if not skipping:
                yield f"\n{_table(lines[index - 1 : end], title)}\n"
            index = end
            continue
        if skipping or line.strip() in ("|}", "|-", "}}", "{{"):
            continue
        listed = _LIST.match(line)
        if listed and listed[2].strip():
            yield _list_item(listed[1], listed[2].strip())
        else:
            yield from (f"{piece.strip()}\n" for piece in line.split(_BREAK) if piece.strip())


def _list_item(marks: str, text: str) -> str:
    depth = len(marks) - 1
    if marks[-1] == ":":
        return f"{'  ' * max(0, depth - 1)}- {text}" if "*" in marks or "#" in marks else f"{text}\n"
    if marks[-1] == ";":
        term, colon, definition = text.partition(" : ")
        return f"{'  ' * depth}- {term.strip()}: {definition.strip()}" if colon else f"\n{text}\n"
    return f"{'  ' * depth}{'1.' if marks[-1] == '#' else '-'} {text}"


def _table_end(lines: list[str], start: int) -> int:
    """The line after the table that begins before `start`; an unclosed one ends at the next heading or the end of the text."""
    open_tables = 1
    for index in range(start, len(lines)):
        stripped = lines[index].lstrip(" :*#")
        if stripped.startswith(_TABLE):
            open_tables += 1
        elif stripped.startswith("|}") and not stripped.startswith("|}}"):
            open_tables -= 1
            if open_tables == 0:
                return index + 1
        elif _HEADING.match(lines[index]) and not any(line.lstrip(" :*#").startswith("|}") for line in lines[index : index + 200]):
            return index
    return len(lines)


def _table(lines: list[str], title: str) -> str:
    """A wiki table as Markdown. Inner tables become text of the cell they stand in."""
    rows: list[list[tuple[str, int, int]]] = [[]]
    shapes: list[list[str]] = [[]]
    caption, inner, in_caption = "", 0, False
    for line in lines[1:]:
        text = line.lstrip(" :") if not inner else line.strip()
        if text.startswith(_TABLE):
            inner += 1
            continue
        if text.startswith("|}"):
            inner -= inner > 0
            continue
        if inner:
            cells = re.split(r"\|\||!!", re.sub(r"^(?:\|-.*|\|\+|[|!])", "", text))
            _append(rows, " ".join(_cell(cell)[0] for cell in cells))
        elif text.startswith("|-"):
            rows.append([])
            shapes.append([])
            in_caption = False
        elif text.startswith("|+"):
            caption, in_caption = _cell(text[2:])[0], True
        elif text.startswith(("|", "!")):
            in_caption = False
            heading = text[0] == "!"
            for piece in re.split(r"\|\||!!" if heading else r"\|\|", text[1:]):
                cell, across, down = _cell(piece)
                rows[-1].append((cell.replace(_BREAK, " ") if heading else cell, across, down))
                shapes[-1].append("th" if heading else "td")
        elif in_caption:
            caption = f"{caption} {text}".strip()
        else:
            _append(rows, text)
    kept = [(row, shape) for row, shape in zip(rows, shapes, strict=True) if row]
    if not kept:
        return ""
    if max(len(row) for row, _ in kept) == 1 and len(kept) <= 3:
        return "\n\n".join(_one_line(row[0][0]) for row, _ in kept)
    grid = spread([[(_one_line(text), across, down) for text, across, down in row] for row, _ in kept])
    pairs = all(len(row) <= 2 for row, _ in kept) and sum(shape == ["th", "td"] for _, shape in kept) * 2 >= len(kept)
    return rows_markdown(grid, _one_line(caption), title, pairs)


def _append(rows: list[list[tuple[str, int, int]]], text: str) -> None:
    """More lines of the last cell."""
    if rows[-1] and text.strip():
        last, across, down = rows[-1][-1]
        rows[-1][-1] = (f"{last}\n{text}", across, down)


def _cell(piece: str) -> tuple[str, int, int]:
    """A cell's text without its attributes, and the places it spans."""
    found = _ATTRIBUTES.match(piece)
    if not found:
        # As MediaWiki reads it: what stands before a single bar is attributes, known or not.
        return piece.rpartition("|")[2].lstrip("! ").strip(), 1, 1
    spans = {name.lower(): max(1, int(number)) for name, number in _ATTRIBUTE_SPAN.findall(found[0])}
    return piece[found.end() :].strip(), spans.get("colspan", 1), spans.get("rowspan", 1)


def _without_empty_sections(lines: list[str]) -> list[str]:
    """Headings with nothing under them are left out."""
    kept: list[str] = []
    for line in reversed(lines):
        heading = re.match(r"^\n(#+) ", line)
        if heading:
            after = next((later for later in reversed(kept) if later.strip()), None)
            following = re.match(r"^\n(#+) ", after) if after else None
            if after is None or (following and len(following[1]) <= len(heading[1])):
                continue
        kept.append(line)
    return kept[::-1]
