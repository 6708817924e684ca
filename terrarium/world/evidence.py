"""What a page says about a goal: the passages that serve it, chosen by a ranker, in page order, within a token budget."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from terrarium.world.passages import Passage, passages
from terrarium.world.words import estimate_tokens, terms, units

# BM25 over the passages of one page (Robertson and Zaragoza 2009, k1 and b as usual).
_K1, _B = 1.2, 0.75
# A passage much weaker than the best one costs the reader more than it gives.
_WEAK = 0.15


def evidence(markdown: str, goal: str, budget: int, passage_tokens: int) -> str:
    """Passages for a goal, joined by newlines, of at most about `budget` estimated tokens; the page's beginning where none serves it."""
    parts = passages(markdown, passage_tokens)
    if not parts:
        return ""
    scores = rank(parts, goal)
    best = max(scores)
    if best <= 0:
        chosen = _fill(parts, range(len(parts)), min(budget, 2 * passage_tokens))
    else:
        order = sorted((i for i in range(len(parts)) if scores[i] >= _WEAK * best), key=lambda i: (-scores[i], i))
        chosen = _fill(parts, order, budget)
    return _shown(parts, chosen, budget)


def rank(parts: Sequence[Passage], goal: str) -> list[float]:
    """BM25 of each passage for the goal; a passage is read with the headings above it, which count as words of it."""
    documents = [Counter(terms(f"{part.context} {part.text}")) for part in parts]
    lengths = [sum(document.values()) for document in documents]
    average = sum(lengths) / len(lengths) or 1.0
    scores = [0.0] * len(parts)
    for term in sorted(set(terms(goal))):
        holding = sum(term in document for document in documents)
        if not holding:
            continue
        idf = math.log(1 + (len(parts) - holding + 0.5) / (holding + 0.5))
        for i, document in enumerate(documents):
            if count := document[term]:
                scores[i] += idf * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * lengths[i] / average))
    return [round(score, 6) for score in scores]


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
    return sorted(chosen)


def _shown(parts: Sequence[Passage], chosen: Sequence[int], budget: int) -> str:
    lines: list[str] = []
    last: Passage | None = None
    for i in chosen:
        part = parts[i]
        if part.head and (last is None or (last.group, last.head) != (part.group, part.head)):
            lines.append(part.head)
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
