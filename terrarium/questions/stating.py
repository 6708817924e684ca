"""Whether one unit of a page states one fact: subject, relation and value read together, in its row, line, item or sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from terrarium.corpus.page import Page
from terrarium.questions.blocks import Unit
from terrarium.questions.lexicon import Relation, label_of, relations, relations_of_label
from terrarium.questions.names import Mention
from terrarium.questions.question import Operand, Span
from terrarium.questions.values import ValueKind, dates, fold, kind_of, numbers, places
from terrarium.questions.words import words

_PAST = re.compile(r"\b(?:former(?:ly)?|ex-|until|previous(?:ly)?|no longer|used to|once|then-|outgoing|late)\b|前任|曾任|原", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|neither|denied|wrongly|mistakenly|rumou?red|instead of|contrary to)\b|并非|不是", re.IGNORECASE)
_ASIDE = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")
_TIME_HEADERS = frozenset(words("time_headers"))


@dataclass(frozen=True, slots=True)
class Reading:
    """A unit of a page with the known names in it, and the subject its place in the page gives it ("" if none)."""

    page: Page
    unit: Unit
    topic: str
    mentions: tuple[Mention, ...]

    @property
    def span(self) -> Span:
        return Span(self.page.page_id, self.unit.start, self.unit.end, self.page.markdown[self.unit.start : self.unit.end])


def states(reading: Reading, operand: Operand, relation: Relation, year: int | None) -> int | None:
    """The year a reading gives for an operand (0 where it gives none), or None where it does not state it."""
    unit = reading.unit
    if unit.kind == "row":
        return _row(reading, operand, relation, year)
    if unit.kind == "label":
        return _label(reading, operand, relation, year)
    if unit.kind == "item":
        return _item(reading, operand, relation)
    return _sentence(reading, operand, relation, year)


def kind_for(operand: Operand, relation: Relation) -> ValueKind:
    """The kind by which an operand's value is compared; members of lists may be of another kind than the relation."""
    if relation.listed and relation.kind != "date":
        return "name" if kind_of(operand.value) in ("name", "text") else kind_of(operand.value)
    return relation.kind


def _holds(text: str, operand: Operand, relation: Relation) -> bool:
    return bool(_value_places(text, operand, relation))


def _value_places(text: str, operand: Operand, relation: Relation) -> list[tuple[int, int]]:
    kind = kind_for(operand, relation)
    found = places(operand.value, text, kind)
    if kind == "number":
        spans = {(moment.start, moment.end) for moment in dates(text) if moment.month is not None}
        found = [place for place in found if not any(start <= place[0] < end for start, end in spans)]
    return found


def _dated(label: str, year: int | None, relation: Relation) -> int | None:
    """0 or the year of a label, None where it is of another year than is asked for."""
    _, given = label_of(label)
    if not relation.changes or given is None:
        return 0
    return int(given) if year is None or int(given) == year else None


def _means(label: str, relation: Relation) -> bool:
    found = relations_of_label(label)
    if relation in found or any(other.when_dated == relation.name for other in found):
        return True
    # A label of another relation may name this one too ("Head" of a museum), but hardly where values are numbers.
    if found and relation.kind != "name":
        return False
    name, _ = label_of(label)
    return bool(name) and len(name) < 60 and bool(relation.cues.search(name))


def _row(reading: Reading, operand: Operand, relation: Relation, year: int | None) -> int | None:
    unit = reading.unit
    cells, subject = unit.cells, fold(operand.subject)
    named = [place for place, cell in enumerate(cells) if fold(_ASIDE.sub("", cell)) == subject]
    if not named and reading.topic == subject:
        if len(cells) == 2 and _means(cells[0], relation) and _holds(cells[1], operand, relation):
            return _dated(f"{cells[0]} {_aside_year(cells[1])}", year, relation)
        if unit.header and fold(unit.header[0]) in _TIME_HEADERS and dates(cells[0]) and len(unit.header) == len(cells):
            given = dates(cells[0])[0].year
            if (year is None or given == year) and any(
                _means(label, relation) and _holds(cell, operand, relation) for label, cell in zip(unit.header[1:], cells[1:], strict=True)
            ):
                return given
        return None
    if not named:
        return None
    if len(cells) == 3 and named[0] == 0 and _means(cells[1], relation) and _holds(cells[2], operand, relation):
        return _dated(f"{cells[1]} {_aside_year(cells[2])}", year, relation)
    if unit.header and len(unit.header) == len(cells):
        for place, (label, cell) in enumerate(zip(unit.header, cells, strict=True)):
            if place not in named and _means(label, relation) and _holds(cell, operand, relation):
                return _dated(f"{label} {_aside_year(cell)}", year, relation)
    return None


def _aside_year(text: str) -> str:
    found = re.search(r"[(（][^()（）]*?((?:1\d{3}|20\d{2}))[^()（）]*[)）]", text)
    return f"({found[1]})" if found else ""


def _label(reading: Reading, operand: Operand, relation: Relation, year: int | None) -> int | None:
    unit, subject = reading.unit, fold(operand.subject)
    label = unit.label
    mentioned = places(subject, label, "name")
    if mentioned:
        label = f"{label[: mentioned[0][0]]} {label[mentioned[0][1] :]}".strip()
        label = re.sub(r"\b(?:of|in|at|for)\s+(?:the\s+)?(?=$|\s*(?:as of|in|\())", "", label).strip()
        label = re.sub(r"\s+(?:of|the)$|\s+of the$", "", label)
    elif reading.topic != subject:
        return None
    if not _means(label, relation) or not _holds(unit.value, operand, relation):
        return None
    return _dated(f"{label} {_aside_year(unit.value)}", year, relation)


def _item(reading: Reading, operand: Operand, relation: Relation) -> int | None:
    unit = reading.unit
    if reading.topic != fold(operand.subject) or not relation.listed or not unit.headings:
        return None
    if not (_means(unit.headings[-1], relation) or (unit.context and relation.cues.search(unit.context))):
        return None
    return 0 if fold(_ASIDE.sub("", unit.text)) == fold(operand.value) else None


def _sentence(reading: Reading, operand: Operand, relation: Relation, year: int | None) -> int | None:
    text, subject = reading.unit.text, fold(operand.subject)
    own = [mention for mention in reading.mentions if mention.name == subject]
    if not own or _DENIED.search(text) or (relation.changes and _PAST.search(text)):
        return None
    masked = _masked(text, [(mention.start, mention.end) for mention in own])
    values = _value_places(masked, operand, relation)
    if not values:
        return None
    others = [
        mention
        for mention in reading.mentions
        if mention.name != subject and not any(start <= mention.start < end or mention.start <= start < mention.end for start, end in values)
    ]
    for value in values:
        if relation.kind != "name" and not relation.listed and any(_between(mention, own, value) for mention in others):
            continue
        if not _cued(masked, value, operand, relation):
            continue
        given = _year_of(masked, value, relation, year)
        if given is not None:
            return given
    return None


def _masked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with spans blanked out, every character in its place: names hold numbers and cue words of their own."""
    for start, end in spans:
        text = f"{text[:start]}{'¤' * (end - start)}{text[end:]}"
    return text


def _between(mention: Mention, own: Sequence[Mention], value: tuple[int, int]) -> bool:
    nearest = min(own, key=lambda mine: abs(mine.start - value[0]))
    low, high = sorted((nearest.start, value[0]))
    return low < mention.start < high


def _cued(text: str, value: tuple[int, int], operand: Operand, relation: Relation) -> bool:
    """Whether a cue of the relation stands in the sentence, and the value, of all values that could be meant, is the nearest to it."""
    cues = [match.span() for match in _cues(relation.name, text) if not (value[0] <= match.start() < value[1])]
    if not cues:
        return False
    rivals = _rivals(text, relation)
    if len(rivals) <= 1 or relation.listed:
        return True
    if relation.after:
        following = relation.after.match(text[value[1] :].lstrip(" -"))
        if following:
            return True
    for cue in cues:
        nearest = min(rivals, key=lambda rival: (_gap(rival, cue), rival))
        if nearest[0] < value[1] and value[0] < nearest[1]:
            return True
    # A list of values after one cue: "10,020 in 1994 and 11,400 in 2004".
    return relation.changes and relation.kind == "number" and bool(_SERIES.search(text))


_SERIES = re.compile(r"\bin (?:1\d{3}|20\d{2})\b.*\b(?:and|,)\s.*\bin (?:1\d{3}|20\d{2})\b")


def _cues(name: str, text: str) -> Iterator[re.Match[str]]:
    return relations()[name].cues.finditer(text)


def _gap(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(one[0] - other[1], other[0] - one[1], 0)


def _rivals(text: str, relation: Relation) -> list[tuple[int, int]]:
    """All values in a sentence that could be of the relation, by kind and unit."""
    if relation.kind == "date":
        return [(moment.start, moment.end) for moment in dates(text)]
    if relation.kind != "number":
        return []
    moments = [(moment.start, moment.end) for moment in dates(text)]
    found = []
    for figure in numbers(text):
        if relation.unit and relation.unit != "money" and figure.dimension != relation.unit:
            continue
        if any(start <= figure.start < end for start, end in moments) and not figure.dimension:
            continue
        found.append((figure.start, figure.end))
    return found


@lru_cache(maxsize=8)
def _year_pattern() -> re.Pattern[str]:
    return re.compile(r"(?<![\d.,])(?:1\d{3}|20\d{2})(?![\d,]|\.\d)")


def _year_of(text: str, value: tuple[int, int], relation: Relation, year: int | None) -> int | None:
    """The year a sentence gives for a value: 0 where it gives none; None where it gives another than is asked for."""
    if not relation.changes:
        return 0
    years = [(int(match[0]), match.start()) for match in _year_pattern().finditer(text) if not value[0] <= match.start() < value[1]]
    if not years:
        return 0
    if len({found for found, _ in years}) > 1:
        following = [found for found, at in years if at >= value[1]]
        given = following[0] if following else years[-1][0]
    else:
        given = years[0][0]
    return given if year is None or given == year else None
