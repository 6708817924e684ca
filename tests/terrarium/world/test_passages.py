"""Markdown as blocks and passages; evidence for a goal."""

from __future__ import annotations

from collections.abc import Sequence

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


def said(markdown: str, goal: str, budget: int, passage_tokens: int) -> str:
    return evidence("Velmora", markdown, goal, budget, passage_tokens).text


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
    shown = said(TABLE, "town population in 1950", 60, 48)
    assert "Year | Town | Villages | Remark\n1950 | 9750 | 1957 | census" in shown
    assert "Mayor" not in shown.split("Year")[1]


def test_a_list_is_shown_with_its_heading_and_introduction() -> None:
    assert said(PAGE, "stops of line 4", 140, 48) == "Lines\nThe stations of line 4 are:\n- Harbour Square\n- Old Mill\n- Glassworks"


def test_what_only_names_the_page_is_left_out() -> None:
    hazy = "Velmora was hazy that day and people of Velmora talked."
    page = f"# Velmora\n\n{hazy}\n\nThe mill was opened in 1947.\n\nVelmora is much loved by many.\nThe mayor of Velmora is Ines."
    assert said(page, "mayor of Velmora", 140, 12) == "The mayor of Velmora is Ines."
    assert evidence("Velmora", page, "mayor of Velmora", 140, 48).gist == "The mayor of Velmora is Ines."
    assert hazy in said(page, "Velmora", 140, 12)
    long = page.removeprefix("# Velmora") + "".join(f"\n\nNumber {i} of the notes is about trees." for i in range(12))
    assert said(long, "mayor of Velmora", 140, 12) == "The mayor of Velmora is Ines."


def test_a_date_serves_who_asks_when() -> None:
    page = "# Velmora\n\nThe mill is large and old.\n\nIt was set up by the valley in 1947.\n\nIt has 300 workers."
    assert said(page, "when did the works start", 140, 12) == "It was set up by the valley in 1947."
    assert "300" in said(page, "how many people work there", 140, 12)
    assert said("它在1947年设立。\n\n它很大。", "何时", 140, 12) == "它在1947年设立。"


def test_the_head_of_an_infobox_does_not_repeat_the_title() -> None:
    page = "| Velmora |  |\n|---|---|\n" + "".join(f"| Key {i} | value {i} of the town |\n" for i in range(20))
    assert said(page, "key 7", 12, 12).startswith("Key 7 | value 7")


def test_the_best_passage_comes_first_and_rows_under_one_head_together() -> None:
    shown = said(PAGE, "mayor railway stations", 140, 48)
    assert shown.index("1889") < shown.index("Ines Tarrow") and shown.count("The stations of line 4 are:") == 1
    rows = said(TABLE, "town villages 1925 1960 mayor", 140, 16)
    assert rows.count("Year | Town") <= 1


def near(goal: str, texts: Sequence[str]) -> list[float]:
    """As an embedder would see it that knows one thing: a chronicle is a written history."""
    return [0.9 if "chronicle" in text and "history" in goal else 0.1 for text in texts]


def test_a_passage_in_other_words_is_found_by_meaning() -> None:
    goal = "who is the author of its written history"
    assert "chronicle" not in said(PAGE, goal, 20, 48)
    assert evidence("Velmora", PAGE, goal, 20, 48, near).text.endswith("wrote its chronicle.")


def test_words_count_beside_meaning() -> None:
    shown = evidence("Velmora", PAGE, "mayor", 140, 48, lambda goal, texts: [0.3] * len(texts)).text
    assert shown.splitlines()[0].startswith("Population") and "Ines Tarrow" in shown and "1889" not in shown


def test_pages_with_many_passages_ask_the_meaning_of_the_best_by_words_alone() -> None:
    asked: list[int] = []

    def count(goal: str, texts: Sequence[str]) -> list[float]:
        asked.append(len(texts))
        assert any("needle" in text for text in texts)
        return [0.0] * len(texts)

    evidence("T", "\n\n".join([*(f"Paragraph {i} is about hay." for i in range(200)), "The needle."]), "needle", 60, 10, count)
    assert asked == [64]


def test_a_goal_that_nothing_serves_gets_the_beginning() -> None:
    assert said(PAGE, "zzz", 140, 48).startswith("Population | 12,345")


def test_pages_of_one_long_line_and_empty_ones() -> None:
    assert estimate_tokens(said("A" * 50_000, "q", 60, 40)) <= 62
    assert said("word " * 20_000, "word", 60, 40)
    assert said("", "q", 60, 40) == ""
    assert "帆船赛" in said("韦尔莫拉是一个城镇。" * 30 + "每年夏末举行帆船赛。", "帆船赛", 60, 40)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.sampled_from(list("ab |-#*\n:.1[]()_`北")), max_size=300), st.text(max_size=20))
def test_any_text_is_read_and_evidence_keeps_its_budget(text: str, goal: str) -> None:
    shown = said(text, goal, 60, 20)
    assert estimate_tokens(shown) <= 63
    assert said(text, goal, 60, 20) == shown
