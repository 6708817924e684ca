"""Finding a known value in text that was seen: the scripted teacher answers with what stands there, or not at all."""

from __future__ import annotations

import re

from terrarium.rewards.dates import dates_in, whole_date
from terrarium.rewards.numbers import numbers_in, whole_number
from terrarium.rewards.text import tidy

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d])")


def find_value(value: str, text: str) -> str | None:
    """`value` as `text` spells it, or None where it does not stand there.

    Numbers are compared as values, dates as dates, everything else as whole words in any case.
    """
    for line in text.splitlines():
        found = _in_line(value, line)
        if found is not None:
            return found
    return None


def quote(value: str, text: str, most: int = 18) -> str | None:
    """The sentence of `text` in which `value` stands, at most `most` words of it around the value; None where it does not stand there."""
    for line in text.splitlines():
        for sentence in _SENTENCE_END.split(line.strip().removeprefix("- ")):
            spelled = _in_line(value, sentence)
            if spelled is None:
                continue
            words = sentence.split()
            before = len(sentence[: max(0, sentence.find(spelled))].split())
            first = max(0, min(before - most // 2, len(words) - most))
            return " ".join(words[first : first + most])
    return None


def _in_line(value: str, line: str) -> str | None:
    number, date = whole_number(value), whole_date(value)
    plain = tidy(line)
    # Tidying folds characters; where it changed none of their places, the answer is spelled as the page spells it.
    shown = line if len(line) == len(plain) else plain
    if date is not None and date.month is not None:
        return next((shown[found.start : found.end] for found in dates_in(plain) if found.says(date)), None)
    if number is not None:
        return next((shown[found.start : found.end].strip() for found in numbers_in(plain) if found.same(number)), None)
    return find_words(value, line)


def find_words(words: str, text: str) -> str | None:
    """The words as they stand in `text`, or None."""
    pattern = r"\s+".join(map(re.escape, tidy(words).split()))
    if not pattern:
        return None
    plain = tidy(text)
    match = re.search(rf"(?<!\w){pattern}(?!\w)", plain, re.IGNORECASE)
    if match is None:
        return None
    return (text if len(text) == len(plain) else plain)[match.start() : match.end()]
