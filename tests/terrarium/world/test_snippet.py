"""Snippets: what of a lead suits a query."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from terrarium.world.snippet import lead, snippet, summary
from terrarium.world.words import units

LEAD = " ".join(f"w{i}" for i in range(60)) + ". The regatta is held in summer on the river. " + " ".join(f"v{i}" for i in range(60))


def test_the_window_with_most_of_the_query_is_shown() -> None:
    shown = snippet("Velmora", f"# Velmora\n\n{LEAD} secret", "summer regatta")
    assert shown.startswith("…The regatta is held in summer")
    assert sum(unit.words for unit in units(shown)) <= 31
    assert shown == snippet("Velmora", f"# Velmora\n\n{LEAD} secret", "summer regatta")


def test_nothing_behind_the_lead_is_shown() -> None:
    assert "secret" not in snippet("Velmora", f"# Velmora\n\n{LEAD} {LEAD} secret", "secret")
    assert "v59" not in lead(f"# Velmora\n\n{LEAD}", "Velmora", 100)


def test_terms_of_the_title_count_half() -> None:
    page = "# Grand Mill\n\nThe grand mill was admired. " + " ".join(f"w{i}" for i in range(40)) + ". A fire and a flood came."
    assert "fire" in snippet("Grand Mill", page, "fire flood at the grand mill", words=12)
    assert "fire" not in snippet("Else", page, "flood at the grand mill", words=12)


def test_the_earliest_of_equals() -> None:
    assert snippet("T", " ".join(f"w{i}" for i in range(90)), "nothing").startswith("w0 w1 ")


def test_prose_goes_before_tables() -> None:
    page = (
        "# Velmora\n\n| Mayor | Ines Tarrow |\n|---|---|\n| Area | 88 |\n\n"
        + "Velmora is a town on the river Osk with a market hall and a regatta in late summer each year."
    )
    assert "Tarrow" not in snippet("Velmora", page, "mayor of Velmora")
    assert "Tarrow" in snippet("Velmora", "# Velmora\n\n| Mayor | Ines Tarrow |\n|---|---|\n| Area | 88 |\n", "mayor of Velmora")


def test_chinese_and_one_long_line() -> None:
    text = "它的老城中心围绕市场大厅。" * 9 + "铁路在夏天到来。" + "以后的事情很多。" * 30
    assert "铁路" in snippet("韦尔莫拉", text, "铁路 夏天")
    assert len(snippet("韦尔莫拉", text, "铁路 夏天")) <= 64
    assert len(snippet("x", "A" * 9000, "q")) < 600


def test_a_summary_is_a_first_sentence() -> None:
    assert summary("# Velmora\n\nVelmora is a town. It is old.", "Velmora", "", 25) == "Velmora is a town."
    assert summary("text", "Velmora", "A model wrote this. And this.", 25) == "A model wrote this."
    assert summary("word " * 200, "T", "", 10).endswith("word…")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400), st.text(max_size=30))
def test_any_text_gives_a_bounded_snippet(text: str, query: str) -> None:
    assert sum(unit.words for unit in units(snippet("title", text, query).strip("…"))) <= 32
