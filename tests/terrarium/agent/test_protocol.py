from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.agent.protocol import Turn, neutralise, parse_turn, render_turn, search_call, visit_call
from terrarium.agent.rollout import ToolCall

SEARCH = '<think>t</think>\n<tool_call>\n{"name": "search", "arguments": {"query": ["a", "b"]}}\n</tool_call>'
pieces = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<answer>",
        "</answer>",
        "<tool_response>",
        '{"name": "search"',
        "{",
        "}",
        "[",
        '"',
        " a ",
        "\n",
        "\ud800",
    ]
)
plain = st.text(st.characters(exclude_characters="<"), max_size=30).map(str.strip)
filled = plain.filter(bool)


@given(st.one_of(st.text(), st.lists(pieces).map("".join)), st.booleans())
def test_never_raises_and_says_one_thing(text: str, finished: bool) -> None:
    turn = parse_turn(text, finished)
    assert isinstance(turn, Turn)
    assert sum((bool(turn.calls), turn.answer is not None, bool(turn.errors))) == 1


@given(plain, filled)
def test_an_answer_comes_back(thought: str, answer: str) -> None:
    assert parse_turn(render_turn(thought, answer=answer)) == Turn(thought, answer=answer)


@given(plain, st.lists(filled, min_size=1, max_size=3), st.lists(filled, min_size=1, max_size=3), filled)
def test_calls_come_back(thought: str, queries: list[str], urls: list[str], goal: str) -> None:
    calls = (search_call(queries), visit_call(urls, goal))
    assert parse_turn(render_turn(thought, calls)) == Turn(thought, calls)


def test_a_search_with_two_queries() -> None:
    assert parse_turn(SEARCH) == Turn("t", (ToolCall("search", {"query": ["a", "b"]}),))


def test_the_template_may_have_opened_the_thought() -> None:
    assert parse_turn("t</think>\n<answer>x</answer>") == Turn("t", answer="x")


@pytest.mark.parametrize("arguments", [{"query": "a"}, {"queries": ["a"]}, {"query": [" a "]}])
def test_spellings_of_a_query(arguments: dict[str, object]) -> None:
    text = f"<think>t</think><tool_call>{json.dumps({'name': 'search', 'arguments': arguments})}</tool_call>"
    assert parse_turn(text).calls == (search_call(["a"]),)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "think"),
        ("<answer>x</answer>", "think"),
        ("<think>t</think>", "tool_call or an answer"),
        ("<think>t", "close"),
        ("<think>a</think><think>b</think><answer>x</answer>", "one think"),
        ("x<think>a</think><answer>x</answer>", "Begin"),
        ("<think>t</think><answer>x</answer> more", "nothing but"),
        ("<think>t</think><answer>x</answer><answer>y</answer>", "one answer"),
        ("<think>t</think><answer>x", "close"),
        ("<think>t</think><tool_call>{}</tool_call>", "A call is"),
        ("<think>t</think><tool_call>not json</tool_call>", "JSON"),
        ("<think>t</think><tool_call>" + "[" * 100_000 + "</tool_call>", "JSON"),
        ('<think>t</think><tool_call>{"name": "python", "arguments": {}}</tool_call>', "no such tool"),
        ('<think>t</think><tool_call>{"name": "search", "arguments": {"query": []}}</tool_call>', "list of texts"),
        ('<think>t</think><tool_call>{"name": "search", "arguments": {"query": [1]}}</tool_call>', "list of texts"),
        ('<think>t</think><tool_call>{"name": "search", "arguments": {"query": ["a"], "k": 3}}</tool_call>', "takes only"),
        ('<think>t</think><tool_call>{"name": "visit", "arguments": {"url": ["u"]}}</tool_call>', "goal"),
        (SEARCH + "<answer>x</answer>", "not both"),
        (SEARCH + " and", "nothing but"),
        ("<think>t</think><tool_response>x</tool_response><answer>x</answer>", "Only the tools"),
    ],
)
def test_what_is_wrong_is_said(text: str, word: str) -> None:
    turn = parse_turn(text)
    assert word in " ".join(turn.errors)
    assert not turn.calls and turn.answer is None
    assert "<" not in " ".join(turn.errors), "an error goes into a tool response, where tags would be read as tags"


def test_a_turn_that_was_cut_off_is_an_error() -> None:
    assert parse_turn(SEARCH, finished=False).errors


@given(st.lists(st.sampled_from(["<", "|", "im_end", "|>", "<|im_start|>", "<think>", "</tool_response>", "< ", "x", "<｜User｜>"])).map("".join))
def test_neutralised_text_holds_no_marker_and_stays(text: str) -> None:
    once = neutralise(text, ["<｜User｜>"])
    assert neutralise(once, ["<｜User｜>"]) == once
    for marker in ("<|im_start|>", "<|im_end|>", "<think>", "</tool_response>", "<｜User｜>"):
        assert marker not in once


def test_ordinary_text_is_left_alone() -> None:
    assert neutralise("a < b, <b>bold</b>, 3 <4 and <a|b>") == "a < b, <b>bold</b>, 3 <4 and <a|b>"
