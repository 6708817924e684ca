"""HTML to a page: the main content as Markdown, with its tables, boxes of facts and lists, and without the site around it.

trafilatura finds the main content. What it loses is kept by us: tables are rendered from their elements before it runs (a marked
paragraph stands in for each) and put back after it, so that cells with lists, spans and label-value rows survive.
"""

from __future__ import annotations

import re
from itertools import islice

from lxml.html import HtmlElement
from lxml.html import fromstring as element_of

from terrarium.corpus.decode import text_of
from terrarium.corpus.language import language_of
from terrarium.corpus.metadata import metadata_of
from terrarium.corpus.page import Page
from terrarium.corpus.refuse import UnusablePage, refuse_bytes, refuse_text
from terrarium.corpus.tables import box_pairs, definition_pairs, is_data_table, is_infobox, markdown_table, table_markdown
from terrarium.corpus.urls import canonical_url

__all__ = ["UnusablePage", "page_from_html"]

_MOST_RAISED = 3_000
_MARK = re.compile(r"⟦t(\d+)⟧[^⟦⟧]*(?:⟦/t\1⟧)?")
_REFERENCE = re.compile(r"^\s*\[\s*(?:\d+|[a-z]|note \d+|citation needed|edit)\s*\]\s*$", re.IGNORECASE)
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
# What trafilatura escapes inside a line; at its start the escape tells "1." and "#" from a list and a heading.
_ESCAPED = re.compile(r"(?<=.)\\([\\`*_{}\[\]()<>#+.!~|-])|^\\([`*_\[\]<(])", re.MULTILINE)
_BOILERPLATE_TAGS = frozenset(("nav", "footer", "form", "header", "dialog", "menu"))
_BOILERPLATE = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navbox|menu|footer|sidebar|breadcrumbs?|cookie|consent|comments?|related|share|social|advert|toc)(?:$|[\s_-])", re.I
)
_OUTLINE = (
    "descendant::main | descendant::article | descendant::*[@role='main'] | descendant::*[@id='mw-content-text' or @id='content' or @id='main'] | "
    + " | ".join(
        f"descendant::div[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]"
        for name in ("content", "main-content", "page-content", "article", "article-body", "post", "post-content", "entry-content")
    )
)


def page_from_html(html: bytes, url: str, content_type: str | None = None) -> Page:
    """The main content of an HTML page as Markdown, with title, language, date, licence; no network.

    Args:
        html: the body as it was received.
        url: the address that was asked for; the page's own canonical link replaces it where that can be believed.
        content_type: the header, for its charset.

    Raises:
        UnusablePage: too_large, not_html, challenge, error_page or empty.
        ValueError: `url` is no http(s) URL.
    """
    address = canonical_url(url)
    refuse_bytes(html, url, content_type)
    source = text_of(html, content_type).replace("\x00", "")
    tree = _tree(source)
    if tree is None:
        return _plain_page(source, address, url)
    about = metadata_of(tree, url)
    tables = _stand_ins(tree, about.title)
    text = _main_text(tree)
    markdown = _put_back(_tidy(text), tables)
    markdown = _without_title(markdown, about.title)
    refuse_text(source, about.title, markdown, url)
    canonical = about.canonical or address
    aliases = tuple(dict.fromkeys(name for name in (address, url.strip()) if name != canonical))
    return Page.make(
        canonical,
        about.title or _first_line(markdown),
        markdown,
        aliases=aliases,
        summary=lead(markdown),
        language=language_of(markdown, about.language),
        published_at=about.published_at,
        licence=about.licence,
    )


def lead(markdown: str, limit: int = 400) -> str:
    """The first prose of a page, up to `limit` characters, cut at a word."""
    lines = [line for line in markdown.splitlines() if line and not line.startswith(("|", "#", "- ", "* ", ">", "```"))]
    text = " ".join(lines[:6]) or " ".join(line.strip("|-# ") for line in markdown.splitlines()[:8] if line.strip("|-# "))
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", limit // 2, limit)
    return text[: cut if cut > 0 else limit].rstrip()


def _tree(source: str) -> HtmlElement | None:
    from trafilatura import load_html

    if "<" not in source[:100_000]:
        return None
    tree = load_html(source)
    return tree if tree is not None and len(tree) else None


def _plain_page(source: str, address: str, url: str) -> Page:
    """A text file: its lines as they are."""
    text = re.sub(r"\n{3,}", "\n\n", source.replace("\r\n", "\n")).strip()
    title = _first_line(text)
    refuse_text("", title, text, url)
    aliases = (url.strip(),) if url.strip() != address else ()
    return Page.make(address, title, text, aliases=aliases, summary=lead(text), language=language_of(text))


def _main_text(tree: HtmlElement) -> str:
    """Main content by trafilatura; where it finds next to nothing, its wider net."""
    from trafilatura import bare_extraction

    best = ""
    for wide in (False, True):
        found = bare_extraction(tree, output_format="python", include_formatting=True, include_tables=True, include_comments=False, favor_recall=wide)
        text = getattr(found, "text", None) or ""
        if len(text) > len(best):
            best = text
        if len(_MARK.sub("", best)) >= 60:
            break
    return best


class _Table:
    """A table taken out of the tree: its Markdown, and whether it comes back when the main content lost it."""

    __slots__ = ("box", "keep", "markdown")

    def __init__(self, markdown: str, box: bool, keep: bool) -> None:
        self.markdown, self.box, self.keep = markdown, box, keep


def _stand_ins(tree: HtmlElement, title: str) -> list[_Table]:
    """Prepare the tree in place: simplify small markup, and replace each table by a marked paragraph with its text."""
    _simplify(tree)
    tables: list[_Table] = []
    for element in list(tree.iter("table", "div", "aside", "section", "dl")):
        if element.getparent() is None or not any(parent is tree for parent in element.iterancestors()):
            continue
        box = is_infobox(element) or (element.tag in ("table", "dl") and any(is_infobox(parent) for parent in list(element.iterancestors())[:2]))
        markdown = _markdown_of(element, title, box)
        if markdown:
            keep = not _in_boilerplate(element, box)
            words = re.sub(r"[|\s-]{2,}", " ", markdown.replace("⟦", "[").replace("⟧", "]"))
            stand_in = element_of(f"<p>⟦t{len(tables)}⟧ </p>")
            stand_in.text = f"⟦t{len(tables)}⟧ {words} ⟦/t{len(tables)}⟧"
            stand_in.tail = element.tail
            element.getparent().replace(element, stand_in)
            tables.append(_Table(markdown, box, keep))
        elif element.tag == "dl":
            _list_of_pairs(element)
    return tables


def _markdown_of(element: HtmlElement, title: str, box: bool) -> str:
    if element.tag == "table":
        return table_markdown(element, title if box else "") if is_data_table(element) else ""
    if not box or len(element) == 0:
        return ""
    if element.tag == "dl":
        pairs = list(definition_pairs(element))
    elif element.find(".//table") is not None or element.find(".//dl") is not None:
        return ""
    else:
        pairs = box_pairs(element)
    return markdown_table([[title, ""], *([label, value] for label, value in pairs)]) if pairs else ""


def _list_of_pairs(listing: HtmlElement) -> None:
    """A definition list as a list of "label: value", which trafilatura would print as unrelated items."""
    pairs = list(definition_pairs(listing))
    if not pairs or listing.find(".//dl") is not None:
        return
    tail, attributes = listing.tail, dict(listing.attrib)
    listing.clear()
    listing.tag, listing.tail = "ul", tail
    for name, value in attributes.items():
        listing.set(name, value)
    for label, value in pairs:
        item = element_of("<li>.</li>")
        item.text = f"{label}: {value}"
        listing.append(item)


def _simplify(tree: HtmlElement) -> None:
    """Raised numbers become raised digits, reference marks and edit links go, links in content lists become plain text."""
    # Dropping a tag joins texts, which takes quadratic time over thousands in one paragraph.
    for element in list(islice(tree.iter("sup", "sub"), _MOST_RAISED)):
        text = element.text_content()
        if element.tag == "sup" and (_REFERENCE.match(text) or "reference" in (element.get("class") or "")):
            element.drop_tree()
            continue
        if element.tag == "sup" and re.fullmatch(r"\s*[+−-]?\d+\s*", text) and len(element) == 0:
            element.text = text.strip().translate(_RAISED)
        element.drop_tag()
    for element in tree.xpath("descendant::*[contains(concat(' ', normalize-space(@class), ' '), ' mw-editsection ')]"):
        element.drop_tree()
    # trafilatura takes lists of links for navigation; inside the main element they are content.
    for outline in tree.xpath(_OUTLINE):
        for link in outline.xpath("descendant::li//a"):
            if not _in_boilerplate(link, False, stop=outline):
                link.drop_tag()


def _in_boilerplate(element: HtmlElement, box: bool, stop: HtmlElement | None = None) -> bool:
    for parent in element.iterancestors():
        if parent is stop or parent.tag in ("body", "html"):
            return False
        if parent.tag in _BOILERPLATE_TAGS or (parent.tag == "aside" and not box):
            return True
        if not box and _BOILERPLATE.search(f"{parent.get('class') or ''} {parent.get('id') or ''}"):
            return True
    return False


def _put_back(text: str, tables: list[_Table]) -> str:
    """Tables where their stand-ins are; lost boxes in front, other lost tables at the end."""
    seen: set[int] = set()

    def restored(found: re.Match[str]) -> str:
        number = int(found[1])
        if number >= len(tables) or number in seen:
            return ""
        seen.add(number)
        return f"\n\n{tables[number].markdown}\n\n"

    text = _MARK.sub(restored, text)
    lost = [(number, table) for number, table in enumerate(tables) if number not in seen and table.keep]
    front = [table.markdown for _, table in lost if table.box]
    back = [table.markdown for _, table in lost if not table.box]
    text = "\n\n".join([*front, text, *back])
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip()


def _tidy(text: str) -> str:
    return _ESCAPED.sub(lambda found: found[1] or found[2], text.replace("\u00a0", " "))


def _without_title(markdown: str, title: str) -> str:
    first, _, rest = markdown.partition("\n")
    return rest.lstrip("\n") if title and rest and first.lstrip("# ").strip() == title and first.startswith("#") else markdown


def _first_line(text: str) -> str:
    return next((line.strip("#|* ")[:200] for line in text.splitlines() if line.strip("#|* ")), "")
