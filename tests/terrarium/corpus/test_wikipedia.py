"""A dump, whole and damaged, in every packing."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from terrarium.corpus.page import read_pages
from terrarium.corpus.seeds import GatherJob, SeedSource, gather
from terrarium.corpus.wikipedia import dump_pages
from terrarium.errors import TerrariumError
from terrarium.job import SilentReport


def _dump(pages: int, end: str = "</mediawiki>") -> str:
    entries = []
    for number in range(pages):
        body = (
            f"{{{{Infobox town|name=Town {number}|population={number}000}}}} '''Town {number}''' is a town in the north of the country with a market."
        )
        entries.append(
            f"<page><title>Town {number}</title><ns>0</ns><id>{number}</id><revision><id>9{number}</id><timestamp>2016-04-30T00:00:00Z</timestamp>"
        )
        entries.append(f"<text xml:space='preserve'>{body}</text></revision></page>")
    redirects = (
        "<page><title>Old Town 1</title><ns>0</ns><redirect title='Town 1'/><revision><id>1</id><text>#REDIRECT [[Town 1]]</text></revision></page>"
    )
    talk = "<page><title>Talk:Town 1</title><ns>1</ns><revision><id>2</id><text>chat</text></revision></page>"
    head = "<mediawiki xmlns='http://www.mediawiki.org/xml/export-0.10/'><siteinfo><base>https://de.wikipedia.org/wiki/Hauptseite</base></siteinfo>"
    return head + redirects + "".join(entries) + talk + end


def _gather(path: Path, out: Path, **more: object) -> GatherJob:
    out.mkdir(exist_ok=True)
    return GatherJob(out=out, sources=[SeedSource(kind="wikipedia", location=str(path), **more)], round="r1")  # type: ignore[arg-type]


@pytest.mark.parametrize("packing", ["plain", "bz2", "multistream", "gzip"])
def test_every_packing(packing: str, tmp_path: Path) -> None:
    text = _dump(5).encode()
    packed = {
        "plain": lambda: text,
        "bz2": lambda: bz2.compress(text),
        "multistream": lambda: bz2.compress(text[:300]) + bz2.compress(text[300:900]) + bz2.compress(text[900:]),
        "gzip": lambda: gzip.compress(text),
    }[packing]()
    path = tmp_path / "dump"
    path.write_bytes(packed)
    outcome = gather(_gather(path, tmp_path / "out"), SilentReport())
    pages = read_pages(tmp_path / "out" / "pages.parquet")
    assert outcome.counts["pages"] == 5 and outcome.counts["redirects"] == 1
    assert pages[1].url == "https://de.wikipedia.org/wiki/Town_1"
    assert pages[1].aliases == ("https://de.wikipedia.org/wiki/Old_Town_1",)
    assert (pages[1].revision, pages[1].licence, pages[1].published_at, pages[1].origin, pages[1].round) == (
        "91",
        "CC BY-SA",
        "2016-04-30",
        "seed",
        "r1",
    )
    assert "| Population | 1000 |" in pages[1].markdown


@pytest.mark.parametrize("damage", ["cut", "xml"])
def test_what_stands_before_a_damaged_place_is_kept(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    text = _dump(4000)
    path.write_text(text[: text.index("<title>Town 3000")] + ("" if damage == "cut" else "<broken & >" + text[-2000:]))
    with pytest.raises(TerrariumError, match=r"after 3,001 pages \(the last is 'Town 2999'\)"):
        gather(_gather(path, tmp_path / "out"), SilentReport())
    assert len(read_pages(tmp_path / "out" / "pages.parquet")) == 3000


def test_a_cut_off_archive(tmp_path: Path) -> None:
    import random

    chance = random.Random(0)
    text = _dump(6000).replace("market", "market " + "".join(chance.choices("abcdefgh", k=30)))
    packed = bz2.compress(text.encode(), 1)
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(TerrariumError, match="cut off after .* pages"):
        gather(_gather(path, tmp_path / "out"), SilentReport())
    assert len(read_pages(tmp_path / "out" / "pages.parquet")) > 500


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "does not exist"),
        (b"", "is empty"),
        (b"hello", "no XML"),
        (b"7z\xbc\xaf\x27\x1c", "7z archive"),
        (b"<?xml version='1.0'?><html><p/></html>", "root element is <html>"),
    ],
)
def test_no_dump(content: bytes | None, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "dump"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TerrariumError, match=sentence):
        list(dump_pages(path))


def test_a_killed_run_goes_on_inside_the_dump(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_text(_dump(30))
    whole = gather(_gather(path, tmp_path / "whole"), SilentReport())
    out = tmp_path / "out"
    gather(_gather(path, out), SilentReport())
    (out / "journal" / "0.done").unlink()
    journal = out / "journal" / "0.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:11]) + lines[11][:40])
    assert gather(_gather(path, out), SilentReport()).counts == whole.counts
    assert (out / "journal" / "0.jsonl").read_text() == "".join(lines)
    assert (out / "pages.parquet").read_bytes() == (tmp_path / "whole" / "pages.parquet").read_bytes()


def test_the_real_excerpt(wikipedia: Path, tmp_path: Path) -> None:
    outcome = gather(_gather(wikipedia / "enwiki-excerpt.xml.bz2", tmp_path / "out"), SilentReport())
    assert (outcome.counts["pages"], outcome.counts["redirects"]) == (106, 99)
    pages = {page.title: page for page in read_pages(tmp_path / "out" / "pages.parquet")}
    afghanistan = pages["Afghanistan"].markdown
    for row in ("| Capital | Kabul |", "| Area | 652,864 km² |", "| Population estimate | 32,564,342 (2015) |", "| President | Ashraf Ghani |"):
        assert row in afghanistan
    assert "| Fresh asphalt | 0.04 |" in pages["Albedo"].markdown
    assert "| Birth date | 12 February 1809 |" in pages["Abraham Lincoln"].markdown
    for page in pages.values():
        assert "<ref" not in page.markdown and "[[File:" not in page.markdown and "{{cite" not in page.markdown.lower()


def test_real_table_markup(wikipedia: Path) -> None:
    texts = {page.title: page for page in dump_pages(wikipedia / "enwiki-table-markup.xml.bz2")}
    from terrarium.corpus.wikitext import markdown_of

    votes = markdown_of(texts["Constructive vote of no confidence"].text)
    assert "| 27 April 1972 | Rainer Barzel (CDU) | Willy Brandt (SPD) | 247 | 10 | 3 | 236 | no |" in votes
    assert "| Finland | 16% | 14% |" in markdown_of(texts["Economy of Estonia"].text)
    awards = markdown_of(texts["Academy Award for Best Production Design"].text)
    assert "| 1927/28; (1st) | William Cameron Menzies | Tempest |" in awards
    assert "| Actor | Character | S1 | S2 | S3 | S4 | S5 |" in markdown_of(texts["List of Prison Break characters"].text)
