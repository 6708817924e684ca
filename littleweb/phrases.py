"""The wordings: YAML files beside this module that say how each fact can be put into words, and the opening prose."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

_FOLDER = Path(__file__).with_name("wordings")


def _load(name: str) -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), Loader=loader)


@cache
def relations() -> dict[str, dict[str, dict[str, Any]]]:
    """kind -> relation -> its wordings (label, seed, other, series, second)."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name in ("places", "organisations", "people_and_events", "tiny"):
        found.update(_load(name))
    return found


@cache
def openings() -> dict[str, Any]:
    """voice -> sentences, and `slots` with the words that vary in them."""
    return _load("openings")


@cache
def words() -> dict[str, tuple[str, ...]]:
    """The lists of words of which names and facts are made, by name."""
    return {name: tuple(entries) for name, entries in _load("words").items()}
