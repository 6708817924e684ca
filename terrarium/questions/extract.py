"""Extraction: from the pages of a round to questions with evidence, by the rules maker."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from terrarium.corpus.page import Page, read_pages
from terrarium.job import Gate, Job, Outcome, Report, track
from terrarium.journal import Journal
from terrarium.questions.facts import Fact, facts_of
from terrarium.questions.makers import MAKERS
from terrarium.questions.makers.craft import Craft
from terrarium.questions.pool import build
from terrarium.questions.question import CAPABILITIES, Capability, Question, write_questions
from terrarium.questions.replies import UnreadableReply, parse_pairs
from terrarium.questions.splits import SPLITS, checked
from terrarium.questions.values import fold
from terrarium.tables import Drop, stable_id, write_drops

__all__ = ["ExtractJob", "ExtractSettings", "UnreadableReply", "extract", "parse_pairs"]


class ExtractSettings(BaseModel):
    """How questions are drawn. `fractions` of the splits train, validation and test; caps are a capability's."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    seed: int = 0
    fractions: dict[str, float] = Field(default={"train": 0.6, "validation": 0.1, "test": 0.3})
    capabilities: tuple[Capability, ...] = CAPABILITIES
    max_questions: int = Field(default=1000, ge=1, description="of each capability")
    test_only_wordings: float = Field(default=1 / 3, ge=0, lt=1, description="share of the wordings that only test questions use")


class ExtractJob(Job):
    """Reads `pages`/pages.parquet; writes questions.parquet and dropped.parquet."""

    pages: Path
    round: str = ""
    settings: ExtractSettings = ExtractSettings()


def extract(job: ExtractJob, report: Report) -> Outcome:
    """Draw questions from the pages of one round; the same pages and settings give the same questions.

    Raises:
        TerrariumError: the split fractions do not add up to 1, or the pages cannot be read.
    """
    settings = job.settings
    checked(settings.fractions, SPLITS)
    pages = read_pages(job.pages / "pages.parquet")
    report.say(f"Reading facts out of {len(pages)} pages.")
    journal = Journal(job.out / "facts.jsonl")
    with journal:
        pool = build(pages, settings.fractions, partial(_read, journal))
    craft = Craft(pool, settings.seed, job.round, settings.test_only_wordings)
    questions: list[Question] = []
    drops: list[Drop] = [
        Drop(stable_id(fact.subject, fact.relation, fact.value), f"{fact.subject}: {fact.relation} = {fact.shown}", "facts", reason)
        for fact, reason in pool.unusable
    ]
    seen: set[str] = set()
    for capability in track(settings.capabilities, report, "capabilities"):
        made = 0
        for question in islice(MAKERS[capability](craft), settings.max_questions):
            if fold(question.question) in seen:
                drops.append(Drop(question.question_id, question.question, "extract", "the same question was made before"))
                continue
            seen.add(fold(question.question))
            questions.append(question)
            made += 1
        report.say(f"{capability}: {made} questions.")
    write_questions(job.out / "questions.parquet", questions)
    write_drops(job.out / "dropped.parquet", drops)
    journal.forget()
    by_capability = Counter(question.capability for question in questions)
    by_split = Counter(question.split for question in questions)
    counts: dict[str, float] = {
        "pages": len(pages),
        "facts": len(pool.everything),
        "questions": len(questions),
        "distinct_facts": len({question.fact_key for question in questions}),
    }
    counts |= {f"questions_{name}": by_capability[name] for name in settings.capabilities} | {f"split_{name}": by_split[name] for name in SPLITS}
    crossing = [question for question in questions if len({_split_of_page(craft, page_id) for page_id in question.source_page_ids}) > 1]
    gate = Gate(
        name="one_split_a_question", passed=not crossing, detail="" if not crossing else crossing[0].question, figures={"crossing": len(crossing)}
    )
    return Outcome(counts=counts, drops=dict(Counter(drop.reason for drop in drops)), gates=[gate])


def _read(journal: Journal, page: Page) -> list[Fact]:
    """The facts of a page, read once however often the step is killed."""
    kept = journal.take(page.page_id)
    if kept is not None:
        return [Fact(**{**row, "items": tuple(row["items"])}) for row in kept]
    facts = facts_of(page)
    journal.add(page.page_id, [asdict(fact) for fact in facts])
    return facts


def _split_of_page(craft: Craft, page_id: str) -> str:
    from terrarium.questions.splits import split_of

    return split_of(craft.pool.entities[page_id].name, craft.pool.fractions)
