"""A language model's verdict on an answer. What cannot be read as a clear yes or no is no verdict, never a guess."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_KEYS = {
    "judgment",
    "judgement",
    "verdict",
    "correct",
    "is_correct",
    "result",
    "grade",
    "conclusion",
    "equivalent",
    "is_equivalent",
    "判断",
    "结论",
    "判定",
}
_YES = {"correct", "yes", "true", "right", "equivalent", "match", "matches", "y", "正确", "是", "对", "等价", "一致"}
_NO = {"incorrect", "no", "false", "wrong", "not correct", "not equivalent", "notcorrect", "inequivalent", "not right", "not a match", "n"}
_NO |= {"错误", "不正确", "否", "不对", "错", "不等价", "不一致", "不是"}
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^```\w*\s*|\s*```$", re.MULTILINE)
_LABEL = re.compile(
    r"^[\s>*#_\-\d.]*(?:the\s+)?(?:final\s+)?(?:judge?ment|verdict|correct|is_correct|result|grade|conclusion|equivalent|判断|结论|判定)"
    r"(?:\s+is)?[*_`\"'\s]*[:：=][*_`\"'\s]*(?P<value>.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE = re.compile(
    r"^(?:(?:so|thus|therefore|hence|overall|in conclusion|finally)[,:]?\s+)?(?:the\s+|this\s+|that\s+)?(?:(?:given|predicted|"
    r"final|model's|student's|candidate)\s+)*"
    r"(?:answer|response|prediction|it)\s+(?:is|was)\s+(?P<value>(?:not\s+|in)?(?:correct|right|equivalent|wrong))[\s.!]*$",
    re.IGNORECASE,
)


def parse_verdict(text: str) -> bool | None:
    """True for a verdict of correct, False for incorrect, None where the text holds none, a mixed one, or is cut off.

    Read in this order, after a closed `<think>` block is dropped: a JSON object with a verdict key, a labelled line
    ("correct: yes", "Verdict: INCORRECT", "结论: 正确"), a reply that is one word, a last line that is one plain sentence.
    """
    text = _THOUGHT.sub("", text)
    if "<think>" in text.casefold() or "</think>" in text.casefold():
        return None
    text = _FENCE.sub("", text).strip()
    if not text:
        return None
    objects = list(_objects(text))
    if objects:
        return _agreed([_value(value) for found in objects for key, value in found.items() if key.strip().casefold() in _KEYS])
    if text.startswith("{"):
        return None
    labelled = [_value(match["value"]) for match in _LABEL.finditer(text)]
    if labelled:
        return _agreed(labelled)
    whole = _value(text)
    if whole is not None:
        return whole
    last = text.splitlines()[-1].strip(" *_`\"'")
    found = _SENTENCE.match(last)
    return _value(found["value"]) if found else None


def _agreed(values: list[bool | None]) -> bool | None:
    return values[0] if values and all(value == values[0] for value in values) else None


def _value(value: Any) -> bool | None:
    """A JSON value or a short phrase as a verdict."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return bool(value) if value in (0, 1) else None
    if not isinstance(value, str):
        return None
    phrase = re.sub(r"\s+", " ", value.strip(" \t\r\n*_`\"'.!。！()[]<>").casefold())
    if phrase in _YES:
        return True
    if phrase in _NO:
        return False
    # "Yes, both name the same town." decides, unless what follows takes it back.
    head, _, rest = re.sub(r"\s*[,;:.\-–—(，。；]\s*", "\n", phrase, count=1).partition("\n")
    if rest and (head in _YES) != (head in _NO):
        others = set(re.findall(r"[^\W\d_]+", rest))
        if head in _YES:
            return None if others & {"no", "not", "incorrect", "wrong", "false", "but", "however", "except", "wait", "partially"} else True
        return None if others & {"yes", "correct", "right", "true", "but", "however", "wait", "partially"} else False
    return None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects of a text that hold a verdict key."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict) and any(str(key).strip().casefold() in _KEYS for key in value):
            yield value
        at = text.find("{", end)
