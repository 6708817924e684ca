"""Every page once, under all its names."""

from __future__ import annotations

from pathlib import Path

from terrarium.corpus.candidates import MergeJob, MergeSettings, merge
from terrarium.corpus.page import Page, read_pages, write_pages
from terrarium.job import SilentReport
from terrarium.tables import read_drops

TEXT = (
    "The town of {} lies on the river Tarn in the north of the country and was founded by settlers who came over the hills in search of salt in {}."
)


def _page(url: str, name: str = "Alton", year: int = 1650, **more: object) -> Page:
    return Page.make(url, name, TEXT.format(name, year), **{"origin": "crawl", **more})


def _merge(tmp_path: Path, *rounds: list[Page], near: bool = True) -> dict[str, Page]:
    folders = []
    for number, pages in enumerate(rounds):
        folders.append(tmp_path / f"round{number}")
        write_pages(folders[-1] / "pages.parquet", pages)
    merge(MergeJob(out=tmp_path, pages=folders, settings=MergeSettings(near_duplicates=near)), SilentReport())
    return {page.url: page for page in read_pages(tmp_path / "pages.parquet")}


def test_the_latest_version_under_all_names(tmp_path: Path) -> None:
    pages = _merge(
        tmp_path,
        [_page("https://a.example/1", aliases=("http://a.example/1",), origin="seed")],
        [_page("https://a.example/1", year=1651, aliases=("https://a.example/old",))],
    )
    (page,) = pages.values()
    assert "1651" in page.markdown and page.aliases == ("http://a.example/1", "https://a.example/old") and page.origin == "seed"
    assert page.summary.startswith("The town of Alton")


def test_of_copies_the_oldest_stays_then_a_seed_then_the_shortest_address(tmp_path: Path) -> None:
    pages = _merge(
        tmp_path,
        [_page("https://mirror.example/a"), _page("https://encyclopedia.example/wiki/Alton", origin="seed"), _page("https://b.example/berg", "Berg")],
        [_page("https://c.example/"), _page("https://d.example/x", year=1651)],
    )
    original = pages["https://encyclopedia.example/wiki/Alton"]
    assert {url for url, page in pages.items() if page.duplicate_of} == {"https://mirror.example/a", "https://c.example/"}
    assert {page.duplicate_of for page in pages.values()} == {None, original.page_id}


def test_exact_copies_only(tmp_path: Path) -> None:
    edited = Page.make("https://b.example/", "Alton", TEXT.format("Alton", 1650).replace("came", "walked"))
    pages = _merge(tmp_path, [_page("https://a.example/"), edited, _page("https://c.example/")], near=False)
    assert [page.duplicate_of is None for page in pages.values()] == [True, True, False]


def test_a_page_that_moved_is_merged_into_its_new_address(tmp_path: Path) -> None:
    pages = _merge(
        tmp_path,
        [_page("https://a.example/old", aliases=("https://a.example/older",), origin="seed")],
        [_page("https://a.example/new", year=1651, aliases=("https://a.example/old",))],
    )
    (page,) = pages.values()
    assert page.url == "https://a.example/new" and set(page.aliases) == {"https://a.example/old", "https://a.example/older"}
    assert [(drop.id, drop.reason) for drop in read_drops(tmp_path / "dropped.parquet")] == [("https://a.example/old", "moved")]


def test_an_alias_that_became_a_page_of_its_own_is_no_alias(tmp_path: Path) -> None:
    pages = _merge(tmp_path, [_page("https://a.example/1", aliases=("https://a.example/2",))], [_page("https://a.example/2", "Berg")])
    assert len(pages) == 2 and pages["https://a.example/1"].aliases == ()


def test_vanished_pages_go_with_a_reason(tmp_path: Path) -> None:
    pages = _merge(
        tmp_path, [_page("https://a.example/1"), _page("https://a.example/2", "Berg")], [_page("https://a.example/1", vanished_at="2026-01-01")]
    )
    assert list(pages) == ["https://a.example/2"]
    assert [drop.reason for drop in read_drops(tmp_path / "dropped.parquet")] == ["vanished"]


def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    pages = [_page(f"https://a.example/{number}", f"Town{number}", aliases=(f"http://a.example/{number}",)) for number in range(30)]
    _merge(tmp_path / "one", pages)
    _merge(tmp_path / "two", pages[::-1])
    assert (tmp_path / "one" / "pages.parquet").read_bytes() == (tmp_path / "two" / "pages.parquet").read_bytes()
