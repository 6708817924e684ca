"""Pairs out of a model's reply, however it is wrapped."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.questions.extract import UnreadableReply, parse_pairs

PAIR = {"question": "Who?", "answer": "Jane"}


@pytest.mark.parametrize(
    ("reply", "pairs"),
    [
        (json.dumps({"qa_pairs": [PAIR], "total_pairs": 1}), [PAIR]),
        (f"Sure! Here they are:\n```json\n{json.dumps([PAIR])}\n```\nAnything else?", [PAIR]),
        ('<think>maybe {"question": "no", "answer": "x"}</think>' + json.dumps([PAIR]), [PAIR]),
        ('{"qa_pairs": [{"question": "Who?", "answer": "Jane",},],}', [PAIR]),
        ('{"qa_pairs": [{"question": "Who?", "answer": "Jane"}, {"question": "When?", "answer": "cut', [PAIR]),
        ('[{"question": "Who?", "answer": ["Jane", "J."]}, {"question": "Wh', [{"question": "Who?", "answer": ["Jane", "J."]}]),
        ('{"question": "What is {x}?", "answer": 12.50}', [{"question": "What is {x}?", "answer": "12.50"}]),
        ('{"question": "Years?", "answer": [1931, 1950]}', [{"question": "Years?", "answer": ["1931", "1950"]}]),
        ('{"question": "Who?", "answer": "Jane"}\n{"question": "When?", "answer": 7}', [PAIR, {"question": "When?", "answer": "7"}]),
        ('use {braces} like [this]: {"question": "Who?", "answer": "Jane", "page": 3}', [{**PAIR, "page": "3"}]),
        ('{"question": "A \'quoted\' \\"word\\"", "answer": "line\nbreak"}', [{"question": "A 'quoted' \"word\"", "answer": "line\nbreak"}]),
        ('{"qa_pairs": []}', []),
    ],
)
def test_pairs_are_read_from_any_wrapping(reply: str, pairs: list[dict[str, object]]) -> None:
    assert parse_pairs(reply) == pairs


@pytest.mark.parametrize("reply", ["", "I found no facts.", '{"total_pairs": 3}', "[1, 2", '{"question": "Who?"'])
def test_a_reply_without_pairs_is_unreadable(reply: str) -> None:
    with pytest.raises(UnreadableReply, match="no question-answer pairs"):
        parse_pairs(reply)


@given(
    st.text(max_size=80), st.lists(st.tuples(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip)), min_size=1, max_size=4)
)
def test_what_is_valid_json_is_read_whole_between_any_prose(prose: str, pairs: list[tuple[str, str]]) -> None:
    prose = prose.translate(str.maketrans("", "", "{}[]<>"))
    wanted = [{"question": question.strip(), "answer": answer.strip()} for question, answer in pairs]
    reply = f"{prose}\n{json.dumps({'qa_pairs': [{'question': q, 'answer': a} for q, a in pairs]}, ensure_ascii=False)}\n{prose}"
    assert parse_pairs(reply) == wanted


@given(st.text(alphabet='{}[]",:\\ aquestion1', max_size=200))
def test_garbage_is_pairs_or_unreadable_and_nothing_else(reply: str) -> None:
    with contextlib.suppress(UnreadableReply):
        parse_pairs(reply)


@given(st.integers(0, 200))
def test_a_cut_reply_gives_the_pairs_that_were_whole(cut: int) -> None:
    reply = json.dumps({"qa_pairs": [{"question": f"Question {number}?", "answer": f"Answer {number}"} for number in range(4)]})
    whole = reply[:cut].count("}")
    if whole:
        assert len(parse_pairs(reply[: min(cut, len(reply))])) == min(whole, 4)
