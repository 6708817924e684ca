"""Splits: train, validation or test as a pure function of a page's entity, so that growth never moves anything.

The same hash, salted otherwise, deals training questions to SFT and to reinforcement learning by the fact they ask for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from terrarium.errors import TerrariumError
from terrarium.questions.values import fold

SPLITS = ("train", "validation", "test")


def position(key: str, salt: str) -> float:
    """A number in [0, 1) that depends on nothing but its arguments; equal in every process."""
    digest = hashlib.sha256(f"{salt}\x1f{key}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def checked(fractions: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """Fractions by name, in a fixed order.

    Raises:
        TerrariumError: a name is unknown, a fraction lies outside [0, 1], or they do not add up to 1.
    """
    if set(fractions) - set(names) or any(not 0 <= share <= 1 for share in fractions.values()) or abs(sum(fractions.values()) - 1) > 1e-6:
        raise TerrariumError(
            f"The fractions {dict(fractions)} must name only {', '.join(names)}, lie between 0 and 1 and add up to 1; mend the profile."
        )
    return {name: fractions.get(name, 0.0) for name in names}


def split_of(entity: str, fractions: Mapping[str, float]) -> str:
    """The split of an entity: train, validation or test. A pure function of its name, however it is written (case, article).

    Raises:
        TerrariumError: the fractions do not add up to 1.
    """
    return _dealt(position(fold(entity), "split"), checked(fractions, SPLITS))


def share_of(fact_key: str, shares: Mapping[str, float]) -> str:
    """The share of a training question: sft or rl, by the hash of the fact it asks for.

    Raises:
        TerrariumError: the shares do not add up to 1.
    """
    return _dealt(position(fact_key, "share"), checked(shares, ("sft", "rl")))


def _dealt(at: float, fractions: dict[str, float]) -> str:
    reached = 0.0
    for name, fraction in fractions.items():
        reached += fraction
        if at < reached:
            return name
    return next(name for name in reversed(fractions) if fractions[name] > 0)
