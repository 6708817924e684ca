"""A library of pages, read for what they say of known subjects: where (subject, relation, value) is stated, and what is stated instead.

A statement is read only where subject, relation and value stand in one sentence, row, line or box. The bare occurrence of a value is none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from terrarium.corpus.page import Page
from terrarium.questions.blocks import units
from terrarium.questions.entity import Entity, page_name
from terrarium.questions.facts import Fact, facts_of
from terrarium.questions.lexicon import Relation, relations
from terrarium.questions.names import NameFinder
from terrarium.questions.question import Operand, Span
from terrarium.questions.stating import Reading, states
from terrarium.questions.values import dates, fold, places, plain, same


@dataclass(frozen=True, slots=True)
class Said:
    """A place that states an operand; `year` is the date it gives for it, or None."""

    span: Span
    page: Page
    year: int | None


class Library:
    """Pages indexed by the subjects they mention. Reading an operand looks at no page that does not name its subject."""

    def __init__(self, pages: Sequence[Page], names: Iterable[str]) -> None:
        self.pages = {page.page_id: page for page in pages}
        known = [*names, *(page_name(page.title)[0] for page in pages)]
        self.finder = NameFinder(name for name in known if len(name) > 1)
        self.readings: dict[str, list[Reading]] = defaultdict(list)
        self.facts: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        for page in pages:
            self._add(page)

    def _add(self, page: Page) -> None:
        topic = self._topic(page)
        for unit in units(page.markdown):
            about = next((found[0].name for heading in reversed(unit.headings) if (found := self.finder.find(heading))), topic)
            reading = Reading(page, unit, about, tuple(self.finder.find(unit.text)))
            for name in {about, *(mention.name for mention in reading.mentions)} - {""}:
                self.readings[name].append(reading)
        entity = Entity(topic, topic, "", "") if topic else None
        for fact in facts_of(page, entity):
            self.facts[fold(fact.subject), fact.relation].append(fact)

    def _topic(self, page: Page) -> str:
        """The known name that the title is about: the first in it, if the title does not join several."""
        title = plain(page.title)
        found = self.finder.find(title)
        if not found:
            return fold(page_name(page.title)[0])
        if len(found) > 1 and re.search(r"\band\b|,|&|和|与", title[found[0].end : found[1].start]):
            return ""
        return found[0].name

    def said(self, operand: Operand, year: int | None) -> list[Said]:
        """Every place that states an operand; where `year` is given, only what holds for that year."""
        relation = relations().get(operand.relation)
        if relation is None:
            return []
        found = []
        for reading in self.readings.get(fold(operand.subject), ()):
            dated = states(reading, operand, relation, year)
            if dated is not None:
                found.append(Said(reading.span, reading.page, dated or None))
        return found

    def denied(self, operand: Operand, year: int | None) -> list[Fact]:
        """Facts that plainly state another value of an operand's relation, for the same year where it has one."""
        relation = relations().get(operand.relation)
        if relation is None:
            return []
        found = []
        for fact in self.facts.get((fold(operand.subject), operand.relation), ()):
            if relation.changes and (fact.as_of is None or year is None or int(fact.as_of[:4]) != year):
                continue
            if not _agrees(fact, operand, relation):
                found.append(fact)
        return found


def _agrees(fact: Fact, operand: Operand, relation: Relation) -> bool:
    if fact.items:
        return fold(operand.value) in {fold(item) for item in fact.items}
    if relation.kind == "date":
        one, other = dates(fact.value)[0], next(iter(dates(operand.value)), None)
        return (
            other is not None
            and one.year == other.year
            and (None in (one.month, other.month) or (one.month, one.day or other.day) == (other.month, other.day or one.day))
        )
    if relation.kind == "number":
        return same(fact.shown, operand.value, "number")
    ours, theirs = fold(operand.value), fold(fact.value)
    return ours == theirs or bool(places(ours, theirs, "name")) or bool(places(theirs, ours, "name"))
