"""Direct lookup: the value of one relation of one entity."""

from __future__ import annotations

from collections.abc import Iterator

from terrarium.questions.makers.craft import Craft, answers_of
from terrarium.questions.question import Question


def make_direct(craft: Craft) -> Iterator[Question]:
    """One question a fact. Lists are left to enumeration."""
    for statement in craft.order(craft.pool.statements, "direct"):
        if statement.items or not craft.pool.may_answer(statement):
            continue
        templates = statement.relation.wordings[statement.language if statement.language == "zh" else "en"].ask
        wording = craft.wording(
            f"direct/{statement.relation.name}/{statement.language}", templates, statement.split, statement.key, statement.full_date
        )
        if wording is None:
            continue
        asked = wording.template.format(s=craft.pool.in_text(statement.subject))
        text, as_of = craft.date(asked, [statement], statement.key)
        answers, kind = answers_of(statement)
        yield craft.question("direct", text, answers, kind, [statement], wording.id, as_of=as_of)
