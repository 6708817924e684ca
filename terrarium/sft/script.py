"""What the scripted teacher does on one question: search for what the question names, read pages until it has seen all, answer.

It knows what to look for (the question's operands) and looks for it in the way a good reader would, but a value counts only once it
was seen, and is answered as it was spelled there. Thoughts are short, since a small model has to sample them, and they say what was
read: the sentence that holds the answer, or that the page does not tell. A model that only says "I found it" learns to believe so.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from terrarium.agent.attempt import ANSWER_NOW
from terrarium.agent.protocol import render_turn, search_call, visit_call
from terrarium.questions.makers.cross_verification import AGREE, NEWER
from terrarium.questions.question import Operand, Question
from terrarium.rewards.text import tidy
from terrarium.sft.reading import find_value, find_words, quote

# Words of a question that say how to look, not what for.
_ASIDES = re.compile(
    "|".join(
        [*(re.escape(template.partition("{")[0].rstrip(" :,.")) for template in (*AGREE, *NEWER)), "Two things are known of", "Taken together"]
    ).join(("(?:", r")[:,.]?\s*")),
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:[-'.,&][^\W_]+)*")
_STOP = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())
_SHARE_OF_SLIPS = 0.1
_PLACES = ("first", "second", "third", "fourth", "next")


class Script:
    """The turns of one question. The caller tells what came back (`saw_hits`, `saw_text`) and asks for the next `turn`."""

    def __init__(self, question: Question, seed: int, attempt: int = 0, quotes: bool = True) -> None:
        self.question = question
        self._quoting = quotes
        self._random = random.Random(f"{seed}/{question.question_id}/{attempt}")
        self._hits: list[Any] = []
        self._latest: list[Any] = []
        self._visited: list[str] = []
        self._asked: set[str] = set()
        self._seen: dict[Operand, str] = {}
        self._sources: dict[Operand, set[str]] = {}
        self._quotes: dict[Operand, str] = {}
        self._reading = ""
        self._last = ""
        self._searches = 0
        self._slips = self._random.random() < _SHARE_OF_SLIPS

    def saw_hits(self, hits: Sequence[Any]) -> None:
        """What a search gave, best first; records with url, title and snippet."""
        self._latest = list(hits)
        known = {hit.url for hit in self._hits}
        self._hits = [*(hit for hit in hits if hit.url not in known), *self._hits]

    def saw_text(self, text: str) -> None:
        """The last observation as the policy sees it."""
        self._last = text
        for operand in self.question.operands:
            spelled = find_value(operand.value, text) if find_words(operand.subject, text) is not None else None
            if spelled is not None and self._reading:
                self._seen.setdefault(operand, spelled)
                self._sources.setdefault(operand, set()).add(self._reading)
                self._quotes.setdefault(operand, quote(operand.value, text) or spelled)

    def turn(self) -> str:
        """What the teacher writes next."""
        forced = self._last.endswith(ANSWER_NOW)
        if not self._missing and (forced or self._sure()):
            return self._answer()
        if forced:
            return render_turn("I have not found it.", answer="unknown")
        hit = self._next_page()
        if hit is not None:
            return self._visit(hit)
        query = self._next_query()
        if query is None:
            return self._answer() if not self._missing else render_turn("I find no more.", answer="unknown")
        return self._search(query)

    @property
    def _missing(self) -> list[Operand]:
        """Operands that were not seen yet, in the question's order."""
        return [operand for operand in self.question.operands if operand not in self._seen]

    @property
    def _hidden_subject(self) -> bool:
        """The question describes its subject and does not name it."""
        return find_words(self.question.operands[0].subject, self.question.question) is None

    def _sure(self) -> bool:
        """As many sources as the question asks for, or no further one at hand."""
        if self.question.capability != "cross_verification":
            return True
        return all(len(pages) > 1 for pages in self._sources.values()) or (len(self._visited) > 1) or self._next_page() is None

    def _next_page(self) -> Any | None:
        """The next page worth reading: the best hit that is about what is missing."""
        fresh = [hit for hit in self._hits if hit.url not in self._visited]
        if self._hidden_subject:
            # Nothing but the order of the hits tells which page is that of the one described.
            return next(iter(fresh), None) if len(self._visited) < 2 * self._searches else None
        for operand in self._missing or list(self.question.operands):
            about = next((hit for hit in fresh if names_subject(hit.title, operand.subject)), None)
            if about is not None:
                return about
        return None

    def _visit(self, hit: Any) -> str:
        self._visited.append(hit.url)
        self._reading = hit.url
        self._slips = False
        if not self._missing:
            thought = self._random.choice(["A second source.", "I check a second source."])
        elif len(self._visited) > 1 and self._last and not self._hidden_subject and self._searches == 1:
            thought = f"{self._untold()} Next page."
        else:
            thought = f"I read the {_PLACES[self._place(hit)]}."
        return render_turn(thought, [visit_call([hit.url], self._goal())])

    def _place(self, hit: Any) -> int:
        """Which of the hits of the last search it is; the last name stands for all further down and for those of earlier searches."""
        return next((place for place, other in enumerate(self._latest[: len(_PLACES) - 1]) if other.url == hit.url), len(_PLACES) - 1)

    def _goal(self) -> str:
        """What to look for on a page: in the question's own words, where it is about one thing."""
        if len({operand.subject for operand in self.question.operands}) == 1:
            return _ASIDES.sub("", self.question.question).strip(" ?").replace('"', "")
        wanted = self._missing or list(self.question.operands)
        operand = wanted[0]
        relations = list(dict.fromkeys(_relation(item) for item in wanted if item.subject == operand.subject))
        goal = f"{', '.join(relations)} of {operand.subject}"
        return f"{goal} {self.question.as_of}" if self.question.as_of else goal

    def _next_query(self) -> str | None:
        """Words for the next search, or None where all were tried."""
        operand = (self._missing or list(self.question.operands))[0]
        if self._slips:
            self._slips = False
            return _relation(operand)
        one = len({item.subject for item in self.question.operands}) == 1
        named = [self._key_words() if one else f"{operand.subject} {_relation(operand)}", operand.subject, f"{_relation(operand)} {operand.subject}"]
        described = [self._key_words(), *(item.value for item in self.question.operands if not any(char.isdigit() for char in item.value))]
        for query in described if self._hidden_subject else named:
            if query not in self._asked:
                return query
        return None

    def _search(self, query: str) -> str:
        self._asked.add(query)
        self._reading = ""
        self._searches += 1
        if self._searches == 1:
            thought = self._random.choice(["I search.", "First I search."])
        elif len(self._seen) and not self._hidden_subject:
            thought = f"Now {self._missing[0].subject}." if self._missing else "I need a second source."
        elif self._visited and not self._hidden_subject:
            thought = f"{self._untold()} I search again."
        else:
            thought = self._random.choice(["Not found. Other words.", "I try other words."])
        return render_turn(thought, [search_call([query])])

    def _untold(self) -> str:
        """That the page just read does not tell what is missing."""
        return f"Nothing on {_relation(self._missing[0])}." if self._quoting else "Not there."

    def _key_words(self) -> str:
        asked = _ASIDES.sub(" ", self.question.question)
        return " ".join(word for word in _WORD.findall(asked) if word.casefold() not in _STOP)

    def _answer(self) -> str:
        question = self.question
        if question.answer_kind == "list":
            items = [next((spelled for operand, spelled in self._seen.items() if operand.value == item), item) for item in question.answers]
            return render_turn(f"{_numbered(items)}.", answer=", ".join(items))
        direct = next((spelled for operand, spelled in self._seen.items() if operand.value in question.answers), None)
        if direct is not None and len(question.operands) == 1:
            return render_turn(f"It says: {self._quotes[question.operands[0]]}" if self._quoting else "The page says it.", answer=direct)
        subject = next((operand.subject for operand in question.operands if operand.subject in question.answers), None)
        if subject is not None and self._hidden_subject:
            return render_turn(f"Its name is {subject}.", answer=subject)
        return render_turn(f"{self._listing()}: {question.answers[0]}.", answer=question.answers[0])

    def _listing(self) -> str:
        """What was read, in the question's order: the operands of a sum, a count or a comparison."""
        same = len({operand.subject for operand in self.question.operands}) == 1
        if same and self.question.capability == "enumeration":
            return _numbered([self._seen[operand] for operand in self.question.operands])
        return ", ".join(self._seen[operand] if same else f"{operand.subject} {self._seen[operand]}" for operand in self.question.operands)


def _numbered(items: Sequence[str]) -> str:
    """Items with their numbers: who writes them needs no counting."""
    return ", ".join(f"{number} {item}" for number, item in enumerate(items, start=1))


def names_subject(title: str, subject: str) -> bool:
    """Whether a title is of the subject itself, and not of something whose longer name holds the subject's."""
    found = find_words(subject, title)
    if found is None:
        return False
    at = tidy(title).find(found)
    before, after = tidy(title)[:at], tidy(title)[at + len(found) :]
    return not re.search(r"(?:^|\s)[A-Z][\w'-]*\s$", before) and not re.match(r"\s(?:[A-Z]|of\s)", after)


def _relation(operand: Operand) -> str:
    return operand.relation.replace("_", " ")
