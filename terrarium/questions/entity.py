"""What a page is about: its entity, how running text calls it, and what kind of thing it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from terrarium.corpus.page import Page
from terrarium.questions.blocks import Unit, units
from terrarium.questions.values import fold, has_cjk, plain


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
    r"^(?:notes on|about|visiting|almanac[:：]|profile[:：]|portrait[:：]|a visit to|welcome to|facts about|a portrait of|history of the|guide to)\s+(?P<name>.+)$|"
    r"^(?P<name2>.+?)\s+(?:in (?:figures|numbers|profile|short|brief|data)|at a glance|profile|fact sheet|as promulgated)$|"
    r"^(?P<name3>.+?)(?:简介|概况|介绍)$",
    re.IGNORECASE,
)
_IS_A = re.compile(
    r"^.{0,40}?\b(?:is|was|are|were)\s+(?:an?|the|one of the|either of the)\s+(?P<phrase>[^,.;:()]+)",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"\b(?:in|of|on|at|that|which|who|whose|from|by|for|with|and|or|located|situated|near|to|between|known|used|made|based|published|written|directed|founded|within|where|as|established)\b.*$",
    re.IGNORECASE,
)
_VAGUE = frozenset(
    "one part name term form kind type set group number series study science system process way use place example page entry member art first second best largest".split()
)


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
        article = bool(re.search(rf"(?<![.!?]\s)(?<!^)(?<!\n)\bthe\s+(?:\*\*|__)?{re.escape(name)}(?!\w)", markdown)) or bool(
            re.search(rf"(?:^|[.!?]\s|\n)The\s+(?:\*\*|__)?{re.escape(name)}(?!\w)(?=(?:\*\*|__)?\s+[a-z(])", markdown)
        )
        if article:
            bare = len(re.findall(rf"(?<![Tt]he )(?<![Tt]he \*\*)\b(?:of|in|on|to|by|for)\s+{re.escape(name)}(?=\s[a-z]|[,.])", markdown))
            with_article = len(re.findall(rf"\b[Tt]he\s+(?:\*\*|__)?{re.escape(name)}(?!\w)(?=(?:\*\*|__)?(?:\s[a-z(]|[,.]))", markdown))
            article = with_article > bare
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


def _noun(phrase: str) -> str:
    words = _STOP.sub("", phrase).strip().split()
    while words and (not words[-1].isalpha() or words[-1].casefold() in _VAGUE):
        return ""
    if not words or len(words) > 5:
        return ""
    lower = [word for word in words if word.islower() and word.isalpha()]
    return (
        " ".join(lower[-2:])
        if len(lower) >= 2 and lower[-2] in {"railway", "football", "sports", "capital", "mountain", "short", "feature", "video", "art", "district"}
        else (lower[-1] if lower and lower[-1] == words[-1] else "")
    )


def entity_of(page: Page) -> Entity:
    """What a page is about, from its title and text alone: a pure function of the page, so that splits never move."""
    return _read(page.title, page.markdown)
