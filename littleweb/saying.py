"""From a fact to words: labels, values with units, sentences. Which wording is taken is drawn from the page's own random stream."""

from __future__ import annotations

import random
from dataclasses import dataclass

from littleweb.blocks import Cell
from littleweb.country import MONTHS
from littleweb.facts import Entity, Fact, Statement
from littleweb.openings import sentence_case
from littleweb.phrases import relations

UNITS = {
    "km2": ("km²", "square kilometres"),
    "km": ("km", "kilometres"),
    "m": ("m", "metres"),
    "cm": ("cm", "centimetres"),
    "mm": ("mm", "millimetres"),
    "m3s": ("m³/s", "cubic metres per second"),
    "crowns": ("million crowns", "million crowns"),
    "coin": ("crowns", "crowns"),
    "objects": ("objects", "objects"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """A fact as one page tells it: the value (and year) this page has, which may be out of date; `points` of a series it knows."""

    entity: Entity
    fact: Fact
    value: str
    as_of: int | None
    stale: bool
    points: tuple[tuple[int, str], ...]

    def statements(self, lead: bool = False) -> list[Statement]:
        """What a page says with this fact."""
        name, relation = self.entity.name, self.fact.relation
        if self.fact.type == "list":
            return [Statement(name, relation, item, None, lead) for item in self.fact.items]
        return [Statement(name, relation, self.value, self.as_of, lead, self.stale)]

    def series_statements(self) -> list[Statement]:
        """What a page says with the whole series."""
        newest = self.fact.as_of
        return [Statement(self.entity.name, self.fact.relation, value, year, False, year != newest and self.stale) for year, value in self.points]


def tell(entity: Entity, fact: Fact, stale: bool) -> Told:
    """The fact as a page with up-to-date or outdated knowledge has it."""
    if stale and fact.previous:
        value, year = fact.previous
        return Told(entity, fact, value, year, True, fact.series[:-1])
    return Told(entity, fact, fact.value, fact.as_of, False, fact.series)


def with_unit(value: str, unit: str | None, long: bool) -> str:
    """ "84", "km" -> "84 km" or "84 kilometres"."""
    return f"{value} {UNITS[unit][1 if long else 0]}" if unit else value


def joined(items: tuple[str, ...]) -> str:
    """ "A, B and C"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def written_date(value: str, form: int) -> str:
    """ "12 March 1987" in one of three forms: as it is, "March 12, 1987", "1987-03-12"."""
    day, month, year = value.split()
    return (value, f"{month} {day}, {year}", f"{year}-{MONTHS.index(month) + 1:02d}-{int(day):02d}")[form]


class Speaker:
    """Chooses the words of one page: `pool` is seed or other, `templates` 1 or 2."""

    def __init__(self, rng: random.Random, pool: str, templates: int) -> None:
        self.rng = rng
        self.pool = pool
        self.templates = templates

    def label(self, told: Told) -> str:
        """A label for a table row, with the year where the fact is dated."""
        return self.bare_label(told.entity.kind, told.fact.relation) + (f" ({told.as_of})" if told.as_of else "")

    def bare_label(self, kind: str, relation: str) -> str:
        entry = relations()[kind][relation]
        if self.templates == 2 and "second" in entry:
            return str(entry["second"]["label"][0 if self.pool == "seed" else 1])
        return str(entry["label"][0] if self.pool == "seed" else self.rng.choice(entry["label"][1:]))

    def cell(self, told: Told, date_form: int = 0) -> Cell:
        """The value as it stands in a table cell; a list becomes a list."""
        fact = told.fact
        if fact.type == "list":
            return fact.items
        if fact.type == "date":
            return written_date(told.value, date_form)
        return with_unit(told.value, fact.unit, long=False)

    def sentence(self, told: Told) -> str:
        """One sentence that names the subject in full and states the fact."""
        return self._fill(self.rng.choice(self._templates(told)), told)

    def series_sentence(self, told: Told) -> str:
        """One sentence with every point of the series that the page knows."""
        entry = relations()[told.entity.kind][told.fact.relation]
        template = self.rng.choice(entry["series" if self.pool == "seed" else "other_series"])
        points = tuple(f"{with_unit(value, told.fact.unit, True)} in {year}" for year, value in told.points)
        return sentence_case(template.format(s=told.entity.in_text, series=joined(points)))

    def _templates(self, told: Told) -> list[str]:
        entry = relations()[told.entity.kind][told.fact.relation]
        if self.templates == 2 and "second" in entry:
            second = entry["second"]
            return list(second["seed"]) if self.pool == "seed" else [*second["other"], *entry["seed"]]
        return list(entry["seed"] if self.pool == "seed" and "seed" in entry else entry["other"])

    def _fill(self, template: str, told: Told) -> str:
        fact = told.fact
        if fact.type == "list":
            value = joined(fact.items)
        elif fact.type == "date":
            value = written_date(told.value, 0 if self.pool == "seed" else self.rng.randint(0, 1))
        else:
            value = with_unit(told.value, fact.unit, long=self.pool == "other")
            value = f"the {value}" if fact.article else value
        asof = ""
        if told.as_of:
            asof = self.rng.choice((f" as of {told.as_of}", f" (as of {told.as_of})", f" in {told.as_of}"))
        return sentence_case(template.format(s=told.entity.in_text, v=value, asof=asof, n=len(fact.items)))
