"""Writes every page as an HTML file, for a look at the web without a server."""

from __future__ import annotations

from pathlib import Path

from littleweb.web import Web


def dump(web: Web, out: Path) -> int:
    """One folder a host, one file a page; `pages.tsv` lists url, kind and file. Returns the number of pages."""
    lines = []
    for page in web.plan.pages:
        name = page.path.strip("/").replace("/", "__") or "home"
        target = out / page.site.host / (name if name.endswith(".html") else f"{name}.html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(web.html(page.url), encoding="utf-8")
        lines.append(f"{page.url}\t{page.kind}\t{target.relative_to(out)}")
    (out / "pages.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines)
