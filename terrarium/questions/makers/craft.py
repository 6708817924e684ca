"""What all makers share: the pool, the wordings, and how statements become a question with evidence and operands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from terrarium.questions.facts import Fact
from terrarium.questions.pool import Pool, Statement
from terrarium.questions.question import AnswerKind, Capability, Operand, Question, Span
from terrarium.questions.splits import position
from terrarium.questions.wording import Wording, choose, dated, sentence_case
from terrarium.tables import stable_id


@dataclass(frozen=True, slots=True)
class Craft:
    """What a maker works with. `test_only` is the share of wordings that only test questions use."""

    pool: Pool
    seed: int
    round: str
    test_only: float

    def order(self, statements: Iterable[Statement], salt: str) -> list[Statement]:
        """Statements in the seeded order of one maker, the same in every process."""
        return sorted(statements, key=lambda statement: (self.draw(statement.key, salt), statement.key))

    def draw(self, key: str, salt: str) -> float:
        """A number in [0, 1) for a key; depends on the seed and nothing else that varies."""
        return position(key, f"{self.seed}/{salt}")

    def wording(self, group: str, templates: Sequence[str], split: str, key: str, full_date: bool | None = None) -> Wording | None:
        return choose(group, templates, split, f"{self.seed}/{key}", self.test_only, full_date)

    def date(self, question: str, statements: Sequence[Statement], key: str) -> tuple[str, str | None]:
        """The question with the date of its facts, and that date; the latest where there are several."""
        moments = sorted({statement.as_of for statement in statements if statement.as_of})
        as_of = moments[-1] if moments else None
        return dated(question, as_of, statements[0].language, f"{self.seed}/{key}"), as_of

    def question(
        self,
        capability: Capability,
        text: str,
        answers: Sequence[str],
        kind: AnswerKind,
        statements: Sequence[Statement],
        wording: str,
        *,
        as_of: str | None = None,
        fact_key: str | None = None,
        every_page: bool = False,
    ) -> Question:
        """One question. Each statement is shown by its best page; with `every_page`, by one fact of every page that states it."""
        shown: list[Fact] = []
        for statement in statements:
            shown.extend(_one_a_page(statement.facts) if every_page else statement.facts[:1])
        key = fact_key or " + ".join(sorted(statement.key for statement in statements))
        text = sentence_case(text)
        operands = [
            Operand(statement.subject, statement.relation.name, value)
            for statement in statements
            for value in (statement.items or (statement.shown if statement.relation.kind == "number" else statement.value,))
        ]
        spans = dict.fromkeys(
            Span(fact.page_id, fact.start, fact.end, self.pool.pages[fact.page_id].markdown[fact.start : fact.end]) for fact in shown
        )
        return Question(
            question_id=stable_id("question", text, key),
            question=text,
            answers=tuple(answers),
            answer_kind=kind,
            capability=capability,
            hops=len({(statement.subject, statement.relation.name) for statement in statements}),
            source_page_ids=tuple(dict.fromkeys(fact.page_id for fact in shown)),
            evidence=tuple(spans),
            operands=tuple(operands),
            language=statements[0].language,
            as_of=as_of,
            round=self.round,
            split=statements[0].split,
            wording=wording,
            fact_key=key,
        )


def _one_a_page(facts: Sequence[Fact]) -> list[Fact]:
    return list({fact.page_id: fact for fact in reversed(facts)}.values())[::-1]


def answers_of(statement: Statement) -> tuple[tuple[str, ...], AnswerKind]:
    """What counts as an answer to a question for a statement's value: with and without its unit."""
    kind = statement.relation.kind
    if kind == "number":
        return tuple(dict.fromkeys((statement.shown, statement.value))), "number"
    if kind == "date":
        return (statement.value,), "date"
    return (statement.value,), "single"


def clause_of(pool: Pool, statement: Statement) -> str:
    """A statement as a clause: "has 12,345 inhabitants", "lies on the River Vella"."""
    value = statement.shown
    if statement.relation.kind == "name":
        value = pool.in_text(statement.value)
    elif statement.relation.name == "occupation":
        value = value[:1].lower() + value[1:] if value[1:2].islower() else value
        value = f"{'an' if value[:1].lower() in 'aeiou' else 'a'} {value}"
    clause = statement.relation.clause.replace("{the v}", "{v}").replace("{a v}", "{v}").format(v=value)
    if statement.relation.kind == "date" and not statement.full_date:
        clause = clause.replace(f" on {value}", f" in {value}")
    elif statement.full_date:
        clause = clause.replace(f" in {value}", f" on {value}")
    return clause
