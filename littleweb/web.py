"""The whole web as a function: request in, reply out. No sockets here; `server` puts it on the network."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from littleweb import traps
from littleweb.blocks import Document
from littleweb.compose import Composer
from littleweb.country import make_country
from littleweb.layout import error_html, page_html
from littleweb.plan import PageSpec, Plan
from littleweb.searching import Listing, SearchEngine
from littleweb.sites import SEARCH, Site
from littleweb.tiny import make_tiny
from littleweb.traps import Wire

MAX_RESULTS = 100


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP reply."""

    status: int
    body: bytes
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = field(default=())
    wire: Wire | None = None


class Web:
    """All sites of one country. Pages are rendered when asked for and the same every time; safe to use from many threads."""

    def __init__(self, seed: int, flavour: str = "country", templates: int = 1, hostile: bool = False) -> None:
        self.identity = f"littleweb/{flavour}-{seed}-{templates}" + ("-hostile" if hostile else "")
        self.hostile = hostile
        self.country = make_tiny(seed) if flavour == "tiny" else make_country(seed)
        self.templates = templates
        self.plan = Plan(self.country)
        self.composer = Composer(self.plan, templates)
        self.pages: dict[str, PageSpec] = {page.url: page for page in self.plan.pages}
        self._lock = threading.Lock()
        self._names: dict[str, dict[str, str]] = {}
        for page in self.plan.pages:
            if page.kind == "entity" and len(page.entities) == 1:
                self._names.setdefault(page.site.host, {})[page.entities[0].name] = page.path
        self.html = lru_cache(maxsize=4096)(self._html)

    def document(self, page: PageSpec) -> Document:
        """The content of a page."""
        return self.composer.document(page)

    def _html(self, url: str) -> str:
        page = self.pages[url]
        canonical = page.original.url if page.kind == "exact_copy" and page.original and len(page.title) % 2 else page.url
        names = self._names.get(page.site.host, {})
        own = page.entities[0].name if len(page.entities) == 1 else ""
        return page_html(
            page.site,
            self.site_title(page.site),
            self.document(page),
            canonical,
            lambda name: names.get(name) if name != own else None,
            self.templates,
        )

    def site_title(self, site: Site) -> str:
        return site.title.format(country=self.country.name)

    @cached_property
    def engine(self) -> SearchEngine:
        """The search engine over all pages a robot may read, except tables of contents."""
        return SearchEngine(self._listing(page) for page in self.plan.pages if page.kind not in ("index", "home"))

    def warm(self) -> SearchEngine:
        """The engine, built once however many threads ask."""
        with self._lock:
            return self.engine

    def _listing(self, page: PageSpec) -> Listing:
        document = self.document(page)
        draw = self.plan.stream("listing", page.url).random()
        link = page.url
        if draw < 0.06:
            link = f"{page.url}?utm_source=littlesearch"
        elif draw < 0.2:
            link = self.plan.short_link(page) or page.url
        return Listing(link, f"{document.title} - {self.site_title(page.site)}", document.description, document.text(), document.published)

    def answer(self, method: str, url: str, body: bytes = b"") -> Reply:
        """The reply to one request for an absolute URL."""
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        path = unquote(parts.path) or "/"
        if host == SEARCH:
            return self._search(method, path, parts.query, body)
        if self.hostile and host in traps.HOSTS:
            return traps.answer(host, path, parts.query)
        site = self.plan.by_host.get(host)
        if site is None:
            return _error(502, f"No site of this web is called {host or 'nothing'}.")
        if method not in ("GET", "HEAD"):
            return _error(405, "Only GET and HEAD are answered here.", (("Allow", "GET, HEAD"),))
        if path == "/robots.txt":
            return Reply(200, self.robots(site).encode(), "text/plain; charset=utf-8")
        if path == "/sitemap.xml" and site.role == "seed":
            return Reply(200, self.sitemap(site).encode(), "application/xml; charset=utf-8")
        address = f"http://{host}{path}"
        if address in self.pages:
            page = self.pages[address]
            headers = (("Link", f'<{address}>; rel="canonical"'),) if parts.query and page.kind != "exact_copy" else ()
            return Reply(200, self.html(address).encode(), headers=headers)
        if address in self.plan.redirects:
            status = 302 if "/s/" in address else 301
            return Reply(status, b"", headers=(("Location", self.plan.redirects[address]),))
        if any(path.startswith(prefix) for prefix in site.disallow):
            return Reply(200, error_html(200, "This part of the site is not meant for robots.").encode())
        return _error(404, f"There is no page {path} on {host}.")

    def robots(self, site: Site) -> str:
        """The robots.txt of a site."""
        lines = ["User-agent: *", *(f"Disallow: {prefix}" for prefix in site.disallow)]
        if site.role == "seed":
            lines.append(f"Sitemap: http://{site.host}/sitemap.xml")
        return "\n".join(lines) + "\n"

    def sitemap(self, site: Site) -> str:
        """The sitemap of a seed site: its articles and lists."""
        urls = (page.url for page in self.plan.pages if page.site is site and page.kind in ("entity", "overview"))
        rows = "\n".join(f"<url><loc>{url.replace('&', '&amp;')}</loc></url>" for url in urls)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}\n</urlset>\n'

    def _search(self, method: str, path: str, query: str, body: bytes) -> Reply:
        if path == "/robots.txt":
            return Reply(200, b"User-agent: *\nDisallow: /\n", "text/plain; charset=utf-8")
        if path != "/search":
            return _error(404, f"The search endpoint is http://{SEARCH}/search.")
        try:
            asked = _search_request(method, query, body)
        except (ValueError, TypeError, AttributeError) as error:
            return _json(400, {"message": f"Bad search request: {error}.", "statusCode": 400})
        text, count, page = asked
        if not text.strip():
            return _json(400, {"message": "Missing query parameter q.", "statusCode": 400})
        found = self.warm().search(text, count * page)[count * (page - 1) :]
        organic = [_organic(listing, place) for place, listing in enumerate(found, 1)]
        return _json(200, {"searchParameters": {"q": text, "type": "search", "num": count, "page": page}, "organic": organic, "credits": 1})


def _search_request(method: str, query: str, body: bytes) -> tuple[str, int, int]:
    if method == "POST":
        asked: dict[str, Any] = json.loads(body or b"{}")
    else:
        asked = {name: values[0] for name, values in parse_qs(query).items()}
    count = min(MAX_RESULTS, max(1, int(asked.get("num", 10))))
    page = min(100, max(1, int(asked.get("page", 1))))
    return str(asked.get("q", "")), count, page


def _organic(listing: Listing, place: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"title": listing.title, "link": listing.link, "snippet": listing.snippet, "position": place}
    return {**entry, "date": listing.date} if listing.date else entry


def _json(status: int, value: dict[str, Any]) -> Reply:
    return Reply(status, json.dumps(value, ensure_ascii=False).encode(), "application/json; charset=utf-8")


def _error(status: int, text: str, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    return Reply(status, error_html(status, text).encode(), headers=headers)
