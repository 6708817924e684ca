"""One string for all spellings of one page's address.

The canonical form is a name, not necessarily what to fetch: it is always https, without `www.` and mobile hosts. Where two
spellings might be two pages (`Mercury_(planet)`, `?id=7`), they stay two.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import SplitResult, quote, unquote, unquote_to_bytes, urlsplit

import idna
from tld.utils import is_tld

_CONTROL = re.compile(r"[\t\r\n\u200b\ufeff]")
_SCHEME = re.compile(r"^(https?):[/\\]{2}", re.IGNORECASE)
_HOST = re.compile(r"^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_VARIANT_LABELS = ("www", "m", "mobile", "amp", "touch", "wap", "print")
_SESSION = re.compile(r";(?:jsessionid|phpsessid)=[^/;]*", re.IGNORECASE)
_INDEX = re.compile(r"/index\.html?$", re.IGNORECASE)

_TRACKING_PREFIXES = (
    "utm_",
    "mtm_",
    "pk_",
    "piwik_",
    "hsa_",
    "_hs",
    "mc_",
    "mkt_",
    "oly_",
    "vero_",
    "itm_",
    "at_campaign",
    "at_medium",
    "ns_",
    "wt_",
    "wt.",
)
_listed = str.split

_TRACKING = frozenset(
    _listed(
        "gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid ysclid twclid ttclid igshid igsh li_fat_id mibextid fb_action_ids "
        "fb_action_types fb_source _ga _gl _openstat ref ref_src ref_url referrer referer cmpid cmp ncid icid ocid cid_source spm "
        "scm xtor trk trkcampaign zanpid irclickid rb_clickid s_cid smid guce_referrer guce_referrer_sig __twitter_impression "
        "phpsessid jsessionid sessionid aspsessionid cfid cftoken share_source"
    )
)
# Other dresses of the same page: printer and mobile views, skins; on a wiki also its revisions.
_VIEWS = frozenset(("print", "printable", "amp", "mobileaction", "useskin", "useformat", "veaction"))
_WIKI_VIEWS = frozenset(("oldid", "diff", "action", "redirect", "curid", "section", "direction", "variant", "setlang", "uselang"))
# On these hosts a name in the list above chooses what is shown.
_MEANINGFUL = {"github.com": {"ref"}, "gitlab.com": {"ref"}}

# RFC 3986: these say the same escaped and plain, in a path also its sub-delimiters.
_PATH_SAFE = "/-._~!$&'()*+,;=:@"
_QUERY_SAFE = "-._~!$'()*,;:@/?"


def canonical_url(url: str) -> str:
    """One string for all spellings of one page; applying it twice changes nothing.

    Same page: http and https, `www.`, mobile and print hosts, default ports, letter case of the host, percent-encoding, dot segments,
    fragments, tracking and session parameters, order of parameters, trailing slash, `index.html`, Unicode and punycode hosts,
    spaces and underscores of a wiki title.

    Raises:
        ValueError: the text is no http(s) URL.
    """
    if not isinstance(url, str):
        raise ValueError(f"{url!r} is no URL")
    text = _CONTROL.sub("", url.strip())
    scheme = _SCHEME.match(text)
    if not scheme:
        raise ValueError(f"{url[:200]!r} is no http(s) URL")
    head, mark, tail = text[scheme.end() :].partition("?")
    parts = urlsplit("https://" + head.replace("\\", "/") + mark + tail)
    host = _host(parts, url)
    path, query = _path(parts.path), _query(parts.query, host)
    path, query = _wiki(host, path, query)
    if not query:
        path = _INDEX.sub("/", path)
    path = path.rstrip("/") or "/"
    return f"https://{host}{path}{'?' + query if query else ''}"


def site_of(url: str) -> str:
    """The host of a URL in canonical form, without its port.

    Raises:
        ValueError: the text is no http(s) URL.
    """
    return urlsplit(canonical_url(url)).hostname or ""


def _host(parts: SplitResult, url: str) -> str:
    name = parts.netloc.rpartition("@")[2]
    if name.startswith("["):
        address, _, port_text = name[1:].partition("]")
        host = f"[{ipaddress.IPv6Address(address.partition('%')[0]).compressed}]"
        port_text = port_text.removeprefix(":")
    else:
        host, _, port_text = name.partition(":")
        host = _plain_host(unquote(host, errors="strict"))
    if port_text and not (port_text.isascii() and port_text.isdigit() and 0 < int(port_text) < 65536):
        raise ValueError(f"{url[:200]!r} has no valid port")
    port = int(port_text) if port_text else 443
    return host if port in (80, 443) else f"{host}:{port}"


@lru_cache(maxsize=4096)
def _plain_host(host: str) -> str:
    host = host.strip().rstrip(".。").lower()
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii").lower()
        except idna.IDNAError as error:
            raise ValueError(f"{host[:100]!r} is no host name") from error
    if not _HOST.match(host):
        raise ValueError(f"{host[:100]!r} is no host name")
    return _without_variant(host)


def _without_variant(host: str) -> str:
    """Without `www.`, `m.` and the like, in front or (`en.m.wikipedia.org`) in second place, as long as a site remains."""
    labels = host.split(".")
    if labels[-1].isdigit():
        return host
    while len(labels) > 2 and labels[0] in _VARIANT_LABELS and not is_tld(".".join(labels[1:])):
        labels = labels[1:]
    while len(labels) > 3 and labels[1] == "m" and not is_tld(".".join(labels[2:])):
        labels = labels[:1] + labels[2:]
    return ".".join(labels)


def _escaped(text: str, safe: str) -> str:
    """Percent-encoding in one spelling. Works on bytes, so that escapes of legacy encodings survive."""
    pieces = re.split(r"(%[0-9A-Fa-f]{2})", _BAD_ESCAPE.sub("%25", text))
    done = []
    for piece in pieces:
        if len(piece) == 3 and piece[0] == "%":
            char = bytes.fromhex(piece[1:])
            done.append(char.decode("ascii") if char.isalnum() or (char.decode("latin-1") in safe and char not in b"/?") else piece.upper())
        else:
            done.append(quote(piece.encode("utf-8"), safe=safe))
    return "".join(done)


def _path(path: str) -> str:
    path = _SESSION.sub("", _escaped(path, _PATH_SAFE))
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if path.endswith(("/.", "/..")):
        kept.append("")
    path = "/".join(kept)
    if "://" not in path:
        path = re.sub(r"/{2,}", "/", path)
    return path if path.startswith("/") else "/" + path


def _query(query: str, host: str) -> str:
    kept = []
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        plain = unquote_to_bytes(name.replace("+", " ")).decode("utf-8", "replace").strip().lower()
        tracked = plain.startswith(_TRACKING_PREFIXES) or plain in _TRACKING or plain in _VIEWS
        if plain and (not tracked or plain in _MEANINGFUL.get(host, ())):
            kept.append((_escaped(name.replace("+", "%20"), _QUERY_SAFE), _escaped(value.replace("+", "%20"), _QUERY_SAFE)))
    kept.sort(key=lambda pair: pair[0])
    return "&".join(f"{name}={value}" if value else name for name, value in kept)


def _wiki(host: str, path: str, query: str) -> tuple[str, str]:
    """MediaWiki: one address for a title, whichever script, revision, or spelling of spaces."""
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    names = {name: value for name, _, value in pairs}
    if path.endswith("/index.php") and names.get("title"):
        prefix = path.removesuffix("/index.php").removesuffix("/w")
        path = _path(f"{prefix}/wiki/{names['title'].replace('?', '%3F')}")
        pairs = [pair for pair in pairs if pair[0] != "title"]
    if "/wiki/" not in path:
        return path, query
    before, _, title = path.partition("/wiki/")
    title = re.sub(r"(?:_|%20)+", "_", title).strip("_")
    if host.endswith(".wikipedia.org") and title[:1].isascii():
        title = title[:1].upper() + title[1:]
    return f"{before}/wiki/{title}", "&".join(
        "=".join((name, value)) if value else name for name, _, value in pairs if name.lower() not in _WIKI_VIEWS
    )
