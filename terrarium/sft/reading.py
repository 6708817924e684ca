"""Finding a known value in text that was seen: the scripted teacher answers with what stands there, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterable

from terrarium.rewards.dates import dates_in, whole_date
from terrarium.rewards.numbers import numbers_in, whole_number
from terrarium.rewards.text import tidy


def find_value(value: str, text: str) -> str | None:
    """`value` as `text` spells it, or None where it does not stand there.

    Numbers are compared as values, dates as dates, everything else as whole words in any case.
    """
    text = tidy(text)
    number, date = whole_number(value), whole_date(value)
    if date is not None and date.month is not None:
        return next((text[found.start : found.end] for found in dates_in(text) if found.says(date)), None)
    if number is not None:
        return next((text[found.start : found.end].strip() for found in numbers_in(text) if found.same(number)), None)
    return find_words(value, text)


def find_words(words: str, text: str) -> str | None:
    """The words as they stand in `text`, or None."""
    pattern = r"\s+".join(map(re.escape, tidy(words).split()))
    if not pattern:
        return None
    match = re.search(rf"(?<!\w){pattern}(?!\w)", tidy(text), re.IGNORECASE)
    return match.group() if match else None


def mentions(text: str, names: Iterable[str]) -> bool:
    """Whether any of the names stands in `text`."""
    return any(find_words(name, text) is not None for name in names)
