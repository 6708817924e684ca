"""Units of measure and their factors, and numbers spelled in English words or Chinese numerals."""

from __future__ import annotations

import re

from terrarium.questions.words import words

UNITS: dict[str, tuple[str, str]] = {}


def _units(dimension: str, factors: dict[str, str]) -> None:
    for spellings, factor in factors.items():
        for spelling in spellings.split("|"):
            UNITS[spelling] = (dimension, factor)


# Factors to the base unit of each dimension; only exact definitions (SI, and the international foot, mile and acre).
_units(
    "length",
    {
        "km|kms|kilometre|kilometres|kilometer|kilometers|公里|千米": "1000",
        "m|metre|metres|meter|meters|米": "1",
        "cm|centimetres|centimeters|厘米": "0.01",
        "mm|millimetres|millimeters|毫米": "0.001",
        "mi|mile|miles": "1609.344",
        "ft|foot|feet": "0.3048",
        "inch|inches": "0.0254",
    },
)
_units(
    "area",
    {
        "km2|km²|sq km|square kilometres|square kilometers|square kilometre|square kilometer|平方公里|平方千米": "1000000",
        "m2|m²|sq m|square metres|square meters|平方米": "1",
        "ha|hectare|hectares|公顷": "10000",
        "sq mi|mi2|mi²|square miles|square mile": "2589988.110336",
        "acre|acres": "4046.8564224",
    },
)
_units(
    "mass",
    {"t|tonne|tonnes|ton|tons|吨": "1000", "kg|kilogram|kilograms|公斤|千克": "1", "gram|grams|克": "0.001", "lb|lbs|pound|pounds": "0.45359237"},
)
_units("time", {"min|mins|minute|minutes|分钟": "60", "hr|hrs|hour|hours|小时": "3600", "sec|secs|second|seconds|秒": "1", "day|days|天": "86400"})
_units("share", {"%|％|percent|per cent": "1"})
_units(
    "power",
    {"mw|megawatt|megawatts|兆瓦": "1000000", "kw|kilowatt|kilowatts|千瓦": "1000", "gw|gigawatt|gigawatts": "1000000000", "watt|watts|瓦": "1"},
)

SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "mn": 10**6,
    "billion": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
    "千": 1000,
    "万": 10**4,
    "萬": 10**4,
    "百万": 10**6,
    "亿": 10**8,
    "億": 10**8,
}
ONES = {word: n for n, word in enumerate(words("ones"))}
TENS = {word: 10 * n for n, word in enumerate(words("tens"), start=2)}
_HAN_DIGITS = {char: n for n, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000}
_HAN_BIG = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

HAN = "零〇一二三四五六七八九十百千万萬亿億两兩"


def from_words(spelled: str) -> int | None:
    total, current, seen = 0, 0, False
    for word in re.split(r"[\s-]+", spelled.casefold()):
        if word in ("and", "", "a"):
            continue
        if word in ONES or word in TENS:
            amount = ONES.get(word, TENS.get(word, 0))
            if seen and (current % 100 if amount < 100 else current) and not (current % 10 == 0 and amount < 10):
                return None
            current += amount
        elif word == "hundred":
            current = (current or 1) * 100
        else:
            total, current = total + (current or 1) * SCALES[word], 0
        seen = True
    return total + current if seen else None


def from_han(spelled: str) -> int | None:
    if all(char in _HAN_DIGITS for char in spelled):
        return int("".join(str(_HAN_DIGITS[char]) for char in spelled))
    total = section = digit = 0
    for char in spelled:
        if char in _HAN_DIGITS:
            digit = _HAN_DIGITS[char]
        elif char in _HAN_SCALES:
            section += (digit or 1) * _HAN_SCALES[char]
            digit = 0
        else:
            if not section and not digit:
                return None
            total, section, digit = (total + section + digit) * _HAN_BIG[char], 0, 0
    return total + section + digit
