"""Makers: from the facts of a pool to questions, one module a capability.

A maker is a function of a pool and settings that yields questions in a fixed order. It combines only facts of one split and asks only
for entities of that split; what it makes still has to pass the gates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from terrarium.questions.makers.aggregation import make_aggregation
from terrarium.questions.makers.craft import Craft
from terrarium.questions.makers.cross_verification import make_cross_verification
from terrarium.questions.makers.direct import make_direct
from terrarium.questions.makers.enumeration import make_enumeration
from terrarium.questions.makers.statistics import make_statistics
from terrarium.questions.question import Capability, Question

Maker = Callable[[Craft], Iterator[Question]]

MAKERS: dict[Capability, Maker] = {
    "direct": make_direct,
    "aggregation": make_aggregation,
    "enumeration": make_enumeration,
    "cross_verification": make_cross_verification,
    "statistics": make_statistics,
}
"""The maker of each capability."""
