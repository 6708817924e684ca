"""Forty benchmark questions about the country of seed 7. Most ask what the seed sites leave out; fifteen ask, in other words, what they say.

A pipeline that grows training questions from the seeds must notice those fifteen and drop its own.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from littleweb.country import make_country
from littleweb.facts import Country, Entity
from littleweb.saying import with_unit

SEED = 7

DIRECT = {
    "town": ("postal_code", "Which postal code belongs on a letter to {s}?"),
    "company": ("auditor", "Who audits the accounts of {s}?"),
    "line": ("depot", "At which depot are the trains of {s} kept?"),
    "club": ("kit_supplier", "Who makes the kit of {s}?"),
    "disaster": ("relief_fund", "What was the relief fund called for which money was gathered after {s}?"),
    "law": ("bill_number", "As which bill number did {s} go through parliament?"),
    "novel": ("shelf_mark", "Under which shelf mark does the novel {s} stand?"),
    "person": ("papers", "Where are the papers of {s} kept?"),
}
CROSS = {
    "company": ("register_number", "By all accounts, what is the register number of {s}?"),
    "club": ("kit_supplier", "On which maker of the kit of {s} do different accounts agree?"),
    "museum": ("closing_day", "Which closing day do independent guides give for {s}?"),
    "town": ("market_day", "On which weekday do independent accounts place the market of {s}?"),
}
PLANTED = (
    ("region", "capital", "direct", "From which town is {s} governed?"),
    ("region", "area", "direct", "Over how many square kilometres does {s} extend?"),
    ("line", "gauge", "direct", "How wide, in millimetres, is the track of {s}?"),
    ("line", "operator", "direct", "Which undertaking runs {s}?"),
    ("mountain", "first_climber", "direct", "Who was the first to stand on the top of {s}?"),
    ("mountain", "elevation", "direct", "What height above the sea does {s} reach?"),
    ("law", "author", "direct", "Who drew up the text of {s}?"),
    ("law", "votes", "direct", "With how many votes was {s} carried?"),
    ("novel", "publisher", "direct", "Which house brought out the novel {s}?"),
    ("bridge", "material", "direct", "From what was {s} constructed?"),
    ("river", "mouth", "direct", "Where does {s} end its course?"),
    ("river", "tributaries", "enumeration", "Which side streams feed {s}?"),
    ("museum", "departments", "enumeration", "Into which departments is {s} divided?"),
    ("town", "population", "cross_verification", "How many people called {s} home in {y}?"),
    ("club", "members", "cross_verification", "What was the membership of {s} in {y}?"),
)


@dataclass(frozen=True, slots=True)
class BenchmarkQuestion:
    """One question; `planted` when the seed sites state its answer."""

    question: str
    answers: tuple[str, ...]
    capability: str
    planted: bool = False


def benchmark_questions() -> list[BenchmarkQuestion]:
    """The forty questions, in a fixed order."""
    country = make_country(SEED)
    rng = random.Random("littleweb benchmark")
    makers: tuple[Callable[[Country, random.Random], Iterator[BenchmarkQuestion]], ...] = (
        _direct,
        _cross,
        _together,
        _lists,
        _counts,
        _tolls,
        _planted,
    )
    return [question for make in makers for question in make(country, rng)]


def _answers(entity: Entity, relation: str) -> tuple[str, ...]:
    fact = entity.fact(relation)
    if fact.items:
        return (", ".join(fact.items),)
    return tuple(dict.fromkeys((with_unit(fact.value, fact.unit, long=False), fact.value)))


def _direct(country: Country, rng: random.Random) -> Iterator[BenchmarkQuestion]:
    for kind, (relation, wording) in DIRECT.items():
        entity = rng.choice(country.of_kind(kind))
        yield BenchmarkQuestion(wording.format(s=entity.in_text), _answers(entity, relation), "direct")


def _cross(country: Country, rng: random.Random) -> Iterator[BenchmarkQuestion]:
    for kind, (relation, wording) in CROSS.items():
        entity = rng.choice(country.of_kind(kind))
        yield BenchmarkQuestion(wording.format(s=entity.in_text), _answers(entity, relation), "cross_verification")


def _together(country: Country, rng: random.Random) -> Iterator[BenchmarkQuestion]:
    """Two facts that only one entity has."""
    for kind, first, second, wording in (
        ("town", "market_day", "river", "Which town on the {b} holds its weekly market on {a}?"),
        ("company", "auditor", "industry", "Which company of the {b} industry has its accounts audited by {a}?"),
        ("museum", "closing_day", "location", "Which museum in {b} is closed on {a}?"),
        ("mountain", "rock", "region", "Which mountain in the region of {b} is built of {a}?"),
    ):
        for entity in _only_ones(country.of_kind(kind), first, second, rng)[:1]:
            question = wording.format(a=entity.fact(first).value, b=entity.fact(second).value)
            yield BenchmarkQuestion(question, (entity.name,), "aggregation")


def _only_ones(entities: list[Entity], first: str, second: str, rng: random.Random) -> list[Entity]:
    holders: dict[tuple[str, str], list[Entity]] = defaultdict(list)
    for entity in entities:
        holders[entity.fact(first).value, entity.fact(second).value].append(entity)
    alone = [found[0] for found in holders.values() if len(found) == 1]
    return rng.sample(alone, len(alone))


def _lists(country: Country, rng: random.Random) -> Iterator[BenchmarkQuestion]:
    for river in rng.sample(country.of_kind("river"), 3):
        yield BenchmarkQuestion(f"Which fish are caught in {river.in_text}?", _answers(river, "fish"), "enumeration")


def _counts(country: Country, rng: random.Random) -> Iterator[BenchmarkQuestion]:
    river = rng.choice(country.of_kind("river"))
    yield BenchmarkQuestion(f"How many kinds of fish are caught in {river.in_text}?", (str(len(river.fact("fish").items)),), "enumeration")
    town = rng.choice(country.of_kind("town"))
    day, region = town.fact("market_day").value, town.fact("region").value
    same = [other for other in country.of_kind("town") if other.fact("market_day").value == day and other.fact("region").value == region]
    yield BenchmarkQuestion(f"How many towns of the region of {region} hold their weekly market on {day}?", (str(len(same)),), "enumeration")


def _tolls(country: Country, rng: random.Random) -> Iterator[BenchmarkQuestion]:
    bridges = rng.sample(country.of_kind("bridge"), 9)
    tolls = [int(bridge.fact("toll").value) for bridge in bridges]
    names = [bridge.in_text for bridge in bridges]
    yield BenchmarkQuestion(
        f"What do cars pay in all, in crowns, to cross {names[0]} and {names[1]} once each?", (str(tolls[0] + tolls[1]),), "statistics"
    )
    yield BenchmarkQuestion(
        f"By how many crowns do the car tolls of {names[2]} and {names[3]} differ?", (str(abs(tolls[2] - tolls[3])),), "statistics"
    )
    total = sum(tolls[6:])
    yield BenchmarkQuestion(f"What is the sum of the car tolls, in crowns, of {names[6]}, {names[7]} and {names[8]}?", (str(total),), "statistics")
    mean = (tolls[4] + tolls[5]) / 2
    yield BenchmarkQuestion(f"What is the mean car toll, in crowns, of {names[4]} and {names[5]}?", (f"{mean:g}",), "statistics")


def _planted(country: Country, rng: random.Random) -> Iterator[BenchmarkQuestion]:
    for kind, relation, capability, wording in PLANTED:
        entity = rng.choice(country.of_kind(kind))
        question = wording.format(s=entity.in_text, y=entity.fact(relation).as_of)
        yield BenchmarkQuestion(question, _answers(entity, relation), capability, planted=True)


def write_benchmark(out: Path) -> int:
    """Write {question, answers, capability} as JSON lines; return how many."""
    found = benchmark_questions()
    rows = [{"question": one.question, "answers": list(one.answers), "capability": one.capability} for one in found]
    out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return len(rows)
