"""Invented names. Every name is drawn once; similar names are made on purpose elsewhere."""

from __future__ import annotations

import random

TOWN_STARTS = ("Nor", "Har", "Tol", "Bre", "Wes", "Ost", "Kel", "Dun", "Mar", "Fen", "Gal", "Ruv", "Sel", "Vor", "Lin", "Cas", "Bor", "Ald", "Em", "Quor", "Tarn", "Hol", "Pell", "Ives", "Sor", "Ker", "Lam", "Ash", "Thur", "Wend")  # fmt: skip
TOWN_ENDS = ("rick", "vale", "mere", "stow", "holm", "wick", "burgh", "den", "lund", "ford", "moor", "haven", "cott", "sund", "gate", "dorf", "mark", "by", "shaw", "well")  # fmt: skip
RIVER_STARTS = ("Vel", "Oss", "Tam", "Irr", "Lod", "Nev", "Sarr", "Ull", "Dree", "Mor", "Aln", "Cor", "Pesk", "Wyr", "Zem", "Est", "Gril", "Hask", "Jov", "Kem")  # fmt: skip
RIVER_ENDS = ("la", "en", "ra", "wen", "is", "au", "na", "ith", "our", "el")
FIRST_NAMES = ("Ansel", "Mirela", "Tobin", "Edda", "Corvin", "Lisbet", "Halvar", "Rosamund", "Emeric", "Sanna", "Jorun", "Petra", "Aldous", "Ilse", "Bastian", "Greta", "Ruben", "Thea", "Kaspar", "Nadia", "Oswin", "Marta", "Fabian", "Ingrid", "Leopold", "Vera", "Anton", "Clara", "Matthis", "Helga", "Viktor", "Elin", "Stefan", "Judith", "Roland", "Agnes", "Dorian", "Selma", "Henrik", "Paula")  # fmt: skip
SURNAME_STARTS = ("Dor", "Vant", "Kes", "Brand", "Mol", "Hal", "Stren", "Wolf", "Ager", "Lind", "Tre", "Quin", "Sch", "Bar", "Fal", "Grun", "Ros", "Pav", "Osk", "Jes", "Kor", "Mer", "Nad", "Rud")  # fmt: skip
SURNAME_ENDS = ("rin", "holt", "ler", "sen", "dane", "mont", "ova", "wick", "berg", "lund", "ett", "orn", "mann", "ary", "ind", "esk")
HILL_STARTS = ("Raven", "Stone", "Frost", "Wolf", "Eagle", "Thorn", "Cloud", "Grey", "Salt", "Copper", "Bleak", "High", "Fallow", "Hollow", "Winter", "Storm", "Goat", "Larch", "Lone", "Silver")  # fmt: skip
HILL_ENDS = ("crag", "fell", "horn", "ridge", "top", "peak", "tor", "spitz", "brow", "kopf")
PLACE_STARTS = ("Mill", "Castle", "Bridge", "Market", "Garden", "Abbey", "Harbour", "Orchard", "Lantern", "Weaver", "Tanner", "Chapel", "Canal", "Quarry", "Meadow", "Poplar", "Linden", "Hazel", "Juniper", "Rowan", "Cobbler", "Potter", "Falcon", "Swan", "Otter", "Lily")  # fmt: skip
PLACE_ENDS = ("side", "gate", "field", "end", "row", "hill", "yard", "green", "bank", "cross", "corner", "park")


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
        return self._draw(TOWN_STARTS, TOWN_ENDS)

    def river(self) -> str:
        return self._draw(RIVER_STARTS, RIVER_ENDS, "River {}")

    def surname(self) -> str:
        return self._rng.choice(SURNAME_STARTS) + self._rng.choice(SURNAME_ENDS)

    def person(self, surname: str | None = None) -> str:
        while True:
            name = f"{self._rng.choice(FIRST_NAMES)} {surname or self.surname()}"
            if self.claim(name):
                return name

    def hill(self) -> str:
        return self._draw(HILL_STARTS, HILL_ENDS)

    def place(self) -> str:
        """A quarter, station, stadium stem or hut stem: "Millside"."""
        return self._rng.choice(PLACE_STARTS) + self._rng.choice(PLACE_ENDS)

    def places(self, count: int) -> tuple[str, ...]:
        """`count` different places; another call may give the same ones."""
        chosen: list[str] = []
        while len(chosen) < count:
            place = self.place()
            if place not in chosen:
                chosen.append(place)
        return tuple(chosen)
