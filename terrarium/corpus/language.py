"""Which language a text is written in, from its script and its commonest words. Enough to route text, no more."""

from __future__ import annotations

import re
from collections import Counter

_SCRIPTS = {
    "han": re.compile("[\u3400-\u9fff\uf900-\ufaff]"),
    "kana": re.compile("[\u3040-\u30ff]"),
    "hangul": re.compile("[\uac00-\ud7af]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "greek": re.compile("[\u0370-\u03ff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "hebrew": re.compile("[\u0590-\u05ff]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
    "thai": re.compile("[\u0e00-\u0e7f]"),
    "latin": re.compile("[A-Za-zÀ-ɏ]"),
}
_OF_SCRIPT = {"han": {"zh", "yue"}, "kana": {"ja"}, "hangul": {"ko"}, "greek": {"el"}, "hebrew": {"he", "yi"}, "thai": {"th"}}
_OF_SCRIPT |= {"cyrillic": {"ru", "uk", "bg", "sr", "mk", "be", "kk"}, "arabic": {"ar", "fa", "ur"}, "devanagari": {"hi", "mr", "ne"}}
_FIRST = {
    "han": "zh",
    "kana": "ja",
    "hangul": "ko",
    "greek": "el",
    "hebrew": "he",
    "thai": "th",
    "cyrillic": "ru",
    "arabic": "ar",
    "devanagari": "hi",
}
_COMMON = {
    "en": "the of and to in is was for that with as by on from are were it at an which",
    "de": "der die das und in den von zu ist mit des auf im ein eine wurde nicht sich als bei",
    "fr": "le la les de des et en un une du est dans que pour qui par au sur il avec",
    "es": "el la los las de y en un una del que es por con para se su al como más",
    "it": "il la di e in un una che del della è per con da le si nel dei gli al",
    "pt": "o a os as de e em um uma do da que é por com para no na se dos",
    "nl": "de het een van en in is op te dat met voor zijn door werd als aan bij er ook",
}
_COMMON_SETS = {name: frozenset(listed.split()) for name, listed in _COMMON.items()}
# A Chinese or Japanese character says about as much as three Latin letters.
_WEIGHT = {"han": 3, "kana": 3, "hangul": 3}


def language_of(text: str, declared: str | None = None) -> str:
    """The ISO 639-1 code of most of a text. `declared` (an HTML lang attribute) decides where it does not contradict the script.

    "und" when the text has no letters and nothing is declared.
    """
    sample = text if len(text) <= 12_000 else text[:6_000] + text[len(text) // 2 : len(text) // 2 + 6_000]
    counts = {name: len(pattern.findall(sample)) * _WEIGHT.get(name, 1) for name, pattern in _SCRIPTS.items()}
    code = re.split("[-_]", declared.strip().lower())[0] if declared else ""
    code = code if re.fullmatch("[a-z]{2,3}", code) else ""
    script = max(counts, key=lambda name: counts[name])
    if not counts[script]:
        return code or "und"
    if script == "han" and counts["kana"] * 10 > counts["han"]:
        script = "kana"
    if script != "latin":
        return code if code in _OF_SCRIPT[script] else _FIRST[script]
    known = {name for codes in _OF_SCRIPT.values() for name in codes} - {"sr", "kk"}
    words = Counter(re.findall(r"[^\W\d_]+", sample.lower()))
    scores = {name: sum(words[word] for word in common) for name, common in _COMMON_SETS.items()}
    best = max(scores, key=lambda name: scores[name])
    total = max(1, sum(words.values()))
    clear = scores[best] / total > 0.12
    if code and code not in known and not (clear and code in scores and scores[best] > 2 * scores[code]):
        return code
    return best if clear or scores[best] > 0 else (code if code and code not in known else "en")
