"""The structure check before training: what is wrong with a conversation, one reason each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from terrarium.agent.protocol import parse_turn

_RESPONSE = re.compile(r"<tool_response>\n(.*)\n</tool_response>", re.DOTALL)
_CONTROL = re.compile(r"<\|[^|<>\s]{1,40}\|>")
_TAG = re.compile(r"</?(?:think|tool_call|tool_response|answer)\b[^>]*>", re.IGNORECASE)


def structure_faults(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Reasons not to train on `messages`; none where all is well.

    Right is: a system message, a question, then turns and observations by turns; each turn but the last makes calls, the last
    answers, and nothing follows it; tags are balanced; no text holds a chat control marker, and no observation a tag of the protocol.
    """
    if len(messages) < 3:
        return ["too_short"]
    faults = []
    wanted = ["system", *("user" if index % 2 == 0 else "assistant" for index in range(len(messages) - 1))]
    if [message.get("role") for message in messages] != wanted:
        faults.append("roles_do_not_alternate")
    if messages[-1].get("role") != "assistant":
        faults.append("no_turn_at_the_end")
    if any(not isinstance(message.get("content"), str) for message in messages):
        return [*faults, "content_is_not_text"]
    if any(_CONTROL.search(message["content"]) for message in messages):
        faults.append("control_marker_in_text")
    if _TAG.search(messages[1]["content"]):
        faults.append("tag_in_question")
    for message in messages[3::2]:
        match = _RESPONSE.fullmatch(message["content"])
        if match is None:
            faults.append("observation_is_no_tool_response")
        elif _TAG.search(match.group(1)):
            faults.append("tag_in_observation")
    turns = [parse_turn(message["content"]) for message in messages if message.get("role") == "assistant"]
    if any(turn.errors for turn in turns):
        faults.append("malformed_turn")
    if any(turn.answer is not None for turn in turns[:-1]):
        faults.append("answer_before_the_end")
    if turns and turns[-1].answer is None:
        faults.append("no_answer_at_the_end")
    return list(dict.fromkeys(faults))
