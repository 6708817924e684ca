"""What a page says about a goal: the passages that serve it, best first, within a token budget; and its gist.

Passages are ranked by words (BM25) and, where an embedder is at hand, by closeness in meaning too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from terrarium.world.passages import Passage, passages, sentences
from terrarium.world.words import estimate_tokens, terms, units

# BM25 over the passages of one page (Robertson and Zaragoza 2009, k1 and b as usual).
_K1, _B = 1.2, 0.75
# A passage much weaker than the best one costs the reader more than it gives: by words alone, and by words and meaning, where even
# passages on other matters are somewhat close.
_WEAK, _WEAK_IN_BOTH = 0.25, 0.7
# What the best passage by words weighs beside a cosine of 1. On 406 visits of the practice web, 0.25 and 0.5 put the passage that answers
# among the first two 86% of the time, words alone 75%, meaning alone 72%.
_WORDS = 0.5
# Where no word is shared, a passage has to be at least this close to serve the goal.
_CLOSE = 0.3
# Long pages: meaning is asked for the passages that are best by words, and the page's first.
_MEANT = 64
# What the title says, every passage of the page is about.
_TITLE = 0.25
# A goal that asks for a date or a number is served by a passage that has one, in whatever words.
_KIND = 0.5
_ASKS_DATE = re.compile(r"\b(?:when|years?|dates?|century|decade)\b|何时|什么时候|哪[一]?年|年份|日期", re.IGNORECASE)
_ASKS_NUMBER = re.compile(
    r"\b(?:how (?:many|much|long|high|tall|large|big|old|far|deep|wide)|numbers?|total|amount|average)\b|多少|几[个座人家条]|总[共数]", re.IGNORECASE
)
_DATE = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_NUMBER = re.compile(r"\d")

# The cosine of each text with a goal (closeness.py).
Closeness = Callable[[str, Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """`text`: the chosen passages, one a line, about `budget` estimated tokens at most. `gist`: the one sentence or row that serves best."""

    text: str
    gist: str


def evidence(title: str, markdown: str, goal: str, budget: int, passage_tokens: int, closeness: Closeness | None = None) -> Evidence:
    """Passages for a goal, best first, those of one table or list together; the page's beginning where none serves it."""
    parts = passages(markdown, passage_tokens)
    if not parts:
        return Evidence("", "")
    words = rank(parts, title, goal)
    meaning = _meaning(parts, words, goal, closeness)
    most = max(words)
    if most <= 0 and max(meaning) < _CLOSE:
        chosen = _fill(parts, range(len(parts)), min(budget, 2 * passage_tokens))
        return Evidence(_shown(parts, sorted(chosen), title, budget), "")
    scores = [round(near + (_WORDS * word / most if most > 0 else 0.0), 6) for near, word in zip(meaning, words, strict=True)]
    weak = (_WEAK_IN_BOTH if any(meaning) else _WEAK) * max(scores)
    order = sorted((i for i in range(len(parts)) if scores[i] >= weak), key=lambda i: (-scores[i], i))
    return Evidence(_shown(parts, _together(parts, _fill(parts, order, budget)), title, budget), _gist(parts[order[0]], title, goal))


def _meaning(parts: Sequence[Passage], words: Sequence[float], goal: str, closeness: Closeness | None) -> list[float]:
    if closeness is None:
        return [0.0] * len(parts)
    asked = sorted(range(len(parts)), key=lambda i: (-words[i], i))[:_MEANT]
    found = dict(zip(asked, closeness(goal, [parts[i].text for i in asked]), strict=True))
    return [found.get(i, 0.0) for i in range(len(parts))]


def _together(parts: Sequence[Passage], chosen: Sequence[int]) -> list[int]:
    """Passages under one head next to each other, where the best of them stands."""
    first: dict[tuple[int, str], int] = {}
    for place, i in enumerate(chosen):
        first.setdefault((parts[i].group, parts[i].head), place)
    return sorted(chosen, key=lambda i: first[parts[i].group, parts[i].head])


def rank(parts: Sequence[Passage], title: str, goal: str) -> list[float]:
    """BM25 of each passage for the goal; a passage is read with the headings above it, which count as words of it.

    Terms of the page's title count a quarter. A date or number, where the goal asks for one, counts half a rare term.
    """
    documents = [Counter(terms(f"{part.context} {part.text}")) for part in parts]
    lengths = [sum(document.values()) for document in documents]
    average = sum(lengths) / len(lengths) or 1.0
    about = set(terms(title))
    scores = [0.0] * len(parts)
    for term in sorted(set(terms(goal))):
        holding = sum(term in document for document in documents)
        if not holding:
            continue
        weight = _rarity(holding, len(parts)) * (_TITLE if term in about else 1.0)
        for i, document in enumerate(documents):
            if count := document[term]:
                scores[i] += weight * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * lengths[i] / average))
    for asked, found in ((_ASKS_DATE, _DATE), (_ASKS_NUMBER, _NUMBER)):
        if asked.search(goal):
            has = [bool(found.search(part.text)) for part in parts]
            bonus = _KIND * _rarity(sum(has), len(parts))
            scores = [score + bonus * has[i] for i, score in enumerate(scores)]
    return [round(score, 6) for score in scores]


def _rarity(holding: int, parts: int) -> float:
    return math.log(1 + (parts - holding + 0.5) / (holding + 0.5))


def _fill(parts: Sequence[Passage], order: Sequence[int] | range, budget: int) -> list[int]:
    chosen: list[int] = []
    heads: set[tuple[int, str]] = set()
    left = budget
    for i in order:
        part = parts[i]
        head = (part.group, part.head)
        cost = part.tokens + 1 + (0 if not part.head or head in heads else estimate_tokens(part.head) + 1)
        if cost <= left or not chosen:
            chosen.append(i)
            heads.add(head)
            left -= cost
        if left <= 0:
            break
    return chosen


def _shown(parts: Sequence[Passage], chosen: Sequence[int], title: str, budget: int) -> str:
    lines: list[str] = []
    last: Passage | None = None
    for i in chosen:
        part = parts[i]
        if last is None or (last.group, last.head) != (part.group, part.head):
            # An infobox is often headed by the page's own title, which stands above the evidence.
            lines.extend(line for line in part.head.splitlines() if line.casefold() != title.casefold())
        if part.text:
            lines.append(part.text)
        last = part
    return _within("\n".join(lines), budget)


def _within(text: str, budget: int) -> str:
    """The text cut between words where a single passage is longer than the whole budget."""
    if estimate_tokens(text) <= budget + 2:
        return text
    used = 0
    for unit in units(text):
        used += estimate_tokens(text[unit.start : unit.end])
        if used > budget:
            return text[: unit.start].rstrip() + "…"
    return text


def _gist(part: Passage, title: str, goal: str) -> str:
    lines = [sentence for line in (part.text or part.head).splitlines() for sentence in sentences(line)]
    scores = rank([Passage(i, i, line) for i, line in enumerate(lines)], title, goal)
    return lines[scores.index(max(scores))] if lines else ""
