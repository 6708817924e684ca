"""Cross-verification: a fact that independent pages state, or on which they differ because one of them is newer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from terrarium.questions.facts import Fact
from terrarium.questions.makers.craft import Craft, answers_of
from terrarium.questions.pool import Statement, agree
from terrarium.questions.question import Question, Span
from terrarium.questions.values import fold
from terrarium.questions.wording import dated, spoken_date

AGREE = (
    "Going by independent accounts that agree, {asked}",
    "After comparing at least two independent accounts, {asked}",
    "On what do independent accounts agree: {asked}",
    "Checked against more than one account, {asked}",
    "With two independent accounts in agreement, {asked}",
)
NEWER = (
    "Accounts of different years differ here. {dated}",
    "Older accounts say otherwise: {dated}",
    "Where accounts differ, go by the newest. {dated}",
    "Mind that some accounts are out of date: {dated}",
)


def make_cross_verification(craft: Craft) -> Iterator[Question]:
    """Facts that pages of two sites state, or that two different pages state; and values that a newer page has overtaken."""
    overtaken = _overtaken(craft)
    for statement in craft.order(craft.pool.statements, "cross_verification"):
        if statement.items or statement.language == "zh" or not craft.pool.may_answer(statement):
            continue
        if statement.key in overtaken:
            older = overtaken[statement.key]
            question = _ask(craft, statement, older)
        elif _independent(craft, statement.facts):
            question = _ask(craft, statement, None)
        else:
            continue
        if question:
            yield question


def _independent(craft: Craft, facts: tuple[Fact, ...]) -> bool:
    """Pages of two sites; where the whole corpus is one site, two pages."""
    pages = {fact.page_id: craft.pool.pages[fact.page_id] for fact in facts}
    sites = {urlsplit(page.url).netloc for page in pages.values()}
    return len(sites) > 1 or (len(pages) > 1 and craft.pool.one_site)


def _overtaken(craft: Craft) -> dict[str, Statement]:
    """For the newest statement of a changing value: an older, different one that stands on another page."""
    found: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for statement in craft.pool.statements:
        if statement.relation.changes and statement.as_of and not statement.items:
            found[fold(statement.subject), statement.relation.name].append(statement)
    overtaken = {}
    for statements in found.values():
        newest = max(statements, key=lambda statement: statement.as_of or "")
        newest_pages = {fact.page_id for fact in newest.facts}
        for older in sorted(statements, key=lambda statement: statement.as_of or "", reverse=True):
            elsewhere = {fact.page_id for fact in older.facts} - newest_pages
            # A page that has both knows its own series; it is not out of date.
            if (older.as_of or "")[:4] < (newest.as_of or "")[:4] and elsewhere and not agree(older.facts[0], newest.facts[0]):
                outdated = tuple(fact for fact in older.facts if fact.page_id in elsewhere)
                overtaken[newest.key] = replace(older, facts=outdated)
                break
    return overtaken


def _ask(craft: Craft, statement: Statement, older: Statement | None) -> Question | None:
    relation = statement.relation
    sort = "newer" if older else "agree"
    frame = craft.wording(f"cross_verification/{sort}/en", NEWER if older else AGREE, statement.split, statement.key)
    # The frame names the wording, so a frame that training knows must not hold a phrase that only test uses.
    base_split = statement.split if frame and frame.only_test else "train"
    base = craft.wording(f"direct/{relation.name}/en", relation.wordings["en"].ask, base_split, f"{statement.key}/x", statement.full_date)
    if base is None or frame is None:
        return None
    asked = base.template.format(s=craft.pool.in_text(statement.subject))
    if older:
        with_date = dated(asked, statement.as_of, statement.language, "cross")
        start = with_date if not frame.template.split("{dated}")[0].rstrip().endswith(":") else with_date[0].lower() + with_date[1:]
        text = frame.template.format(dated=start)
    else:
        text = frame.template.format(asked=asked[0].lower() + asked[1:])
        if statement.as_of:
            text = f"{text.removesuffix('?')} as of {spoken_date(statement.as_of)}?"
    answers, kind = answers_of(statement)
    shown = [statement]
    question = craft.question(
        "cross_verification",
        text,
        answers,
        kind,
        shown,
        frame.id,
        as_of=statement.as_of,
        fact_key=statement.key,
        every_page=True,
    )
    if older:
        fact = older.facts[0]
        markdown = craft.pool.pages[fact.page_id].markdown
        span = Span(fact.page_id, fact.start, fact.end, markdown[fact.start : fact.end])
        question = replace(
            question, evidence=(*question.evidence, span), source_page_ids=tuple(dict.fromkeys((*question.source_page_ids, fact.page_id)))
        )
    return replace(question, hops=max(2, question.hops))
