"""Markdown as blocks and passages; evidence for a goal."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from terrarium.world.evidence import evidence
from terrarium.world.passages import blocks, passages, plain, sentences
from terrarium.world.words import estimate_tokens

PAGE = """# Velmora

| Population | 12,345 |
|---|---|
| Mayor | Ines Tarrow |

**Velmora** is a [town](http://x.example/t_(u)) in Harn. Dr. A. Kolvin wrote its chronicle.

## Railway

The railway came in 1889. The station was built by [Edda Kolvin](http://x.example/e).

## Lines

The stations of line 4 are:

- Harbour Square
- Old Mill
- Glassworks

## Population by year

| Year | Town | Villages | Remark |
|---|---|---|---|
"""
TABLE = PAGE + "".join(f"| {year} | {year * 5} | {year + 7} | census |\n" for year in range(1900, 2000, 5))


def test_plain_takes_marks_away() -> None:
    assert plain("**Line 4** runs to [Old *Mill*](http://a.example/b_(c)) `x` ![map](m.png)") == "Line 4 runs to Old Mill x map"
    assert plain("snake_case_name and 2 * 3 * 4") == "snake_case_name and 2 * 3 * 4"


def test_blocks_of_a_page() -> None:
    assert [block.kind for block in blocks(PAGE)] == [
        "heading",
        "table",
        "paragraph",
        "heading",
        "paragraph",
        "heading",
        "paragraph",
        "list",
        "heading",
        "table",
    ]


def test_abbreviations_do_not_end_a_sentence() -> None:
    assert sentences("Dr. A. Kolvin wrote it. It rained.") == ["Dr. A. Kolvin wrote it.", "It rained."]
    assert sentences("它很老。它很大。") == ["它很老。", "它很大。"]


def test_a_small_table_stays_whole_and_a_large_one_is_read_by_rows() -> None:
    assert any("Population | 12,345\nMayor | Ines Tarrow" in part.text for part in passages(TABLE, 48))
    rows = [part for part in passages(TABLE, 48) if part.head.endswith("Year | Town | Villages | Remark")]
    assert len(rows) == 20


def test_a_row_is_shown_with_its_header_and_others_are_left_out() -> None:
    shown = evidence(TABLE, "town population in 1950", 60, 48)
    assert "Year | Town | Villages | Remark\n1950 | 9750 | 1957 | census" in shown
    assert "Mayor" not in shown.split("Year")[1]


def test_a_list_is_shown_with_its_heading_and_introduction() -> None:
    assert evidence(PAGE, "stops of line 4", 140, 48) == "Lines\nThe stations of line 4 are:\n- Harbour Square\n- Old Mill\n- Glassworks"


def test_passages_come_in_page_order() -> None:
    shown = evidence(PAGE, "mayor railway stations", 140, 48)
    assert shown.index("Ines Tarrow") < shown.index("1889") < shown.index("Old Mill")


def test_a_goal_that_nothing_serves_gets_the_beginning() -> None:
    assert evidence(PAGE, "zzz", 140, 48).startswith("Population | 12,345")


def test_pages_of_one_long_line_and_empty_ones() -> None:
    assert estimate_tokens(evidence("A" * 50_000, "q", 60, 40)) <= 62
    assert evidence("word " * 20_000, "word", 60, 40)
    assert evidence("", "q", 60, 40) == ""
    assert "帆船赛" in evidence("韦尔莫拉是一个城镇。" * 30 + "每年夏末举行帆船赛。", "帆船赛", 60, 40)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.sampled_from(list("ab |-#*\n:.1[]()_`北")), max_size=300), st.text(max_size=20))
def test_any_text_is_read_and_evidence_keeps_its_budget(text: str, goal: str) -> None:
    shown = evidence(text, goal, 60, 20)
    assert estimate_tokens(shown) <= 63
    assert evidence(text, goal, 60, 20) == shown
