"""Text made comparable: case, accents, articles, punctuation, full-width forms; whole words only."""

from __future__ import annotations

import re
import unicodedata

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75", "⅓": ".333333", "⅔": ".666667", "⅛": ".125", "⅜": ".375", "⅝": ".625", "⅞": ".875"}
_FRACTION = re.compile(r"(\d*)([½¼¾⅓⅔⅛⅜⅝⅞])")
_EXPONENT_OF_NUMBER = re.compile(r"(?<=\d)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_DASHES = re.compile(r"[‐‑‒–—―−﹣－]")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"', "«": '"', "»": '"'})
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_TOKEN = re.compile(rf"(?:(?<![\w)])-)?\d[\d,]*(?:\.\d+)?(?:\^\d+)?%?|[{CJK}]|[^\W\d_{CJK}]+[+#]*|[$€£¥]")
_INITIALS = re.compile(r"\b(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?")
_THOUSANDS = re.compile(r"^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$")


def tidy(text: str) -> str:
    """Unicode-normalised text with plain dashes, quotes and spaces; case and letters stay.

    Compatibility forms are folded (full-width digits and letters), but a raised digit after a number stays an exponent
    and a vulgar fraction becomes decimals, which plain NFKC would turn into other numbers.
    """
    text = _FRACTION.sub(lambda found: (found[1] or "0") + _FRACTIONS[found[2]], text)
    text = _EXPONENT_OF_NUMBER.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[1]), text)
    text = unicodedata.normalize("NFKC", text)
    text = _INVISIBLE.sub("", text)
    return _DASHES.sub("-", text).translate(_QUOTES)


def fold(text: str) -> str:
    """Lower case without accents on Latin and Greek letters (other scripts change meaning with their marks)."""
    kept: list[str] = []
    base_folds = False
    for char in unicodedata.normalize("NFD", text.casefold()):
        if unicodedata.combining(char):
            if not base_folds:
                kept.append(char)
            continue
        base_folds = char < "\u0400"
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_LETTERS)


def words(text: str) -> list[str]:
    """The comparable words of a text: one Chinese or Japanese character is one word; numbers lose thousands separators.

    "The" is dropped everywhere, "a" and "an" only in front: "Vitamin A" is not "Vitamin".
    """
    text = tidy(text)
    text = _INITIALS.sub(lambda found: found[0].replace(".", ""), text)
    text = fold(text).replace("&", " and ").replace("'", "")
    found = [_plain_number(token) for token in _TOKEN.findall(text)]
    kept = [word for word in found if word != "the"]
    if len(kept) > 1 and kept[0] in ("a", "an"):
        kept = kept[1:]
    return kept or found


def _plain_number(token: str) -> str:
    if not token[-1:].isdigit() or not token.lstrip("-")[:1].isdigit():
        return token.rstrip(",") if token[:1].isdigit() else token
    return token.replace(",", "") if _THOUSANDS.match(token) else token.rstrip(",")


def positions(needle: list[str], hay: list[str]) -> list[int]:
    """Where `needle` begins in `hay`, word for word."""
    if not needle:
        return []
    return [start for start in range(len(hay) - len(needle) + 1) if hay[start : start + len(needle)] == needle]
