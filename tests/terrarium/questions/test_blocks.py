"""Units of a page: sentences, labels, rows and items, where they stand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from terrarium.questions.blocks import list_items, split_sentences, units

PAGE = """| Arlow | |
|---|---|
| Area | 34.5 km² |

# Town

Mr. Hult met Dr. A. Renn at 3.5 p.m. today. Nothing came of it.

**Elevation:** 84 m
Source: https://x.test/12:30

## Stations

Its stations are:

- Old Gate
- Harbour: the last one
- The line was opened in 1901 by the mayor.
"""


def test_a_page_is_read_into_units_that_know_where_they_stand() -> None:
    found = units(PAGE)
    assert [(unit.kind, unit.text) for unit in found] == [
        ("row", "Arlow | "),
        ("row", "Area | 34.5 km²"),
        ("sentence", "Mr. Hult met Dr. A. Renn at 3.5 p.m. today."),
        ("sentence", "Nothing came of it."),
        ("label", "Elevation: 84 m"),
        ("label", "Source: https://x.test/12:30"),
        ("sentence", "Its stations are:"),
        ("item", "Old Gate"),
        ("label", "Harbour: the last one"),
        ("sentence", "The line was opened in 1901 by the mayor."),
    ]
    assert found[1].cells == ("Area", "34.5 km²") and found[1].header == ("Arlow", "")
    assert found[7].headings == ("Town", "Stations") and found[7].context == "Its stations are:"
    for unit in found:
        assert PAGE[unit.start : unit.end].strip()


@given(st.text(alphabet="ab |-#*:.\n\\[]()1", max_size=120))
def test_any_text_can_be_read_and_every_span_lies_in_it(text: str) -> None:
    for unit in units(text):
        assert 0 <= unit.start < unit.end <= len(text)


@given(st.text(max_size=120))
def test_sentences_lose_nothing_but_blanks(text: str) -> None:
    kept = "".join(text[start:end] for start, end in split_sentences(text))
    assert "".join(kept.split()) == "".join(text.split())


def test_a_list_in_a_cell_is_a_list() -> None:
    assert list_items("Old Gate; Harbour; North, East") == ("Old Gate", "Harbour", "North, East")
    assert list_items("lamps, bottles and mirrors") == ("lamps", "bottles", "mirrors")
    assert list_items("12,345") == ("12,345",)
    assert list_items("北门、南门") == ("北门", "南门")
