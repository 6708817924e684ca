"""From a document to HTML: five layouts with the navigation, boxes and footers that real sites put around their text."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from littleweb.blocks import Block, Cell, Document, Infobox, Items, Table, Text
from littleweb.sites import Site

Linker = Callable[[str], str | None]


def page_html(site: Site, site_title: str, document: Document, canonical: str, link: Linker, templates: int) -> str:
    """The whole HTML page. `link` gives the address of a name that has a page on this site, or None."""
    body = "\n".join(_block(block, link, templates) for block in document.blocks)
    notice = f'<div class="source-notice"><small>{escape(document.notice)}</small></div>' if document.notice else ""
    inner = _LAYOUTS[site.layout](site_title, document, notice + body)
    description = escape(document.description, quote=True)
    published = f'<meta property="article:published_time" content="{document.published}">' if document.published else ""
    return f"""<!DOCTYPE html>
<html lang="{site.language}">
<head>
<meta charset="utf-8">
<title>{escape(document.title)} - {escape(site_title)}</title>
<meta name="description" content="{description}">
{published}
<link rel="canonical" href="{escape(canonical, quote=True)}">
<meta name="viewport" content="width=device-width">
<style>body{{font-family:serif;margin:2em}} table{{border-collapse:collapse}} td,th{{border:1px solid #999;padding:2px 6px}}</style>
<script>window.visits=(window.visits||0)+1;</script>
</head>
<body class="{site.layout}-theme">
{inner}
</body>
</html>
"""


def error_html(status: int, text: str) -> str:
    """A plain error page."""
    return f"<!DOCTYPE html>\n<html><head><title>{status}</title></head><body><h1>{status}</h1><p>{escape(text)}</p></body></html>\n"


def _linked(text: str, link: Linker) -> str:
    href = link(text)
    return f'<a href="{escape(href, quote=True)}">{escape(text)}</a>' if href else escape(text)


def _cell(cell: Cell, link: Linker) -> str:
    if isinstance(cell, str):
        return _linked(cell, link)
    return "<ul>" + "".join(f"<li>{_linked(item, link)}</li>" for item in cell) + "</ul>"


def _block(block: Block, link: Linker, templates: int) -> str:
    if isinstance(block, Text):
        return f"<{block.tag}>{escape(block.text)}</{block.tag}>"
    if isinstance(block, Items):
        hrefs = block.links or tuple(link(item) or "" for item in block.items)
        items = (
            f'<a href="{escape(href, quote=True)}">{escape(item)}</a>' if href else escape(item)
            for item, href in zip(block.items, hrefs, strict=True)
        )
        return f"<{block.tag}>" + "".join(f"<li>{item}</li>" for item in items) + f"</{block.tag}>"
    if isinstance(block, Infobox):
        return _infobox(block, link, templates)
    return _table(block, link)


def _infobox(block: Infobox, link: Linker, templates: int) -> str:
    if templates == 2:
        rows = "".join(f"<tr><td><b>{escape(label)}</b></td><td>{_cell(cell, link)}</td></tr>" for label, cell in block.rows)
        return f'<table class="infobox vcard"><caption>{escape(block.title)}</caption><tbody>{rows}</tbody></table>'
    rows = "".join(f'<tr><th scope="row">{escape(label)}</th><td>{_cell(cell, link)}</td></tr>' for label, cell in block.rows)
    return f'<table class="infobox"><tbody><tr><th colspan="2" class="infobox-title">{escape(block.title)}</th></tr>{rows}</tbody></table>'


def _table(block: Table, link: Linker) -> str:
    head = "".join(f"<th>{escape(header)}</th>" for header in block.headers)
    rows = "".join("<tr>" + "".join(f"<td>{_cell(cell, link)}</td>" for cell in row) + "</tr>" for row in block.rows)
    return f'<table class="datatable"><caption>{escape(block.caption)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _wiki(site_title: str, document: Document, body: str) -> str:
    return f"""<div id="header"><a href="/">{escape(site_title)}</a> <form action="/special/search"><input name="q"></form></div>
<div id="content" role="main">
<h1 id="firstHeading">{escape(document.title)}</h1>
<div id="bodyContent">
{body}
</div>
</div>
<div id="navigation"><ul>
<li><a href="/">Main page</a></li>
<li><a href="/special/random">Random article</a></li>
<li><a href="/edit/new">Edit</a></li>
</ul></div>
<div id="footer"><p>Last edited on {document.published or "2024-01-01"}. Text is available under CC BY-SA 4.0.</p></div>"""


def _paper(site_title: str, document: Document, body: str) -> str:
    return f"""<header class="masthead"><a href="/">{escape(site_title)}</a>
<nav class="menu"><ul><li><a href="/">Front page</a></li><li><a href="/archive/">Archive</a></li></ul></nav></header>
<div class="cookie-banner">We use cookies to keep you reading. <button>Fine</button></div>
<main><article>
<h1>{escape(document.title)}</h1>
<p class="byline"><time datetime="{document.published or "2024-01-01"}">{document.published or ""}</time></p>
{body}
</article></main>
<aside class="newsletter"><p>Subscribe to our newsletter.</p></aside>
<footer><p>All rights reserved. Printed on the island.</p></footer>"""


def _office(site_title: str, document: Document, body: str) -> str:
    return f"""<div class="topbar"><a href="/">{escape(site_title)}</a> | <a href="/contact">Contact</a> | <a href="/admin/">Staff</a></div>
<div class="breadcrumb"><a href="/">Home</a> &raquo; {escape(document.title)}</div>
<main id="main">
<h1>{escape(document.title)}</h1>
{body}
</main>
<div class="footer"><p>Official publication. Reproduction with acknowledgement.</p></div>"""


def _blog(site_title: str, document: Document, body: str) -> str:
    return f"""<header><h2 class="site-title"><a href="/">{escape(site_title)}</a></h2></header>
<div class="post-wrap"><article class="post">
<h1 class="entry-title">{escape(document.title)}</h1>
<div class="entry-content">
{body}
</div>
<div class="share-buttons"><a href="/share">Share</a> <a href="/print">Print</a></div>
</article></div>
<aside class="sidebar"><h3>About</h3><p>A slow walker with a notebook.</p></aside>
<footer class="site-footer"><p>Powered by patience.</p></footer>"""


def _plain(site_title: str, document: Document, body: str) -> str:
    return f"""<div class="menu"><a href="/">{escape(site_title)}</a></div>
<div class="content">
<h1>{escape(document.title)}</h1>
{body}
</div>
<hr><div class="footer">{escape(site_title)}</div>"""


_LAYOUTS: dict[str, Callable[[str, Document, str], str]] = {"wiki": _wiki, "paper": _paper, "office": _office, "blog": _blog, "plain": _plain}
