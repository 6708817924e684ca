"""The lexicon: which words on a page mean which relation, and in which words people ask for it. The words stand in `relations.yaml`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import yaml

from terrarium.questions.values import ValueKind, dates, fold, has_cjk, plain


@dataclass(frozen=True, slots=True)
class Wordings:
    """Questions for one relation in one language: for its value, and for how many members it has."""

    ask: tuple[str, ...] = ()
    count: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation. The fields are explained at the head of `relations.yaml`; `cues` finds a mention of it in running text."""

    name: str
    kind: ValueKind
    unit: str
    listed: bool
    changes: bool
    when_dated: str
    never: str
    labels: frozenset[str]
    cues: re.Pattern[str]
    after: re.Pattern[str] | None
    wordings: dict[str, Wordings]
    clause: str
    noun: str
    more: str
    earlier: str
    did: str
    item: str


def _pattern(words: list[str]) -> re.Pattern[str]:
    latin = [word for word in words if not has_cjk(word)]
    han = [word for word in words if has_cjk(word)]
    parts = ([r"(?<!\w)(?:" + "|".join(latin) + r")(?!\w)"] if latin else []) + (["(?:" + "|".join(han) + ")"] if han else [])
    return re.compile("|".join(parts), re.IGNORECASE)


@cache
def relations() -> dict[str, Relation]:
    """All relations by name."""
    text = Path(__file__).with_name("relations.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Relation] = {}
    for name, entry in yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)).items():
        zh = entry.get("zh", {})
        after = entry.get("after")
        loaded[name] = Relation(
            name=name,
            kind=entry["kind"],
            unit=entry.get("unit", ""),
            listed=entry.get("list", False),
            changes=entry.get("changes", False),
            when_dated=entry.get("when_dated", ""),
            never=entry.get("never", ""),
            labels=frozenset([*entry["labels"], *zh.get("labels", ())]),
            cues=_pattern([*entry["cues"], *(re.escape(label) for label in entry["labels"]), *zh.get("cues", ()), *zh.get("labels", ())]),
            after=_pattern(after) if after else None,
            wordings={
                "en": Wordings(tuple(entry["ask"]), tuple(entry.get("count", ()))),
                "zh": Wordings(tuple(zh.get("ask", ())), tuple(zh.get("count", ()))),
            },
            clause=entry.get("with", ""),
            noun=entry.get("noun", ""),
            more=entry.get("more", ""),
            earlier=entry.get("earlier", ""),
            did=entry.get("did", ""),
            item=entry.get("item", ""),
        )
    return loaded


@cache
def _by_label() -> dict[str, tuple[Relation, ...]]:
    found: dict[str, list[Relation]] = {}
    for relation in relations().values():
        for label in relation.labels:
            found.setdefault(label, []).append(relation)
    return {label: tuple(named) for label, named in found.items()}


_BRACKETS = re.compile(r"\s*[(（\[][^)）\]]*[)）\]]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TAIL = re.compile(r"[\s\d.:：]+$")


@lru_cache(maxsize=8192)
def label_of(text: str) -> tuple[str, str | None]:
    """A label as it is looked up, and the year it carries: "Population (2021 census)" -> ("population", "2021")."""
    bare = _CAMEL.sub(" ", plain(text))
    years = [str(when.year) for when in dates(bare.replace("_", " "))]
    name = re.sub(r"\b(?:1\d{3}|20\d{2})\b", " ", _BRACKETS.sub("", bare).replace("_", " "))
    name = re.sub(r"^(?:in|as of)\s+|\s+(?:in|as of|since|on)$", "", " ".join(name.split())) if years else name
    name = _TAIL.sub("", fold(name.lstrip("•-–· ")))
    return " ".join(name.split()), years[-1] if years else None


@lru_cache(maxsize=8192)
def relations_of_label(text: str) -> tuple[Relation, ...]:
    """The relations a label, table header or heading can stand for; none when it is unknown."""
    name, _ = label_of(text)
    return _by_label().get(name) or _by_label().get(name.removesuffix("s")) or ()
