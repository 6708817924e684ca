"""The snippet of a hit: the words of a page's lead that suit the query best.

Enough to choose a page by, seldom enough to answer; whatever stands after the lead is read by visit alone.
"""

from __future__ import annotations

from functools import lru_cache

from terrarium.world.passages import blocks, sentences
from terrarium.world.words import terms, units

# The first 400 words of any page lie within this; parsing the rest would cost time for nothing.
_HEAD_CHARS = 20_000


@lru_cache(maxsize=8192)
def lead(markdown_head: str, title: str, words: int) -> str:
    """What a snippet is chosen from: the first `words` words of a page, of which the prose where there is enough of it.

    Tables and lists at the head of a page state facts in a few words, so that any window on them would answer instead of point.
    """
    left = float(words)
    prose: list[str] = []
    other: list[str] = []
    for block in blocks(markdown_head):
        for line in block.lines:
            taken, used = _first_words(line, left)
            left -= used
            if block.kind == "paragraph":
                prose.append(taken)
            elif not (block.kind == "heading" and line.casefold() == title.casefold()):
                other.append(taken)
        if left <= 0:
            break
    text = " ".join(prose)
    return text if sum(unit.words for unit in units(text)) >= min(15, words / 4) else " ".join([*prose, *other])


def _first_words(text: str, limit: float) -> tuple[str, float]:
    used = 0.0
    for unit in units(text):
        if used + unit.words > limit:
            return text[: unit.start].rstrip(), limit
        used += unit.words
    return text, used


def snippet(title: str, markdown: str, query: str, words: int = 30, lead_words: int = 100) -> str:
    """The window of about `words` words in the page's first `lead_words` that holds most of the query's terms; the earliest of equals.

    Terms of the title count half: the title is shown anyway. A window that starts a sentence is preferred to one that does not.
    """
    text = lead(markdown[:_HEAD_CHARS], title, lead_words)
    found = units(text)
    if sum(unit.words for unit in found) <= words:
        return text
    wanted = set(terms(query))
    in_title = set(terms(title))
    carried = [wanted.intersection(terms(text[max(unit.start - 1, 0) : unit.end])) for unit in found]
    best, window = -1.0, (0, len(found))
    end, weight = 0, 0.0
    for start, unit in enumerate(found):
        while end < len(found) and weight + found[end].words <= words:
            weight += found[end].words
            end += 1
        hit = set().union(*carried[start:end])
        begins = start == 0 or text[: unit.start].rstrip()[-1:] in ".!?。！？"
        score = sum(0.5 if term in in_title else 1.0 for term in hit) + (0.25 if begins else 0.0)
        if score > best + 1e-9:
            best, window = score, (start, end)
        if end == len(found):
            break
        weight -= unit.words
    start, end = window
    cut = text[found[start].start : found[end - 1].end]
    return ("" if start == 0 else "…") + cut + ("" if end == len(found) else "…")


def summary(markdown: str, title: str, given: str, words: int) -> str:
    """What a page is, in at most `words` words: the first sentence of its summary, or of its lead where it has none."""
    text = " ".join(given.split()) or lead(markdown[:_HEAD_CHARS], title, max(2 * words, 100))
    first = sentences(text)[0] if text else ""
    return first_words(first, words)


def first_words(text: str, words: int) -> str:
    """The text, or its first `words` words and a mark that it goes on."""
    taken, _ = _first_words(text, float(words))
    return taken if len(taken) == len(text) else taken + "…"
