"""The gates that look at one question alone: each returns why the question must not go on, or None.

They hold for questions of any maker. What a question was computed from is computed again where its wording says how.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal

from terrarium.questions.lexicon import relations
from terrarium.questions.question import CAPABILITIES, Operand, Question
from terrarium.questions.values import ValueKind, dates, fold, has_cjk, kind_of, numbers, places, plain
from terrarium.questions.words import either

Gate = Callable[[Question], str | None]

_SOURCES = re.compile(
    rf"\b(?:{either('source_phrases')})\b|{either('source_phrases_zh')}|https?://|\bwww\.|\b[\w-]+\.(?:com|org|net|example)\b", re.IGNORECASE
)
_OPEN = re.compile(rf"^(?:{either('open_questions')})\b|{either('open_questions_zh')}", re.IGNORECASE)
_CLOSED_HOW = re.compile(r"^how (?:was|were|is|are|did) .{3,120}\b(?:called|named|spelled|end)\b", re.IGNORECASE)
_YES_NO = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b|是否|吗？?$", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:A|a)\)\s|\bwhich of the (?:following|above)\b|\b(?:true or false|yes or no)\b", re.IGNORECASE)
_UNDATED = re.compile(rf"\b(?:{either('present_words')})\b|{either('present_words_zh')}", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d{2})(?!\d)")
LONGEST_QUESTION, LONGEST_ANSWER, LONGEST_LIST = 400, 60, 12


def shape(question: Question) -> str | None:
    """A question with a mark at its end, answers without blanks, evidence, and a capability that exists."""
    text = question.question.strip()
    if not text.endswith(("?", "？")) or not 12 <= len(text) <= LONGEST_QUESTION and not (has_cjk(text) and 6 <= len(text) <= 160):
        return "malformed: no question of readable length"
    if "{" in text or "}" in text or "  " in text or re.search(r"\bNone\b|\|", text):
        return "malformed: marks of a template or a table"
    if not question.answers or any(not answer.strip() for answer in question.answers):
        return "malformed: no answer"
    if question.capability not in CAPABILITIES or not question.evidence or not question.source_page_ids:
        return "malformed: no capability, evidence or source"
    return None


def names_no_source(question: Question) -> str | None:
    """The reader of the question has no page in hand."""
    found = _SOURCES.search(question.question)
    return f"names a source: {found[0].strip().casefold()}" if found else None


def closed(question: Question) -> str | None:
    """One answer, to be looked up; no reasons, no yes or no, no choice."""
    text = re.sub(r"^(?:[^?？]*[.:：，,]\s+)", "", question.question) if not question.question[:1].isdigit() else question.question
    for asked in (question.question, text):
        if (_OPEN.search(asked) and not _CLOSED_HOW.search(asked)) or _CHOICE.search(asked):
            return "open-ended or a choice"
        if _YES_NO.search(asked):
            return "answered by yes or no"
    return None


def is_dated(question: Question) -> str | None:
    """No "current" and no "latest"; what changes over time carries a date."""
    if _UNDATED.search(_without_names(question)):
        return "undated: speaks of the present"
    known = relations()
    changing = any(operand.relation in known and known[operand.relation].changes for operand in question.operands)
    if changing and not (question.as_of and _YEAR.search(question.question)):
        return "undated: the value changes over time"
    return None


def short(question: Question) -> str | None:
    """Answers are a few words, lists a few of them."""
    if question.answer_kind == "list" and len(question.answers) > LONGEST_LIST:
        return "answer too long: too many members"
    longest = max(question.answers, key=len, default="")
    if len(longest) > LONGEST_ANSWER or len(longest.split()) > 9:
        return "answer too long"
    return None


def specific(question: Question) -> str | None:
    """Every subject is named in full, the answer is not."""
    text = plain(question.question)
    answers = question.answers if question.answer_kind == "list" else question.answers[:1]
    asked_for = {fold(answer) for answer in answers}
    choice = _is_condition(question)
    for operand in question.operands:
        subject = fold(operand.subject)
        if subject not in asked_for and not places(subject, text, "name"):
            return "unspecific: the subject is not named"
    if choice:
        return None
    if question.capability in ("direct", "cross_verification", "aggregation") and any(
        places(answer, text, _kind(question, answer)) for answer in answers
    ):
        return "the question holds its answer"
    pronoun = re.match(
        r"^(?:what|who|when|where|how many|in which year) (?:is|was|did|does|are|were) (?:he|she|it|they|this|that|these|his|her|its)\b",
        text,
        re.IGNORECASE,
    )
    return "unspecific: the subject is a pronoun" if pronoun else None


def stands_in_evidence(question: Question) -> str | None:
    """The answer stands in the evidence; where it is computed, every operand does, and computing it again gives the answer."""
    texts = [span.text for span in question.evidence]
    evidence = plain("\n".join(texts).replace("\n", " ¶ "))
    for operand in question.operands:
        kind = relations()[operand.relation].kind if operand.relation in relations() else kind_of(operand.value)
        if not places(operand.value, evidence, kind):
            return "not in the evidence: an operand"
    computed = recompute(question)
    if computed is not None:
        wanted = question.answers if question.answer_kind == "list" else question.answers[:1]
        return (
            None
            if computed and all(_is_same(one, other, question) for one, other in zip(computed, wanted, strict=True))
            else "the computed answer is wrong"
        )
    if question.capability == "aggregation" and question.operands:
        return None if all(fold(operand.subject) == fold(question.answers[0]) for operand in question.operands) else "not in the evidence: the answer"
    answers = question.answers if question.answer_kind == "list" else question.answers[:1]
    if all(places(answer, evidence, _kind(question, answer)) for answer in answers):
        return None
    return "not in the evidence: the answer"


def recompute(question: Question) -> list[str] | None:
    """The answer computed from the operands, for the operations that wordings name; None where there is nothing to compute."""
    parts = question.wording.split("/")
    if parts[0] == "statistics" and len(parts) >= 3 and question.operands:
        return _statistic(parts[2], [_amount(operand) for operand in question.operands], question.answers[0])
    if question.fact_key.endswith(" · count"):
        return [str(len(question.operands))]
    if _is_condition(question):
        limit = numbers(question.fact_key.rpartition(" > ")[2])[0].value
        above = [operand.subject for operand in question.operands if _amount(operand) > limit]
        return above if question.answer_kind == "single" else [str(len(above))]
    return None


def _is_condition(question: Question) -> bool:
    return question.capability == "enumeration" and " > " in question.fact_key


def _amount(operand: Operand) -> Decimal:
    relation = relations().get(operand.relation)
    if relation and relation.kind == "date":
        return Decimal(dates(operand.value)[0].year)
    return numbers(operand.value)[0].value


def _statistic(operation: str, amounts: list[Decimal], answer: str) -> list[str]:
    high, low = max(amounts), min(amounts)
    given = numbers(answer)
    if not given:
        return []
    result = {
        "sum": sum(amounts, Decimal(0)),
        "mean": sum(amounts, Decimal(0)) / len(amounts),
        "difference": high - low,
        "change": high - low,
        "years": high - low,
        "ratio": high / low if low else Decimal(0),
    }[operation]
    # Rounded as far as the answer is: "1,251.7" of 1251.666..., "28 million" of 28,000,000.
    digits = max(0, len(re.sub(r"[^\d.]", "", answer.split()[0]).partition(".")[2]))
    scale = next((Decimal(10**power) for word, power in (("million", 6), ("billion", 9), ("thousand", 3)) if word in answer), Decimal(1))
    rounded = (result / scale).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP) * scale
    return [answer] if rounded == given[0].value else []


def _kind(question: Question, answer: str) -> ValueKind:
    if question.answer_kind in ("number", "date"):
        return question.answer_kind
    return "date" if question.answer_kind == "list" and _YEAR.fullmatch(answer.strip()) else "name"


def _is_same(one: str, other: str, question: Question) -> bool:
    if question.answer_kind == "number":
        left, right = numbers(one), numbers(other)
        return bool(left and right) and left[0].value == right[0].value
    return fold(one) == fold(other)


def _without_names(question: Question) -> str:
    text = question.question
    for operand in question.operands:
        text = text.replace(operand.subject, " ").replace(operand.value, " ")
    return text


GATES: tuple[tuple[str, Gate], ...] = (
    ("shape", shape),
    ("names_no_source", names_no_source),
    ("closed", closed),
    ("dated", is_dated),
    ("short", short),
    ("specific", specific),
    ("stands_in_evidence", stands_in_evidence),
)
"""The gates in the order they are passed; the first that refuses gives the reason."""
