"""Is an answer right? Exact rules and no language model: numbers as values, dates as dates, names as whole words.

What the rules cannot decide for sure counts as wrong. A judge may be asked afterwards (`judge.py`); these rules never ask one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from terrarium.rewards.dates import Date, dates_in, whole_date
from terrarium.rewards.numbers import Number, numbers_in, whole_number
from terrarium.rewards.phrases import gives_only
from terrarium.rewards.text import tidy, words

if TYPE_CHECKING:
    from terrarium.questions.question import Question

_HEDGE = re.compile(r"\b(?:or|not|no|nor|neither|either|maybe|perhaps|possibly|might|between|versus|vs|isn't|wasn't|never)\b|不是|或|可能|还是")
_PARENTHESIS = re.compile(r"\s*[(（][^()（）]*[)）]")
_SEPARATOR = re.compile(r"\s*(?:[;；、，|\n•]|,(?!\d{3}(?!\d))|(?<!\d),|/|\band\b|&|和|与|以及)\s*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)](?=\s))\s*")
_WRAPPING = re.compile(
    r"^\s*(?:(?:the\s+)?(?:final\s+)?answers?\s*(?:is|are)?\s*[:：]|(?:the\s+)?(?:final\s+)?answers?\s+(?:is|are)\s|答案(?:是|为)?[:：]?)\s*",
    re.IGNORECASE,
)
_LIST_LEAD = re.compile(r"^[^:：\n]{0,120}[:：]\s*")
_MAX_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class Grade:
    """`method` tells how it was decided: exact, number, date, list, contained; or why not: empty, too_long, no_answer_known, different."""

    correct: bool
    method: str


def grade(prediction: Any, answers: Any, question: Question | str | None = None) -> Grade:
    """Decide whether a prediction is right, without a language model.

    Args:
        prediction: what was answered; text, or a JSON number or list.
        answers: the alternatives (a list of texts or numbers, or one of them). For a question whose `answer_kind` is
            "list", each entry is one item: all are needed, in any order, and no other.
        question: the record, whose `answer_kind` and words are used, or the wording alone.

    Numbers agree as values ("1,234" and "1234", "5 million" and "5,000,000", "12 km" and "12,000 m"; a unit may be missing);
    dates as dates, where one that could be read in two ways ("04/07/1976") matches nothing. A prediction that gives several
    candidates, or none, earns nothing.
    """
    kind = getattr(question, "answer_kind", "single")
    wording = question if isinstance(question, str) else str(getattr(question, "question", "") or "")
    golds = [text for text in _texts(answers) if text]
    if not golds:
        return Grade(False, "no_answer_known")
    items = _json_items(prediction)
    text = _unwrap(_text(prediction)) if items is None else ", ".join(items)
    if not text or not any(char.isalnum() for char in text) and text not in golds:
        return Grade(False, "empty")
    if len(text) > _MAX_CHARACTERS:
        return Grade(False, "too_long")
    if kind == "list":
        return _grade_list(items if items is not None else text, golds, wording)
    if items is not None and len(items) != 1:
        return Grade(False, "empty" if not items else "different")
    for gold in golds:
        method = _match(text, gold, wording, kind)
        if method:
            return Grade(True, method)
    return Grade(False, "different")


def _match(prediction: str, gold: str, question: str, kind: str) -> str | None:
    """How a prediction gives one alternative, or None."""
    if tidy(prediction).strip() == tidy(gold).strip():
        return "exact"
    date = whole_date(gold)
    if date is not None and date.month is None:
        return "date" if _gives_number(prediction, Number(Decimal(date.year or 0), Decimal(date.year or 0), None, 0, 0, 0), question) else None
    if date is not None:
        return "date" if _gives_date(prediction, date, question) else None
    number = whole_number(gold)
    if number is not None:
        return "number" if _gives_number(prediction, number, question) else None
    for variant in _variants(gold):
        if any(words(variant) == words(given) for given in _variants(prediction)):
            return "exact"
    if kind == "number":
        return None
    return "contained" if any(gives_only(prediction, variant, question) for variant in _variants(gold)) else None


def _gives_number(prediction: str, gold: Number, question: str) -> bool:
    """One value is stated, once or several times, and it is the wanted one. Numbers that the question holds may be repeated."""
    text = tidy(_PARENTHESIS.sub(" ", prediction)) if whole_number(prediction) is None else tidy(prediction)
    dates = dates_in(text)
    if _HEDGE.search(text.casefold()):
        return False
    found = numbers_in(_blank(text, dates))
    asked = numbers_in(question)
    others = [number for number in found if not _agrees(number, gold)]
    same = len(found) - len(others)
    is_year = gold.dimension is None and gold.decimals == 0 and 1000 <= gold.plain <= 2200
    if is_year:
        years = [date.year for date in dates if date.year is not None]
        same += sum(year == gold.plain for year in years)
        if any(year != gold.plain for year in years):
            return False
    digits_stand = any(not number.spelled for number in found)
    for number in others:
        repeated = any(number.same(known) for known in asked)
        aside = digits_stand and number.spelled and number.plain <= 1
        as_of = not is_year and _is_year_aside(text, number)
        if not (repeated or aside or as_of):
            return False
    return same > 0


def _agrees(number: Number, gold: Number) -> bool:
    return number.same(gold) or number.rounds_to(gold)


def _is_year_aside(text: str, number: Number) -> bool:
    """A year that only dates the statement ("5,430 in 2011")."""
    before = text[: number.start].rstrip().casefold()
    return (
        number.dimension is None
        and number.decimals == 0
        and 1000 <= number.plain <= 2200
        and before.endswith(("in", "as of", "since", "census of", "by"))
    )


def _gives_date(prediction: str, gold: Date, question: str) -> bool:
    text = tidy(_PARENTHESIS.sub(" ", prediction)) if whole_date(prediction) is None else tidy(prediction)
    if _HEDGE.search(text.casefold()):
        return False
    known = dates_in(question)
    found = [date for date in dates_in(text) if not any(date.says(other) and other.says(date) for other in known) or date.says(gold)]
    rest = numbers_in(_blank(text, found))
    stray = [number for number in rest if not number.spelled and 1000 <= number.plain <= 2200 and number.plain != gold.year]
    return bool(found) and not stray and all(date.says(gold) for date in found)


def _blank(text: str, spans: Sequence[Date]) -> str:
    for span in spans:
        text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    return text


def _grade_list(prediction: str | list[str], golds: list[str], question: str) -> Grade:
    """Every item once or more, no other item. Items that hold a separator themselves ("Salt and Pepper") are found first."""
    wanted: list[str] = []
    for gold in golds:
        if not any(_match(gold, other, "", "list") == "exact" for other in wanted):
            wanted.append(gold)
    pieces = prediction if isinstance(prediction, list) else _pieces(prediction, wanted)
    if _pairs_up(pieces, wanted, question):
        return Grade(True, "list")
    if isinstance(prediction, str) and _LIST_LEAD.match(prediction) and _pairs_up(_pieces(_LIST_LEAD.sub("", prediction), wanted), wanted, question):
        return Grade(True, "list")
    return Grade(False, "different")


def _pairs_up(pieces: Iterable[str], wanted: list[str], question: str) -> bool:
    found: set[int] = set()
    for piece in pieces:
        hits = [index for index, gold in enumerate(wanted) if _match(piece, gold, question, "list")]
        if len(hits) != 1:
            exact = [index for index in hits if _match(piece, wanted[index], "", "list") == "exact"]
            if len(exact) != 1:
                return False
            hits = exact
        found.add(hits[0])
    return len(found) == len(wanted)


def _pieces(text: str, wanted: list[str]) -> list[str]:
    """The items of a written list."""
    text = "\n".join(_BULLET.sub("", line) for line in tidy(text).splitlines())
    kept: list[str] = []
    for gold in sorted((tidy(item) for item in wanted if _SEPARATOR.search(tidy(item))), key=len, reverse=True):
        match = re.search(rf"(?<!\w){re.escape(gold)}(?!\w)", text, re.IGNORECASE)
        if match:
            kept.append(gold)
            text = text[: match.start()] + ";" + text[match.end() :]
    pieces = [piece.strip(" .。:") for piece in _SEPARATOR.split(text)]
    return kept + [piece for piece in pieces if any(char.isalnum() for char in piece)]


def _variants(text: str) -> list[str]:
    """A text, and the same without what stands in parentheses: "Paris (France)" is also "Paris"."""
    bare = _PARENTHESIS.sub("", text).strip()
    return [text] if bare == text.strip() or not bare else [text, bare]


def _unwrap(text: str) -> str:
    text = _WRAPPING.sub("", text.strip()).strip()
    text = re.sub(r"\\boxed\{([^{}]*)\}", r"\1", text)
    return text.strip(" \t\r\n\"'“”‘’*_`$" if not re.match(r"^\s*\$\s*\d", text) else " \t\r\n\"'“”‘’*_`").strip()


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _texts(values: Any) -> list[str]:
    if values is None:
        return []
    if isinstance(values, (str, int, float)):
        return [_text(values).strip()]
    return [_text(value).strip() for value in values]


def _json_items(prediction: Any) -> list[str] | None:
    """The items of a prediction that is a list, or a JSON list in text."""
    if isinstance(prediction, (list, tuple, set, frozenset)):
        return [item for item in _texts(sorted(prediction, key=str) if isinstance(prediction, (set, frozenset)) else prediction) if item]
    if isinstance(prediction, str) and prediction.strip().startswith("[") and prediction.strip().endswith("]"):
        try:
            value = json.loads(prediction)
        except (ValueError, RecursionError):
            return None
        if isinstance(value, list) and all(isinstance(item, (str, int, float)) for item in value):
            return [item for item in _texts(value) if item]
    return None
