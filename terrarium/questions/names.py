"""Known names in running text: the longest one at each place, so that "Karnby" is not read out of "Upper Karnby United"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from terrarium.questions.values import fold
from terrarium.questions.words import words as word_list

_WORD = re.compile(r"[^\W\u3400-\u9fff_]+(?:['’][^\W\u3400-\u9fff_]+)*|[\u3400-\u9fff]|&")
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)
# Words that make a longer name of the one that follows, also where the longer name is unknown.
_PREFIXES = frozenset(word_list("name_prefixes"))


@dataclass(frozen=True, slots=True)
class Mention:
    """A known name (folded) at characters `start` to `end` of a text."""

    name: str
    start: int
    end: int


def _words(text: str) -> list[tuple[str, int, int]]:
    found = []
    for match in _WORD.finditer(text):
        bare = _POSSESSIVE.sub("", match[0])
        found.append((bare, match.start(), match.start() + len(bare)))
    return found


class NameFinder:
    """Finds known names. A name with a capital is not found in lower case: "mill" is no mention of "Mill"."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str, bool]]] = {}
        for name in dict.fromkeys(names):
            words = tuple(word.casefold() for word, _, _ in _words(name))
            if words:
                capital = any(char.isupper() for char in name)
                self._by_first.setdefault(words[0], []).append((words, fold(name), capital))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: (-len(entry[0]), entry[1]))

    def find(self, text: str) -> list[Mention]:
        """All mentions from left to right; none overlaps another."""
        words = _words(text)
        folded = [word.casefold() for word, _, _ in words]
        found: list[Mention] = []
        at = 0
        while at < len(words):
            step = 1
            for name, key, capital in self._by_first.get(folded[at], ()):
                end = at + len(name)
                if tuple(folded[at:end]) != name:
                    continue
                piece = text[words[at][1] : words[end - 1][2]]
                if capital and piece == piece.casefold() and piece != piece.upper():
                    continue
                step = len(name)
                if not self._longer(text, words, at, end):
                    found.append(Mention(key, words[at][1], words[end - 1][2]))
                break
            at += step
        return found

    @staticmethod
    def _longer(text: str, words: list[tuple[str, int, int]], at: int, end: int) -> bool:
        """Whether the name is plainly part of a longer one that nobody knows."""
        if at > 0 and text[words[at - 1][2] : words[at][1]] == " " and words[at - 1][0].casefold() in _PREFIXES and words[at - 1][0][:1].isupper():
            return True
        if end >= len(words) or text[words[end - 1][2] : words[end][1]] != " ":
            return False
        following = words[end][0]
        return following[:1].isupper() and following.isascii() and len(following) > 1 and not following.isupper()
