"""The sites of the web: host, character, which kinds of entity each writes about, and how it puts things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Style = Literal["wiki", "article", "prose", "table", "bullets", "labels", "articles_of_law", "chinese"]
Layout = Literal["wiki", "paper", "office", "blog", "plain"]


@dataclass(frozen=True, slots=True)
class Site:
    """One site. `voice` names its opening prose, `kinds` whom it has pages about, `headers` the columns of its tables."""

    host: str
    title: str
    role: Literal["seed", "copy", "independent"]
    style: Style
    layout: Layout
    voice: str
    path: str
    kinds: tuple[str, ...]
    page_title: str = "{}"
    headers: tuple[str, str, str] = ("Name", "Item", "Entry")
    language: str = "en"
    disallow: tuple[str, ...] = ("/admin/",)


ENCYCLOPEDIA = "encyclopedia.example"
COURIER = "courier.example"
MIRROR = "mirror.example"
CHINESE = "huabao.example"
SEARCH = "search.example"
ALL = ("region", "town", "river", "mountain", "bridge", "company", "line", "museum", "club", "person", "disaster", "law", "novel")
TINY = ("tiny_town", "tiny_company", "tiny_club", "tiny_museum")

COUNTRY_SITES: tuple[Site, ...] = (
    Site(ENCYCLOPEDIA, "Encyclopedia of {country}", "seed", "wiki", "wiki", "formal", "/wiki/{slug}", ALL, disallow=("/special/", "/edit/")),
    Site(
        COURIER, "The Harbour Courier", "seed", "article", "paper", "news", "/{section}/{slug}.html", ALL, "{}: {headline}", disallow=("/archive/",)
    ),
    Site(
        "tribune.example",
        "The Inland Tribune",
        "independent",
        "prose",
        "paper",
        "news",
        "/stories/{slug}",
        ("company", "line", "club", "person", "disaster", "law", "novel"),
        "{} in profile",
        disallow=("/archive/",),
    ),  # fmt: skip
    Site(
        "statistics.example",
        "Office of Statistics",
        "independent",
        "table",
        "office",
        "formal",
        "/data/{kind}/{slug}",
        ("region", "town", "mountain"),
        "{} in figures",
        ("Name", "Indicator", "Value"),
    ),  # fmt: skip
    Site(
        "transit.example",
        "Public Transit Authority",
        "independent",
        "table",
        "office",
        "formal",
        "/lines/{slug}",
        ("line",),
        "{}: line information",
        ("Line", "Item", "Details"),
    ),  # fmt: skip
    Site(
        "museums.example",
        "The National Museum's Guide to Museums",
        "independent",
        "labels",
        "plain",
        "formal",
        "/guide/{slug}",
        ("museum",),
        "{} | museum guide",
    ),  # fmt: skip
    Site(
        "registry.example",
        "Register of Companies",
        "independent",
        "table",
        "office",
        "formal",
        "/company/{slug}",
        ("company",),
        "{} (register extract)",
        ("Company", "Entry", "Particulars"),
        disallow=("/filings/",),
    ),  # fmt: skip
    Site(
        "wander.example",
        "Wandering Slowly",
        "independent",
        "prose",
        "blog",
        "warm",
        "/{slug}/",
        ("town", "river", "mountain", "bridge", "museum"),
        "Notes on {}",
    ),  # fmt: skip
    Site(
        "league.example",
        "The League and Its Clubs",
        "independent",
        "table",
        "plain",
        "formal",
        "/clubs/{slug}",
        ("club",),
        "{} - club sheet",
        ("Club", "Item", "Entry"),
    ),  # fmt: skip
    Site("gazette.example", "Gazette of Laws", "independent", "articles_of_law", "office", "formal", "/laws/{slug}", ("law",), "{} as promulgated"),
    Site(
        "whoswho.example", "Who Was and Who Is", "independent", "labels", "plain", "formal", "/people/{slug}", ("person",), "{} - biographical entry"
    ),
    Site(
        "safety.example",
        "Civil Protection Office",
        "independent",
        "table",
        "office",
        "formal",
        "/events/{slug}",
        ("disaster",),
        "{}: event record",
        ("Event", "Item", "Finding"),
    ),  # fmt: skip
    Site("library.example", "National Library", "independent", "labels", "plain", "formal", "/catalogue/{slug}", ("novel",), "{} - catalogue card"),
    Site(
        "almanac.example",
        "The Yearly Almanac",
        "independent",
        "bullets",
        "plain",
        "formal",
        "/entry/{slug}",
        ("region", "town", "river", "mountain", "bridge", "company", "line", "museum", "club"),
        "Almanac: {}",
    ),  # fmt: skip
    Site(CHINESE, "岛国画报", "independent", "chinese", "paper", "chinese", "/zh/{slug}.html", ("town", "company"), "{}简介", language="zh"),
    Site(MIRROR, "Open Knowledge Mirror", "copy", "wiki", "plain", "formal", "/wiki/{slug}", ALL),
)

TINY_SITES: tuple[Site, ...] = (
    Site(ENCYCLOPEDIA, "Tiny Encyclopedia", "seed", "wiki", "wiki", "tiny", "/wiki/{slug}", TINY, disallow=("/special/", "/edit/")),
    Site(COURIER, "Tiny Courier", "seed", "article", "paper", "tiny", "/{section}/{slug}.html", TINY, "{}: {headline}", disallow=("/archive/",)),
    Site("wander.example", "Tiny Blog", "independent", "prose", "blog", "tiny", "/{slug}/", TINY, "Notes on {}"),
    Site(
        "statistics.example",
        "Tiny Office",
        "independent",
        "table",
        "office",
        "tiny",
        "/data/{kind}/{slug}",
        TINY,
        "{} in short",
        ("Name", "Item", "Entry"),
    ),  # fmt: skip
    Site(MIRROR, "Tiny Mirror", "copy", "wiki", "plain", "tiny", "/wiki/{slug}", TINY),
)

KIND_WORDS = {
    "region": "region",
    "town": "town",
    "river": "river",
    "mountain": "mountain",
    "bridge": "bridge",
    "company": "company",
    "line": "railway line",
    "museum": "museum",
    "club": "sports club",
    "person": "person",
    "disaster": "disaster",
    "law": "law",
    "novel": "novel",
    "tiny_town": "town",
    "tiny_company": "company",
    "tiny_club": "club",
    "tiny_museum": "museum",
}
PLURALS = {
    "region": "regions",
    "town": "towns",
    "river": "rivers",
    "mountain": "mountains",
    "bridge": "bridges",
    "company": "companies",
    "line": "railway lines",
    "museum": "museums",
    "club": "sports clubs",
    "person": "people",
    "disaster": "disasters",
    "law": "laws",
    "novel": "novels",
    "tiny_town": "towns",
    "tiny_company": "companies",
    "tiny_club": "clubs",
    "tiny_museum": "museums",
}
HEADLINES = (
    "a closer look",
    "what readers should know",
    "a short portrait",
    "much talked about again",
    "the facts behind the talk",
    "an old acquaintance",
)


def sites_of(flavour: str) -> tuple[Site, ...]:
    """The sites of a flavour, seeds first."""
    return TINY_SITES if flavour == "tiny" else COUNTRY_SITES
