"""Enumeration: the members of a list, how many they are, and which of several named entities meet a condition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal

from terrarium.questions.makers.craft import Craft
from terrarium.questions.makers.quantities import comparable_groups, format_like
from terrarium.questions.pool import Statement
from terrarium.questions.question import Question
from terrarium.questions.wording import listed, plural

LONGEST_LIST = 8
A_SUBJECT = 2

WHICH_NUMBER = (
    "Of {names}, which one {clause}?",
    "Only one of {names} {clause}; which is it?",
    "Which one of {names} {clause}?",
)
COUNT_NUMBER = (
    "How many of {names} {clauses}?",
    "Of {names}, how many {clauses}?",
    "Taking {names}, how many of them {clauses}?",
)


def make_enumeration(craft: Craft) -> Iterator[Question]:
    """Counts and lists of one entity's members, then counts over several entities; interleaved, so that a cap keeps both."""
    kinds = [list(_lists(craft)), list(_conditions(craft))]
    for place in range(max(map(len, kinds), default=0)):
        for questions in kinds:
            if place < len(questions):
                yield questions[place]


def _lists(craft: Craft) -> Iterator[Question]:
    for statement in craft.order(craft.pool.statements, "enumeration"):
        if not statement.items or len(statement.items) > 40:
            continue
        language = "zh" if statement.language == "zh" else "en"
        wordings = statement.relation.wordings[language]
        subject = craft.pool.in_text(statement.subject)
        short = len(statement.items) <= LONGEST_LIST and craft.pool.may_answer(statement)
        if wordings.count and not (short and craft.draw(statement.key, "list or count") < 0.35):
            wording = craft.wording(f"enumeration/count/{statement.relation.name}/{language}", wordings.count, statement.split, statement.key)
            if wording:
                text, as_of = craft.date(wording.template.format(s=subject), [statement], statement.key)
                yield craft.question(
                    "enumeration",
                    text,
                    [str(len(statement.items))],
                    "number",
                    [statement],
                    wording.id,
                    as_of=as_of,
                    fact_key=f"{statement.key} · count",
                )
                continue
        if short and wordings.ask:
            wording = craft.wording(f"enumeration/list/{statement.relation.name}/{language}", wordings.ask, statement.split, statement.key)
            if wording:
                text, as_of = craft.date(wording.template.format(s=subject), [statement], statement.key)
                yield craft.question("enumeration", text, statement.items, "list", [statement], wording.id, as_of=as_of)


def _conditions(craft: Craft) -> Iterator[Question]:
    """Four entities of one kind and split, and a bound that some of them pass."""
    used: dict[str, int] = defaultdict(int)
    for group in comparable_groups(craft, "conditions"):
        ordered = sorted(group, key=lambda statement: (craft.draw(statement.key, "condition"), statement.key))
        for start in range(0, len(ordered) - 3, 2):
            four = ordered[start : start + 4]
            if len(four) < 4 or any(used[statement.key] >= A_SUBJECT for statement in four):
                continue
            question = _condition(craft, four)
            if question:
                for statement in four:
                    used[statement.key] += 1
                yield question


def _condition(craft: Craft, four: Sequence[Statement]) -> Question | None:
    relation = four[0].relation
    amounts = sorted(statement.amount for statement in four)
    key = " + ".join(sorted(statement.key for statement in four))
    # A bound in the middle between two of the four; rounded so that it reads like one that a person would choose.
    place = 1 + int(craft.draw(key, "bound") * 3)
    bound = _round_between(amounts[place - 1], amounts[place])
    if bound is None or not relation.clause:
        return None
    above = [statement for statement in four if statement.amount > bound]
    limit = format_like(bound, four[0].value)
    unit = four[0].unit
    if relation.kind == "date":
        clause = relation.clause.format(v=limit).replace(f" in {limit}", f" after {limit}").replace(f" on {limit}", f" after {limit}")
    else:
        clause = relation.clause.format(v=f"more than {limit} {unit}".strip())
    names = listed([craft.pool.in_text(statement.subject) for statement in four], "and")
    one = len(above) == 1
    wording = craft.wording(f"enumeration/{'which' if one else 'how many'}/en", WHICH_NUMBER if one else COUNT_NUMBER, four[0].split, key)
    if wording is None:
        return None
    text, as_of = craft.date(wording.template.format(names=names, clause=clause, clauses=plural(clause)), four, key)
    answers = [above[0].subject] if one else [str(len(above))]
    return craft.question("enumeration", text, answers, "single" if one else "number", four, wording.id, as_of=as_of, fact_key=f"{key} > {limit}")


def _round_between(low: Decimal, high: Decimal) -> Decimal | None:
    """A round number strictly between two numbers, or None where they lie too close."""
    for power in range(9, -2, -1):
        step = Decimal(10) ** power
        for part in (step * 5, step):
            bound = (high / part).to_integral_value(rounding="ROUND_FLOOR") * part
            if low < bound < high:
                return bound
    return None
