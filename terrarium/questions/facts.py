"""Elementary facts of a page: (subject, relation, value), read out of boxes, tables, `label: value` lines and plain sentences.

Only what is said outright is read. A reading that could be two things is no reading: makers rest on these facts without asking anyone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from terrarium.corpus.page import Page
from terrarium.questions.blocks import Unit, list_items, units
from terrarium.questions.entity import Entity, entity_of
from terrarium.questions.lexicon import Relation, label_of, relations, relations_of_label
from terrarium.questions.says import say
from terrarium.questions.values import ValueKind, dates, fold, has_cjk, kind_of, numbers, plain
from terrarium.questions.words import words

Source = Literal["box", "table", "label", "sentence"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact as a page states it. `value` is without unit ("34"), `unit` as written ("km"); lists have `items`.

    `as_of` is the year or date the statement itself gives, `article` that the page puts "the" before the value; the span is the
    row, line or sentence in the page's Markdown.
    """

    subject: str
    relation: str
    value: str
    kind: ValueKind
    page_id: str
    start: int
    end: int
    text: str
    source: Source
    unit: str = ""
    as_of: str | None = None
    items: tuple[str, ...] = ()
    article: bool = False

    @property
    def shown(self) -> str:
        """The value with its unit."""
        return f"{self.value} {self.unit}".strip() if not self.unit or self.unit[0] not in "$€£¥" else f"{self.unit}{self.value}"


_SUBJECT_HEADERS = frozenset(words("subject_headers"))
_TIME_HEADERS = frozenset(words("time_headers"))
# What makes a value uncertain, partial or past.
_CONDITION = re.compile(
    r"\b(?:former(?:ly)?|until|previous(?:ly)?|till|unknown|none|n/?a|various|disputed|see|est\.?|approx(?:imately)?|about|around|c(?:a|irca)?\.|"
    r"over|under|more than|less than|nearly|almost)(?!\w)|[~≈<>]",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\s*[(（](?:since\s+|as of\s+|in\s+|from\s+|est\.?\s+)?(?P<year>1\d{3}|20\d{2})(?:[^()（）]{0,24})?[)）]", re.IGNORECASE)
# A column in thousands holds other numbers than it shows.
_SCALED = re.compile(r"[×x]\s?1[,.]?000|\bthousands?\b|\bmillions?\b|\b000s?\b|%|per cent|percent|\brank\b|\bchange\b", re.IGNORECASE)
_ASIDE = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")


def facts_of(page: Page, about: Entity | None = None) -> list[Fact]:
    """All facts of a page in reading order; each (subject, relation, value, date) once. `about` is its entity, where that is known better."""
    entity = about or entity_of(page)
    found: dict[tuple[str, str, str, str | None], Fact] = {}
    blocks: dict[int, list[Unit]] = {}
    for unit in units(page.markdown):
        blocks.setdefault(unit.block, []).append(unit)
    for block in blocks.values():
        reader = _rows(block, entity) if block[0].kind == "row" else _lines(block, entity)
        for fact in reader:
            placed = replace(fact, page_id=page.page_id)
            found.setdefault((fold(placed.subject), placed.relation, fold(placed.value), placed.as_of), placed)
    return list(found.values())


def _lines(block: list[Unit], entity: Entity) -> Iterator[Fact]:
    if len(block) > 1 and block[0].headings and all(unit.kind == "item" for unit in block):
        for relation in relations_of_label(block[0].headings[-1]):
            whole = replace(block[0], end=block[-1].end, text="; ".join(unit.text for unit in block))
            fact = read_value(relation, whole.text, whole, entity.name, "label") if relation.listed else None
            if fact and len(fact.items) == len(block):
                yield fact
    for unit in block:
        if unit.kind == "label":
            if fold(unit.label) in ("source", "sources", "note", "notes"):
                continue  # a footer, and no river
            label = re.sub(rf"\s+of\s+(?:the\s+)?{re.escape(entity.name)}(?!\w)", "", unit.label, flags=re.IGNORECASE)
            yield from _labelled(unit, entity.name, label, unit.value, "label")
        elif unit.kind == "sentence":
            for relation, value, as_of in say(unit.text, entity.name):
                fact = read_value(relation, value, unit, entity.name, "sentence", as_of)
                if fact:
                    yield fact


def _rows(block: list[Unit], entity: Entity) -> Iterator[Fact]:
    header = block[0].header
    # A damaged table has rows of other widths; they tell nothing.
    width = len(header or block[0].cells)
    body = block[1:] if header and block[0].cells == header else block
    if width == 2 and _is_box(block):
        for unit in block:
            if len(unit.cells) == width and (unit.cells != header or relations_of_label(unit.cells[0])):
                yield from _labelled(unit, entity.name, unit.cells[0], unit.cells[1], "box")
        return
    if not header:
        return
    for unit in body:
        if len(unit.cells) != width or len(set(unit.cells)) == 1:
            continue
        triple = width == 3 and not relations_of_label(header[1]) and not relations_of_label(header[2]) and relations_of_label(unit.cells[1])
        if triple:
            yield from _labelled(unit, unit.cells[0], unit.cells[1], unit.cells[2], "table")
        elif fold(header[0]) in _TIME_HEADERS and dates(unit.cells[0]):
            for label, value in zip(header[1:], unit.cells[1:], strict=True):
                year = str(dates(unit.cells[0])[0].year)
                yield from (replace(fact, as_of=year) for fact in _labelled(unit, entity.name, label, value, "table") if fact.kind == "number")
        elif is_subject_column(header[0], [row.cells[0] for row in body if row.cells]):
            for label, value in zip(header[1:], unit.cells[1:], strict=True):
                yield from _labelled(unit, unit.cells[0], label, value, "table")


def _is_box(block: list[Unit]) -> bool:
    """Two columns of labels and values: the first column is known labels for the most part, or at least two of a few rows."""
    labels = [unit.cells[0] for unit in block if len(unit.cells) == 2 and unit.cells[1]]
    header = block[0].header
    if header and header[1] and (relations_of_label(header[1]) or fold(header[0]) in _SUBJECT_HEADERS | _TIME_HEADERS):
        return False
    known = sum(bool(relations_of_label(label)) for label in labels)
    return bool(labels) and (known * 3 >= len(labels) or known >= 2)


def is_subject_column(header: str, cells: list[str]) -> bool:
    """Whether a first column names the things the rows are about: under a telling header, or different names throughout."""
    if relations_of_label(header) and fold(header) not in _SUBJECT_HEADERS:
        return False
    named = [cell for cell in cells if kind_of(cell) == "name"]
    return bool(named) and len(set(cells)) == len(cells) and (len(named) >= len(cells) * 0.8)


def _labelled(unit: Unit, subject: str, label: str, value: str, source: Source) -> Iterator[Fact]:
    subject = _ASIDE.sub("", subject).strip()
    if not subject or not value or len(subject) > 80 or fold(value) == fold(label) or _SCALED.search(label):
        return
    if source == "table" and (not re.search(r"[^\W\d_]{2}", subject) or re.search(r"[/;:|]", subject)):
        return
    _, year = label_of(label)
    readings = [fact for relation in relations_of_label(label) if (fact := read_value(relation, value, unit, subject, source, year))]
    kinds = {fact.kind for fact in readings}
    if len(readings) == 1 or (len(readings) > 1 and len(kinds) == len(readings)):
        yield from readings
    elif readings and any(fact.items for fact in readings):
        yield from (fact for fact in readings if fact.items)
    elif readings:
        yield readings[0]


def read_value(relation: Relation, value: str, unit: Unit, subject: str, source: Source, as_of: str | None = None) -> Fact | None:
    """A value cell or phrase as a fact of one relation, or None where it is not clearly of the relation's kind."""
    text = plain(value)
    dated = _SINCE.search(text)
    if dated and not (relation.kind == "date" and dated.start() == 0):
        as_of = as_of or dated["year"]
        text = (text[: dated.start()] + text[dated.end() :]).strip()
    fact = Fact(fold_subject(subject), relation.name, "", relation.kind, "", unit.start, unit.end, unit.text, source, as_of=as_of)
    if relation.listed:
        items = list_items(_ASIDE.sub("", text))
        if not 2 <= len(items) <= 40 or len({fold(item) for item in items}) != len(items) or any(not _is_item(item, relation.kind) for item in items):
            return None
        return replace(fact, value=", ".join(items), items=items)
    reader = {"number": _read_number, "date": _read_date, "name": _read_words, "text": _read_words}[relation.kind]
    return reader(fact, relation, text)


def fold_subject(subject: str) -> str:
    """A subject as it is shown: plain, without a leading lower-case article."""
    return re.sub(r"^the\s+", "", plain(subject))


def _is_item(item: str, kind: ValueKind) -> bool:
    if not item or len(item) > 60 or len(item.split()) > 7:
        return False
    if kind == "date":
        return bool(dates(item))
    return not re.fullmatch(r"[\d.,%\s]+", item) and (kind != "name" or item[0].isupper() or has_cjk(item)) and "http" not in item


def _read_number(fact: Fact, relation: Relation, text: str) -> Fact | None:
    bare = _ASIDE.sub("", text).strip()
    figures = [figure for figure in numbers(bare) if figure.value >= 0]
    if relation.unit in {"length", "area", "mass", "time", "share", "power"}:
        figures = [figure for figure in figures if figure.dimension == relation.unit]
    elif figures and figures[0].dimension and not relation.unit:
        return (
            None
            if relation.after or figures[0].dimension in {"length", "area", "mass"}
            else replace(fact, value=bare[: figures[0].end], unit="")
            if figures[0].start == 0
            else None
        )
    if not figures or _CONDITION.search(bare[: figures[0].start]) or len(bare) > 60:
        return None
    figure = figures[0]
    if relation.after and figure.value != figure.value.to_integral_value():
        return None  # people and seats come whole
    before, shown, after = bare[: figure.start].strip(), bare[figure.start : figure.end].strip(), bare[figure.end :].strip(" ,;.")
    if re.match(r"^(?:[-–/]|to\b)\s*\d", after) or re.search(r"\d\s*[-–/]$", before):
        return None  # a range
    if re.match(r"^(?:and\s+)?\d+(?:\.\d+)?\s*[a-z]", after):
        return None  # "6 days, 3 hours", "5 ft 11 in"
    if relation.after and after and not relation.after.match(after):
        return None
    if relation.unit == "money":
        currency = before if before and len(before) <= 4 else " ".join(after.split()[:2]) if after else ""
        currency = re.sub(r"^(?:per|in|a|of)\b.*", "", currency)
        if not currency or re.search(r"\d", currency):
            return None
        return replace(fact, value=shown, unit=currency)
    if before and not re.fullmatch(r"(?:[A-Za-z]+\s?){1,2}:?", before):
        return None
    unit = figure.unit and shown[len(shown) - len(figure.unit) :]
    value = shown[: len(shown) - len(figure.unit)].strip(" -") if figure.unit else shown
    if not unit and after and not relation.after and not relation.unit:
        unit = after if len(after.split()) <= 3 and not re.search(r"[0-9]", after) else ""
    return replace(fact, value=value, unit=unit)


def _read_date(fact: Fact, relation: Relation, text: str) -> Fact | None:
    moments = dates(text)
    if not moments or _CONDITION.search(text[: moments[0].start]) or re.search(r"\bBCE?\b|\bto\b|[–—-]\s*\d{4}", text[moments[0].end :][:12]):
        return None
    if moments[0].start > 24 or (len(moments) > 1 and moments[1].key() != moments[0].key() and moments[1].year != moments[0].year and len(text) < 40):
        return None
    return replace(fact, value=text[moments[0].start : moments[0].end], as_of=None)


def _read_words(fact: Fact, relation: Relation, text: str) -> Fact | None:
    bare = _ASIDE.sub("", text).rstrip(" .,;。").strip(" ,;。")
    if not bare or len(bare) > 60 or len(bare.split()) > 7 or ";" in bare or "http" in bare or _CONDITION.search(bare):
        return None
    if relation.kind == "name":
        if not (bare[0].isupper() or has_cjk(bare) or re.match(r"the [A-Z]", bare)) or len(numbers(bare)) > 0 and kind_of(bare) != "name":
            return None
        if len(list_items(bare)) > 1 and not _one_place(bare):
            return None
        if dates(bare):
            return None
    elif (len(list_items(bare)) > 1 and relation.name != "colours") or ":" in bare:
        return None
    elif fact.source == "sentence" and re.search(r"\b(?:into|by|that|which|to|from)\b", bare):
        return None  # "The field of X is divided into ..." says nothing of what the field is
    name = re.sub(r"^the\s+(?=[A-Z])", "", bare)
    return replace(fact, value=name, article=name != bare)


def _one_place(text: str) -> bool:
    """ "Quarter, Town" is one place, "Jane Roe and John Doe" are two people."""
    return text.count(",") == 1 and " and " not in text and all(part.strip()[:1].isupper() for part in text.split(","))


def known(relation: str) -> Relation:
    """The relation of this name."""
    return relations()[relation]
