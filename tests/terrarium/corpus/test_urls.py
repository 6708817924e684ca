"""Spellings of one page become one string; different pages stay different."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.corpus.urls import canonical_url, site_of

SAME = [
    ("HTTP://www.Example.com:80/a/../b/?utm_source=x&b=2&a=1#frag", "https://example.com/b?a=1&b=2"),
    ("http://example.com", "https://example.com/"),
    ("https://m.example.com/x?fbclid=1", "https://example.com/x"),
    ("https://print.example.com/x?printable=yes", "https://example.com/x"),
    ("https://en.m.wikipedia.org/wiki/stanford%20on%20Teme?oldid=3", "https://en.wikipedia.org/wiki/Stanford_on_Teme"),
    ("http://en.wikipedia.org/w/index.php?title=Mercury_%28planet%29&oldid=5", "https://en.wikipedia.org/wiki/Mercury_(planet)"),
    ("http://ex.com/%7euser/%e4%bd%a0", "https://ex.com/~user/%E4%BD%A0"),
    ("http://例え.jp/", "https://xn--r8jz45g.jp/"),
    ("https://ex.com/a?", "https://ex.com/a"),
    ("http://h/a/%2e%2e/c/index.html", "https://h/c"),
    ("http://user:secret@h.com/x", "https://h.com/x"),
    ("http://[0:0::1]:8080/x", "https://[::1]:8080/x"),
    (" http://h.com/a b\n", "https://h.com/a%20b"),
    ("http://h.com/x;jsessionid=1A?PHPSESSID=2", "https://h.com/x"),
]
DIFFERENT = [
    ("https://en.wikipedia.org/wiki/Mercury_(planet)", "https://en.wikipedia.org/wiki/Mercury_(element)"),
    ("https://h.com/?id=1", "https://h.com/?id=2"),
    ("https://h.com/a%2Fb", "https://h.com/a/b"),
    ("https://h.com/A", "https://h.com/a"),
    ("https://h.com/?gallery=2", "https://h.com/"),
    ("https://h.com:8080/", "https://h.com/"),
    ("https://github.com/a/b?ref=dev", "https://github.com/a/b"),
    ("https://h.com/%C4%E3", "https://h.com/%E4%BD%A0"),
]


@pytest.mark.parametrize(("url", "canonical"), SAME)
def test_same_page(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_page(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


@pytest.mark.parametrize(
    "url", ["ftp://x", "example.com", "", "http://", "mailto:a@b.c", "http://a b/", "http://x:99999/", "javascript:1", "http:///x", "http://[zz]/"]
)
def test_no_http_url(url: str) -> None:
    with pytest.raises(ValueError):
        canonical_url(url)


def test_a_suffix_is_no_site() -> None:
    assert canonical_url("http://m.co.uk/") == "https://m.co.uk/"
    assert canonical_url("http://www.com/") == "https://www.com/"
    assert site_of("http://www.example.com:81/x") == "example.com"


@given(st.text(alphabet=st.sampled_from(list("abW.m:/?&=#%2eF;_+~()@\\ 你é-w0[]'\"|")), max_size=40))
def test_twice_is_once(rest: str) -> None:
    try:
        once = canonical_url("http://" + rest)
    except ValueError:
        return
    assert canonical_url(once) == once
    assert once.isascii()


@given(st.text(max_size=30))
def test_any_text_is_a_url_or_a_value_error(text: str) -> None:
    for candidate in (text, "https://h.com/" + text, "https://h.com/?" + text):
        try:
            assert canonical_url(candidate).startswith("https://")
        except ValueError:
            continue
