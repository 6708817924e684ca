"""The page: one document of the corpus, known by its canonical URL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from terrarium.tables import read_rows, stable_id, write_rows

PAGE_SCHEMA = pa.schema(
    [
        ("page_id", pa.string()),
        ("url", pa.string()),
        ("aliases", pa.list_(pa.string())),
        ("title", pa.string()),
        ("markdown", pa.string()),
        ("summary", pa.string()),
        ("language", pa.string()),
        ("published_at", pa.string()),
        ("licence", pa.string()),
        ("revision", pa.string()),
        ("content_hash", pa.string()),
        ("duplicate_of", pa.string()),
        ("origin", pa.string()),
        ("round", pa.string()),
        ("fetched_at", pa.string()),
        ("vanished_at", pa.string()),
    ]
)


def page_id_of(canonical: str) -> str:
    """The stable id of the page at a canonical URL."""
    return stable_id("page", canonical)


@dataclass(frozen=True, slots=True)
class Page:
    """One page. Dates are ISO 8601 strings or None; `duplicate_of` is the page id of the copy that stays, or None."""

    page_id: str
    url: str
    title: str
    markdown: str
    content_hash: str
    aliases: tuple[str, ...] = ()
    summary: str = ""
    language: str = "en"
    published_at: str | None = None
    licence: str | None = None
    revision: str | None = None
    duplicate_of: str | None = None
    origin: str = "seed"
    round: str = ""
    fetched_at: str | None = field(default=None, compare=False)
    vanished_at: str | None = None

    @staticmethod
    def make(url: str, title: str, markdown: str, **more: object) -> Page:
        """A page from its canonical URL and text; id and content hash are computed."""
        return Page(page_id=page_id_of(url), url=url, title=title, markdown=markdown, content_hash=stable_id(title, markdown, length=32), **more)  # type: ignore[arg-type]


def write_pages(path: Path, pages: Iterable[Page]) -> int:
    """Write pages as Parquet, return how many."""
    return write_rows(path, (asdict(page) for page in pages), PAGE_SCHEMA)


def read_pages(path: Path) -> list[Page]:
    """Read pages written by `write_pages`."""
    return [Page(**{**row, "aliases": tuple(row["aliases"] or ())}) for row in read_rows(path, PAGE_SCHEMA)]


def now() -> str:
    """This moment in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0).isoformat()
