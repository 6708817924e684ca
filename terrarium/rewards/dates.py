"""Dates in text, as dates. A date whose day and month cannot be told apart ("04/07/1976") is no date."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass

from terrarium.rewards.numbers import chinese_numeral
from terrarium.rewards.text import tidy

_MONTHS = {name.casefold(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name[:3]: number for name, number in list(_MONTHS.items())} | {"sept": 9}
_MONTH = r"(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{3,4})(?:\s*(?P<era>BCE?|CE|AD)\b)?"
_CHINESE_NUMERAL = "[零〇一二三四五六七八九十]"
_FORMS = [
    rf"(?<!\d)\b(?:the\s+)?{_DAY}\s*(?:of\s+|-)?\s*{_MONTH},?[\s-]*(?:of\s+)?{_YEAR}(?!\d)",
    rf"\b{_MONTH}\s*{_DAY}(?!\d),?\s+{_YEAR}(?!\d)",
    rf"\b(?P<year>\d{{4}}),?\s+{_MONTH}\s*{_DAY}(?!\d)",
    rf"\b{_MONTH},?\s*(?:of\s+)?{_YEAR}(?!\d)",
    r"(?<![\d/.-])(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?:T[\d:.]+Z?)?(?![\d/-])",
    r"(?<![\d/.-])(?P<first>\d{1,2})(?P<sep>[-/.])(?P<second>\d{1,2})(?P=sep)(?P<year>\d{4})(?![\d/-])",
    rf"(?P<year>\d{{4}}|{_CHINESE_NUMERAL}{{4}})年(?:(?P<month>\d{{1,2}}|{_CHINESE_NUMERAL}{{1,3}})月(?:(?P<day>\d{{1,2}}|{_CHINESE_NUMERAL}{{1,3}})[日号])?)?",
    rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?!\w)",
    rf"\b{_MONTH}\s+{_DAY}(?![\w:])",
]
_PATTERNS = [re.compile(form, re.IGNORECASE) for form in _FORMS]
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b,?\s*", re.IGNORECASE)
_WHOLE_LEAD = re.compile(r"^(?:(?:on|in|at|since|from|the|year|date|around|about|circa|c)\b\.?\s*)*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Date:
    """A date as precise as it was written; parts not written are None. Years before Christ are negative.

    `ambiguous` marks numbers that could be day and month in either order; such a date matches none.
    """

    year: int | None
    month: int | None
    day: int | None
    start: int
    end: int
    ambiguous: bool = False

    def says(self, other: Date) -> bool:
        """This date is `other`, or a more precise date inside it."""
        if self.ambiguous or other.ambiguous:
            return False
        pairs = [(self.year, other.year), (self.month, other.month), (self.day, other.day)]
        return all(wanted is None or mine == wanted for mine, wanted in pairs)


def dates_in(text: str) -> list[Date]:
    """All dates of a text in order, the longest reading of each place; a bare year is a number, not a date."""
    text = tidy(text)
    found: list[Date] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(date.start < match.end() and match.start() < date.end for date in found):
                continue
            date = _read(match)
            if date is not None:
                found.append(date)
    return sorted(found, key=lambda date: date.start)


def whole_date(text: str) -> Date | None:
    """The date a text consists of, or None when it says anything else."""
    tidied = _WEEKDAY.sub("", tidy(text)).strip(" .。()")
    found = dates_in(tidied)
    if len(found) != 1 or tidied[found[0].end :].strip(" .,") or not _WHOLE_LEAD.match(tidied[: found[0].start]):
        return None
    return found[0]


def _read(match: re.Match[str]) -> Date | None:
    parts = match.groupdict()
    year = _integer(parts.get("year"))
    if year is not None and (parts.get("era") or "").upper().startswith("B"):
        year = -year
    ambiguous = False
    day: int | None
    month: int | None
    if parts.get("first"):
        first, second = int(parts["first"]), int(parts["second"])
        ambiguous = first != second and first <= 12 and second <= 12
        day, month = (second, first) if second > 12 else (first, second)
    else:
        name = parts.get("month")
        month = (_MONTHS.get(name.casefold().rstrip(".")) or _integer(name)) if name else None
        day = _integer(parts.get("day"))
    if month is not None and not 1 <= month <= 12:
        return None
    if day is not None and month is not None and not 1 <= day <= _days(year, month):
        return None
    return Date(year, month, day, match.start(), match.end(), ambiguous)


def _integer(text: str | None) -> int | None:
    if not text:
        return None
    return int(text) if text.isdecimal() else chinese_numeral(text)


def _days(year: int | None, month: int) -> int:
    if month == 2 and (year is None or year < 1):
        return 29
    return calendar.monthrange(year if year and year > 0 else 2000, month)[1]
