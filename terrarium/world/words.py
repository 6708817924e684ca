"""How the world cuts text into words: for snippets (units of reading), for ranking (terms), and for budgets (estimated tokens).

Everything here is a pure function of its text, so that results are the same in every process. Han characters carry words without
spaces between them: a unit is one character that counts half a word, a term is a pair of neighbours.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN_RUN = re.compile(f"[{_HAN}]+")
# A page of one long line has no spaces: a unit ends after 40 characters.
_UNIT = re.compile(f"[{_HAN}]|[^\\s{_HAN}]{{1,40}}")
_TERM = re.compile(f"[{_HAN}]+|[^\\W_]+", re.UNICODE)
_GROUPED = re.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))")
_TOKEN = re.compile(f"[{_HAN}]|\\d|[^\\W\\d_]+|[^\\w\\s]|_")

STOP_WORDS = frozenset(
    """
    a about according after all also an and any are as at be been before between both but by can could did do does each find for from give get
    had has have he her his how i if in information into is it its know list many me more most much my need of on one or our page please she
    should so some such tell than that the their them then there these they this to was we were what when where which while who whom whose why
    will with would you your
    """.split()  # noqa: SIM905
)


class Unit(NamedTuple):
    """One unit of reading: characters `start` to `end`, worth `words` words."""

    start: int
    end: int
    words: float


def units(text: str) -> list[Unit]:
    """Units of reading in order: what stands between spaces is one word for every 15 characters begun, a Han character half a word."""
    return [
        Unit(match.start(), match.end(), 0.5 if _HAN_RUN.match(match.group()) else max(1.0, len(match.group()) / 15))
        for match in _UNIT.finditer(text)
    ]


def terms(text: str) -> list[str]:
    """What a ranker compares: folded, lightly stemmed words without stop words; pairs of Han characters."""
    folded = _fold(_GROUPED.sub("", text))
    found: list[str] = []
    for match in _TERM.finditer(folded):
        run = match.group()
        if _HAN_RUN.match(run):
            found.extend([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)])
        else:
            found.extend(_plain_terms(run))
    return found


def _plain_terms(word: str) -> list[str]:
    # A run of letters may have Han characters inside ("A线"): they are cut apart.
    if _HAN_RUN.search(word):
        pieces: list[str] = []
        for piece in re.findall(f"[{_HAN}]+|[^{_HAN}]+", word):
            pieces.extend(terms(piece))
        return pieces
    return [] if word in STOP_WORDS else [stem(word)]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A light English stemmer: plural and the commonest verb endings only, so that names stay apart."""
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("ing", ""), ("ied", "y"), ("ed", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _undouble(word.removesuffix(ending) + instead)
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _undouble(word: str) -> str:
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
        return word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(char for char in decomposed if not unicodedata.combining(char)))


def han_of(text: str) -> str:
    """The runs of Han characters of a text, separated by spaces."""
    return " ".join(_HAN_RUN.findall(text))


def without_han(text: str) -> str:
    """The text with a space for each run of Han characters."""
    return re.sub(r"\s+", " ", _HAN_RUN.sub(" ", text)).strip()


def han_share(text: str) -> float:
    """Han characters by all letters and digits, 0 to 1."""
    letters = sum(char.isalnum() for char in text)
    return sum(len(run) for run in _HAN_RUN.findall(text)) / letters if letters else 0.0


def estimate_tokens(text: str) -> int:
    """About how many tokens a byte-pair tokenizer makes of a text, without one at hand.

    Digits and marks count one each, Han characters two, words one for every five letters begun; on English pages this
    is close to what SmolLM2's tokenizer counts, and rather too much than too little.
    """
    total = 0
    for token in _TOKEN.findall(text):
        if token.isalpha() and not _HAN_RUN.match(token):
            total += -(-len(token) // 5)
        else:
            total += 2 if _HAN_RUN.match(token) else 1
    return total + text.count("\n")
