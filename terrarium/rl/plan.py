"""Which questions are tried, and which are trained on in which step: a function of ids, seed and stage alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from terrarium.errors import TerrariumError
from terrarium.tables import stable_id


def seeded_order(ids: Iterable[str], *seed: object) -> list[str]:
    """`ids` in an order that depends on nothing but them and `seed`; adding an id moves no other two against each other."""
    return sorted(set(ids), key=lambda item: stable_id(*map(str, seed), item, length=32))


def training_plan(ids: Sequence[str], questions: int, steps: int, *seed: object) -> list[list[str]]:
    """The questions of every step: passes over all of them, each pass in an order of its own, no question twice in one step.

    Args:
        questions: how many a step.

    Raises:
        TerrariumError: there are fewer questions than one step needs.
    """
    if len(set(ids)) < questions:
        raise TerrariumError(
            f"A step of this stage trains on {questions} questions, and {len(set(ids))} survived its filter; "
            "try more candidates, or lower the stage's `questions` in the profile."
        )
    stream = _passes(ids, *seed)
    waiting: list[str] = []
    plan = []
    for _ in range(steps):
        step: list[str] = []
        later: list[str] = []
        while len(step) < questions:
            question = waiting.pop(0) if waiting else next(stream)
            (later if question in step else step).append(question)
        waiting = later + waiting
        plan.append(step)
    return plan


def _passes(ids: Sequence[str], *seed: object) -> Iterator[str]:
    number = 0
    while True:
        yield from seeded_order(ids, *seed, "pass", number)
        number += 1
