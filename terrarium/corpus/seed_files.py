"""Seed corpora in files: JSON lines (also LiteResearcher's `.jsonl.zst`), news and Wikipedia tables, folders of HTML, Wikipedia dumps.

Each reader streams records in the file's order. A bad row costs itself; a file that is missing, empty, of another kind or cut off
ends the reading with one sentence, after everything before that place.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from terrarium.corpus.extract import lead, page_from_html
from terrarium.corpus.language import language_of
from terrarium.corpus.page import Page
from terrarium.corpus.refuse import UnusablePage
from terrarium.corpus.urls import canonical_url
from terrarium.corpus.wikipedia import article_url, dump_pages
from terrarium.corpus.wikitext import markdown_of
from terrarium.errors import TerrariumError
from terrarium.tables import Drop

if TYPE_CHECKING:
    import pyarrow as pa

    from terrarium.corpus.seeds import SeedSource


@dataclass(frozen=True, slots=True)
class Redirect:
    """Another address of a page."""

    url: str
    target: str


Record = Page | Drop | Redirect

# Many times the longest page; what is longer is no row of pages, and would be held in memory whole.
MAX_ROW_CHARACTERS = 1 << 26
MAX_HTML_BYTES = 1 << 25
# Four bytes of zstandard may stand for 128 kB: this many unpack to 64 MB at most.
_PACKED_BYTES = 1 << 11

_TEXT_FIELDS = ("markdown", "text", "doc", "content", "body")


def read_source(source: SeedSource, start: int = 0) -> Iterator[tuple[int, Record]]:
    """The records of a file source from number `start` on, each with its number.

    Raises:
        TerrariumError: the file is missing, empty, of another kind, cut off or damaged.
    """
    path = Path(source.location)
    if source.kind == "html_folder":
        yield from _html_folder(path, source, start)
        return
    if source.kind == "wikipedia":
        yield from _wikipedia(path, source, start)
        return
    if not path.is_file():
        raise TerrariumError(f"The seed file {path} does not exist; correct the location of this seed in the profile.")
    if path.stat().st_size == 0:
        raise TerrariumError(f"The seed file {path} is empty; fetch it again or take it out of the profile.")
    rows = _parquet_rows(path, source.kind) if source.kind.startswith("parquet") else _json_rows(path, source.kind == "lite_jsonl_zst")
    usable = 0
    for at, row in rows:
        if at >= start:
            record = row if isinstance(row, Drop) else _row_page(row, source, path, at)
            usable += isinstance(record, Page)
            yield at, record
    if not usable and not start:
        raise TerrariumError(f"The seed file {path} has no usable row; a {source.kind} seed has a url and a text in each.")


def _wikipedia(path: Path, source: SeedSource, start: int) -> Iterator[tuple[int, Record]]:
    for dumped in dump_pages(path):
        if dumped.namespace != 0 or dumped.at < start:
            continue
        if dumped.redirect is not None:
            yield dumped.at, Redirect(dumped.url(), article_url(dumped.site, dumped.redirect))
            continue
        markdown = markdown_of(dumped.text, dumped.title)
        if not markdown:
            yield dumped.at, Drop(dumped.url(), dumped.title, "seed", "empty", "nothing is left of the article without its markup")
            continue
        yield (
            dumped.at,
            Page.make(
                dumped.url(),
                dumped.title,
                markdown,
                summary=lead(markdown),
                language=language_of(markdown, source.language),
                published_at=dumped.timestamp[:10] or None,
                licence=source.licence or "CC BY-SA",
                revision=dumped.revision or None,
            ),
        )


def _html_folder(path: Path, source: SeedSource, start: int) -> Iterator[tuple[int, Record]]:
    if not path.is_dir():
        raise TerrariumError(f"The seed folder {path} does not exist; correct the location of this seed in the profile.")
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in (".html", ".htm", ".xhtml") and file.is_file())
    if not files:
        raise TerrariumError(f"The seed folder {path} holds no .html file.")
    for at, file in enumerate(files):
        if at < start:
            continue
        url = source.site.rstrip("/") + "/" + quote(file.relative_to(path).as_posix())
        if not file.resolve().is_relative_to(path.resolve()):
            yield at, Drop(url, file.name, "seed", "outside", "the link leads out of the seed folder")
            continue
        if (size := file.stat().st_size) > MAX_HTML_BYTES:
            yield at, Drop(url, file.name, "seed", "too_large", f"the file has {size:,} bytes, more than {MAX_HTML_BYTES:,}")
            continue
        try:
            yield at, page_from_html(file.read_bytes(), url)
        except UnusablePage as refused:
            yield at, Drop(url, file.name, "seed", refused.reason, str(refused))


def _json_rows(path: Path, packed: bool) -> Iterator[tuple[int, dict[str, Any] | Drop]]:
    at = -1
    try:
        with _text_stream(path, packed) as lines:
            for at, line in enumerate(_lines(lines)):
                if line is None:
                    yield at, Drop(f"{path.name}:{at + 1}", "", "seed", "too_large", f"the row has more than {MAX_ROW_CHARACTERS:,} characters")
                    continue
                whole = line.endswith("\n")
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError) as error:
                    if not whole:
                        raise TerrariumError(f"The seed file {path} is half-written: line {at + 1:,} breaks off; fetch it again.") from error
                    if at == 0:
                        raise TerrariumError(f"The seed file {path} holds no JSON lines (line 1: {error}); check its kind in the profile.") from error
                    yield at, Drop(f"{path.name}:{at + 1}", line[:200], "seed", "unreadable_row", str(error))
                    continue
                if isinstance(row, dict):
                    yield at, row
                else:
                    yield at, Drop(f"{path.name}:{at + 1}", line[:200], "seed", "unreadable_row", "the line is no JSON object")
    except UnicodeDecodeError as error:
        raise TerrariumError(
            f"The seed file {path} is no UTF-8 text near line {at + 2:,} ({error.reason}); check its kind in the profile."
        ) from error
    except (OSError, EOFError) as error:
        raise TerrariumError(f"The seed file {path} is damaged or cut off after line {at + 1:,} ({error}); fetch it again.") from error


def _lines(stream: io.TextIOBase) -> Iterator[str | None]:
    """The lines of a text; None for one that is too long to be held, whose rest is read past."""
    while line := stream.readline(MAX_ROW_CHARACTERS):
        if len(line) < MAX_ROW_CHARACTERS or line.endswith("\n"):
            yield line
            continue
        while (rest := stream.readline(1 << 20)) and not rest.endswith("\n"):
            continue
        yield None


def _text_stream(path: Path, packed: bool) -> io.TextIOBase:
    with path.open("rb") as file:
        head = file.read(4)
    if head == b"\x28\xb5\x2f\xfd":
        return io.TextIOWrapper(io.BufferedReader(_Unpacked(path), 1 << 17), encoding="utf-8")  # type: ignore[type-var]
    if packed:
        raise TerrariumError(f"The seed file {path} is no zstandard archive; check its kind in the profile.")
    return path.open(encoding="utf-8-sig", newline="\n")


class _Unpacked(io.RawIOBase):
    """A zstandard file, frame by frame. It says when the last frame breaks off; zstandard's own reader ends without a word."""

    def __init__(self, path: Path) -> None:
        import zstandard

        self.error = zstandard.ZstdError
        self.file = path.open("rb")
        self.frames = zstandard.ZstdDecompressor(max_window_size=1 << 31)
        self.frame = self.frames.decompressobj()
        self.left, self.inside = memoryview(b""), False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.left:
            chunk = self.frame.unused_data if self.frame.eof else b""
            chunk = chunk or self.file.read(_PACKED_BYTES)
            if not chunk:
                if self.inside:
                    raise EOFError("the compressed stream breaks off")
                return 0
            if self.frame.eof:
                self.frame = self.frames.decompressobj()
            try:
                # A view, since one small piece may unpack to a very large one.
                self.left = memoryview(self.frame.decompress(chunk))
            except self.error as error:
                raise OSError(str(error)) from error
            self.inside = not self.frame.eof
        count = min(len(buffer), len(self.left))
        buffer[:count], self.left = self.left[:count], self.left[count:]
        return count

    def close(self) -> None:
        self.file.close()
        super().close()


def _parquet_rows(path: Path, kind: str) -> Iterator[tuple[int, dict[str, Any] | Drop]]:
    wanted = ("link", "title", "content") if kind == "parquet_news" else ("url", "title", "text")
    at = 0
    for batch in _record_batches(path):
        missing = [name for name in wanted if name not in batch.schema.names]
        if missing:
            raise TerrariumError(
                f"The seed file {path} has no column {', '.join(missing)} (it has {', '.join(batch.schema.names[:12])}); a {kind} seed needs it."
            )
        for row in batch.to_pylist():
            yield at, row
            at += 1


def _record_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Parquet, or Arrow as file or stream (what Hugging Face data sets store)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        head = file.read(6)
    try:
        if head[:4] == b"PAR1":
            with pq.ParquetFile(path) as table:
                yield from table.iter_batches(batch_size=512)
        elif head == b"ARROW1":
            with pa.memory_map(str(path)) as source:
                arrow = pa.ipc.open_file(source)
                for index in range(arrow.num_record_batches):
                    yield arrow.get_batch(index)
        elif head[:4] == b"\xff\xff\xff\xff":
            with pa.memory_map(str(path)) as source:
                yield from pa.ipc.open_stream(source)
        else:
            raise TerrariumError(f"The seed file {path} is no Parquet or Arrow file; check its kind in the profile.")
    except (pa.ArrowInvalid, OSError) as error:
        raise TerrariumError(f"The seed file {path} is damaged or half-written ({str(error)[:200]}); fetch it again.") from error


def _row_page(row: dict[str, Any], source: SeedSource, path: Path, at: int) -> Page | Drop:
    where = f"{path.name}:{at + 1}"
    address = str(row.get("url") or row.get("link") or "")
    title = clean(str(row.get("title") or "")).strip()
    text = next((str(row[name]) for name in _TEXT_FIELDS if row.get(name)), "")
    if source.kind == "parquet_news" and row.get("description") and not text.startswith(str(row["description"])):
        text = f"{row['description']}\n\n{text}"
    try:
        url = canonical_url(address)
    except ValueError as error:
        return Drop(where, title or text[:100], "seed", "no_url", str(error))
    text = clean(text).strip()
    if not text:
        return Drop(url, title, "seed", "empty", "the row has no text")
    published = str(row.get("published_date") or row.get("published_at") or row.get("date") or "")[:10]
    return Page.make(
        url,
        title or text.splitlines()[0][:120],
        text,
        aliases=(address.strip(),) if address.strip() != url else (),
        summary=lead(text),
        language=language_of(text, row.get("language") or source.language),
        published_at=published if len(published) == 10 and published[:4].isdigit() else None,
        licence=row.get("licence") or row.get("license") or source.licence,
    )


def clean(text: str) -> str:
    """Without NUL and lone surrogates, which no database stores."""
    text = text.replace("\x00", "").replace("\r\n", "\n")
    return text if text.isascii() else text.encode("utf-8", "ignore").decode("utf-8")
