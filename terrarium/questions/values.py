"""Values in text: numbers with units, dates and words, compared by what they mean and never by how they are spelled.

"3.4 million" is 3,400,000, "十二" is 12 and "12 March 1923" is "1923-03-12"; but "one" is not in "phone", and "2024 100" are two numbers.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Literal

from terrarium.questions.numerals import HAN, ONES, SCALES, TENS, UNITS, from_han, from_words

ValueKind = Literal["number", "date", "name", "text"]

_MONTHS = {
    name: n
    for n, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ],
        start=1,
    )
    for name in names.split()
}
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_ORDINAL = r"(?:st|nd|rd|th)?"

_DATE = re.compile(
    rf"(?<![\w.,])(?:(?P<d1>\d{{1,2}}){_ORDINAL}\s+(?:of\s+|day\s+of\s+)?(?P<m1>{_MONTH}),?\s+(?P<y1>\d{{4}})"
    rf"|(?P<m2>{_MONTH})\s+(?:the\s+)?(?P<d2>\d{{1,2}}){_ORDINAL},?\s+(?:of\s+)?(?P<y2>\d{{4}})"
    rf"|(?P<y3>\d{{4}})[-/.](?P<n3>\d{{1,2}})[-/.](?P<d3>\d{{1,2}})"
    rf"|(?P<d6>\d{{1,2}})\.\s?(?P<n6>\d{{1,2}})\.\s?(?P<y6>\d{{4}})"
    rf"|(?P<m4>{_MONTH}),?\s+(?:of\s+)?(?P<y4>\d{{4}})"
    r")(?![\w])"
    r"|(?P<y5>\d{4})\s*年(?:\s*(?P<n5>\d{1,2})\s*月(?:\s*(?P<d5>\d{1,2})\s*日)?)?",
    re.IGNORECASE,
)
_YEAR = re.compile(
    r"(?<![A-Za-z0-9_.,/€$£¥])(?:AD\s)?(?P<year>1\d{3}|20\d{2}|21\d{2})(?:\s(?:AD|CE))?(?![A-Za-z0-9_]|[,.]\d|\s?(?:%|million\b|billion\b|thousand\b))"
)
_UNIT = "|".join(re.escape(unit).replace(r"\ ", r"\s") for unit in sorted(UNITS, key=len, reverse=True))
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_])(?<![\d][.,])(?P<sign>[-−](?=\d))?(?P<digits>\d{1,3}(?:[,\u00a0\u202f\u2009’']\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:[\s\u00a0-]?(?P<scale>hundred|thousand|million|mn|billion|bn|trillion|百万|千|万|萬|亿|億)(?![a-z]))?"
    rf"(?:[\s\u00a0-]?(?P<unit>{_UNIT})(?![A-Za-z0-9²³]))?(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_HAN_NUMBER = re.compile(rf"(?<![第{HAN}])(?:[{HAN}]{{2,}}|[{HAN}](?=[个個座条條家人名站所位支次层棵年月日]|{_UNIT}))(?P<unit>{_UNIT})?")
_WORD_NUMBER = re.compile(
    r"\b(?:(?:a|one)(?=\s(?:hundred|thousand|million)))?(?:[\s-]?(?:and\s)?\b(?:"
    + "|".join([*ONES, *TENS, "hundred", "thousand", "million"])
    + r")\b)+"
    rf"(?:[\s-](?P<unit>{_UNIT})(?![\w²³]))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number read at characters `start` to `end`. `dimension` is the kind of its unit ("" if none), `base` its value in base units."""

    value: Decimal
    unit: str
    dimension: str
    base: Decimal
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class When:
    """A date read at characters `start` to `end`; month and day are None where the text does not say."""

    year: int
    month: int | None
    day: int | None
    start: int
    end: int

    def key(self) -> tuple[int, int, int]:
        """For sorting; what is unknown counts as the earliest."""
        return self.year, self.month or 0, self.day or 0


def plain(text: str) -> str:
    """Text as it is compared: NFKC without zero-width marks, straight quotes, single spaces, no Markdown emphasis, links or escapes."""
    raised = text.translate(_KEPT) if "²" in text or "³" in text else text
    return " ".join(unmarked(unicodedata.normalize("NFKC", raised)).translate(_QUOTES).split())


# Raised digits stay raised: NFKC would make "m²" into "m2".
_KEPT = str.maketrans({"²": "\ue002", "³": "\ue003"})
_QUOTES = str.maketrans(
    {
        "\ue002": "²",
        "\ue003": "³",
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "\u200b": None,
        "\u200e": None,
        "\ufeff": None,
        "–": "-",
        "—": "-",
        "−": "-",
    }
)
_LINK = re.compile(r"!?\[(?P<text>[^\]\[]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s\"[^\"]*\")?\)")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w))")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")


def unmarked(text: str) -> str:
    """Markdown inline text without its marks: links become their words, emphasis goes, escaped characters become themselves."""
    if "](" in text:
        text = _LINK.sub(lambda match: match["text"], text)
    if "*" in text or "_" in text or "`" in text:
        text = _EMPHASIS.sub("", text)
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def dates(text: str) -> list[When]:
    """All dates in reading order, full ones and bare years. What is no calendar date is left out."""
    found: list[When] = []
    taken: list[tuple[int, int]] = []
    for match in _DATE.finditer(text):
        parts = {name: value for name, value in match.groupdict().items() if value is not None}
        year = int(next(value for name, value in parts.items() if name[0] == "y"))
        month_name = next((value for name, value in parts.items() if name[0] == "m"), None)
        month = (
            _MONTHS[month_name.casefold().rstrip(".")] if month_name else next((int(value) for name, value in parts.items() if name[0] == "n"), None)
        )
        day = next((int(value) for name, value in parts.items() if name[0] == "d"), None)
        if _real(year, month, day):
            found.append(When(year, month, day, *match.span()))
            taken.append(match.span())
    for match in _YEAR.finditer(text):
        if not any(start <= match.start() < end for start, end in taken):
            found.append(When(int(match["year"]), None, None, *match.span("year")))
    return sorted(found, key=lambda when: when.start)


def _real(year: int, month: int | None, day: int | None) -> bool:
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=65536)
def numbers(text: str) -> tuple[Number, ...]:
    """All numbers in reading order: digits, number words, Chinese numerals; with scale words applied and units read."""
    found: list[Number] = []
    for match in _NUMBER.finditer(text):
        try:
            value = Decimal(re.sub(r"[,\u00a0\u202f\u2009’']", "", match["digits"]))
        except InvalidOperation:
            continue
        if match["scale"]:
            value *= SCALES[match["scale"].casefold()]
        if match["unit"] == "m" and text[: match.start()].rstrip()[-1:] in {"$", "€", "£", "¥"} and match.start():
            value *= 10**6
        if match["sign"] and match.start() == 0:
            value = -value
        found.append(_number(value, match["unit"], *match.span()))
    for pattern, read in ((_WORD_NUMBER, from_words), (_HAN_NUMBER, from_han)):
        for match in pattern.finditer(text):
            unit = match["unit"]
            spelled = match[0][: len(match[0]) - len(unit)] if unit else match[0]
            spoken = read(spelled.strip())
            if spoken is not None and not any(
                number.start <= match.start() < number.end or match.start() <= number.start < match.end() for number in found
            ):
                found.append(_number(Decimal(spoken), unit, match.start() + len(match[0]) - len(match[0].lstrip(" -")), match.end()))
    return tuple(sorted(found, key=lambda number: number.start))


def _number(value: Decimal, unit: str | None, start: int, end: int) -> Number:
    name = re.sub(r"\s+", " ", (unit or "").casefold())
    dimension, factor = UNITS.get(name, ("", "1"))
    return Number(value, name, dimension, value * Decimal(factor), start, end)


def same(one: str, other: str, kind: ValueKind) -> bool:
    """Whether two values mean the same. A year equals a full date of that year only if both are bare years."""
    if kind == "number":
        left, right = numbers(one), numbers(other)
        return bool(left and right) and _equal(left[0], right[0])
    if kind == "date":
        first, second = dates(one), dates(other)
        return bool(first and second) and first[0].key() == second[0].key()
    return fold(one) == fold(other)


def _equal(one: Number, other: Number) -> bool:
    if one.dimension and other.dimension:
        return one.dimension == other.dimension and one.base == other.base
    return one.value == other.value


def covers(wanted: When, seen: When) -> bool:
    """Whether the date seen says at least what is wanted: "3 May 1823" covers 1823, and 1823 does not cover "3 May 1823"."""
    return wanted.year == seen.year and (wanted.month is None or wanted.month == seen.month) and (wanted.day is None or wanted.day == seen.day)


def places(value: str, text: str, kind: ValueKind) -> list[tuple[int, int]]:
    """Where a value stands in a text (character ranges): numbers and dates as values, words at word boundaries whatever their case."""
    if kind == "number":
        wanted = numbers(value)
        return [(seen.start, seen.end) for seen in numbers(text) if _equal(wanted[0], seen)] if wanted else []
    if kind == "date":
        moments = dates(value)
        return [(seen.start, seen.end) for seen in dates(text) if covers(moments[0], seen)] if moments else []
    folded = fold(value)
    if not folded:
        return []
    return [match.span() for match in _phrase(folded).finditer(text)]


@lru_cache(maxsize=16384)
def _phrase(folded: str) -> re.Pattern[str]:
    words = r"[\s\u00a0*_\[\]]+".join(re.escape(word).replace("'", "['’]").replace(r"\-", "[-–—]") for word in folded.split())
    before = "" if _cjk(folded[0]) else r"(?<!\w)"
    after = "" if _cjk(folded[-1]) else r"(?!\w)"
    return re.compile(before + words + after, re.IGNORECASE)


def _cjk(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff"


def has_cjk(text: str) -> bool:
    """Whether any Chinese character stands in a text."""
    return any(map(_cjk, text))


def stands_in(value: str, text: str, kind: ValueKind) -> bool:
    """Whether a value stands in a text; see `places`. Markdown marks are looked through."""
    return bool(places(value, plain(text), kind))


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Words as they are compared: plain, without case, without a leading article and without trailing punctuation."""
    folded = plain(text).casefold().strip(" .,;:!?\"'。，；：！？")
    return re.sub(r"^(?:the|a|an)\s+(?=\S)", "", folded)


def kind_of(value: str) -> ValueKind:
    """What a free value looks like: date, number, name (capitalised words) or text."""
    bare = plain(value).strip()
    moments = dates(bare)
    if moments and moments[0].end - moments[0].start >= len(bare) - 2:
        return "date"
    figures = numbers(bare)
    if figures and figures[0].start <= 2 and (figures[0].end - figures[0].start >= len(bare) * 0.6):
        return "number"
    words = [word for word in bare.split() if word.casefold() not in {"of", "the", "and", "de", "la", "von", "van"}]
    return "name" if words and all(word[:1].isupper() or _cjk(word[0]) for word in words) else "text"
