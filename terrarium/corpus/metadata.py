"""What an HTML page says about itself: title, language, date of publication, canonical address, licence."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from lxml.html import HtmlElement

from terrarium.corpus.urls import canonical_url, site_of

_listed = str.split

_DATE_NAMES = frozenset(
    _listed(
        "article:published_time og:article:published_time datepublished date.published date pubdate publishdate publish_date "
        "dc.date dc.date.issued dcterms.date dcterms.created dcterms.issued citation_publication_date parsely-pub-date "
        "sailthru.date article:published cxenseparse:recs:publishtime"
    )
)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_SITE_SPLIT = re.compile(r"\s+[|·•»–—-]\s+|\s*[|｜]\s*")
_CREATIVE_COMMONS = re.compile(r"\bCC[ -](?:BY|0)(?:-(?:SA|NC|ND))*(?:\s\d\.\d)?\b")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Metadata:
    title: str
    language: str | None
    published_at: str | None
    canonical: str | None
    licence: str | None


def metadata_of(tree: HtmlElement, url: str) -> Metadata:
    """Read the head of a page, and its first heading."""
    metas: dict[str, str] = {}
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or meta.get("http-equiv") or "").strip().lower()
        if name and meta.get("content"):
            metas.setdefault(name, meta.get("content").strip())
    language = tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or metas.get("content-language") or metas.get("og:locale")
    return Metadata(_title(tree, metas), language, _published(tree, metas, url), _canonical(tree, url), _licence(tree))


def _title(tree: HtmlElement, metas: dict[str, str]) -> str:
    """The only first-level heading, or the declared title without the name of the site."""
    headings = [text for text in (_text(heading) for heading in tree.iter("h1")) if text]
    declared = _SPACE.sub(" ", metas.get("og:title") or next((_text(found) for found in tree.iter("title")), "")).strip()
    if len(headings) == 1 and len(headings[0]) <= 300:
        site = metas.get("og:site_name", "")
        if headings[0] != site and (not declared or headings[0] in declared or not _shares_word(declared, headings[0], tree)):
            return headings[0]
    for heading in headings:
        if heading and heading in declared:
            return heading
    parts = [part for part in _SITE_SPLIT.split(declared) if part]
    site = metas.get("og:site_name", "").strip()
    if len(parts) > 1 and (parts[-1] == site or len(parts[-1]) <= 40 and len(parts[0]) >= 2):
        cut = declared.rfind(parts[-1])
        return re.sub(r"[\s|·•»–—_｜-]+$", "", declared[:cut]) or declared
    return declared or (headings[0] if headings else "")


def _shares_word(declared: str, heading: str, tree: HtmlElement) -> bool:
    """The heading stands in the page's header and not in its content: then it names the site."""
    element = next(found for found in tree.iter("h1") if _text(found) == heading)
    return any(parent.tag in ("header", "nav") for parent in element.iterancestors()) and not any(
        parent.tag in ("article", "main") for parent in element.iterancestors()
    )


def _text(element: HtmlElement) -> str:
    return _SPACE.sub(" ", element.text_content()).strip()


def _published(tree: HtmlElement, metas: dict[str, str], url: str) -> str | None:
    for name, value in metas.items():
        if name in _DATE_NAMES and _ISO.match(value):
            return _iso(value)
    for script in tree.iterfind(".//script[@type='application/ld+json']"):
        found = re.search(r'"datePublished"\s*:\s*("(?:[^"\\]|\\.)*")', script.text or "")
        if found:
            try:
                date = _iso(json.loads(found[1]))
            except ValueError:
                continue
            if date:
                return date
    for time in tree.iter("time"):
        marked = time.get("pubdate") is not None or time.get("itemprop") == "datePublished" or "publish" in (time.get("class") or "")
        if time.get("datetime") and (marked or any(parent.tag == "header" for parent in time.iterancestors())):
            date = _iso(time.get("datetime"))
            if date:
                return date
    return _searched(tree, url)


def _searched(tree: HtmlElement, url: str) -> str | None:
    """What htmldate finds in markup, without its guesses from free text."""
    from htmldate import find_date

    try:
        found = find_date(tree, extensive_search=False, original_date=True, url=url, deferred_url_extractor=False)
    except Exception:  # noqa: BLE001 - a date is no reason to lose a page
        return None
    return found or None


def _iso(text: str) -> str | None:
    found = _ISO.match(text.strip())
    return found[0] if found and 1 <= int(found[2]) <= 12 and 1 <= int(found[3]) <= 31 else None


def _canonical(tree: HtmlElement, url: str) -> str | None:
    """The canonical link, where it can be believed: on the same host, and not the front page of it."""
    for link in tree.iter("link"):
        if (link.get("rel") or "").lower() != "canonical" or not link.get("href"):
            continue
        from urllib.parse import urljoin

        try:
            address = canonical_url(urljoin(url, link.get("href").strip()))
            if site_of(address) == site_of(url) and not (address.endswith("/") and not canonical_url(url).endswith("/")):
                return address
        except ValueError:
            continue
    return None


def _licence(tree: HtmlElement) -> str | None:
    """A link marked as the licence, or a Creative Commons licence named in the page's closing lines."""
    for element in tree.iter("link", "a"):
        if "license" in (element.get("rel") or "").lower().split() and element.get("href"):
            name = _SPACE.sub(" ", element.get("title") or element.text_content() or "").strip()
            return name if 0 < len(name) <= 80 else element.get("href")
    for footer in tree.iter("footer"):
        found = _CREATIVE_COMMONS.search(footer.text_content())
        if found:
            return _SPACE.sub(" ", found[0])
    found = _CREATIVE_COMMONS.search(tree.text_content()[-600:])
    return _SPACE.sub(" ", found[0]) if found else None
