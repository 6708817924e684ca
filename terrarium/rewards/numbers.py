"""Numbers in text, as values: thousands separators, scales, units, percent, number words, Chinese numerals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from terrarium.rewards.text import tidy
from terrarium.rewards.units import UNITS

_SCALES = {
    "hundred": 2, "thousand": 3, "k": 3, "million": 6, "mn": 6, "mio": 6, "m": 6, "billion": 9, "bn": 9, "b": 9, "trillion": 12, "tn": 12,
    "十": 1, "百": 2, "千": 3, "万": 4, "萬": 4, "亿": 8, "億": 8, "万亿": 12,
}  # fmt: skip
_SMALL = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen").split()  # noqa: SIM905
_listed = str.split

_TENS = _listed("twenty thirty forty fifty sixty seventy eighty ninety")
_WORDS = {word: value for value, word in enumerate(_SMALL)} | {word: 10 * value for value, word in enumerate(_TENS, start=2)}
_GROUPS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_CHINESE_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_CHINESE_PLACES = {"十": 10, "百": 100, "千": 1000}
_CHINESE_GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

_MONEY = r"(?:US\$|[$€£¥])"
_UNIT_NAMES = "|".join(sorted((re.escape(name) for name in UNITS if not name.isascii() or not name.isalpha()), key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?<![\w.,:/^])(?<![A-Za-z]-)(?P<sign>-|minus\s|负)?(?P<money>{_MONEY})?\s?(?P<sign2>-)?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d{1,3}(?:[ ']\d{3})+(?![\d.,])|\d+(?:\.\d+)?|\.\d+)"
    r"(?:[eE](?P<exponent>[+-]?\d+)|\s?[x×*]\s?10\^(?P<power>-?\d+))?(?![\d:^]|[.,/:]\d)(?P<ordinal>(?:st|nd|rd|th)\b)?"
    r"(?:\s?(?P<scale>(?:hundred|thousand|million|billion|trillion)s?\b|(?:mn|bn|tn|mio|k|m|b)\b(?!/)|万亿|[十百千万萬亿億]))?"
    rf"(?:\s?-?(?P<unit>{_UNIT_NAMES}|(?:sq(?:uare)?\.?\s|cubic\s|per\s)?[A-Za-z]+[23]?(?![A-Za-z])))?",
    re.IGNORECASE,
)
_NUMBER_WORD = "|".join([*_WORDS, *_GROUPS])
_SPELLED = re.compile(rf"\b(?:{_NUMBER_WORD})\b(?:(?:\s+and\s+|[\s-]+)(?:{_NUMBER_WORD})\b)*(?:\s?(?P<unit>[A-Za-z]+|%))?", re.IGNORECASE)
_CHINESE = re.compile(
    rf"(?P<sign>负)?(?P<digits>[零〇一二两兩三四五六七八九十百千万萬亿億]+)(?:点(?P<decimals>[零〇一二三四五六七八九]+))?(?P<unit>{_UNIT_NAMES})?"
)
# One character of these is a word as often as a number ("一样", "千米" is a unit), so alone it is only read where nothing else stands.
_WHOLE_LEAD = re.compile(
    r"^\W*(?:(?:about|around|approximately|approx|roughly|some|circa|ca|c|nearly|almost|exactly|just|a|an|the|total|of|约|大约|共)\b\.?\s*)*", re.I
)


@dataclass(frozen=True, slots=True)
class Number:
    """One number as read: `value` in the base unit of `dimension`, `plain` as written, at `start` to `end` of the tidied text.

    `decimals` counts the digits after the point as written; `dimension` is None for a bare number or an unknown unit.
    """

    value: Decimal
    plain: Decimal
    dimension: str | None
    decimals: int
    start: int
    end: int
    spelled: bool = False

    def same(self, other: Number) -> bool:
        """Equal values; a missing unit agrees with any, units of different dimensions never agree."""
        if self.dimension and other.dimension:
            return self.dimension == other.dimension and _close(self.value, other.value)
        return _close(self.plain, other.plain) or ("share" in (self.dimension, other.dimension) and _close(self.value, other.value))

    def rounds_to(self, target: Number) -> bool:
        """`target` has decimals, and this value, written more exactly, rounds to it."""
        if not target.decimals or self.decimals <= target.decimals or (self.dimension and target.dimension and self.dimension != target.dimension):
            return False
        step = Decimal(1).scaleb(-target.decimals)
        return abs(self.plain - target.plain) <= step / 2 and abs(target.plain) <= Decimal("1e15")


def _close(one: Decimal, other: Decimal) -> bool:
    return one == other or abs(one - other) <= Decimal("1e-15") * max(abs(one), abs(other))


def numbers_in(text: str) -> list[Number]:
    """All numbers of a text in order. Digits inside words, times and versions ("A12", "10:30", "1.2.3") are none."""
    text = tidy(text)
    found = [_from_digits(match) for match in _AMOUNT.finditer(text)]
    taken = [(number.start, number.end) for number in found]
    for match in [*_SPELLED.finditer(text), *_CHINESE.finditer(text)]:
        if not any(start < match.end() and match.start() < end for start, end in taken):
            number = _from_words(match) if match.re is _SPELLED else _from_chinese(match)
            if number is not None:
                found.append(number)
    return sorted(found, key=lambda number: number.start)


def whole_number(text: str) -> Number | None:
    """The number a text consists of (with its unit, "about" and the like), or None when it says anything else."""
    tidied = tidy(text).strip()
    found = numbers_in(tidied)
    if len(found) != 1:
        return None
    number = found[0]
    lead = _WHOLE_LEAD.match(tidied)
    before_ok = number.start <= (lead.end() if lead else 0)
    rest = tidied[number.end :].strip(" .。!()")
    return number if before_ok and (not rest or re.fullmatch(r"[^\W\d_]+", rest) is not None and number.dimension is None) else None


def _unit(name: str | None) -> tuple[str | None, Decimal]:
    if not name:
        return None, Decimal(1)
    key = re.sub(r"\s+", "", name.casefold())
    key = re.sub(r"^(?:sq|square)\.?(.+)$", r"\1", key) if key.startswith("sq") and key not in UNITS else key
    squared = name.casefold().startswith("sq") and key not in ("sqm", "sqkm", "sqmi")
    if squared or name.casefold().startswith("cubic"):
        base = UNITS.get(key.removeprefix("cubic"))
        power = 2 if squared else 3
        return (("area" if squared else "volume"), base[1] ** power) if base and base[0] == "length" else (None, Decimal(1))
    return UNITS.get("%" if key == "percent" else key, (None, Decimal(1)))


def _number(plain: Decimal, unit: str | None, money: str | None, decimals: int, start: int, end: int, spelled: bool = False) -> Number:
    dimension, factor = _unit(money or unit)
    return Number(plain * factor, plain, dimension, decimals, start, end, spelled)


def _from_digits(match: re.Match[str]) -> Number:
    digits = re.sub(r"[,' ]", "", match["digits"])
    plain = Decimal(digits)
    exponent = match["exponent"] or match["power"]
    if exponent and len(exponent) < 5:
        plain = plain.scaleb(int(exponent))
    decimals = len(digits.partition(".")[2])
    unit, end = match["unit"], match.end()
    if match["scale"]:
        scale = match["scale"].casefold()
        scale = scale if scale in _SCALES else scale.rstrip("s")
        # "5 m" is five metres; the letter means millions only after a currency sign.
        if scale == "m" and not match["money"]:
            unit = match["scale"]
        else:
            plain = plain.scaleb(_SCALES[scale])
            decimals = max(0, decimals - _SCALES[scale])
    if unit and _unit(unit)[0] is None:
        end, unit = match.start("unit"), None
    if match["sign"] or match["sign2"]:
        plain = -plain
    return _number(plain, unit, match["money"], decimals, match.start(), end)


def _from_words(match: re.Match[str]) -> Number | None:
    total, group = 0, 0
    for word in re.findall(r"[a-z]+", match[0].casefold()):
        if word in _WORDS:
            group += _WORDS[word]
        elif word == "hundred":
            group = max(group, 1) * 100
        elif word in _GROUPS:
            total, group = total + max(group, 1) * _GROUPS[word], 0
    unit, end = match["unit"], match.end()
    if unit and _unit(unit)[0] is None:
        end, unit = match.start("unit"), None
    return _number(Decimal(total + group), unit, None, 0, match.start(), end, spelled=True)


def _from_chinese(match: re.Match[str]) -> Number | None:
    value = chinese_numeral(match["digits"])
    if value is None:
        return None
    plain = Decimal(f"{value}.{''.join(str(_CHINESE_DIGITS[char]) for char in match['decimals'] or '零')}")
    return _number(-plain if match["sign"] else plain, match["unit"], None, len(match["decimals"] or ""), match.start(), match.end(), spelled=True)


def chinese_numeral(text: str) -> int | None:
    """The value of a Chinese numeral: by places ("三百二十") or digit by digit ("一九七六"); None when it is neither."""
    if all(char in _CHINESE_DIGITS for char in text):
        return int("".join(str(_CHINESE_DIGITS[char]) for char in text)) if text else None
    total = section = 0
    digit: int | None = None
    for char in text:
        if char in _CHINESE_DIGITS:
            if digit:
                return None
            digit = _CHINESE_DIGITS[char]
        elif char in _CHINESE_PLACES:
            section += (1 if digit is None or digit == 0 else digit) * _CHINESE_PLACES[char]
            digit = None
        elif char in _CHINESE_GROUPS:
            section += digit or 0
            if _CHINESE_GROUPS[char] == 10**8:
                total = (total + section) * 10**8
            else:
                total += section * 10**4
            section, digit = 0, None
        else:
            return None
    return total + section + (digit or 0)
