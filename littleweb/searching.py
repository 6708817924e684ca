"""The search endpoint: BM25 over the served pages. It knows nothing but their text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"[一-鿿]|[^\W_]+")
K1 = 1.2
B = 0.75
TITLE_WEIGHT = 3
# A common word's list of pages is skipped: it costs time and moves no rank.
COMMON_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Listing:
    """What the engine knows of a page: `link` may be a redirecting or decorated address of it."""

    link: str
    title: str
    snippet: str
    text: str
    date: str | None = None


def words_of(text: str) -> list[str]:
    """Lower-case words; each Chinese character is a word."""
    return _WORD.findall(text.lower())


class SearchEngine:
    """An inverted index with BM25 scores; ties go to the page that was listed first."""

    def __init__(self, listings: Iterable[Listing]) -> None:
        self.listings = list(listings)
        counts: dict[str, list[tuple[int, int]]] = {}
        lengths = []
        for place, listing in enumerate(self.listings):
            words = words_of(listing.title) * TITLE_WEIGHT + words_of(listing.text)
            lengths.append(len(words))
            for word, count in Counter(words).items():
                counts.setdefault(word, []).append((place, count))
        total = len(self.listings)
        average = sum(lengths) / total if total else 1.0
        self._norms = [K1 * (1 - B + B * length / average) for length in lengths]
        self._postings = {word: places for word, places in counts.items() if len(places) <= max(20, COMMON_SHARE * total)}

    def search(self, query: str, count: int) -> list[Listing]:
        """The best `count` pages, best first; fewer when fewer share a word with the query."""
        scores: dict[int, float] = {}
        total = len(self.listings)
        for word in dict.fromkeys(words_of(query)):
            places = self._postings.get(word)
            if not places:
                continue
            weight = math.log(1 + (total - len(places) + 0.5) / (len(places) + 0.5))
            for place, frequency in places:
                scores[place] = scores.get(place, 0.0) + weight * frequency * (K1 + 1) / (frequency + self._norms[place])
        best = sorted(scores, key=lambda place: (-scores[place], place))[:count]
        return [self.listings[place] for place in best]
