"""Statistics: a number computed from two or three facts of one relation and unit: sum, mean, difference, ratio, change over time.

The operation is the third part of a question's wording ("statistics/population/sum/1"), so that the answer can be computed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal

from terrarium.questions.makers.craft import Craft
from terrarium.questions.makers.quantities import comparable_groups, format_like, with_unit
from terrarium.questions.pool import Statement
from terrarium.questions.question import Question
from terrarium.questions.values import fold
from terrarium.questions.wording import listed

SUM = (
    "What is the combined {noun} of {names}?",
    "What do the {noun} of {a} and that of {b} add up to?",
    "What is the {noun} of {names} taken together?",
    "If one adds the {noun} of {a} to that of {b}, what is the total?",
)
MEAN = (
    "What is the mean {noun} of {names}{rounded}?",
    "What is the average {noun} of {names}{rounded}?",
    "Taking {names} together, how high is the {noun} on average{rounded}?",
)
DIFFERENCE = (
    "{more}",
    "By how much does the {noun} of {a} exceed that of {b}?",
    "What is the difference between the {noun} of {a} and that of {b}?",
    "How far apart are {a} and {b} in {noun}?",
)
RATIO = (
    "How many times the {noun} of {b} is that of {a}, rounded to one decimal place?",
    "What is the ratio of the {noun} of {a} to that of {b}, rounded to one decimal place?",
    "To one decimal place, the {noun} of {a} is how many times that of {b}?",
)
YEARS = (
    "{earlier}",
    "{a} {did} earlier than {b}: by how many years?",
    "How many years lie between the year in which {a} {did} and the year in which {b} {did}?",
)
CHANGE = (
    "By how much did the {noun} of {a} {verb} from {before} to {after}?",
    "How much {larger} was the {noun} of {a} in {after} than in {before}?",
    "Between {before} and {after}, by how much did the {noun} of {a} {verb}?",
)
A_FACT = 2


def make_statistics(craft: Craft) -> Iterator[Question]:
    """Pairs and triples of entities in seeded order, and changes of one entity over time; every fact in at most two questions."""
    kinds = [list(_over_entities(craft)), list(_over_time(craft))]
    for place in range(max(map(len, kinds), default=0)):
        for questions in kinds:
            if place < len(questions):
                yield questions[place]


def _over_entities(craft: Craft) -> Iterator[Question]:
    used: dict[str, int] = defaultdict(int)
    rounds = [_pairs(craft, group) for group in comparable_groups(craft, "statistics")]
    # One question of each group in turn, so that a cap keeps all relations.
    for place in range(max(map(len, rounds), default=0)):
        for pairs in rounds:
            if place < len(pairs) and all(used[statement.key] < A_FACT for statement in pairs[place]):
                question = _compute(craft, pairs[place])
                if question:
                    for statement in pairs[place]:
                        used[statement.key] += 1
                    yield question


def _pairs(craft: Craft, group: list[Statement]) -> list[list[Statement]]:
    ordered = sorted(group, key=lambda statement: (craft.draw(statement.key, "pairing"), statement.key))
    chosen = []
    for place in range(len(ordered)):
        size = 3 if craft.draw(ordered[place].key, "size") < 0.2 else 2
        members = [ordered[(place + step) % len(ordered)] for step in range(min(size, len(ordered)))]
        if len({statement.key for statement in members}) >= 2 and (len(ordered) > 2 or place == 0):
            chosen.append(members)
    return chosen


def _compute(craft: Craft, members: Sequence[Statement]) -> Question | None:
    relation = members[0].relation
    key = " + ".join(sorted(statement.key for statement in members))
    if relation.kind == "date":
        return _years(craft, sorted(members[:2], key=lambda statement: statement.amount), key)
    high, low = sorted(members[:2], key=lambda statement: -statement.amount)
    if not relation.noun:
        return None
    names = listed([craft.pool.in_text(statement.subject) for statement in members])
    draw = craft.draw(key, "operation")
    if len(members) == 3:
        return _mean(craft, members, names, key)
    if draw < 0.2 and high.amount != low.amount and low.amount > 0 and high.amount / low.amount < 200:
        value = high.amount / low.amount
        return _ask(craft, "ratio", RATIO, (high, low), names, format_like(value, "1.0"), "", key, minimum=Decimal("1.05"), value=value)
    if draw < 0.5 and not relation.name.startswith(("elevation", "magnitude", "unemployment", "density", "atomic")):
        value = high.amount + low.amount
        return _ask(craft, "sum", SUM, members, names, format_like(value, high.value), high.unit, key)
    if high.amount == low.amount:
        return None
    return _ask(
        craft,
        "difference",
        DIFFERENCE if relation.more else DIFFERENCE[1:],
        (high, low),
        names,
        format_like(high.amount - low.amount, _finer(high, low)),
        high.unit,
        key,
    )


def _finer(one: Statement, two: Statement) -> str:
    return max(one.value, two.value, key=lambda value: len(value.partition(".")[2]))


def _mean(craft: Craft, members: Sequence[Statement], names: str, key: str) -> Question | None:
    value = sum((statement.amount for statement in members), Decimal(0)) / len(members)
    exact = value * 10 == (value * 10).to_integral_value()
    example = "1.0" if " " not in members[0].value else "1.0" + members[0].value[members[0].value.index(" ") :]
    return _ask(
        craft,
        "mean",
        MEAN,
        members,
        names,
        format_like(value, example),
        members[0].unit,
        key,
        rounded="" if exact else ", rounded to one decimal place",
    )


def _ask(
    craft: Craft,
    operation: str,
    templates: Sequence[str],
    members: Sequence[Statement],
    names: str,
    number: str,
    unit: str,
    key: str,
    rounded: str = "",
    minimum: Decimal | None = None,
    value: Decimal | None = None,
) -> Question | None:
    if minimum is not None and value is not None and value < minimum:
        return None
    relation = members[0].relation
    wording = craft.wording(f"statistics/{relation.name}/{operation}", templates, members[0].split, key)
    if wording is None:
        return None
    a, b = (craft.pool.in_text(statement.subject) for statement in members[:2])
    text = wording.template.replace("{more}", relation.more).format(a=a, b=b, names=names, noun=relation.noun, rounded=rounded)
    text, as_of = craft.date(text, members, key)
    return craft.question(
        "statistics",
        text,
        tuple(dict.fromkeys((with_unit(number, unit), number))),
        "number",
        members,
        wording.id,
        as_of=as_of,
        fact_key=f"{key} · {operation}",
    )


def _years(craft: Craft, members: Sequence[Statement], key: str) -> Question | None:
    early, late = members
    years = late.amount - early.amount
    if years <= 0 or not early.relation.earlier or not early.relation.did:
        return None
    passive = early.relation.did not in ("took place", "opened", "came into force", "appeared", "died")
    did = f"was {early.relation.did}" if passive else early.relation.did
    wording = craft.wording(f"statistics/{early.relation.name}/years", YEARS, early.split, key)
    if wording is None:
        return None
    template = wording.template.replace("{earlier}", early.relation.earlier)
    if early.full_date is not False or late.full_date is not False:
        template = template.replace("How many years", "How many calendar years").replace("by how many years", "by how many calendar years")
    text = template.format(a=craft.pool.in_text(early.subject), b=craft.pool.in_text(late.subject), did=did)
    return craft.question("statistics", text, [str(int(years))], "number", members, wording.id, fact_key=f"{key} · years")


def _over_time(craft: Craft) -> Iterator[Question]:
    series: dict[tuple[str, str, str], list[Statement]] = defaultdict(list)
    for statement in craft.pool.statements:
        if (
            statement.relation.kind == "number"
            and statement.relation.noun
            and statement.as_of
            and len(statement.as_of) == 4
            and statement.language != "zh"
        ):
            series[fold(statement.subject), statement.relation.name, fold(statement.unit)].append(statement)
    for name in sorted(series, key=lambda name: (craft.draw("/".join(name), "series"), name)):
        points = sorted(series[name], key=lambda statement: statement.as_of or "")
        if len(points) < 2:
            continue
        first = int(craft.draw("/".join(name), "from") * (len(points) - 1))
        before, after = points[first], points[first + 1 + int(craft.draw("/".join(name), "to") * (len(points) - first - 1))]
        change = after.amount - before.amount
        key = " + ".join(sorted((before.key, after.key)))
        wording = craft.wording(f"statistics/{before.relation.name}/change", CHANGE, before.split, key)
        if not change or wording is None:
            continue
        number = format_like(abs(change), _finer(before, after))
        text = wording.template.format(
            noun=before.relation.noun,
            a=craft.pool.in_text(before.subject),
            verb="grow" if change > 0 else "fall",
            larger="larger" if change > 0 else "smaller",
            before=before.as_of,
            after=after.as_of,
        )
        answers = tuple(dict.fromkeys((with_unit(number, before.unit), number)))
        yield craft.question("statistics", text, answers, "number", (before, after), wording.id, as_of=after.as_of, fact_key=f"{key} · change")
