"""The records of the fictional country: entities and the facts about them. Nothing here knows how a page looks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

FactType = Literal["number", "year", "date", "name", "word", "list", "series"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is true of one entity.

    `value` is what a page shows without unit: "14,233", "12 March 1987", "Ansel Dorrin". `items` holds the members of a list,
    `series` the (year, value) points of a series, oldest first. `as_of` is the year the value was valid in, None for what never
    changes. `previous` is an older (value, year) that some pages still show. `on_seeds` is False for facts the seed sites leave out.
    """

    relation: str
    type: FactType
    value: str
    unit: str | None = None
    items: tuple[str, ...] = ()
    series: tuple[tuple[int, str], ...] = ()
    as_of: int | None = None
    previous: tuple[str, int] | None = None
    article: bool = False
    on_seeds: bool = True


@dataclass(slots=True)
class Entity:
    """One town, river, person ... `article` says whether running text puts "the" before the name."""

    key: str
    kind: str
    name: str
    article: bool = False
    aliases: tuple[str, ...] = ()
    facts: list[Fact] = field(default_factory=list)

    @property
    def in_text(self) -> str:
        """The name as it stands inside a sentence."""
        return f"the {self.name}" if self.article else self.name

    def fact(self, relation: str) -> Fact:
        """The fact with this relation; KeyError when the entity has none."""
        for fact in self.facts:
            if fact.relation == relation:
                return fact
        raise KeyError(f"{self.name} has no fact {relation}")


@dataclass(slots=True)
class Country:
    """The whole fictional country: its name and its entities, in a fixed order."""

    name: str
    seed: int
    flavour: str
    entities: list[Entity]

    def of_kind(self, kind: str) -> list[Entity]:
        """All entities of one kind, in order."""
        return [entity for entity in self.entities if entity.kind == kind]


@dataclass(frozen=True, slots=True)
class Statement:
    """That a page says: `relation` of `subject` is `value` (list facts: one statement an item), valid in `as_of`.

    `lead` tells that the page says so in its opening paragraphs; `stale` that a newer value exists.
    """

    subject: str
    relation: str
    value: str
    as_of: int | None = None
    lead: bool = False
    stale: bool = False
