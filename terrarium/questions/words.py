"""The word lists of `words.yaml`, by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def _lists() -> dict[str, Any]:
    text = Path(__file__).with_name("words.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def words(name: str) -> tuple[str, ...]:
    """A list of words or expressions, in its order."""
    entry = _lists()[name]
    return tuple(entry.split()) if isinstance(entry, str) else tuple(entry)


def mapping(name: str) -> dict[str, Any]:
    """A list of lists."""
    return dict(_lists()[name])


def either(name: str) -> str:
    """A list of expressions as one: "one|two", the longest first."""
    return "|".join(sorted(words(name), key=len, reverse=True))
