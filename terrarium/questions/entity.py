"""What a page is about: its entity, how running text calls it, and what kind of thing it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from terrarium.corpus.page import Page
from terrarium.questions.blocks import Unit, units
from terrarium.questions.values import fold, has_cjk, plain
from terrarium.questions.words import either, words


@dataclass(frozen=True, slots=True)
class Entity:
    """The entity of a page. `name` carries no bracket and no site; `in_text` has the article that running text puts before it.

    `qualifier` is the bracket of the title ("Mercury (planet)" -> "planet"); `noun` what the page says it is ("town"), or "".
    """

    name: str
    in_text: str
    qualifier: str
    noun: str


_SITE = re.compile(r"\s+(?:[|–—·]|-{1,2})\s+.*$")
_COLON = re.compile(r"^(?P<name>[^:：]{2,60}?)\s*[:：]\s+\S")
_BRACKET = re.compile(r"\s*[（(](?P<inside>[^()（）]+)[)）]\s*$")
_FRAME = re.compile(
    rf"^(?:{either('title_heads')})\s+(?P<name>.+)$|^(?P<name2>.+?)\s+(?:{either('title_tails')})$|^(?P<name3>.+?)(?:简介|概况|介绍)$", re.IGNORECASE
)
_IS_A = re.compile(
    r"^.{0,40}?\b(?:is|was|are|were)\s+(?:an?|the|one of the|either of the)\s+(?P<phrase>[^.;:()]+)",
    re.IGNORECASE,
)
_STOP = re.compile(rf"\b(?:{either('noun_ends')})\b.*$", re.IGNORECASE)
_VAGUE = frozenset(words("vague_nouns"))
_COMPOUND = frozenset(words("compound_nouns"))


def page_name(title: str) -> tuple[str, str]:
    """A title without site and frame, and its bracket: "Mercury (planet) - Some Site" -> ("Mercury", "planet")."""
    name = _SITE.sub("", plain(title)).strip()
    bracket = _BRACKET.search(name)
    qualifier = ""
    if bracket and bracket.start() > 0:
        name, qualifier = name[: bracket.start()].strip(), bracket["inside"].strip()
    colon = _COLON.match(name)
    if colon and not _FRAME.match(name):
        name = colon["name"]
    framed = _FRAME.match(name)
    if framed:
        name = next(part for part in framed.groups() if part)
    return name.strip(" :："), qualifier


@lru_cache(maxsize=4096)
def _read(title: str, markdown: str) -> Entity:
    name, qualifier = page_name(title)
    noun, article = "", False
    first = fold(name)
    if not has_cjk(name):
        article = _has_article(name, markdown)
        for unit in _opening(markdown):
            said = _IS_A.match(unit.text)
            if said and first.split()[-1] in fold(unit.text[: said.start("phrase")]):
                noun = _noun(said["phrase"])
                break
    if name.casefold().startswith("the "):
        article = False
    return Entity(name, f"the {name}" if article else name, qualifier, noun)


def _opening(markdown: str) -> list[Unit]:
    return [unit for unit in units(markdown[:3000]) if unit.kind == "sentence"][:3]


_AFTER = r"(?=(?:\*\*|__)?(?:\s(?:is|was|has|had|are|were|and|or|in|on|at|to|of|from|for|with|as|will|would|can|by)\b|[,.;:)('’]|\s\())"


def _has_article(name: str, markdown: str) -> bool:
    """Whether running text puts "the" before the name more often than not; "the Apollo 11 crew" says nothing about Apollo 11."""
    marked = rf"(?:\*\*|__)?{re.escape(name)}(?!\w){_AFTER}"
    with_article = len(re.findall(rf"\b[Tt]he\s+{marked}", markdown))
    return with_article > len(re.findall(marked, markdown)) - with_article


def _noun(phrase: str) -> str:
    """The noun a phrase ends in: "quiet town in the north" -> "town"; "" where there is none to be sure of."""
    words = re.sub(r"(?:\s+(?:and|or|,))+$|,$", "", _STOP.sub("", phrase).strip()).split()
    if not words or len(words) > 8 or not words[-1].isalpha() or not words[-1].islower() or words[-1] in _VAGUE:
        return ""
    before = words[-2] if len(words) > 1 else ""
    return f"{before} {words[-1]}" if before in _COMPOUND else words[-1]


def entity_of(page: Page) -> Entity:
    """What a page is about, from its title and text alone: a pure function of the page, so that splits never move."""
    return _read(page.title, page.markdown)
