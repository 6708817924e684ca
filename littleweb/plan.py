"""Which pages exist, where, and how up to date each is. No page is written here; that is done when it is asked for."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from littleweb.facts import Country, Entity, Fact
from littleweb.saying import joined
from littleweb.sites import CHINESE, COURIER, ENCYCLOPEDIA, HEADLINES, KIND_WORDS, MIRROR, PLURALS, Site, sites_of

PageKind = Literal["entity", "overview", "index", "home", "near_copy", "exact_copy"]

# Tables that several sites keep: kind -> (relation that groups the entities or None, columns). Every table is complete for its title.
OVERVIEWS: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "town": ("region", ("area", "elevation", "founded")),
    "river": (None, ("length", "mouth", "basin")),
    "mountain": (None, ("elevation", "region", "first_ascent")),
    "bridge": (None, ("crosses", "opened", "length")),
    "company": ("industry", ("headquarters", "founded", "founder")),
    "line": (None, ("operator", "length", "opened")),
    "museum": (None, ("location", "opened", "collection")),
    "club": (None, ("league", "founded", "capacity")),
    "person": ("occupation", ("born", "birthplace")),
    "disaster": (None, ("date", "deaths", "injured")),
    "law": (None, ("enacted", "ministry", "articles")),
    "novel": (None, ("genre", "published", "pages")),
}
OVERVIEW_HOSTS = {
    "town": "statistics.example",
    "river": "almanac.example",
    "mountain": "statistics.example",
    "bridge": "almanac.example",
    "company": "registry.example",
    "line": "transit.example",
    "museum": "museums.example",
    "club": "league.example",
    "person": "whoswho.example",
    "disaster": "safety.example",
    "law": "gazette.example",
    "novel": "library.example",
}


@dataclass(frozen=True, slots=True)
class PageSpec:
    """One page to be: where, what about, and its random stream's label. `original` is the page a copy repeats."""

    site: Site
    path: str
    kind: PageKind
    title: str
    entities: tuple[Entity, ...] = ()
    entity_kind: str = ""
    group: str | None = None
    original: PageSpec | None = None
    links: tuple[tuple[str, str], ...] = ()

    @property
    def url(self) -> str:
        return f"http://{self.site.host}{self.path}"


def slug(name: str) -> str:
    """ "River Vella" -> "river-vella"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def wiki_slug(name: str) -> str:
    """ "River Vella" -> "River_Vella"."""
    return name.replace(" ", "_").replace("&", "and")


class Plan:
    """All pages and redirects of one country, in a fixed order; decisions are drawn from streams named after what they decide."""

    def __init__(self, country: Country) -> None:
        self.country = country
        self.sites = sites_of(country.flavour)
        self.by_host = {site.host: site for site in self.sites}
        self.pages: list[PageSpec] = []
        self.redirects: dict[str, str] = {}
        self._make()

    def stream(self, *label: str) -> random.Random:
        """A random stream of its own for each thing that is decided."""
        return random.Random("/".join(("littleweb", str(self.country.seed), self.country.flavour, *label)))

    def independent_sites(self, kind: str) -> list[Site]:
        """Sites with their own account of this kind, the full ones first; from the third on they are partial."""
        return [site for site in self.sites if site.role == "independent" and kind in site.kinds and site.host != CHINESE]

    def is_partial(self, site: Site, kind: str) -> bool:
        """Whether the site tells only a part of the facts of this kind."""
        return site in self.independent_sites(kind)[2:]

    def stale_host(self, entity: Entity, fact: Fact) -> str | None:
        """The one site whose statement of this fact is out of date, or None."""
        if not fact.previous:
            return None
        draw = self.stream("stale", entity.key, fact.relation).random()
        third = self.independent_sites(entity.kind)[2:]
        if draw < 0.16:
            return ENCYCLOPEDIA
        return third[0].host if third and draw < 0.5 else None

    def in_courier(self, entity: Entity) -> bool:
        """Whether the second seed writes about the entity: always where the encyclopedia is out of date."""
        if any(self.stale_host(entity, fact) == ENCYCLOPEDIA for fact in entity.facts):
            return True
        return self.stream("courier", entity.key).random() < (0.5 if self.country.flavour == "tiny" else 0.6)

    def _make(self) -> None:
        for site in self.sites:
            if site.host == MIRROR:
                self._copies(site)
            else:
                if self.country.flavour == "tiny" and site.style == "table":
                    self._shared_pages(site)
                else:
                    self._entity_pages(site)
                self._overviews(site)
            self._indexes(site)
        self._redirect_all()

    def _entity_pages(self, site: Site) -> None:
        for entity in self.country.entities:
            if entity.kind not in site.kinds:
                continue
            if site.host == COURIER and not self.in_courier(entity):
                continue
            if site.host == CHINESE and self.stream("chinese", entity.key).random() > 0.5:
                continue
            name = wiki_slug(entity.name) if site.host == ENCYCLOPEDIA else slug(entity.name)
            rng = self.stream("title", site.host, entity.key)
            path = site.path.format(slug=name, kind=slug(PLURALS[entity.kind]), section=rng.choice(("country", "society", "business", "culture")))
            title = site.page_title.format(entity.name, headline=rng.choice(HEADLINES))
            self.pages.append(PageSpec(site, path, "entity", title, (entity,), entity.kind))

    def _shared_pages(self, site: Site) -> None:
        """One page for every three entities, in a table."""
        for kind in site.kinds:
            entities = self.country.of_kind(kind)
            for start in range(0, len(entities), 3):
                some = tuple(entities[start : start + 3])
                names = joined(tuple(entity.name for entity in some))
                path = site.path.format(slug=slug(names), kind=slug(PLURALS[kind]))
                self.pages.append(PageSpec(site, path, "entity", site.page_title.format(names), some, kind))

    def _overviews(self, site: Site) -> None:
        for kind, (grouped_by, _) in OVERVIEWS.items():
            if kind not in site.kinds or (site.host != ENCYCLOPEDIA and OVERVIEW_HOSTS[kind] != site.host):
                continue
            entities = self.country.of_kind(kind)
            groups = sorted({entity.fact(grouped_by).value for entity in entities}) if grouped_by else [None]
            for group in groups:
                members = tuple(entity for entity in entities if group is None or entity.fact(str(grouped_by)).value == group)
                title = self._overview_title(site, kind, group)
                path = f"/wiki/{wiki_slug(title)}" if site.host == ENCYCLOPEDIA else f"/overview/{slug(title)}"
                self.pages.append(PageSpec(site, path, "overview", title, members, kind, group))

    def _overview_title(self, site: Site, kind: str, group: str | None) -> str:
        where = f"in {self.country.name}"
        if kind == "town":
            what, where = "towns", f"in {group}"
        elif kind == "company":
            what = f"{group} companies"
        elif kind == "person":
            what = f"{group}s" if group else "people"
        else:
            what = PLURALS[kind]
        return f"List of {what} {where}" if site.host == ENCYCLOPEDIA else f"{what.capitalize()} {where} at a glance"

    def _copies(self, site: Site) -> None:
        originals = [page for page in self.pages if page.site.role == "seed" and page.kind == "entity"]
        share = (0.06, 0.12) if self.country.flavour == "tiny" else (0.14, 0.3)
        for page in originals:
            draw = self.stream("copy", page.url).random()
            if draw >= share[1]:
                continue
            kind: PageKind = "exact_copy" if draw < share[0] else "near_copy"
            folder = "wire" if page.site.host == COURIER else ("wiki" if kind == "exact_copy" else "entry")
            path = f"/{folder}/{page.path.rsplit('/', 1)[-1]}"
            self.pages.append(PageSpec(site, path, kind, page.title, page.entities, page.entity_kind, original=page))

    def _indexes(self, site: Site) -> None:
        own = [page for page in self.pages if page.site is site]
        if self.country.flavour == "tiny":
            self.pages.append(PageSpec(site, "/", "home", site.title, links=tuple((page.title, page.path) for page in own)))
            return
        indexes = []
        kinds = [kind for kind in dict.fromkeys(page.entity_kind for page in own) if kind]
        for kind in kinds:
            links = tuple((page.title, page.path) for page in own if page.entity_kind == kind)
            indexes.append(PageSpec(site, f"/index/{slug(PLURALS[kind])}", "index", f"All pages: {PLURALS[kind]}", entity_kind="", links=links))
        home = PageSpec(site, "/", "home", site.title.format(country=self.country.name), links=tuple((page.title, page.path) for page in indexes))
        self.pages.extend([*indexes, home])

    def _redirect_all(self) -> None:
        for number, page in enumerate(self.pages):
            if page.kind != "entity":
                continue
            host = page.site.host
            if host == ENCYCLOPEDIA:
                for alias in page.entities[0].aliases:
                    self.redirects[f"http://{host}/wiki/{wiki_slug(alias)}"] = page.url
            elif host == "tribune.example":
                self.redirects[f"http://{host}/s/{number}"] = page.url
            elif host == "whoswho.example":
                self.redirects[f"http://{host}/id/{number}"] = page.url
            elif host == "statistics.example":
                self.redirects[f"{page.url}/"] = page.url
        if self.country.flavour == "tiny":
            first = next(page for page in self.pages if page.kind == "entity")
            self.redirects[f"http://{ENCYCLOPEDIA}/wiki/Main"] = first.url

    def short_link(self, page: PageSpec) -> str | None:
        """A redirecting address of the page, where it has one."""
        return self._short_links.get(page.url)

    @cached_property
    def _short_links(self) -> dict[str, str]:
        return {target: source for source, target in self.redirects.items()}


def kind_word(kind: str) -> str:
    """How the kind is called in text: "railway line"."""
    return KIND_WORDS[kind]
