"""HTML tables, definition lists and infoboxes as Markdown tables, with every cell kept, also cells that hold lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lxml.html import HtmlElement

_SPACE = re.compile(r"\s+")
_listed = str.split

_BLOCKS = frozenset(_listed("p div ul ol dl dd dt h1 h2 h3 h4 h5 h6 section article blockquote pre tr"))  # noqa: SIM905
_SKIPPED = frozenset(("script", "style", "noscript", "template", "svg", "button"))
_INFOBOX = re.compile(
    r"(?:^|[\s_-])(?:infobox|vcard|fact-?(?:box|sheet|s)?|key-?facts|data-?sheet|at-a-glance|summary-box|profile-table)(?:$|[\s_-])", re.IGNORECASE
)
MAX_SPAN = 50
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
    """The cells of a table as a rectangle of texts."""
    return spread([[(cell_text(cell), _span(cell, "colspan"), _span(cell, "rowspan")) for cell in row] for row in _cell_rows(table)])


def _cell_rows(table: HtmlElement) -> list[list[HtmlElement]]:
    rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
    return [row for row in rows if row]


def spread(rows: Sequence[Sequence[tuple[str, int, int]]]) -> list[list[str]]:
    """Cells (text, columns, rows spanned) as a rectangle; a cell that spans several places is repeated in each, as a reader would read it."""
    done: list[list[str]] = []
    pending: dict[int, tuple[int, str]] = {}
    for cells in rows:
        row: list[str] = []
        for text, across, down in cells:
            _fill(row, pending)
            for _ in range(min(across, MAX_SPAN)):
                if down > 1:
                    pending[len(row)] = (min(down, MAX_SPAN) - 1, text)
                row.append(text)
        _fill(row, pending, end=True)
        # A row that only opens a group ("1927/28", with the films in the rows below) says nothing the next rows do not say.
        opens_group = len(cells) == 1 and cells[0][2] > 1 and len(rows) > 1 and max(map(len, rows)) > 1
        if any(row) and not opens_group:
            done.append(row)
    width = max(map(len, done), default=0)
    return [row + [""] * (width - len(row)) for row in done]


def _fill(row: list[str], pending: dict[int, tuple[int, str]], end: bool = False) -> None:
    """Put in the cells that reach down from earlier rows."""
    while len(row) in pending or (end and any(place > len(row) for place in pending)):
        left, text = pending.get(len(row), (0, ""))
        if left > 1:
            pending[len(row)] = (left - 1, text)
        else:
            pending.pop(len(row), None)
        row.append(text if left else "")


def _span(cell: HtmlElement, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return min(max(int(value), 1), MAX_SPAN) if value.isascii() and value.isdigit() else 1


def table_markdown(table: HtmlElement, title: str = "") -> str:
    """An HTML table as Markdown; see `rows_markdown`."""
    caption = next((cell_text(found) for found in table.iter("caption")), "")
    shapes = [[str(cell.tag) for cell in row] for row in _cell_rows(table)]
    return rows_markdown(table_rows(table), caption, title, pairs=_is_pairs(shapes, is_infobox(table)))


def rows_markdown(rows: list[list[str]], caption: str, title: str, pairs: bool) -> str:
    """A rectangle of cells as Markdown. Rows of label and value (`pairs`) get the caption, or `title`, as their heading row."""
    if not rows:
        return ""
    if pairs:
        facts = [row if len(set(row)) > 1 else [row[0], ""] for row in rows]
        heading = caption or title
        if not caption and facts[0][0] and not facts[0][1]:
            heading, facts = facts[0][0], facts[1:]
        return markdown_table([[heading, ""], *facts])
    body = markdown_table(rows)
    return f"{caption}\n\n{body}" if caption and caption not in rows[0] else body


def _is_pairs(shapes: list[list[str]], named: bool) -> bool:
    """Most rows are one heading cell and one value; the first is no row of column headings."""
    if not shapes or max(map(len, shapes)) > 2:
        return False
    paired = sum(shape == ["th", "td"] for shape in shapes)
    two_cells = sum(len(shape) == 2 for shape in shapes)
    return (paired > 0 and paired * 2 >= two_cells and shapes[0] != ["th", "th"]) or (named and two_cells > 0)


def markdown_table(rows: list[list[str]]) -> str:
    """Rows as a Markdown table whose first row is the heading."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def definition_pairs(listing: HtmlElement) -> Iterator[tuple[str, str]]:
    """Label and value of a `<dl>`, also when pairs are wrapped in `<div>`; several values of one label are joined."""
    label = ""
    values: list[str] = []
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
