"""Whether search results give a question's answer away, and whether a benchmark asks the same."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from terrarium.questions.blocks import list_items
from terrarium.questions.lexicon import relations
from terrarium.questions.question import Question
from terrarium.questions.values import ValueKind, fold, has_cjk, kind_of, numbers, places, plain, same
from terrarium.questions.words import words as word_list

# Fewer words may stand in two questions that ask for different things.
_TELLING_WORDS = 7
_RANK = re.compile(r"^\s*#?\d{1,3}[.)]\s+")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a search result shows: its title and its snippet."""

    title: str
    snippet: str

    @property
    def text(self) -> str:
        """Title and snippet without the number that ranks them, which answers nothing."""
        return plain(f"{_RANK.sub('', self.title)} | {_RANK.sub('', self.snippet)}")


def gives_away(question: Question, results: Iterable[Shown]) -> bool:
    """Whether results answer a question unread: one shows the answer with the subject, or they show every operand with its subject."""
    texts = [result.text for result in results]
    subjects = list(dict.fromkeys(operand.subject for operand in question.operands))
    answers = question.answers if question.answer_kind == "list" else question.answers[:1]
    if question.operands:
        if all(
            any(_shows(text, operand.subject, operand.value, _kind(operand.relation, operand.value)) for text in texts)
            for operand in question.operands
        ):
            return True
        if question.capability == "aggregation" or fold(answers[0]) in {fold(subject) for subject in subjects}:
            return False
        return any(
            all(places(fold(subject), text, "name") for subject in subjects) and all(_stands(question, answer, text, subjects) for answer in answers)
            for text in texts
        )
    words = content_words(question.question)
    return any(
        all(places(answer, text, _answer_kind(question, answer)) for answer in answers) and len(words & content_words(text)) * 2 >= len(words)
        for text in texts
    )


def _shows(text: str, subject: str, value: str, kind: ValueKind) -> bool:
    return bool(places(fold(subject), text, "name") and places(value, _without(text, [subject]), kind))


def _stands(question: Question, answer: str, text: str, subjects: Sequence[str]) -> bool:
    return bool(places(answer, _without(text, subjects), _answer_kind(question, answer)))


def _without(text: str, names: Sequence[str]) -> str:
    """The text without the names: the year in "the Nordorf flood of 2009" is no answer."""
    for name in names:
        for start, end in reversed(places(fold(name), text, "name")):
            text = f"{text[:start]}¶{text[end:]}"
    return text


def _kind(relation: str, value: str) -> ValueKind:
    found = relations().get(relation)
    return found.kind if found else kind_of(value)


def _answer_kind(question: Question, answer: str) -> ValueKind:
    return question.answer_kind if question.answer_kind in ("number", "date") else ("name" if kind_of(answer) != "date" else "date")  # type: ignore[return-value]


_EMPTY = frozenset(word_list("empty_words"))


def content_words(text: str) -> set[str]:
    """Words that carry meaning, each cut to its stem of five letters; Chinese text as pairs of characters."""
    folded = fold(text)
    if has_cjk(folded):
        bare = re.sub(r"[^\w]", "", folded)
        return {bare[place : place + 2] for place in range(len(bare) - 1)}
    return {word if word[0].isdigit() else word[:5] for word in re.findall(r"\w[\w'.,-]*\w|\w", folded) if word not in _EMPTY}


class BenchmarkIndex:
    """The questions of benchmarks, to be compared with ours: a question is theirs when it asks for the same fact, or in nearly the same words."""

    def __init__(self, rows: Iterable[tuple[str, str, Sequence[str]]], overlap: float = 0.8) -> None:
        """`rows` are (benchmark, question, answers); `overlap` is the share of a benchmark question's words that makes ours the same."""
        self.overlap = overlap
        self.rows = [(benchmark, plain(question), tuple(answers)) for benchmark, question, answers in rows]
        self.words = [content_words(question) for _, question, _ in self.rows]
        self.by_word: dict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(self.words):
            for word in words:
                self.by_word[word].append(place)

    def same_as(self, question: Question) -> str | None:
        """The name of the benchmark that asks the same, or None. Answers count as values, so that "4.2 m" is "4.2 million"."""
        common: dict[int, int] = defaultdict(int)
        own = content_words(question.question)
        for word in own:
            for place in self.by_word.get(word, ()):
                common[place] += 1
        for place, count in common.items():
            benchmark, text, answers = self.rows[place]
            answered = _answered(question, answers)
            contained = count / len(self.words[place])
            if (contained >= 0.95 and len(self.words[place]) >= _TELLING_WORDS) or (contained >= self.overlap and answered):
                return benchmark
            if answered and self._same_fact(question, text):
                return benchmark
        return None

    @staticmethod
    def _same_fact(question: Question, text: str) -> bool:
        if not question.operands:
            return False
        answers = {fold(answer) for answer in question.answers}
        for operand in question.operands:
            if fold(operand.subject) in answers:
                if not places(operand.value, text, _kind(operand.relation, operand.value)):
                    return False
            elif not places(fold(operand.subject), text, "name"):
                return False
        return True


def _answered(question: Question, theirs: Sequence[str]) -> bool:
    """Whether a benchmark's answers, alternatives or members of a list, are ours."""
    if question.answer_kind == "list":
        ours = {fold(answer) for answer in question.answers}
        return ours in ({fold(answer) for answer in theirs}, *({fold(item) for item in list_items(answer)} for answer in theirs))
    return any(_answers_equal(question, our, their) for our in question.answers for their in theirs)


def _answers_equal(question: Question, ours: str, theirs: str) -> bool:
    if question.answer_kind == "number":
        left, right = numbers(ours), numbers(theirs)
        return bool(left and right) and (
            left[0].value == right[0].value or (bool(left[0].dimension) and left[0].dimension == right[0].dimension and left[0].base == right[0].base)
        )
    if question.answer_kind == "date":
        return same(ours, theirs, "date")
    return fold(ours) == fold(theirs)
