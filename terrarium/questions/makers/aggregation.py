"""Aggregation: several attributes that meet in one entity of the whole corpus, whatever split the others belong to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from terrarium.questions.makers.craft import Craft, clause_of
from terrarium.questions.pool import Statement
from terrarium.questions.question import Question
from terrarium.questions.values import fold, numbers
from terrarium.questions.wording import dated

FRAMES = (
    "Which {noun} {first} and {second}?",
    "What is the name of the {noun} that {first} and {second}?",
    "There is a {noun} that {first} and {second}. What is it called?",
    "Two things are known of a {noun}: it {first}, and it {second}. Which one is it?",
    "Which is the {noun} that {first} and also {second}?",
    "Find the {noun} that {first} and {second}; what is its name?",
)
PERSON_FRAMES = (
    "Who {first} and {second}?",
    "Which person {first} and {second}?",
    "What is the name of the person who {first} and {second}?",
    "Which is the person who {first} and also {second}?",
    "Two things are known of a person, who {first} and {second}. Who is it?",
)
A_SUBJECT = 3


def make_aggregation(craft: Craft) -> Iterator[Question]:
    """Up to `A_SUBJECT` questions an entity, each from two attributes of different relations.

    Pairs in which neither attribute names the entity alone come first; pairs shared by two entities are no questions.
    """
    pool = craft.pool
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for fact in pool.everything:
        holders[fact.relation, _value_key(fact.shown, fact.kind)].add(fold(fact.subject))
    by_subject: dict[str, list[Statement]] = defaultdict(list)
    for statement in pool.statements:
        if statement.relation.clause and not statement.items and statement.language != "zh" and not _gives_away(statement):
            by_subject[fold(statement.subject)].append(statement)
    for subject in sorted(by_subject, key=lambda name: (craft.draw(name, "aggregation"), name)):
        attributes = _latest(by_subject[subject])
        noun = pool.noun(attributes[0].subject, attributes)
        if not noun:
            continue
        pairs = []
        for one, two in combinations(sorted(attributes, key=lambda statement: statement.key), 2):
            first, second = (holders[item.relation.name, _value_key(item.shown, item.relation.kind)] for item in (one, two))
            moments = {item.as_of for item in (one, two) if item.as_of}
            if first & second == {subject} and len(moments) <= 1 and one.relation.name != two.relation.name:
                pairs.append(((len(first) == 1) + (len(second) == 1), craft.draw(one.key + two.key, "pair"), one, two))
        for _, _, one, two in sorted(pairs, key=lambda pair: pair[:2])[:A_SUBJECT]:
            question = _ask(craft, noun, one, two)
            if question:
                yield question


def _value_key(value: str, kind: str) -> str:
    figures = numbers(value) if kind == "number" else ()
    return str(figures[0].base.normalize()) if figures else fold(value)


def _latest(statements: list[Statement]) -> list[Statement]:
    newest: dict[str, Statement] = {}
    for statement in statements:
        held = newest.get(statement.relation.name)
        if held is None or (statement.as_of or "") > (held.as_of or ""):
            newest[statement.relation.name] = statement
    return list(newest.values())


def _gives_away(statement: Statement) -> bool:
    """Whether the value holds the subject's name, or the subject the value's: "Karnby Museum" is in Karnby."""
    value, subject = fold(statement.value), fold(statement.subject)
    return (
        value in subject
        or subject in value
        or any(word in subject.split() for word in value.split() if len(word) > 3 and word.isalpha() and statement.relation.kind == "name")
    )


def _ask(craft: Craft, noun: str, one: Statement, two: Statement) -> Question | None:
    person = noun == "person"
    frames = PERSON_FRAMES if person else FRAMES
    key = f"{one.key} + {two.key}"
    group = f"aggregation/{'person' if person else 'thing'}/en"
    wording = craft.wording(group, frames, one.split, key)
    if wording is None:
        return None
    clauses = [clause_of(craft.pool, statement) for statement in (one, two)]
    asked = wording.template.format(noun=noun, first=clauses[0], second=clauses[1])
    moments = [statement.as_of for statement in (one, two) if statement.as_of]
    if moments:
        asked = dated(asked, moments[0], "en", key, first=True)
    return craft.question(
        "aggregation",
        asked,
        [one.subject],
        "single",
        [one, two],
        wording.id,
        as_of=moments[0] if moments else None,
    )
