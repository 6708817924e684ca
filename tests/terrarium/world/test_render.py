"""Text for the policy."""

from __future__ import annotations

from terrarium.world.render import render_search, render_visit
from terrarium.world.tools import Hit, SearchResult, Status, VisitResult

A = Hit("a", "https://x.example/a", "Page A", "About a.", 0.1)
B = Hit("b", "https://x.example/b", "Page B", "About b.", 0.05)


def test_hits_are_title_address_snippet() -> None:
    text = render_search([SearchResult("q", Status.FOUND, (A, B))])
    assert text == "1. Page A\nhttps://x.example/a\nAbout a.\n2. Page B\nhttps://x.example/b\nAbout b."


def test_several_queries_stay_apart_and_repeat_nothing() -> None:
    text = render_search(
        [SearchResult("one", Status.FOUND, (A,)), SearchResult("two", Status.FOUND, (A, B)), SearchResult("three", Status.FOUND, (B,))]
    )
    assert text.count("Page A") == 1
    assert text.index("Results for: two") < text.index("Page B")
    assert text.endswith("Results for: three\nOnly pages listed above.")


def test_each_status_reads_differently() -> None:
    nothing = render_search([SearchResult("q", Status.NOTHING_FOUND)])
    failed = render_search([SearchResult("q", Status.FAILED, error="engine away")])
    assert nothing == "No search results."
    assert failed == "Search failed: engine away"
    assert render_visit([VisitResult("https://x.example/z", Status.UNKNOWN_PAGE)]) == "Unknown page: https://x.example/z"
    assert "failed" in render_visit([VisitResult("https://x.example/z", Status.FAILED, error="disk")])


def test_a_summary_is_not_said_twice() -> None:
    said = VisitResult("u", Status.FOUND, "a", "Page A", "A is a town. It is old.", "A is a town.")
    other = VisitResult("u", Status.FOUND, "a", "Page A", "It is old.", "A is a town.")
    assert render_visit([said]) == "Page A\nA is a town. It is old."
    assert render_visit([other]) == "Page A\nA is a town.\nIt is old."
