"""How close passages are to a goal in meaning: cosines of the embedder's dense vectors, kept in memory by text.

Words alone miss a passage that says the same in others ("was inaugurated" for a goal that asks when something opened).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from terrarium.world.embed import Embedder

if TYPE_CHECKING:
    import numpy as np

# Vectors of 384 numbers: 30 MB.
_KEPT = 20_000
_LONGEST = 1000
_DIGITS = 4


class Closeness:
    """Safe to use from several threads."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, goal: str, texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the goal, between 0 and 1; 0 where the embedder cannot read one of the two.

        Raises:
            TerrariumError: a vector is not finite.
        """
        asked = " ".join(goal.split())[:_LONGEST]
        if not asked or not self._embedder.reads(asked):
            return [0.0] * len(texts)
        vector = self._vector(asked)
        return [max(0.0, round(float(self._vector(text) @ vector), _DIGITS)) if text and self._embedder.reads(text) else 0.0 for text in texts]

    def _vector(self, text: str) -> np.ndarray:
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        # One text at a time: in a batch, a vector's last digits depend on its neighbours' lengths.
        vector: np.ndarray = self._embedder.embed([text]).dense[0]
        with self._lock:
            self._kept[text] = vector
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return vector
