"""Every way to write the address of a page that a policy, a link or a search engine might use. For probing, not for looking up."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote, unquote, urlsplit, urlunsplit


def spellings(address: str) -> list[str]:
    """The address and its variants: scheme, www, mobile hosts, port, case of the host, trailing slash, percent-encoding, fragment, tracking."""
    parts = urlsplit(address)
    host, path, query = parts.netloc, parts.path or "/", parts.query
    bare = host.removeprefix("www.")
    found: dict[str, None] = {address: None}

    def add(scheme: str = parts.scheme, host: str = host, path: str = path, query: str = query, fragment: str = "") -> None:
        found[urlunsplit((scheme, host, path, query, fragment))] = None

    for scheme in ("http", "https"):
        for name in (bare, f"www.{bare}", f"m.{bare}"):
            add(scheme=scheme, host=name)
    first, _, rest = bare.partition(".")
    if rest.count(".") >= 1:
        add(host=f"{first}.m.{rest}")
    add(host=host.upper())
    add(scheme="http", host=f"{bare}:80")
    add(scheme="https", host=f"{bare}:443")
    add(path=path.rstrip("/") if path.rstrip("/") and path.endswith("/") else path.rstrip("/") + "/")
    add(fragment="history")
    tracking = "utm_source=newsletter&utm_medium=email&fbclid=x1"
    add(query=f"{query}&{tracking}" if query else tracking)
    plain = unquote(path)
    add(path=quote(plain, safe="/"))
    add(path=quote(plain, safe="/").replace("_", "%5F").replace(".", "%2E"))
    if plain[-1].isascii() and plain[-1].isalnum():
        add(path=quote(plain[:-1], safe="/") + f"%{ord(plain[-1]):02x}")
    add(path=plain)
    if "/wiki/" in path:
        title = plain.partition("/wiki/")[2]
        add(path=quote(plain.replace("_", " "), safe="/"))
        add(query="oldid=1234567")
        add(query="printable=yes")
        add(host=host, path="/w/index.php", query=f"title={quote(title, safe='')}")
    return list(found)


def all_spellings(addresses: Iterable[str]) -> list[str]:
    """The spellings of several addresses, each once."""
    return list(dict.fromkeys(spelling for address in addresses for spelling in spellings(address)))
