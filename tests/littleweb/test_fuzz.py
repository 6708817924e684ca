"""A thousand pages, mutated from real ones, never stop a round: each is a page or dropped with a reason, and what is written can be read."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from littleweb.web import Web
from terrarium.corpus.candidates import MergeJob, merge
from terrarium.corpus.extract import page_from_html
from terrarium.corpus.page import Page, read_pages, write_pages
from terrarium.corpus.refuse import UnusablePage
from terrarium.job import SilentReport
from terrarium.questions.extract import ExtractJob, extract

COUNT = 1000
Mutation = Callable[[random.Random, bytes], bytes]


def flipped(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 8, 64, len(data) // 8 + 1))):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def cut(draw: random.Random, data: bytes) -> bytes:
    start = draw.choice((0, draw.randrange(len(data))))
    return data[start : draw.randrange(start, len(data) + 1)]


def recoded(draw: random.Random, data: bytes) -> bytes:
    name = draw.choice(("utf-16", "utf-16-be", "utf-32", "latin-1", "cp1251", "gb18030", "shift_jis", "utf-7", "utf-8-sig"))
    return data.decode("utf-8", "replace").encode(name, "replace")


def deep(draw: random.Random, data: bytes) -> bytes:
    tag = draw.choice((b"div", b"table><tr><td", b"b", b"ul><li", b"svg", b"noscript", b"select", b"template"))
    return data.replace(b"<h1", b"<" + tag + b">" * 1 + (b"<" + tag + b">") * draw.choice((5, 200, 5000)) + b"<h1", 1)


def inserted(draw: random.Random, data: bytes) -> bytes:
    piece = draw.choice(
        (
            b"\x00" * 50,
            b"\xed\xa0\x80 lone surrogate \xed\xbf\xbf",
            b"<p " + b"a" * 100_000 + b"='x'>",
            b"<!--" + b"-" * 5_000,
            b"<![CDATA[ x ]]>" * 50,
            b"&#0;&#xD800;&#x110000;&bogus;&amp" * 50,
            b"<title></title><title>" + b"T" * 20_000 + b"</title>",
            b"<meta http-equiv=refresh content='0;url=javascript:alert(1)'><base href='http://[::1'>",
            b"<link rel=canonical href='http://[broken'><meta property='og:url' content='::::'>",
            b"<time datetime='99999-99-99T99:99'>never</time><meta name=date content='0000-00-00'>",
            b"<table>" + b"<tr><td colspan=99999 rowspan=99999>x" * 20 + b"</table>",
            "<|im_start|>system\u202e\ufeff\u2028<tool_response>".encode(),
            b"<script>" + b"var x='</scr';" * 500,
            b"<plaintext>",
            b"]]>" * 100 + b"<?xml version='1.0' encoding='utf-32'?>",
        )
    )
    place = draw.randrange(len(data))
    return data[:place] + piece + data[place:]


def doubled(draw: random.Random, data: bytes) -> bytes:
    start = draw.randrange(len(data))
    piece = data[start : start + draw.choice((10, 500, 5_000))]
    return data[:start] + piece * draw.choice((2, 20, 100)) + data[start:]


def untagged(draw: random.Random, data: bytes) -> bytes:
    return data.replace(draw.choice((b"<", b">", b'"', b"/", b"</", b"&")), draw.choice((b"", b"<", b">>", b"&lt;")))


MUTATIONS: tuple[Mutation, ...] = (flipped, cut, recoded, deep, inserted, doubled, untagged)


@pytest.fixture(scope="module")
def mutated(country: Web) -> list[tuple[str, bytes, str | None]]:
    """(address, bytes, content type) of every fuzzed page."""
    draw = random.Random(20261201)
    real = [country.answer("GET", url).body for url in sorted(country.pages)[::60]]  # every sort of page, of each site
    types = (
        None,
        "",
        "text/html",
        "text/html; charset=utf-8",
        "text/html; charset=utf-16",
        "text/html; charset=klingon",
        "TEXT/HTML;;;=",
        "text/plain",
    )
    made = []
    for number in range(COUNT):
        data = draw.choice(real)
        for mutation in draw.sample(MUTATIONS, draw.choice((1, 1, 2, 3))):
            data = mutation(draw, data) or b" "
        made.append((f"http://fuzz.example/{number}", data, draw.choice(types)))
    return made


@pytest.mark.timeout(300)
def test_a_thousand_mutated_pages_never_stop_a_round(mutated: list[tuple[str, bytes, str | None]], tmp_path: Path) -> None:
    pages: list[Page] = []
    reasons: dict[str, int] = {}
    for url, data, content_type in mutated:
        try:
            pages.append(page_from_html(data, url, content_type))
        except UnusablePage as refused:
            assert refused.reason and str(refused)
            reasons[refused.reason] = reasons.get(refused.reason, 0) + 1
    print(len(pages), reasons)
    assert len(pages) + sum(reasons.values()) == COUNT
    assert len(pages) > COUNT // 3 and reasons
    write_pages(tmp_path / "in" / "pages.parquet", pages)
    assert read_pages(tmp_path / "in" / "pages.parquet") == pages
    out = tmp_path / "merged"
    out.mkdir()
    merge(MergeJob(out=out, pages=[tmp_path / "in"]), SilentReport())
    assert len(read_pages(out / "pages.parquet")) == len({page.url for page in pages})
    drawn = tmp_path / "drawn"
    drawn.mkdir()
    assert extract(ExtractJob(out=drawn, pages=out, round="round_001"), SilentReport()).counts
