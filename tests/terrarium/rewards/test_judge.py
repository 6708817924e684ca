"""Verdicts of judges as models really write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.rewards.judge import parse_verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Correct", True),
        ("INCORRECT", False),
        ("**Correct.**", True),
        ("not correct", False),
        ("Yes, both name the same town.", True),
        ("No, the town is another.", False),
        ("Yes, but the year is wrong.", None),
        ('{"reasoning": "same value", "judgment": "correct"}', True),
        ('```json\n{"judgment": false}\n```', False),
        ('{"correct": 1}', True),
        ('{"judgment": "maybe"}', None),
        ('{"judgment": 0.5}', None),
        ('{"judgment": "correct"', None),
        ('{"judgment":"correct"} {"judgment":"incorrect"}', None),
        ("extracted_final_answer: 12\ncorrect: yes\nconfidence: 90", True),
        ("**Verdict:** Incorrect", False),
        ("结论: 错误", False),
        ("正确", True),
        ("The values agree.\nTherefore, the answer is correct.", True),
        ("The answer is not correct.", False),
        ("<think>It looks correct</think> Incorrect.", False),
        ("<think>It is correct", None),
        ("partially correct", None),
        ("It would be correct if the year matched", None),
        ("correct\nincorrect", None),
        ("", None),
    ],
)
def test_verdicts(text: str, verdict: bool | None) -> None:
    assert parse_verdict(text) is verdict


@given(st.text(max_size=200))
def test_any_text_gives_a_verdict_or_none(text: str) -> None:
    assert parse_verdict(text) in (True, False, None)


@given(st.sampled_from(["correct", "incorrect"]), st.text(alphabet="abc xyz,.\n", max_size=80))
def test_a_word_inside_prose_is_no_verdict(word: str, prose: str) -> None:
    assert parse_verdict(f"whether it is {word} cannot be told because {prose} zzz") is None
