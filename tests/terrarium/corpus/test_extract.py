"""Pages as sites really send them: what must survive, and what is no page."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terrarium.corpus.extract import UnusablePage, lead, page_from_html

PROSE = (
    "<p>Alton is a town on the river Tarn in the north of the country, known for its salt and its clocks. It was founded in 1650 by merchants.</p>"
)


def _page(body: str, head: str = "", url: str = "http://enc.example/wiki/Alton") -> object:
    return page_from_html(f"<!doctype html><html lang='en'><head><meta charset='utf-8'>{head}</head><body>{body}</body></html>".encode(), url)


def _markdown(body: str) -> str:
    return _page(body).markdown  # type: ignore[attr-defined, no-any-return]


def test_infobox_rows_survive_as_a_table() -> None:
    box = (
        "<table class='infobox'><caption>Alton</caption><tr><th>Population</th><td>12,345 (2021)</td></tr>"
        "<tr><th>Districts</th><td><ul><li>North</li><li>South | East</li></ul></td></tr><tr><th colspan=2>Geography</th></tr>"
        "<tr><th>Area</th><td>12.5 km<sup>2</sup><sup class='reference'>[1]</sup></td></tr></table>"
    )
    expected = "| Alton |  |\n|---|---|\n| Population | 12,345 (2021) |\n| Districts | North; South \\| East |\n| Geography |  |\n| Area | 12.5 km² |"
    assert expected in _markdown(f"<main><h1>Alton</h1>{box}{PROSE}</main>")
    assert expected in _markdown(f"<main><h1>Alton</h1>{PROSE}</main><aside>{box}</aside>")


@pytest.mark.parametrize(
    "box",
    [
        "<aside class='infobox'><dl><dt>Mayor</dt><dd>Anna Holt</dd><dt>Twin towns</dt><dd>Berg</dd><dd>Ciro</dd></dl></aside>",
        "<aside class='fact-box'><div><span class='label'>Mayor</span><span class='value'>Anna Holt</span></div>"
        "<div><span class='label'>Twin towns:</span><span class='value'>Berg<br>Ciro</span></div></aside>",
    ],
)
def test_boxes_that_are_no_tables(box: str) -> None:
    markdown = _markdown(f"<main><h1>Alton</h1>{box}{PROSE}</main>")
    assert "| Mayor | Anna Holt |\n| Twin towns | Berg; Ciro |" in markdown


def test_tables_lists_and_definitions() -> None:
    body = (
        f"<main><h1>Alton</h1>{PROSE}<h2>Museums</h2><ul><li><a href='/a'>Museum of Salt</a></li>"
        "<li><a href='/b'>Clock Museum</a></li></ul>"
        "<table><thead><tr><th>Year</th><th>Population</th></tr></thead>"
        "<tr><td rowspan=2>1990</td><td>10,000</td></tr><tr><td>11,000</td></tr></table>"
        "<dl><dt>Elevation</dt><dd>321 m</dd></dl></main>"
    )
    markdown = _markdown(body)
    assert "- Museum of Salt\n- Clock Museum" in markdown
    assert "| Year | Population |\n|---|---|\n| 1990 | 10,000 |\n| 1990 | 11,000 |" in markdown
    assert "- Elevation: 321 m" in markdown


def test_layout_tables_are_no_tables() -> None:
    markdown = _markdown(f"<table role='presentation'><tr><td><main>{PROSE}</main></td><td>side</td></tr></table>")
    assert "|" not in markdown and "founded in 1650" in markdown


def test_literal_markdown_characters() -> None:
    markdown = _markdown(f"<main>{PROSE}<p>The hall has 5 * 3 windows, 2_000 doors and a sign that says [closed] &lt;today&gt;.</p></main>")
    assert "5 * 3 windows, 2_000 doors and a sign that says [closed] <today>." in markdown


def test_the_site_around_it_goes() -> None:
    markdown = _markdown(
        f"<header><nav><ul><li>Home</li></ul></nav></header><main><h1>Alton</h1>{PROSE}</main>"
        "<footer><table><tr><th>Imprint</th><td>Box 1</td></tr></table></footer>"
    )
    assert "Home" not in markdown and "Imprint" not in markdown


def test_metadata() -> None:
    head = (
        "<title>Alton - Encyclopedia</title><link rel='canonical' href='http://enc.example/wiki/Alton?utm_source=feed'>"
        "<meta property='article:published_time' content='2021-03-04T10:00:00Z'><link rel='license' href='https://creativecommons.org/licenses/by-sa/4.0/'>"
    )
    page = page_from_html(
        f"<html lang='en-GB'><head>{head}</head><body><main><h1>Alton</h1>{PROSE}</main></body></html>".encode(),
        "http://m.enc.example/wiki/alton-town",
    )
    assert (page.url, page.title, page.language, page.published_at) == ("https://enc.example/wiki/Alton", "Alton", "en", "2021-03-04")
    assert page.licence and "by-sa" in page.licence
    assert set(page.aliases) == {"https://enc.example/wiki/alton-town", "http://m.enc.example/wiki/alton-town"}
    assert page.summary.startswith("Alton is a town")


def test_a_canonical_link_to_another_site_is_not_believed() -> None:
    page = _page(f"<main>{PROSE}</main>", "<link rel='canonical' href='http://other.example/wiki/Alton'>")
    assert page.url == "https://enc.example/wiki/Alton"  # type: ignore[attr-defined]


def test_a_title_with_parentheses_and_a_dash() -> None:
    page = _page(f"<main><h1>Mercury (planet) - a story</h1>{PROSE}</main>", "<title>Mercury (planet) - a story | The Site</title>")
    assert page.title == "Mercury (planet) - a story"  # type: ignore[attr-defined]


def test_legacy_encoding_after_a_long_ascii_head() -> None:
    text = "<p>阿尔顿是北方的一座城市，建于一六五零年，以盐和钟表闻名，人口约一万二千。城里有两座博物馆和一条铁路。</p>"
    head = "<!-- " + "plain ascii words " * 600 + "-->"
    page = page_from_html(f"<html><head>{head}</head><body><main>{text * 3}</main></body></html>".encode("gb18030"), "http://zh.example/a")
    assert "以盐和钟表闻名" in page.markdown and page.language == "zh"


def test_a_header_that_lies_about_the_encoding() -> None:
    html = f"<html><body><main>{PROSE}<p>Die Straße nach Köln.</p></main></body></html>".encode()
    assert "Straße nach Köln" in page_from_html(html, "http://x.example/", "text/html; charset=iso-8859-1").markdown


def test_a_page_in_two_languages_has_that_of_most_of_it() -> None:
    chinese = "<p>阿尔顿是北方的一座城市，建于一六五零年，以盐和钟表闻名，人口约一万二千。城里有两座博物馆和一条铁路，河上有三座桥。</p>"
    assert (
        page_from_html(
            f"<html lang='en'><body><main>{chinese * 3}<p>Alton is a town.</p></main></body></html>".encode(), "http://x.example/"
        ).language
        == "zh"
    )
    assert page_from_html(f"<html lang='zh'><body><main>{PROSE * 3}<p>城市</p></main></body></html>".encode(), "http://x.example/").language == "en"


CAPTCHA_ARTICLE = "<p>A CAPTCHA asks visitors to verify that you are human, for example with the words “I'm not a robot” beside a box to tick.</p>"


LONG = " ".join(f"In {year} the {year - 1990}th variant asked for other letters." for year in range(1997, 2010))


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<title>Just a moment...</title><body><div class='cf-turnstile'></div>Verify you are human</body>", "challenge"),
        ("<title>enc.example</title><body><p>Please complete the captcha to continue</p></body>", "challenge"),
        ("<title>404 Not Found</title><body><h1>Not Found</h1><p>The page you are looking for does not exist.</p></body>", "error_page"),
        ("<title>Oops</title><body><p>Sorry, the page you requested could not be found on this site.</p></body>", "error_page"),
        ("<title>Shell</title><body><div id='app'></div><script>boot()</script></body>", "empty"),
        ("", "empty"),
        ("%PDF-1.4 something", "not_html"),
    ],
)
def test_what_is_no_page(html: str, reason: str) -> None:
    data = html.encode() if html.startswith("%") or not html else f"<html><head>{html}</html>".encode()
    with pytest.raises(UnusablePage) as refused:
        page_from_html(data, "http://enc.example/x")
    assert refused.value.reason == reason
    assert "enc.example/x" in str(refused.value)


def test_an_article_about_captchas_is_a_page() -> None:
    page = _page(f"<main><h1>CAPTCHA</h1>{CAPTCHA_ARTICLE}{PROSE}<p>{LONG}</p></main>", "<title>CAPTCHA - Encyclopedia</title>")
    assert "beside a box to tick" in page.markdown  # type: ignore[attr-defined]
    assert "other figures" in _page(f"<main><h1>404 Not Found</h1>{PROSE}<p>{LONG} {LONG.replace('letters', 'figures')}</p></main>").markdown  # type: ignore[attr-defined]


def test_other_kinds_and_sizes_are_refused() -> None:
    with pytest.raises(UnusablePage, match="no HTML"):
        page_from_html(b"{}", "http://x.example/", "application/json")
    with pytest.raises(UnusablePage, match="limit"):
        page_from_html(b"<html>" + b"a" * 50_000_000, "http://x.example/")


def test_plain_text_is_kept_as_it_is() -> None:
    page = page_from_html(b"Alton\n\nAlton is a town on the river Tarn, founded in 1650.\n", "http://x.example/a.txt", "text/plain")
    assert page.title == "Alton" and "founded in 1650" in page.markdown


def test_the_lead_is_prose_cut_at_a_word() -> None:
    assert lead("| a | b |\n|---|---|\n\n# Head\n\nSome words here. " + "x" * 500) == "Some words here. " + "x" * 383
    assert lead("| a | b |") == "a | b"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<table>",
                "<tr><td>",
                "</table>",
                "<dl><dt>a",
                "<dd>",
                "<!--",
                "⟦t0⟧",
                "\x00",
                "&#xD800;",
                PROSE,
                "<sup>2</sup>",
                "<main>",
                "</main>",
                "<li>",
            ]
        ),
        max_size=25,
    )
)
def test_broken_markup_is_a_page_or_refused(pieces: list[str]) -> None:
    try:
        page = page_from_html(("<html><body>" + "".join(pieces)).encode(), "http://x.example/")
    except UnusablePage:
        return
    assert page.markdown and "⟦/t" not in page.markdown
