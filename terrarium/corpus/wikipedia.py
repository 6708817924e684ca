"""A MediaWiki dump, streamed: XML plain, gzipped or bz2 (one stream or many), page by page in constant memory."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from lxml import etree

from terrarium.corpus.urls import canonical_url
from terrarium.errors import TerrariumError

_CHUNK = 1 << 18
_MAX_TEXT = 20_000_000
# A wiki takes no page above 2 MB. What has no end is held in memory until it has one, so it must have one.
_MAX_ELEMENT_BYTES = 1 << 27


@dataclass(frozen=True, slots=True)
class DumpPage:
    """One page element. `redirect` is the title it leads to; `at` counts page elements from 0; `site` is the address before a title."""

    at: int
    title: str
    namespace: int
    redirect: str | None
    revision: str
    timestamp: str
    text: str
    site: str

    def url(self) -> str:
        """The canonical URL of the article."""
        return article_url(self.site, self.title)


def article_url(site: str, title: str) -> str:
    """The canonical URL of a title on a wiki."""
    return canonical_url(site + quote(title.partition("#")[0].strip().replace(" ", "_"), safe="/:()!$&'*,;=@"))


def dump_pages(path: Path) -> Iterator[DumpPage]:
    """All pages of a dump, every namespace, in its order.

    Raises:
        TerrariumError: the file is missing, empty or of another kind; or it is cut off or damaged, after all pages before that place.
    """
    with _opened(path) as stream:
        yield from _parsed(path, stream)


def _opened(path: Path) -> IO[bytes]:
    if path.is_dir():
        raise TerrariumError(f"The Wikipedia dump {path} is a folder; name the file in it.")
    if not path.is_file():
        raise TerrariumError(f"The Wikipedia dump {path} does not exist; set SEEDS or the profile's seed location to the file you downloaded.")
    with path.open("rb") as file:
        head = file.read(512)
    if not head:
        raise TerrariumError(f"The Wikipedia dump {path} is empty; download it again.")
    if head.startswith(b"BZh"):
        return bz2.open(path, "rb")  # type: ignore[return-value]
    if head.startswith(b"\x1f\x8b"):
        return gzip.open(path, "rb")  # type: ignore[return-value]
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"<mediawiki", b"<?xml", b"<!--", b"<page")):
        return path.open("rb")
    kind = "a 7z archive; unpack it first" if head.startswith(b"7z\xbc\xaf") else "no XML, bz2 or gzip file"
    raise TerrariumError(f"The Wikipedia dump {path} is {kind}; expected pages-articles XML, plain, .bz2 or .gz.")


def _parsed(path: Path, stream: IO[bytes]) -> Iterator[DumpPage]:
    parser = etree.XMLPullParser(events=("start", "end"), huge_tree=True, resolve_entities=False, no_network=True, load_dtd=False)
    state = _State(path)
    try:
        while chunk := stream.read(_CHUNK):
            parser.feed(chunk)
            state.bytes += len(chunk)
            yield from state.pages(parser)
            state.refuse_endless()
        parser.close()
    except (EOFError, OSError, ValueError, etree.XMLSyntaxError) as error:
        # What libxml2 had read of the last chunk before the fault is kept too.
        yield from state.rest(parser)
        raise state.fault(error) from error
    if not state.root:
        raise TerrariumError(f"{path} is no MediaWiki dump: it has no mediawiki element; expected pages-articles XML.")


class _State:
    """How far a dump was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.site = "https://en.wikipedia.org/wiki/"
        self.bytes = self.count = self.page_end = 0
        self.last = ""
        self.root = ""

    def rest(self, parser: Any) -> Iterator[DumpPage]:
        try:
            yield from self.pages(parser)
        except etree.XMLSyntaxError:
            return

    def pages(self, parser: Any) -> Iterator[DumpPage]:
        for event, element in parser.read_events():
            name = etree.QName(element).localname
            if event == "start":
                if not self.root:
                    self.root = name
                    if name not in ("mediawiki", "page"):
                        raise TerrariumError(f"{self.path} is no MediaWiki dump: its root element is <{name}>; expected <mediawiki>.")
                continue
            if name == "base" and element.text and "/" in element.text:
                self.site = element.text.strip().rpartition("/")[0] + "/"
            if name == "page":
                page = self._page(element)
                self.count += 1
                self.page_end = self.bytes
                self.last = page.title
                yield page
                element.clear()
                parent = element.getparent()
                if parent is not None:
                    while element.getprevious() is not None:
                        del parent[0]

    def refuse_endless(self) -> None:
        """Raises TerrariumError where one page has become larger than any page is."""
        if self.bytes - self.page_end > _MAX_ELEMENT_BYTES:
            raise TerrariumError(
                f"The Wikipedia dump {self.path} is no dump of articles: after {self.count:,} pages comes one of more than "
                f"{_MAX_ELEMENT_BYTES >> 20} MB; expected pages-articles XML."
            )

    def _page(self, element: Any) -> DumpPage:
        fields = {etree.QName(child).localname: child for child in element}
        revision = {etree.QName(child).localname: child.text or "" for child in fields["revision"]} if "revision" in fields else {}
        redirect = fields["redirect"].get("title") if "redirect" in fields else None
        namespace = _text(fields, "ns").strip()
        return DumpPage(
            at=self.count,
            title=_text(fields, "title"),
            namespace=int(namespace) if namespace.lstrip("-").isdigit() else 0,
            redirect=redirect,
            revision=revision.get("id", ""),
            timestamp=revision.get("timestamp", ""),
            text=revision.get("text", "")[:_MAX_TEXT],
            site=self.site,
        )

    def fault(self, error: Exception) -> TerrariumError:
        what = "cut off" if isinstance(error, EOFError) or "end of" in str(error).lower() or "premature" in str(error).lower() else "damaged"
        last = f" (the last is {self.last!r})" if self.last else ""
        return TerrariumError(
            f"The Wikipedia dump {self.path} is {what} after {self.count:,} pages{last}, near byte {self.bytes:,} of its text: {error}; "
            "download the file again."
        )


def _text(fields: dict[str, Any], name: str) -> str:
    return (fields[name].text or "") if name in fields else ""
