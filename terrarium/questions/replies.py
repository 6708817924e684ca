"""What a model replied, read as question-answer pairs: prose around it, fences, thoughts, trailing commas and cut ends are all usual."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from terrarium.errors import TerrariumError


class UnreadableReply(TerrariumError):
    """A model's reply holds no JSON with question-answer pairs."""


_THOUGHTS = re.compile(r"<think>.*?</think>|^.*?</think>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_QUOTES = {'"': '"', "“": "”"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST = 64


class _Cut(Exception):
    """The text ended inside a value."""


class _NotJson(Exception):
    """No value starts here."""


def parse_pairs(reply: str) -> list[dict[str, Any]]:
    """Question-answer pairs out of a model's reply, each a dictionary with `question` (a string) and `answer`.

    An answer that was a JSON number becomes its digits as written ("3.50"), a list a list of strings. Pairs cut off at the end of the
    reply, without a question or with an empty answer are left out; other keys of a pair are kept.

    Raises:
        UnreadableReply: there is no JSON that holds pairs; an empty list of pairs is no error.
    """
    text = _THOUGHTS.sub("", reply) if "</think>" in reply.lower() else reply
    best: list[dict[str, Any]] | None = None
    at = 0
    while (start := _next_start(text, at)) >= 0:
        reader, cut = _Reader(text, start), False
        try:
            value = reader.value(0)
        except _Cut:
            value, cut = reader.completed, True
            reader.at = len(text)
        except _NotJson:
            at = start + 1
            continue
        pairs = list(_pairs_in(value))
        if pairs or (best is None and not cut and _holds_none(value)):
            best = (best or []) + pairs
        at = max(reader.at, start + 1)
    if best is None:
        raise UnreadableReply(f"The reply holds no question-answer pairs in JSON (it begins {reply.strip()[:60]!r}); ask the model again.")
    return best


def _next_start(text: str, at: int) -> int:
    found = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(found, default=-1)


def _holds_none(value: Any) -> bool:
    return value == [] or (
        isinstance(value, dict) and any(isinstance(value.get(name), list) and not value[name] for name in ("qa_pairs", "pairs", "questions"))
    )


def _pairs_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from _pairs_in(item)
    elif isinstance(value, dict):
        question = value.get("question", value.get("q"))
        answer = next((value[name] for name in ("answer", "answers", "a") if name in value), None)
        if isinstance(question, str) and answer is not None and not isinstance(answer, dict):
            if question.strip() and answer not in ("", []):
                rest = {name: item for name, item in value.items() if name not in ("question", "q", "answer", "answers", "a")}
                yield {"question": question.strip(), "answer": _answer(answer), **rest}
            return
        for item in value.values():
            yield from _pairs_in(item)


def _answer(answer: Any) -> str | list[str]:
    if isinstance(answer, list):
        return [str(_answer(item)) for item in answer]
    return ("true" if answer else "false") if isinstance(answer, bool) else str(answer).strip()


class _Reader:
    """A JSON reader that forgives trailing commas, raw line breaks in strings and keywords in Python's spelling.

    `completed` holds the outermost objects read to their end, which is what can be kept of a reply that was cut off.
    """

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.completed: list[dict[str, Any]] = []

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _NotJson
        self._space()
        char = self._char()
        if char == "{":
            return self._object(depth)
        if char == "[":
            return self._array(depth)
        if char in _QUOTES:
            return self._string(_QUOTES[char])
        number = _NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            if self.at >= len(self.text):
                raise _Cut
            return number[0]
        for word, meaning in (("true", True), ("false", False), ("null", None), ("True", True), ("False", False), ("None", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        raise _NotJson

    def _char(self) -> str:
        if self.at >= len(self.text):
            raise _Cut
        return self.text[self.at]

    def _space(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        inside = len(self.completed)
        self.at += 1
        while True:
            self._space()
            char = self._char()
            if char == "}":
                self.at += 1
                self.completed[inside:] = [found]
                return found
            if char == ",":
                self.at += 1
                continue
            if char not in _QUOTES:
                raise _NotJson
            name = self._string(_QUOTES[char])
            self._space()
            if self._char() not in ":：":
                raise _NotJson
            self.at += 1
            value = self.value(depth + 1)
            found[name] = value

    def _array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while True:
            self._space()
            char = self._char()
            if char == "]":
                self.at += 1
                return found
            if char == ",":
                self.at += 1
                continue
            child = self.value(depth + 1)
            found.append(child)

    def _string(self, close: str) -> str:
        self.at += 1
        pieces: list[str] = []
        while True:
            char = self._char()
            self.at += 1
            if char == close or (close == "”" and char == '"'):
                return "".join(pieces)
            if char != "\\":
                pieces.append(char)
                continue
            escape = self._char()
            self.at += 1
            if escape == "u":
                digits = self.text[self.at : self.at + 4]
                if len(digits) < 4:
                    raise _Cut
                try:
                    pieces.append(chr(int(digits, 16)))
                except ValueError:
                    raise _NotJson from None
                self.at += 4
            else:
                pieces.append(_ESCAPES.get(escape, escape))
