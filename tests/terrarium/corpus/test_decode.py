"""Encodings told, lied about, and not told."""

from __future__ import annotations

import pytest

from terrarium.corpus.decode import text_of

JAPANESE = "これは日本語の文章です。東京は日本の首都であり、多くの人が住んでいます。歴史も長い。"
KOREAN = "서울은 대한민국의 수도이다. 많은 사람들이 살고 있는 도시이며 역사가 길다."
TRADITIONAL = "臺北是臺灣的首都，有很多人居住在這裡，歷史悠久，交通方便，經濟發達。"
SIMPLIFIED = "阿尔顿是北方的一座城市，建于一六五零年，以盐和钟表闻名。"
RUSSIAN = "Москва является столицей России и крупнейшим городом страны с богатой историей"
GERMAN = "Die Stadt Köln liegt am Rhein und hat viele Brücken; größer als Düsseldorf, schöner als Münster"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "utf-16"),
        (KOREAN, "cp949"),
        (TRADITIONAL, "big5"),
        (SIMPLIFIED, "gb18030"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (GERMAN, "cp1252"),
    ],
)
def test_not_told(text: str, encoding: str) -> None:
    assert text_of(text.encode(encoding)) == text
    head = "<!-- " + "ascii " * 20_000 + "-->\n"
    if encoding != "utf-16":
        assert text_of((head + text).encode(encoding)) == head + text


def test_told_by_meta_or_header() -> None:
    assert GERMAN in text_of(f"<meta charset=iso-8859-1>{GERMAN}".encode("cp1252"))
    assert text_of(RUSSIAN.encode("iso8859_5"), "text/html; charset=ISO-8859-5") == RUSSIAN
    assert JAPANESE in text_of(f"<meta charset='iso-2022-jp'>{JAPANESE}".encode("iso2022_jp"))


def test_lies_and_damage() -> None:
    assert text_of(GERMAN.encode(), "text/html; charset=latin-1") == GERMAN
    assert text_of(GERMAN.encode(), "text/html; charset=nonsense") == GERMAN
    cut = (GERMAN * 20).encode()[:-1] + "ü".encode()[:1]
    assert text_of(cut, "text/html; charset=utf-8").startswith(GERMAN)
    assert text_of(b"\xef\xbb\xbfabc") == "abc"


@pytest.mark.parametrize(
    ("language", "encoding", "text"),
    [
        ("en", "cp1252", "Café Größe – naïve"),
        ("de-AT", "cp1252", "Müßiggang in Köln"),
        ("pl", "cp1250", "Łódź, Wałęsa i źdźbło"),
        ("tr", "cp1254", "İstanbul'da şiir"),
        ("lt", "cp1257", "Šiauliai ir ąžuolas"),
        ("ru", "cp1251", "Да"),
    ],
)
def test_a_few_accents_are_read_as_the_declared_language_was_written(language: str, encoding: str, text: str) -> None:
    page = f'<html lang="{language}"><body><p>{text}</p></body></html>'.encode(encoding)
    for declared in (None, "text/html; charset=utf-8"):
        assert text in text_of(page, declared)
