"""The page store: full Markdown by page id and by every address a page is known under. SQLAlchemy on SQLite or PostgreSQL.

One store may hold several builds (on a server; rows are keyed by build). It knows nothing of search, removal or embedding.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError, StatementError

from terrarium.corpus.page import Page
from terrarium.errors import Outage, TerrariumError
from terrarium.tables import Drop, stable_id

FILE = "pages.sqlite"
# PostgreSQL's B-tree takes keys of a third of an 8 kB page.
MAX_URL = 2000
MAX_MARKDOWN = 16_000_000

_meta = sa.MetaData()
_pages = sa.Table(
    "pages",
    _meta,
    sa.Column("build", sa.Text, primary_key=True),
    sa.Column("page_id", sa.Text, primary_key=True),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("summary", sa.Text, nullable=False),
    sa.Column("markdown", sa.Text, nullable=False),
    sa.Column("language", sa.Text, nullable=False),
    sa.Column("published_at", sa.Text),
    sa.Column("licence", sa.Text),
    sa.Column("revision", sa.Text),
    sa.Column("content_hash", sa.Text, nullable=False),
    sa.Column("row_hash", sa.Text, nullable=False),
)
_urls = sa.Table(
    "urls",
    _meta,
    sa.Column("build", sa.Text, primary_key=True),
    sa.Column("url", sa.Text, primary_key=True),
    sa.Column("page_id", sa.Text, nullable=False, index=True),
)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as the tools need it."""

    page_id: str
    url: str
    title: str
    summary: str
    markdown: str
    language: str
    content_hash: str


def unusable(page: Page) -> str | None:
    """Why no store can hold this page, or None. Looked at before writing, so that a bad page costs itself and not its batch."""
    texts = [page.page_id, page.url, page.title, page.summary, page.markdown, page.language, page.published_at, page.licence, page.revision]
    for text in texts:
        if text and "\x00" in text:
            return "nul_character"
        try:
            (text or "").encode()
        except UnicodeEncodeError:
            return "lone_surrogate"
    if len(page.url) > MAX_URL:
        return "url_too_long"
    if len(page.markdown) > MAX_MARKDOWN:
        return "text_too_long"
    return None if page.markdown.strip() or page.summary.strip() else "empty"


def row_hash(page: Page, urls: Sequence[str]) -> str:
    """Changes whenever anything the store keeps of a page changes."""
    extra = [str(value) for value in (page.summary, page.language, page.published_at, page.licence, page.revision)]
    return stable_id(page.page_id, page.url, page.content_hash, *extra, *sorted(urls))


def resolve_reference(url: str) -> str:
    """`env:NAME` is the value of the environment variable NAME, so that passwords stand in no artifact.

    Raises:
        TerrariumError: the variable is not set, or the URL carries a password in the clear.
    """
    if url.startswith("env:"):
        value = os.environ.get(url[4:], "")
        if not value:
            raise TerrariumError(f"The environment variable {url[4:]} with the page store's address is not set; set it and start again.")
        return value
    if sa.make_url(url).password:
        raise TerrariumError(
            "The page store's address carries a password in the profile; put it into an environment variable and write env:NAME instead."
        )
    return url


class PageStore:
    """Pages of one build. Use `create` to write, `open` to read; close it, or use it in a `with`."""

    def __init__(self, engine: sa.Engine, build: str, place: str) -> None:
        self._engine = engine
        self._place = place
        # A file belongs to one build and is brought from one state to the next; only a server keeps builds apart.
        self.build = build if engine.dialect.name != "sqlite" else ""

    @staticmethod
    def create(folder: Path, build: str, url: str | None = None) -> PageStore:
        """A store to write to: `pages.sqlite` in the folder, or the server at `url`. What is there already stays."""
        if url is not None:
            engine, place = sa.create_engine(_driver(resolve_reference(url))), url
        else:
            place = str(folder / FILE)
            engine = sa.create_engine(f"sqlite+pysqlite:///{place}")
            sa.event.listen(engine, "connect", _prepare_sqlite)
        store = PageStore(engine, build, place)
        with store._translated():
            _meta.create_all(engine)
        return store

    @staticmethod
    def open(folder: Path, build: str, url: str | None = None) -> PageStore:
        """A store to read from. SQLite files are opened as immutable: reading leaves no trace beside them."""
        if url is not None:
            return PageStore(sa.create_engine(_driver(resolve_reference(url))), build, url)
        path = (folder / FILE).resolve()
        if not path.is_file():
            raise TerrariumError(f"The page store {path} does not exist; materialise page_store first.")
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise TerrariumError(f"The page store {path} was not closed by its builder; run its build again, it repairs the store.")
        engine = sa.create_engine(f"sqlite+pysqlite:///file:{_escaped(path)}?mode=ro&immutable=1&uri=true")
        return PageStore(engine, build, str(path))

    def write(self, pages: Sequence[Page], urls: Mapping[str, Sequence[str]]) -> list[Drop]:
        """Insert or replace pages with the addresses (`urls[page_id]`, canonical) they answer to; returns those that cannot be held.

        Raises:
            Outage: the database did not answer.
        """
        drops = [Drop(page.page_id, page.url, "page_store", reason) for page in pages if (reason := unusable(page))]
        bad = {drop.id for drop in drops}
        good = [page for page in pages if page.page_id not in bad]
        with self._translated():
            try:
                with self._engine.begin() as connection:
                    self._put(connection, good, urls)
            except (DataError, IntegrityError, InterfaceError, StatementError) as error:
                if isinstance(error, DBAPIError) and error.connection_invalidated:
                    raise
                drops.extend(self._one_by_one(good, urls))
        return drops

    def _one_by_one(self, pages: Sequence[Page], urls: Mapping[str, Sequence[str]]) -> list[Drop]:
        drops = []
        for page in pages:
            try:
                with self._engine.begin() as connection:
                    self._put(connection, [page], urls)
            except OperationalError:
                raise
            except (DataError, IntegrityError, InterfaceError, StatementError) as error:
                drops.append(Drop(page.page_id, page.url, "page_store", "refused_by_database", str(error.__cause__ or error)[:200]))
        return drops

    def _put(self, connection: sa.Connection, pages: Sequence[Page], urls: Mapping[str, Sequence[str]]) -> None:
        if not pages:
            return
        names = [column.name for column in _pages.columns]
        rows = []
        for page in pages:
            known = {"build": self.build, "row_hash": row_hash(page, urls.get(page.page_id, ()))}
            rows.append({name: known[name] if name in known else getattr(page, name) for name in names})
        connection.execute(_upsert(connection, _pages, [name for name in names if name not in ("build", "page_id")]), rows)
        ids = [page.page_id for page in pages]
        connection.execute(sa.delete(_urls).where(_urls.c.build == self.build, _urls.c.page_id.in_(ids)))
        addresses = [
            {"build": self.build, "url": url, "page_id": page_id}
            for page_id in ids
            for url in sorted(set(urls.get(page_id, ())))
            if len(url) <= MAX_URL
        ]
        if addresses:
            connection.execute(_upsert(connection, _urls, ["page_id"]), addresses)

    def delete(self, page_ids: Iterable[str]) -> None:
        """Forget pages and their addresses."""
        with self._translated(), self._engine.begin() as connection:
            for ids in _chunks(sorted(page_ids)):
                for table in (_pages, _urls):
                    connection.execute(sa.delete(table).where(table.c.build == self.build, table.c.page_id.in_(ids)))

    def pages(self, page_ids: Sequence[str]) -> dict[str, StoredPage]:
        """Those of the pages that are held, by id."""
        columns = [_pages.c[name] for name in StoredPage.__dataclass_fields__]
        found: dict[str, StoredPage] = {}
        with self._translated(), self._engine.connect() as connection:
            for ids in _chunks(list(page_ids)):
                query = sa.select(*columns).where(_pages.c.build == self.build, _pages.c.page_id.in_(ids))
                found.update((row.page_id, StoredPage(**row._mapping)) for row in connection.execute(query))
        return found

    def find(self, url: str) -> str | None:
        """The id of the page at a canonical URL, its own or another it is known under."""
        query = sa.select(_urls.c.page_id).where(_urls.c.build == self.build, _urls.c.url == url)
        with self._translated(), self._engine.connect() as connection:
            return connection.execute(query).scalar()

    def row_hashes(self) -> dict[str, str]:
        """page id -> hash of what is kept of it, for all pages."""
        query = sa.select(_pages.c.page_id, _pages.c.row_hash).where(_pages.c.build == self.build)
        with self._translated(), self._engine.connect() as connection:
            return {row.page_id: row.row_hash for row in connection.execute(query)}

    def digest(self) -> str:
        """One hash over all rows, whatever order they were written in."""
        digest = hashlib.sha256()
        for page_id, value in sorted(self.row_hashes().items()):
            digest.update(f"{page_id} {value}\n".encode())
        return digest.hexdigest()[:32]

    def close(self) -> None:
        """Let go of the database; SQLite's write-ahead log is merged into its file."""
        if self._engine.dialect.name == "sqlite" and "immutable=1" not in str(self._engine.url):
            with self._translated(), self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        self._engine.dispose()

    def __enter__(self) -> PageStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _translated(self) -> _Translated:
        return _Translated(self._place)


class _Translated:
    """Turns a database that does not answer into an Outage, and a full or damaged one into an error a person can mend."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, SQLAlchemyError):
            cause = str(error.__cause__ or error).strip().splitlines()[0][:200]
            if isinstance(error, DBAPIError) and (
                error.connection_invalidated or (isinstance(error, OperationalError) and "sqlite" not in type(error.orig).__module__)
            ):
                raise Outage(f"The page store at {self.place} did not answer ({cause}); start it and run the step again.") from error
            raise TerrariumError(f"The page store at {self.place} refused an operation ({cause}); check disk space and the file.") from error


def _prepare_sqlite(connection: Any, _: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA busy_timeout=30000")
    cursor.close()


def _driver(url: str) -> sa.URL:
    parsed = sa.make_url(url)
    return parsed.set(drivername="postgresql+psycopg") if parsed.drivername in ("postgresql", "postgres") else parsed


def _upsert(connection: sa.Connection, table: sa.Table, changed: Sequence[str]) -> Any:
    insert: Any = (postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert)(table)
    return insert.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_={name: insert.excluded[name] for name in changed})


def _chunks(items: Sequence[str], size: int = 500) -> Iterable[Sequence[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _escaped(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path))
