"""Bytes of a web page to text, also when the page lies about its encoding or does not tell."""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.IGNORECASE)
# Browsers read these names as the larger set of the same family (WHATWG Encoding Standard).
_WIDER = {"iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "gb2312": "gb18030", "gbk": "gb18030"}
_WIDER |= {"shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs"}
# Their bytes are all below 128, so that they pass for UTF-8.
_SEVEN_BIT = frozenset(("iso2022_jp", "hz", "utf-7"))
_SAMPLE_BYTES = 40_000
_LANG = re.compile(rb"<html[^>]{0,200}?\slang\s*=\s*[\"']?\s*([A-Za-z]{2,3})\b", re.IGNORECASE)
# The default encodings of browsers by language (WHATWG HTML, "determining the character encoding", step 9); others have Windows-1252.
_LEGACY = {
    **dict.fromkeys(("cs", "hr", "hu", "pl", "sk", "sl"), "cp1250"),
    **dict.fromkeys(("be", "bg", "ky", "mk", "ru", "sr", "tg", "tt", "uk"), "cp1251"),
    **dict.fromkeys(("az", "ku", "tr"), "cp1254"),
    **dict.fromkeys(("et", "lt", "lv"), "cp1257"),
    "ar": "cp1256", "fa": "cp1256", "el": "cp1253", "he": "cp1255", "th": "cp874", "vi": "cp1258", "ja": "cp932", "ko": "cp949", "zh": "gb18030",
}  # fmt: skip


def text_of(data: bytes, content_type: str | None = None) -> str:
    """Decode a page: byte order mark, then UTF-8 if it is valid, then what header and page declare, then a guess from its bytes.

    Valid UTF-8 with characters beyond ASCII is UTF-8 whatever the header says: other encodings hardly ever look like it.
    The guess reads the lines that hold bytes beyond ASCII, wherever they stand, so that a long ASCII head does not hide them.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return data[len(mark) if name == "utf-8" else 0 :].decode(name, "replace")
    declared = _declared(data, content_type)
    if declared and declared[0] in _SEVEN_BIT:
        return data.decode(declared[0], "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if "utf-8" in declared and _nearly_utf8(data):
        return data.decode("utf-8", "replace")
    for name in declared:
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    if _nearly_utf8(data):
        return data.decode("utf-8", "replace")
    return data.decode(_guess(data) or next((name for name in declared if name != "utf-8"), "cp1252"), "replace")


def _declared(data: bytes, content_type: str | None) -> list[str]:
    """Encodings named by the header, the XML line and the meta element, in this order, as Python names."""
    head = data[:4096]
    header = _HEADER.search(content_type or "")
    names = [header[1]] if header else []
    names += [found[1].decode("ascii") for found in (_XML.search(head), _META.search(head) or _META.search(data[:65536])) if found]
    known: list[str] = []
    for name in names:
        try:
            plain = codecs.lookup(name).name
        except LookupError:
            continue
        plain = _WIDER.get(plain, plain)
        if plain not in known and not plain.startswith(("utf-16", "utf-32")):
            known.append(plain)
    return known


def _nearly_utf8(data: bytes) -> bool:
    """Broken in a few places only (cut inside a character, a stray byte)."""
    beyond = sum(1 for _ in re.finditer(rb"[\xc2-\xf4][\x80-\xbf]+", data[: 1 << 20]))
    broken = data[: 1 << 20].decode("utf-8", "replace").count("\ufffd")
    return beyond > 0 and broken <= max(1, beyond // 20)


def _guess(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    lines: list[bytes] = []
    size = 0
    for line in re.finditer(rb"[\x80-\xff](?:[^\x80-\xff\n]{0,40}[\x80-\xff])*[^\n]?", data):
        lines.append(re.sub(rb"<[^>]*>", b" ", line[0][:_SAMPLE_BYTES]))
        size += len(lines[-1])
        if size > _SAMPLE_BYTES:
            break
    sample = b"\n".join(lines)
    return _by_common_characters(sample) or _of_language(data) or getattr(from_bytes(sample).best(), "encoding", None)


def _of_language(data: bytes) -> str | None:
    """What pages in the declared language were written in before UTF-8: a few accents alone do not tell Windows-1252 from Windows-1250."""
    found = _LANG.search(data[:4096])
    if found is None:
        return None
    name = _LEGACY.get(found[1].decode("ascii").lower(), "cp1252")
    try:
        data.decode(name)
    except UnicodeDecodeError:
        return None
    return name


def _by_common_characters(sample: bytes) -> str | None:
    """The encoding in which a sample reads as common characters; general guessers take short East Asian ones for Latin letters."""
    for name, common, least in _READINGS:
        text = sample.decode(name, "replace")
        beyond = [char for char in text if char > "\x7f"]
        if common is _is_small_cyrillic and len(beyond) < 0.7 * sum(map(str.isalpha, text)):
            # Single accents among Latin letters look like Cyrillic ones; words of them do not hold Latin letters.
            continue
        # The ends of the sampled lines may cut a character.
        if len(beyond) >= 8 and text.count("\ufffd") <= len(beyond) // 50 and sum(map(common, beyond)) >= least * len(beyond):
            return name
    return None


def _is_kana(char: str) -> bool:
    return "\u3040" <= char <= "\u30ff"


def _is_hangul(char: str) -> bool:
    return "\uac00" <= char <= "\ud7af"


def _is_common_simplified(char: str) -> bool:
    """In the first level of GB 2312, which is ordered by use, or Chinese punctuation."""
    code = char.encode("gb2312", "ignore")
    return len(code) == 2 and (0xB0 <= code[0] <= 0xD7 or code[0] in (0xA1, 0xA3))


def _is_common_traditional(char: str) -> bool:
    """In the frequent part of Big5, or Chinese punctuation."""
    code = char.encode("big5", "ignore")
    return len(code) == 2 and (0xA4 <= code[0] <= 0xC6 or code[0] == 0xA1)


def _is_small_cyrillic(char: str) -> bool:
    return "\u0430" <= char <= "\u045f"


# Encoding, what is common in it, and the share of it in ordinary text. KOI8-R and Windows-1251 swap small and capital letters.
_READINGS = (
    ("cp932", _is_kana, 0.3),
    ("euc_jp", _is_kana, 0.3),
    ("cp949", _is_hangul, 0.75),
    ("gb18030", _is_common_simplified, 0.75),
    ("big5hkscs", _is_common_traditional, 0.75),
    ("koi8_r", _is_small_cyrillic, 0.75),
    ("cp1251", _is_small_cyrillic, 0.75),
)
