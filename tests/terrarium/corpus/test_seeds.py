"""Seeds of every kind; a bad row costs itself, a bad file one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from terrarium.corpus.page import read_pages
from terrarium.corpus.seeds import GatherJob, SeedSource, gather
from terrarium.corpus.web import Limits, WebSettings
from terrarium.errors import TerrariumError
from terrarium.job import SilentReport
from terrarium.tables import read_drops

TEXT = "Alton is a town on the river Tarn, founded in 1650."


def _gather(out: Path, *sources: SeedSource, **more: Any) -> GatherJob:
    out.mkdir(exist_ok=True)
    return GatherJob(out=out, sources=list(sources), round="r1", **more)


def _rows() -> list[dict[str, str]]:
    return [{"url": f"http://news.example/{number}", "title": f"Story {number}", "doc": f"{TEXT} It is story {number}."} for number in range(4)]


def _write(kind: str, path: Path) -> None:
    rows = _rows()
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if kind == "jsonl":
        path.write_text(lines)
    elif kind == "lite_jsonl_zst":
        packer = zstandard.ZstdCompressor()
        path.write_bytes(packer.compress(lines[:100].encode()) + packer.compress(lines[100:].encode()))
    elif kind == "parquet_wiki":
        table = pa.table(
            {"id": ["1"] * 4, "url": [row["url"] for row in rows], "title": [row["title"] for row in rows], "text": [row["doc"] for row in rows]}
        )
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    elif kind == "parquet_news":
        columns = {"title": "title", "content": "doc", "link": "url"}
        table = pa.table(
            {name: [row[field] for row in rows] for name, field in columns.items()}
            | {"description": ["Short."] * 4, "published_date": ["2023-05-06 10:00"] * 4}
        )
        pq.write_table(table, path)
    else:
        path.mkdir()
        for row in rows:
            (path / f"{row['title'][-1]}.html").write_text(
                f"<html lang=en><body><main><h1>{row['title']}</h1><p>{row['doc']}</p></main></body></html>"
            )


@pytest.mark.parametrize("kind", ["jsonl", "lite_jsonl_zst", "parquet_wiki", "parquet_news", "html_folder"])
def test_every_file_kind(kind: Any, tmp_path: Path) -> None:
    _write(kind, tmp_path / "seed")
    source = SeedSource(kind=kind, location=str(tmp_path / "seed"), licence="CC0", site="http://news.example")
    outcome = gather(_gather(tmp_path / "out", source), SilentReport())
    pages = read_pages(tmp_path / "out" / "pages.parquet")
    assert outcome.counts["pages"] == 4
    assert [page.title for page in pages] == [f"Story {number}" for number in range(4)]
    assert all(TEXT in page.markdown and page.origin == "seed" and page.round == "r1" for page in pages)
    assert {page.url.removesuffix(".html") for page in pages} == {f"https://news.example/{number}" for number in range(4)}
    if kind == "parquet_news":
        assert pages[0].published_at == "2023-05-06" and pages[0].markdown.startswith("Short.")
    if kind != "html_folder":
        assert pages[0].licence == "CC0"


def test_bad_rows_cost_themselves(tmp_path: Path) -> None:
    rows = [
        json.dumps({"url": "http://a.example/1", "text": TEXT}),
        "{not json",
        "[1]",
        json.dumps({"url": "mailto:x", "text": TEXT}),
        json.dumps({"url": "http://a.example/2"}),
    ]
    rows += [
        json.dumps({"url": "http://www.a.example/1?utm_source=x", "text": TEXT}),
        json.dumps({"url": "http://a.example/3", "title": "\ud800x\u0000", "text": TEXT + "\ud800\u0000"}),
    ]
    (tmp_path / "seed").write_text("\n".join(rows) + "\n")
    gather(_gather(tmp_path / "out", SeedSource(kind="jsonl", location=str(tmp_path / "seed"))), SilentReport())
    assert [page.url for page in read_pages(tmp_path / "out" / "pages.parquet")] == ["https://a.example/1", "https://a.example/3"]
    assert [drop.reason for drop in read_drops(tmp_path / "out" / "dropped.parquet")] == [
        "unreadable_row",
        "unreadable_row",
        "no_url",
        "empty",
        "same_page",
    ]


@pytest.mark.parametrize(
    ("kind", "content", "sentence"),
    [
        ("jsonl", None, "does not exist"),
        ("jsonl", b"", "is empty"),
        ("jsonl", b"PK\x03\x04\xff\xfe", "no UTF-8 text|no JSON lines"),
        ("jsonl", b"<html>\n</html>\n", "no JSON lines"),
        ("jsonl", b'{"url": "http://a.example/1", "text": "Alton"}\n{"url": "http://a.ex', "half-written: line 2"),
        ("jsonl", b'{"a": 1}\n', "no usable row"),
        ("lite_jsonl_zst", b'{"url": 1}\n', "no zstandard archive"),
        ("lite_jsonl_zst", zstandard.ZstdCompressor().compress(b'{"url": "http://a.example/1", "doc": "Alton"}\n' * 999)[:-9], "damaged or cut off"),
        ("parquet_news", b"PAR1 and no footer", "damaged or half-written"),
        ("parquet_news", b"hello", "no Parquet or Arrow file"),
        ("html_folder", None, "does not exist"),
        ("urls", None, "does not exist"),
        ("urls", b"\n", "is empty"),
    ],
)
def test_a_bad_file_is_one_sentence(kind: Any, content: bytes | None, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "seed"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TerrariumError, match=sentence) as raised:
        gather(_gather(tmp_path / "out", SeedSource(kind=kind, location=str(path)), web=WebSettings()), SilentReport())
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_missing_columns_are_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"title": ["a"]}), tmp_path / "seed")
    with pytest.raises(TerrariumError, match="no column link, content"):
        gather(_gather(tmp_path / "out", SeedSource(kind="parquet_news", location=str(tmp_path / "seed"))), SilentReport())


def test_limits(tmp_path: Path) -> None:
    _write("jsonl", tmp_path / "seed")
    source = SeedSource(kind="jsonl", location=str(tmp_path / "seed"), limit=2)
    assert gather(_gather(tmp_path / "a", source), SilentReport()).counts["pages"] == 2
    with pytest.raises(TerrariumError, match="too_short 2"):
        gather(_gather(tmp_path / "b", source, limits=Limits(least_characters=10_000)), SilentReport())


def test_seeds_on_the_web_and_the_frontier(proxy: str, tmp_path: Path) -> None:
    web = WebSettings(proxy=proxy, timeout_seconds=2, retries=0)
    sources = [SeedSource(kind="sitemap", location="http://good.example/sitemap.xml", licence="CC BY 4.0")]
    outcome = gather(
        _gather(tmp_path / "out", *sources, frontier=["http://good.example/town/77", "http://good.example/nowhere"], web=web), SilentReport()
    )
    pages = read_pages(tmp_path / "out" / "pages.parquet")
    assert outcome.counts["pages"] == 6 and outcome.drops == {"robots": 1, "gone": 1}
    assert {page.licence for page in pages if "77" not in page.url} == {"CC BY 4.0"}
    again = gather(_gather(tmp_path / "again", *sources, frontier=["http://good.example/town/77"], web=web), SilentReport())
    assert read_pages(tmp_path / "again" / "pages.parquet") == pages and again.counts["pages"] == 6


def test_web_seeds_need_a_web_section(tmp_path: Path) -> None:
    with pytest.raises(TerrariumError, match="no web section"):
        gather(_gather(tmp_path / "out", SeedSource(kind="sitemap", location="http://a.example/sitemap.xml")), SilentReport())
