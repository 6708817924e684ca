"""The large flavour: a whole country with some 380 entities and their facts, a pure function of the seed."""

from __future__ import annotations

import random
from collections.abc import Callable

from littleweb.facts import Country, Entity, Fact
from littleweb.names import Namer
from littleweb.phrases import words

NOW = 2024
BEFORE = 2019
CENSUS_YEARS = (1994, 2004, 2014, 2024)
RECENT_YEARS = (2021, 2022, 2023, 2024)
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")


def number(value: int) -> str:
    """14233 -> "14,233"."""
    return f"{value:,}"


def make_country(seed: int) -> Country:
    """The country of this seed: the same entities and facts in every process."""
    return _Maker(seed).make()


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"littleweb country {seed}")
        self.names = Namer(self.rng)
        self.country = Country(
            name=self.rng.choice(("Velmora", "Sardavia", "Ostania", "Karelund", "Tessarry")), seed=seed, flavour="country", entities=[]
        )

    def make(self) -> Country:
        town_names = self._town_names(60)
        steps: tuple[Callable[[], None], ...] = (
            self._rivers, lambda: self._towns(town_names), self._regions, self._mountains, self._bridges, self._companies,
            self._lines, self._museums, self._clubs, self._people, self._disasters, self._laws, self._novels,
        )  # fmt: skip
        for step in steps:
            step()
        return self.country

    # The small words of which entities are made.

    def _add(self, kind: str, name: str, *facts: Fact, article: bool = False, aliases: tuple[str, ...] = ()) -> Entity:
        key = f"{kind}/{name}"
        entity = Entity(key=key, kind=kind, name=name, article=article, aliases=aliases, facts=list(facts))
        self.country.entities.append(entity)
        return entity

    def _num(self, relation: str, low: int, high: int, unit: str | None = None, **more: object) -> Fact:
        return Fact(relation, "number", number(self.rng.randint(low, high)), unit, **more)  # type: ignore[arg-type]

    def _decimal(self, relation: str, low: float, high: float, unit: str) -> Fact:
        return Fact(relation, "number", f"{self.rng.uniform(low, high):.1f}", unit)

    def _year(self, relation: str, low: int, high: int) -> Fact:
        return Fact(relation, "year", str(self.rng.randint(low, high)))

    def _date(self, relation: str, low: int, high: int) -> Fact:
        return Fact(relation, "date", f"{self.rng.randint(1, 28)} {self.rng.choice(MONTHS)} {self.rng.randint(low, high)}")

    def _name(self, relation: str, value: str, **more: object) -> Fact:
        article = value.startswith("River ")
        return Fact(relation, "name", value, article=article, **more)  # type: ignore[arg-type]

    def _word(self, relation: str, pool: tuple[str, ...], **more: object) -> Fact:
        value = self.rng.choice(pool)
        return Fact(relation, "word", value.removeprefix("the "), article=value.startswith("the "), **more)  # type: ignore[arg-type]

    def _list(self, relation: str, items: tuple[str, ...], **more: object) -> Fact:
        return Fact(relation, "list", ", ".join(items), items=items, **more)  # type: ignore[arg-type]

    def _officer(self, relation: str) -> Fact:
        """An office that changed hands: the holder now and the one before."""
        return Fact(relation, "name", self.names.person(), as_of=NOW, previous=(self.names.person(), BEFORE))

    def _series(self, relation: str, start: int, years: tuple[int, ...], unit: str | None = None, swing: float = 0.12) -> Fact:
        points, value = [], float(start)
        for year in years:
            points.append((year, number(round(value))))
            value *= 1 + self.rng.uniform(-swing, swing * 1.6)
        return Fact(relation, "series", points[-1][1], unit, series=tuple(points), as_of=years[-1], previous=(points[-2][1], years[-2]))

    def _town(self) -> str:
        return self.rng.choice(self.country.of_kind("town")).name

    def _river(self) -> str:
        return self.rng.choice(self.country.of_kind("river")).name

    def _region(self) -> str:
        return self.rng.choice(words()["region_names"])

    def _some(self, pool: tuple[str, ...], low: int, high: int) -> tuple[str, ...]:
        return tuple(self.rng.sample(pool, self.rng.randint(low, high)))

    def _people_names(self, count: int) -> tuple[str, ...]:
        return tuple(self.names.person() for _ in range(count))

    def _works(self, count: int) -> tuple[str, ...]:
        found: list[str] = []
        while len(found) < count:
            title = f"{self.rng.choice(words()['work_starts'])} {self.rng.choice(words()['work_ends'])}"
            if title not in found:
                found.append(title)
        return tuple(found)

    # The kinds.

    def _town_names(self, count: int) -> list[str]:
        names = [self.names.town() for _ in range(count - 8)]
        for place, form in zip(
            names[:8], ("New {}", "Upper {}", "Lower {}", "{} Harbour", "New {}", "Great {}", "Little {}", "{} Abbey"), strict=True
        ):
            names.append(form.format(place))
        return names

    def _rivers(self) -> None:
        for _ in range(26):
            name = self.names.river()
            tributaries = tuple(self.names.river().removeprefix("River ") + " Brook" for _ in range(self.rng.randint(3, 5)))
            self._add(
                "river", name, self._num("length", 31, 390, "km"), self._name("source", self.names.hill()), self._word("mouth", words()["seas"]),
                self._num("basin", 400, 9800, "km2"), self._decimal("discharge", 3, 140, "m3s"), self._list("tributaries", tributaries),
                self._list("fish",
                self._some(words()["fish"], 3, 5), on_seeds=False), article=True, aliases=(name.removeprefix("River ") + " (river)",),
            )  # fmt: skip

    def _towns(self, names: list[str]) -> None:
        for place, name in enumerate(names):
            self._add(
                "town", name, self._series("population", self.rng.randint(2100, 64000), CENSUS_YEARS), self._decimal("area", 6, 95, "km2"),
                self._num("elevation", 4, 890, "m"), self._year("founded", 1090, 1790), self._officer("mayor"), self._name("river", self._river()),
                self._name("region", words()["region_names"][place % len(words()["region_names"])]),
                self._list("quarters", self.names.places(self.rng.randint(3, 5))),
                Fact("postal_code", "name", f"{self.rng.randint(100, 999)}-{self.rng.randint(10, 99)}", on_seeds=False),
                self._word("market_day", words()["weekdays"], on_seeds=False), aliases=(f"{name} (town)",),
            )  # fmt: skip

    def _regions(self) -> None:
        for name in words()["region_names"]:
            towns = tuple(town.name for town in self.country.of_kind("town") if town.fact("region").value == name)
            self._add(
                "region", name, self._name("capital", self.rng.choice(towns)), self._officer("governor"), self._num("area", 1900, 9900, "km2"),
                self._list("towns", towns),
            )  # fmt: skip

    def _mountains(self) -> None:
        for _ in range(18):
            self._add(
                "mountain", f"Mount {self.names.hill()}", self._num("elevation", 1100, 3890, "m"), self._name("region", self._region()),
                self._year("first_ascent", 1780, 1931), self._name("first_climber", self.names.person()), self._num("prominence", 90, 1400, "m"),
                self._list("huts", tuple(f"{place} Hut" for place in self.names.places(self.rng.randint(3, 4)))),
                self._word("rock", words()["rocks"], on_seeds=False),
            )  # fmt: skip

    def _bridges(self) -> None:
        for _ in range(18):
            name = self.names.place() + " Bridge"
            while name.startswith("Bridge") or not self.names.claim(name):
                name = self.names.place() + " Bridge"
            self._add(
                "bridge", name, self._year("opened", 1790, 2012), self._name("crosses", self._river()), self._name("location", self._town()),
                self._name("architect", self.names.person()), self._num("length", 41, 870, "m"), self._word("material", words()["materials"]),
                self._decimal("cost", 2, 90, "crowns"), Fact("toll", "number", str(self.rng.randint(2, 19)), "coin", on_seeds=False), article=True,
            )  # fmt: skip

    def _companies(self) -> None:
        for _ in range(44):
            industry = self.rng.choice(words()["industries"])
            town, surname = self._town(), self.names.surname()
            name = self.rng.choice(words()["company_forms"]).format(town=town, surname=surname, thing=industry.capitalize())
            while not self.names.claim(name):
                town, surname = self._town(), self.names.surname()
                name = self.rng.choice(words()["company_forms"]).format(town=town, surname=surname, thing=industry.capitalize())
            employees = self.rng.randint(40, 5200)
            self._add(
                "company", name, self._year("founded", 1820, 2005), self._name("founder", self.names.person(surname if surname in name else None)),
                self._name("headquarters", town if town in name else self._town()), Fact("industry", "word", industry),
                Fact("employees", "number", number(employees), as_of=NOW, previous=(number(round(employees * self.rng.uniform(0.7, 0.95))), 2021)),
                self._officer("chief_executive"), self._series("revenue", self.rng.randint(8, 940), RECENT_YEARS, "crowns", 0.2),
                self._list("products", self._some(words()["products"], 3, 5)),
                Fact("register_number", "name", f"HR {self.rng.randint(10000, 99999)}", on_seeds=False),
                self._name("auditor", f"{self.names.surname()} & Partners", on_seeds=False),
            )  # fmt: skip

    def _lines(self) -> None:
        operators = tuple(f"{name} Railways" for name in (self.names.surname(), self.names.surname(), self.names.surname(), self.names.surname()))
        for colour in words()["colours"]:
            self._add(
                "line", f"{colour} Line", self._date("opened", 1871, 2009), self._word("operator", operators), self._decimal("length", 9, 120, "km"),
                self._series("passengers", self.rng.randint(90_000, 4_000_000), RECENT_YEARS), self._num("gauge", 600, 1600, "mm"),
                self._list("stations", self.names.places(self.rng.randint(5, 8))),
                self._name("depot", self.names.place(), on_seeds=False), article=True,
            )  # fmt: skip

    def _museums(self) -> None:
        for _ in range(28):
            town = self._town()
            name = f"{town} Museum of {self.rng.choice(words()['topics'])}"
            while not self.names.claim(name):
                town = self._town()
                name = f"{town} Museum of {self.rng.choice(words()['topics'])}"
            self._add(
                "museum", name, self._name("location", town if self.rng.random() < 0.7 else self._town()), self._year("opened", 1840, 2015),
                self._name("architect", self.names.person()), self._num("collection", 900, 88000, "objects"), self._officer("director"),
                self._series("visitors", self.rng.randint(4000, 310000), RECENT_YEARS), self._list("departments",
                self._some(words()["departments"], 3, 5)),
                self._word("closing_day", words()["weekdays"], on_seeds=False), article=True,
            )  # fmt: skip

    def _clubs(self) -> None:
        for _ in range(28):
            town = self._town()
            name = self.rng.choice(words()["club_forms"]).format(town)
            while not self.names.claim(name):
                town = self._town()
                name = self.rng.choice(words()["club_forms"]).format(town)
            titles = tuple(str(year) for year in sorted(self.rng.sample(range(1931, 2023), self.rng.randint(3, 5))))
            self._add(
                "club", name, self._year("founded", 1880, 1965),
                self._name("stadium", f"{self.names.place()} {self.rng.choice(('Park', 'Arena', 'Ground'))}"),
                self._num("capacity", 1800, 47000), self._word("league", words()["leagues"]), self._officer("coach"),
                self._series("members", self.rng.randint(300, 21000), RECENT_YEARS), self._list("titles", titles),
                self._name("kit_supplier", f"{self.names.surname()} Sportswear", on_seeds=False),
            )  # fmt: skip

    def _people(self) -> None:
        families = [self.names.surname() for _ in range(22)]
        for _ in range(56):
            self._add(
                "person", self.names.person(self.rng.choice(families)), self._date("born", 1838, 1989), self._name("birthplace", self._town()),
                self._word("occupation", words()["occupations"]), self._word("alma_mater", words()["universities"]),
                self._name("spouse", self.names.person()),
                self._num("height", 154, 199, "cm"), self._list("works", self._works(self.rng.randint(3, 4))),
                self._name("papers", f"the town archive of {self._town()}", on_seeds=False),
            )  # fmt: skip

    def _disasters(self) -> None:
        for _ in range(24):
            sort, year, town = self.rng.choice(words()["disasters"]), self.rng.randint(1890, 2018), self._town()
            while not self.names.claim(f"{town} {sort}"):
                town = self._town()
            date = f"{self.rng.randint(1, 28)} {self.rng.choice(MONTHS)} {year}"
            deaths = self.rng.randint(3, 240)
            self._add(
                "disaster", f"{town} {sort} of {year}", Fact("date", "date", date), self._name("location", f"{self.names.place()}, {town}"),
                Fact("deaths", "number", number(deaths)), self._num("injured", deaths + 2, deaths * 3 + 40), self._word("cause", words()["causes"]),
                self._decimal("damage", 1, 260, "crowns"), self._list("affected", self.names.places(self.rng.randint(3, 4))),
                self._name("relief_fund", f"{self.names.place()} Fund", on_seeds=False), article=True,
            )  # fmt: skip

    def _laws(self) -> None:
        for theme in self.rng.sample(words()["law_themes"], 24):
            year = self.rng.randint(1905, 2005)
            day = f"{self.rng.randint(1, 28)} {self.rng.choice(MONTHS)}"
            amended = tuple(str(y) for y in sorted(self.rng.sample(range(year + 2, 2024), self.rng.randint(3, 4))))
            self._add(
                "law", f"{theme} Act", Fact("enacted", "date", f"{day} {year}"), Fact("in_force", "date", f"1 {self.rng.choice(MONTHS)} {year + 1}"),
                self._name("author", self.names.person()), self._word("ministry", words()["ministries"]), self._num("articles", 12, 240),
                self._num("votes", 61, 149), self._list("amended", amended),
                Fact("bill_number", "name", f"{self.rng.randint(11, 99)}/{self.rng.randint(100, 999)}", on_seeds=False), article=True,
            )  # fmt: skip

    def _novels(self) -> None:
        for _ in range(20):
            name = f"The {self.rng.choice(words()['novel_starts'])} {self.rng.choice(words()['work_ends'])}"
            while not self.names.claim(name):
                name = f"The {self.rng.choice(words()['novel_starts'])} {self.rng.choice(words()['work_ends'])}"
            self._add(
                "novel", name, self._name("author", self.names.person()), self._year("published", 1871, 2019),
                self._name("publisher", f"{self.names.surname()} Press"), self._num("pages", 131, 890), self._word("genre", words()["genres"]),
                self._list("characters", self._people_names(self.rng.randint(3, 4))),
                Fact("shelf_mark", "name", f"{self.rng.choice('ABCDEFG')} {self.rng.randint(1000, 9999)}", on_seeds=False),
            )  # fmt: skip
