"""Wordings: which phrasing a question gets, and what it is called.

Every capability and relation has several; about a third of them are dealt to the test split alone, so that an evaluation can tell
questions in wordings the policy was trained on from those it never saw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from terrarium.questions.splits import position
from terrarium.questions.words import words

_FULL_DATE, _YEAR = "d:", "y:"


@dataclass(frozen=True, slots=True)
class Wording:
    """One phrasing: its id ("direct/population/en/3"), its template, and whether only test questions use it."""

    id: str
    template: str
    only_test: bool = False


@lru_cache(maxsize=8192)
def reserved_for_test(group: str, count: int, share: float) -> frozenset[int]:
    """Which of `count` wordings of a group only test questions use: about `share` of them, never all; by hash."""
    held = min(count - 1, max(math.floor(count * share + 0.5), 1 if count > 2 and share > 0 else 0))
    order = sorted(range(count), key=lambda place: position(f"{group}/{place}", "wording"))
    return frozenset(order[: max(held, 0)])


def choose(group: str, templates: Sequence[str], split: str, key: str, test_only: float, full_date: bool | None = None) -> Wording | None:
    """A wording for the question `key`; test questions draw every second time from those that only they use.

    `full_date` tells whether the answer is a full date (True), a bare year (False) or no date (None): templates marked "d:" or "y:"
    are for one of these. None, when no template fits.
    """
    fitting = [
        place
        for place, template in enumerate(templates)
        if not (template.startswith(_FULL_DATE) and full_date is not True) and not (template.startswith(_YEAR) and full_date is not False)
    ]
    held = reserved_for_test(group, len(templates), test_only)
    only_test = [place for place in fitting if place in held]
    shared = [place for place in fitting if place not in held]
    pool = (only_test or shared) if split == "test" and (position(key, f"half/{group}") < 0.5 or not shared) else shared
    if not pool:
        return None
    place = pool[int(position(key, f"pick/{group}") * len(pool))]
    return Wording(f"{group}/{place}", templates[place].removeprefix(_FULL_DATE).removeprefix(_YEAR), place in held)


def dated(question: str, as_of: str | None, language: str, key: str, first: bool = False) -> str:
    """The question with its date: "As of 2024, who ...?" or, unless it must stand first, "Who ... as of 2024?"."""
    if not as_of:
        return question
    shown = spoken_date(as_of, language)
    if language == "zh":
        return f"截至{shown}，{question}"
    if first or position(key, "date") < 0.6:
        opener = question.split(" ", 1)[0]
        lowered = question[0].lower() + question[1:] if opener.isalpha() and opener.casefold() in _OPENERS else question
        return f"As of {shown}, {lowered}"
    return f"{question.removesuffix('?')} as of {shown}?"


_OPENERS = frozenset(words("openers"))
_MONTHS = words("months")


def spoken_date(as_of: str, language: str = "en") -> str:
    """ "2024" stays, "2024-02-14" becomes "February 2024": a page revised on a day stood so in that month."""
    parts = as_of.split("-")
    if len(parts) == 1 or not parts[1].isdigit():
        return parts[0] if language == "en" else f"{parts[0]}年"
    return f"{_MONTHS[int(parts[1]) - 1]} {parts[0]}" if language == "en" else f"{parts[0]}年{int(parts[1])}月"


def listed(names: Sequence[str], last: str = "and") -> str:
    """ "A, B and C"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def sentence_case(text: str) -> str:
    """The text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def plural(clause: str) -> str:
    """A clause about one thing as one about several: "has 3 seats" -> "have 3 seats"."""
    verb, _, rest = clause.partition(" ")
    known = {"has": "have", "is": "are", "was": "were", "carries": "carry", "goes": "go"}
    several = known.get(verb, verb.removesuffix("s") if verb.endswith("s") and not verb.endswith("ss") else verb)
    return f"{several} {rest}"
