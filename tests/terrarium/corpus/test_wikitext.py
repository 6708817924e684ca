"""Wikitext: facts in boxes, templates, tables and lists stay as text; the rest of the markup goes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terrarium.corpus.wikitext import markdown_of


def test_infobox() -> None:
    text = """{{Infobox settlement
| name = Alton
| image_skyline = x.jpg | image_caption = A view
| established_title = Founded | established_date = {{start date|1650|5|4}}
| population_total = {{formatnum:12345}} | population_as_of = 2021
| area_total_km2 = 1234.5
| leader_title = Mayor | leader_name = [[Anna Holt]]<ref>{{cite web|url=x}}</ref>
| elevation_m = 1200
| blank_name = Postcode | blank_info = 4711
| label3 = Rivers | data3 = {{plainlist|
* [[Tarn (river)|Tarn]]
* Sill
}}
| twin = {{hlist|A|B}}
| latd = 34 | latm = 32 | latNS = N | longd = 69 | longm = 08 | longEW = E
| Gini = 29 | Gini_year = 2008
}}
'''Alton''' is a town."""
    assert markdown_of(text, "Alton") == (
        "| Alton | |\n|---|---|\n"
        "| Coordinates | 34°32′N 69°08′E |\n| Founded | 4 May 1650 |\n| Population total | 12,345 |\n| Population as of | 2021 |\n"
        "| Area total | 1234.5 km² |\n| Mayor | Anna Holt |\n| Elevation | 1200 m |\n| Postcode | 4711 |\n| Rivers | Tarn; Sill |\n| Twin | A; B |\n"
        "| Gini | 29 (2008) |\n\nAlton is a town."
    )


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("{{convert|12|km|mi|abbr=on}}", "12 km"),
        ("{{Convert|3|to|5|km2|sqmi}}", "3 to 5 km²"),
        ("{{convert|5|ft|6|in|m}}", "5 ft 6 in"),
        ("{{convert|-40|C|F}}", "-40°C"),
        ("{{cvt|12345|ft}}", "12,345 ft"),
        ("{{birth date and age|1976|7|4|df=y}}", "4 July 1976"),
        ("{{birth date|1976|7|4|mf=yes}}", "July 4, 1976"),
        ("{{death date and age|2001|2|3|1920|1|1}}", "3 February 2001"),
        ("{{start date|1901|5}}", "May 1901"),
        ("{{dts|2001|May|4}}", "4 May 2001"),
        ("{{start date|4 May 1901}}", "4 May 1901"),
        ("{{formatnum:1234567.8}}", "1,234,567.8"),
        ("{{nts|10000}}", "10,000"),
        ("{{val|1.2|0.1|e=6|u=km}}", "1.2 ± 0.1 × 10⁶ km"),
        ("{{frac|3|1|2}}", "3 1/2"),
        ("{{as of|2011|6}}", "As of June 2011"),
        ("{{lang|de|Altdorf}}", "Altdorf"),
        ("{{nihongo|Tokyo|東京|Tōkyō}}", "Tokyo (東京, Tōkyō)"),
        ("{{coord|34|31|N|69|08|E|region:AF|display=inline}}", "34°31′N 69°08′E"),
        ("{{flag|Finland}}", "Finland"),
        ("{{small|{{nowrap|a b}}}}", "a b"),
        ("{{circa|1900}}", "c. 1900"),
        ("{{US$|5 million}}", "US$5 million"),
        ("10<sup>6</sup> km<sup>2</sup>", "10⁶ km²"),
        ("[[Berg (town)|Berg]]s [[Ciro]] [[A (b)|]] [http://x.y the site]", "Bergs Ciro A the site"),
        ("a<ref name=x /> b<ref>c [[d]]</ref> e<!-- f -->", "a b e"),
        ("x [[File:a.jpg|thumb|A [[b]] c]] y[[Category:Z]]", "x y"),
        ("Alton ({{IPA-en|x}}; {{lang-de|Altdorf}}) is", "Alton (Altdorf) is"),
        ("'''''bold''''' &amp; &nbsp;<nowiki>[[plain]]</nowiki>", "bold & [[plain]]"),
        ("{{unknown thing|text}}fact{{citation needed|date=x}}", "fact"),
    ],
)
def test_inline_markup(markup: str, text: str) -> None:
    assert markdown_of(markup, "T") == text


def test_headings_lists_and_dropped_sections() -> None:
    text = "Intro.\n== History ==\n* One\n** Two\n# Three\n; Term : def\n=== Empty ===\n"
    text += "== See also ==\n* [[Foo]]\n=== Sub ===\nx\n== Art ==\nText\n== References ==\n{{reflist}}"
    assert markdown_of(text) == "Intro.\n\n## History\n\n- One\n  - Two\n1. Three\n- Term: def\n\n## Art\n\nText"


def test_tables_with_spans_lists_and_templates() -> None:
    text = """{| class="wikitable"
|+ People by year
! Year !! style="x" | Number<br>of people
|-
| rowspan=2 | 1990 || align=right | {{nts|10000}}
|-
|
* [[a]]
* b
|-
! scope="row" | 2000
| {{n/a}}
|}"""
    assert markdown_of(text) == ("People by year\n\n| Year | Number of people |\n|---|---|\n| 1990 | 10,000 |\n| 1990 | a; b |\n| 2000 | N/A |")


def test_damaged_tables() -> None:
    assert markdown_of('{||border=0\n|-\n! A\n! B\n|-\n|style="x"|1\n|2\n|}') == "| A | B |\n|---|---|\n| 1 | 2 |"
    assert "| A | B |" in markdown_of("{|\n! A\n!! B\n|-\n| 1 || 2\n\n== Next ==\nText")
    assert "## Next" in markdown_of("{|\n! A !! B\n|-\n| 1 || 2\n\n== Next ==\nText")


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "{{",
                "}}",
                "[[",
                "]]",
                "{|",
                "\n|-\n",
                "\n|",
                "|}",
                "|",
                "\n! a",
                "'''",
                "<ref>",
                "</ref>",
                "<!--",
                "\n== h ==\n",
                "Infobox x",
                "=1",
                "text ",
                "\n* ",
                "<br>",
            ]
        ),
        max_size=40,
    )
)
def test_broken_wikitext_never_raises(pieces: list[str]) -> None:
    assert isinstance(markdown_of("".join(pieces), "T"), str)
