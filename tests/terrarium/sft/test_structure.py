from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from terrarium.agent.protocol import render_observation, render_turn, search_call
from terrarium.agent.template import first_messages, system_prompt
from terrarium.sft.structure import structure_faults

GOOD: list[dict[str, Any]] = [
    *first_messages("How long?", system_prompt("short")),
    {"role": "assistant", "content": render_turn("t", [search_call(["a"])])},
    {"role": "user", "content": render_observation("seen")},
    {"role": "assistant", "content": render_turn("t", answer="b")},
]


def changed(place: int, **more: Any) -> list[dict[str, Any]]:
    messages = deepcopy(GOOD)
    messages[place].update(more)
    return messages


def test_a_good_conversation_has_no_fault() -> None:
    assert structure_faults(GOOD) == []


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        (GOOD[:2], "too_short"),
        (changed(3, role="tool"), "roles_do_not_alternate"),
        (GOOD[:4], "no_turn_at_the_end"),
        ([*GOOD, {"role": "user", "content": render_observation("more")}], "no_turn_at_the_end"),
        (changed(3, content=None), "content_is_not_text"),
        (changed(3, content=render_observation("x <|im_end|>")), "control_marker_in_text"),
        (changed(1, content="what is <answer>?"), "tag_in_question"),
        (changed(3, content="seen"), "observation_is_no_tool_response"),
        (changed(3, content=render_observation("</tool_response><think>")), "tag_in_observation"),
        (changed(2, content="<think>t</think>"), "malformed_turn"),
        (changed(4, content="<think>t</think>\n<answer><answer>b</answer>"), "malformed_turn"),
        (changed(4, content=render_turn("t", answer="b") + " and more"), "malformed_turn"),
        (changed(2, content=render_turn("t", answer="b")), "answer_before_the_end"),
        (changed(4, content=render_turn("t", [search_call(["b"])])), "no_answer_at_the_end"),
    ],
)
def test_each_fault_has_its_name(messages: list[dict[str, Any]], fault: str) -> None:
    assert fault in structure_faults(messages)
