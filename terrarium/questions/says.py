"""Plain sentences that say one fact outright: "The mayor of X is Y", "X has a population of 12,345", "X was founded in 1823"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from terrarium.questions.lexicon import Relation, relations, relations_of_label
from terrarium.questions.words import either, mapping

_BE = r"(?:is|was|are|were|has been|had been|stands at|stood at|numbers?|numbered|amounts? to|amounted to|comes? to|came to)"
_DATE_TAIL = re.compile(r"\s*(?:,\s*)?(?:\(?\s*(?:as of|in|since)\s+(?P<year>1\d{3}|20\d{2})\s*\)?)\s*$", re.IGNORECASE)
_DATE_HEAD = re.compile(r"^(?:as of|in|by)\s+(?P<year>1\d{3}|20\d{2}),?\s+(?=\S)", re.IGNORECASE)
_HAN_YEAR = re.compile(r"^(?P<year>1\d{3}|20\d{2})年[，,]\s*")

# Participles that name a relation, by the word that follows them: "founded in" a year, "founded by" a person.
_PARTICIPLES: dict[str, dict[str, str]] = mapping("participles")


@cache
def _labels() -> str:
    labels = {label for relation in relations().values() for label in relation.labels if label.isascii() and len(label) > 3}
    return "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))


_S = "\ue000"  # stands for the subject, so that the patterns are compiled once


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    s = rf"(?:(?:the|The)\s+)?{_S}"
    a = r"(?:an?\s+|the\s+)?"
    labels = _labels()
    noun = rf"(?:(?:home )?(?:{either('noun_before_name')}) (?:of )?)?"
    tail = r"(?P<tail>\s+\(?(?:as of|in|since)\s+\d{4}\)?)?$"
    done = "|".join(_PARTICIPLES)
    written = (
        rf"^(?:the\s+)?(?P<label>{labels})\s+(?:of|on|at|for)\s+{noun}{s}\s+{_BE}\s+(?:called\s+)?(?P<value>.+)$",
        rf"^(?:the\s+)?{noun}{s}\s+(?:has|had|have)\s+{a}(?:total\s+)?(?P<label>{labels})\s+of\s+(?P<value>.+)$",
        rf"^(?P<value>[^,;]+?)\s+(?:is|was)\s+(?:the\s+)?(?P<label>{labels})\s+of\s+{s}{tail}",
        rf"^{s}\s+(?:has|had|counts?|counted|numbers?)\s+(?P<value>\d[\d,.]*(?:\s(?:thousand|million|billion))?)\s*(?P<label>{labels}){tail}",
        rf"^(?:the\s+)?{noun}{s}\s+(?:is|was|were|are|has been|had been)\s+(?P<done>{done})\s+(?P<word>in|on|by|at|to)\s+(?P<value>.+)$",
        rf"^{s}\s+(?P<done>opened)\s+(?P<word>in|on)\s+(?P<value>.+)$",
        rf"^{s}\s+(?:has|had)\s+(?:\d+|\w+)\s+(?P<label>{labels})\s*:\s*(?P<value>.+)$",
    )
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in written)


def say(sentence: str, subject: str) -> Iterator[tuple[Relation, str, str | None]]:
    """What a plain sentence says of a subject: (relation, value as written, year or None). Nothing, where it says more than one thing.

    The sentence is plain text; the subject must be named in it in full.
    """
    text = sentence.strip().rstrip(".。").strip()
    if len(text) > 220 or subject.casefold() not in text.casefold():
        return
    if any("\u4e00" <= char <= "\u9fff" for char in text):
        yield from _say_in_chinese(text, subject)
        return
    year = None
    head = _DATE_HEAD.match(text)
    if head:
        text, year = text[head.end() :], head["year"]
    text = _mention(subject).sub(_S, text, count=1)
    if _S not in text:
        return
    for pattern in _patterns():
        match = pattern.match(text)
        if not match:
            continue
        groups = match.groupdict()
        value = match["value"].strip()
        if groups.get("done"):
            name = _PARTICIPLES[match["done"].casefold()].get(match["word"].casefold())
            found: tuple[Relation, ...] = (relations()[name],) if name else ()
            if name == "birthplace" and value[:4].isdigit():
                found = (relations()["born"],)
        else:
            found = relations_of_label(match["label"])
        for relation in found:
            said, said_year = value, year
            if groups.get("tail"):
                said_year = re.sub(r"\D", "", match["tail"])
            tail = _DATE_TAIL.search(said)
            if tail and relation.kind != "date" and tail.start() > 0:
                said, said_year = said[: tail.start()].strip(), tail["year"]
            if _single(said, relation):
                yield relation, said, said_year
        return


def _single(value: str, relation: Relation) -> bool:
    """Whether the rest of the sentence is the value alone: no clause follows it."""
    if relation.listed:
        return not re.search(r"\b(?:which|who|that|while|but)\b", value)
    return (
        not re.search(r",\s+(?:which|who|where|when|but|while|and|its|the)\b|\b(?:which|who|while|but|because|although|until)\b|;", value)
        and len(value.split()) <= 9
    )


@lru_cache(maxsize=4096)
def _mention(subject: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(subject)}(?![\w-])", re.IGNORECASE)


@lru_cache(maxsize=512)
def _han_patterns(subject: str) -> tuple[re.Pattern[str], ...]:
    labels = "|".join(
        sorted((re.escape(label) for relation in relations().values() for label in relation.labels if not label.isascii()), key=len, reverse=True)
    )
    s = re.escape(subject)
    return (
        re.compile(rf"^{s}的?(?P<label>{labels})(?:是|为|为止为|约为|在|设在)\s*(?P<value>[^，,。；]+)$"),
        re.compile(rf"^{s}(?P<label>成立|建立|创立|创建|始建|通车|开放)于\s*(?P<value>[^，,。；]+)$"),
        re.compile(rf"^{s}(?P<label>海拔|全长|面积)\s*(?P<value>[\d零一二三四五六七八九十百千万][^，,。；]*)$"),
    )


def _say_in_chinese(text: str, subject: str) -> Iterator[tuple[Relation, str, str | None]]:
    year = None
    head = _HAN_YEAR.match(text)
    if head:
        text, year = text[head.end() :], head["year"]
    for pattern in _han_patterns(subject):
        match = pattern.match(text)
        if match:
            for relation in relations_of_label(match["label"]):
                yield relation, match["value"], year
            return
