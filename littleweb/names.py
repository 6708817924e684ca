"""Invented names. Every name is drawn once; similar names are made on purpose elsewhere."""

from __future__ import annotations

import random

from littleweb.phrases import words


class Namer:
    """Draws names of each sort, never the same twice."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._used: set[str] = set()

    def _draw(self, starts: tuple[str, ...], ends: tuple[str, ...], form: str = "{}") -> str:
        while True:
            name = form.format(self._rng.choice(starts) + self._rng.choice(ends))
            if name not in self._used:
                self._used.add(name)
                return name

    def claim(self, name: str) -> bool:
        """True when nobody had this name yet; it is taken from now on."""
        fresh = name not in self._used
        self._used.add(name)
        return fresh

    def town(self) -> str:
        return self._draw(words()["town_starts"], words()["town_ends"])

    def river(self) -> str:
        return self._draw(words()["river_starts"], words()["river_ends"], "River {}")

    def surname(self) -> str:
        return self._rng.choice(words()["surname_starts"]) + self._rng.choice(words()["surname_ends"])

    def person(self, surname: str | None = None) -> str:
        while True:
            name = f"{self._rng.choice(words()['first_names'])} {surname or self.surname()}"
            if self.claim(name):
                return name

    def hill(self) -> str:
        return self._draw(words()["hill_starts"], words()["hill_ends"])

    def place(self) -> str:
        """A quarter, station, stadium stem or hut stem: "Millside"."""
        return self._rng.choice(words()["place_starts"]) + self._rng.choice(words()["place_ends"])

    def places(self, count: int) -> tuple[str, ...]:
        """`count` different places; another call may give the same ones."""
        chosen: list[str] = []
        while len(chosen) < count:
            place = self.place()
            if place not in chosen:
                chosen.append(place)
        return tuple(chosen)
