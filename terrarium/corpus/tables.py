"""HTML tables, definition lists and infoboxes as Markdown tables, with every cell kept, also cells that hold lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

_SPACE = re.compile(r"\s+")
_BLOCKS = frozenset("p div ul ol dl dd dt h1 h2 h3 h4 h5 h6 section article blockquote pre tr".split())  # noqa: SIM905
_SKIPPED = frozenset(("script", "style", "noscript", "template", "svg", "button"))
_INFOBOX = re.compile(
    r"(?:^|[\s_-])(?:infobox|vcard|fact-?(?:box|sheet|s)?|key-?facts|data-?sheet|at-a-glance|summary-box|profile-table)(?:$|[\s_-])", re.IGNORECASE
)
_MAX_SPAN = 50
_MAX_CELLS = 200_000


def cell_text(cell: HtmlElement) -> str:
    """The text of a cell on one line; items of a list, lines and paragraphs are set apart by "; "."""
    pieces: list[str] = []
    _collect(cell, pieces)
    parts = (_SPACE.sub(" ", part).strip(" ;") for part in "".join(pieces).split("\x1e"))
    return "; ".join(part for part in parts if part)


def _collect(element: HtmlElement, pieces: list[str]) -> None:
    if element.text:
        pieces.append(element.text)
    for child in element:
        tag = child.tag
        if isinstance(tag, str) and tag not in _SKIPPED:
            apart = tag in _BLOCKS or tag in ("li", "br")
            pieces.append("\x1e" if apart else " " if tag in ("td", "th") else "")
            if tag == "img" and child.get("alt") and not (element.text_content() or "").strip():
                pieces.append(child.get("alt"))
            if tag != "br":
                _collect(child, pieces)
            pieces.append("\x1e" if apart and tag != "br" else "")
        if child.tail:
            pieces.append(child.tail)


def is_infobox(element: HtmlElement) -> bool:
    """The element is named like a box of facts."""
    return bool(_INFOBOX.search(f"{element.get('class') or ''} {element.get('id') or ''}"))


def is_data_table(table: HtmlElement) -> bool:
    """A table of data, not one that lays out a page: at least two cells, none of which holds a page's worth of blocks."""
    if table.get("role") in ("presentation", "none"):
        return False
    if table.xpath("descendant::table"):
        return False
    cells = table.xpath("descendant::td | descendant::th")
    if len(cells) < 2 or len(cells) > _MAX_CELLS:
        return False
    if table.xpath("boolean(descendant::th or descendant::caption)") or is_infobox(table):
        return True
    return not table.xpath(
        "boolean(descendant::h1 or descendant::h2 or descendant::article or descendant::form or descendant::td[count(descendant::p) > 2])"
    )


def table_rows(table: HtmlElement) -> list[list[str]]:
    """The cells of a table as a rectangle; a cell that spans several places is repeated in each, as a reader would read it."""
    rows: list[list[str]] = []
    pending: dict[int, tuple[int, str]] = {}
    width = 0
    for element in table.iter("tr"):
        row: list[str] = []
        for cell in element:
            if cell.tag not in ("td", "th"):
                continue
            _fill(row, pending)
            text = cell_text(cell)
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for _ in range(across):
                if down > 1:
                    pending[len(row)] = (down - 1, text)
                row.append(text)
        _fill(row, pending, end=True)
        if any(row):
            rows.append(row)
            width = max(width, len(row))
    return [row + [""] * (width - len(row)) for row in rows]


def _fill(row: list[str], pending: dict[int, tuple[int, str]], end: bool = False) -> None:
    while len(row) in pending or (end and any(place > len(row) for place in pending)):
        left, text = pending.get(len(row), (0, ""))
        if left > 1:
            pending[len(row)] = (left - 1, text)
        else:
            pending.pop(len(row), None)
        row.append(text if left else "")


def _span(cell: HtmlElement, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return min(max(int(value), 1), _MAX_SPAN) if value.isascii() and value.isdigit() else 1


def table_markdown(table: HtmlElement, title: str = "") -> str:
    """A table as Markdown. Rows of label and value (an infobox) get the caption, or `title`, as their heading row."""
    rows = table_rows(table)
    if not rows:
        return ""
    caption = next((cell_text(found) for found in table.iter("caption")), "")
    pairs = _is_pairs(table)
    if pairs:
        facts = [row if len(set(row)) > 1 else [row[0], ""] for row in rows]
        heading = caption or title
        if not caption and facts[0][0] and not facts[0][1]:
            heading, facts = facts[0][0], facts[1:]
        return markdown_table([[heading, ""], *facts])
    body = markdown_table(rows)
    return f"{caption}\n\n{body}" if caption and caption not in rows[0] else body


def _is_pairs(table: HtmlElement) -> bool:
    """Most rows are one heading cell and one value; the first is no row of column headings."""
    shapes = [[cell.tag for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
    shapes = [shape for shape in shapes if shape]
    if not shapes or max(len(shape) for shape in shapes) > 2:
        return False
    paired = sum(shape == ["th", "td"] for shape in shapes)
    two_cells = sum(len(shape) == 2 for shape in shapes)
    return (paired > 0 and paired * 2 >= two_cells and shapes[0] != ["th", "th"]) or (is_infobox(table) and two_cells > 0)


def markdown_table(rows: list[list[str]]) -> str:
    """Rows as a Markdown table whose first row is the heading."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def definition_pairs(listing: HtmlElement) -> Iterator[tuple[str, str]]:
    """Label and value of a `<dl>`, also when pairs are wrapped in `<div>`; several values of one label are joined."""
    label, values = "", []
    for element in listing.iter("dt", "dd"):
        if element.tag == "dt":
            if label and values:
                yield label, "; ".join(values)
            label, values = cell_text(element).rstrip(":： "), []
        else:
            values.append(cell_text(element))
    if label and values:
        yield label, "; ".join(values)


def box_pairs(box: HtmlElement) -> list[tuple[str, str]]:
    """Label and value of a box of facts that is no table: elements whose classes say label (or key, name, term) and value (or data)."""
    pairs: list[tuple[str, str]] = []
    label = ""
    for element in box.iter():
        names = element.get("class") or "" if isinstance(element.tag, str) else ""
        if re.search(r"(?:^|[\s_-])(?:label|key|term)(?:$|[\s_-])", names):
            label = cell_text(element).rstrip(":： ")
        elif label and re.search(r"(?:^|[\s_-])(?:value|data-value|val)(?:$|[\s_-])", names):
            pairs.append((label, cell_text(element)))
            label = ""
    return pairs
