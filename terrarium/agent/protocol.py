"""The wire format between a policy and its tools: what a turn looks like as text, and what it means.

A turn is a thought, then either calls or an answer:

    <think>short thought</think>
    <tool_call>
    {"name": "search", "arguments": {"query": ["first", "second"]}}
    </tool_call>

    <think>short thought</think>
    <answer>42</answer>

What comes back is a user message `<tool_response>...</tool_response>`. This is the Hermes form that Qwen3 and DR-Venus use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from terrarium.agent.rollout import ToolCall

SEARCH = "search"
VISIT = "visit"
TOOLS = (SEARCH, VISIT)

_ALIASES = {"queries": "query", "q": "query", "urls": "url"}
_TAGS = ("think", "tool_call", "tool_response", "answer")
_MARKER = re.compile(r"<(?=\|[^|<>\s]{1,40}\|>|/?(?:" + "|".join(_TAGS) + r")\b)", re.IGNORECASE)
_CALL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn says. `errors` are sentences a policy can learn from, without tags; a turn with errors makes no call and gives no answer."""

    thought: str
    calls: tuple[ToolCall, ...] = ()
    answer: str | None = None
    errors: tuple[str, ...] = ()


def parse_turn(text: str, finished: bool = True) -> Turn:
    """Read what a policy wrote. Never raises on model text.

    Args:
        text: the turn without chat markers. The opening `<think>` may be missing, as where the chat template writes it.
        finished: False where the turn was cut off by a limit before it ended by itself.

    Returns:
        thought, and either calls, or an answer, or errors.
    """
    thought, rest, errors = _split_thought(text)
    opened, closed = rest.count("<tool_call>"), rest.count("</tool_call>")
    answers_opened, answers_closed = rest.count("<answer>"), rest.count("</answer>")
    if not finished:
        errors.append("The turn was cut off because it was too long; write less.")
    if re.search(r"</?tool_response>", rest):
        errors.append("Only the tools write a tool_response.")
    if opened != closed:
        errors.append("Close each tool_call tag.")
    if answers_opened != answers_closed or answers_opened > 1:
        errors.append("Write one answer tag and close it.")
    if opened and answers_opened:
        errors.append("Call a tool or answer, not both in one turn.")
    if not opened and not answers_opened and not errors:
        errors.append("Write a tool_call or an answer after the thought.")
    if errors:
        return Turn(thought=thought, errors=tuple(errors))
    if answers_opened:
        return _read_answer(thought, rest)
    return _read_calls(thought, rest)


def render_turn(thought: str, calls: Sequence[ToolCall] = (), answer: str | None = None) -> str:
    """The text of a turn; `parse_turn` reads it back.

    Raises:
        ValueError: neither or both of calls and answer are given.
    """
    if bool(calls) == (answer is not None):
        raise ValueError("A turn holds either calls or an answer.")
    parts = [f"<think>{thought}</think>"]
    parts += [f"<tool_call>\n{render_call(call)}\n</tool_call>" for call in calls]
    if answer is not None:
        parts.append(f"<answer>{answer}</answer>")
    return "\n".join(parts)


def render_call(call: ToolCall) -> str:
    """One call as the JSON the policy writes."""
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def search_call(queries: Iterable[str]) -> ToolCall:
    """A search for one or more queries."""
    return ToolCall(SEARCH, {"query": list(queries)})


def visit_call(urls: Iterable[str], goal: str) -> ToolCall:
    """A visit of one or more pages with what to look for."""
    return ToolCall(VISIT, {"url": list(urls), "goal": goal})


def render_observation(text: str) -> str:
    """Wrap what a tool gave as the content of a user message. `text` must have been neutralised."""
    return f"<tool_response>\n{text}\n</tool_response>"


def neutralise(text: str, markers: Iterable[str] = ()) -> str:
    """Break the chat control markers and protocol tags in text that comes from the web or from people.

    A space after the `<` is all it takes: the text stays readable, and no tokenizer reads it as a control token. Applying it twice
    changes nothing more.

    Args:
        text: any text; characters that cannot be encoded as UTF-8 are replaced.
        markers: further strings a tokenizer takes for control tokens.
    """
    text = text.encode("utf-8", "replace").decode("utf-8")
    for marker in markers:
        text = text.replace(marker, f"{marker[0]} {marker[1:]}")
    return _MARKER.sub("< ", text)


def _split_thought(text: str) -> tuple[str, str, list[str]]:
    """Thought, what follows it, and what is wrong with it."""
    opened, closed = text.count("<think>"), text.count("</think>")
    if closed == 0 and opened == 0:
        return "", text.strip(), ["Begin with a thought in think tags."]
    if closed != 1 or opened > 1:
        return text.strip(), text.strip(), ["Write one think tag and close it."]
    before, after = text.split("</think>")
    errors = []
    if opened and (before.strip().startswith("<think>") is False):
        errors.append("Begin with the think tag.")
    return before.replace("<think>", "", 1).strip(), after.strip(), errors


def _read_answer(thought: str, rest: str) -> Turn:
    match = re.fullmatch(r"<answer>(.*)</answer>", rest, re.DOTALL)
    if match is None:
        return Turn(thought=thought, errors=("Write nothing but the answer after the thought.",))
    return Turn(thought=thought, answer=match.group(1).strip())


def _read_calls(thought: str, rest: str) -> Turn:
    if _CALL.sub("", rest).strip():
        return Turn(thought=thought, errors=("Write nothing but the calls after the thought.",))
    calls = []
    for match in _CALL.finditer(rest):
        call = _read_call(match.group(1))
        if isinstance(call, str):
            return Turn(thought=thought, errors=(call,))
        calls.append(call)
    return Turn(thought=thought, calls=tuple(calls))


def _read_call(body: str) -> ToolCall | str:
    """A call with canonical argument names and types, or the sentence that says what is wrong with it."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "The call is not valid JSON."
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return 'A call is {"name": ..., "arguments": {...}}.'
    name, arguments = value["name"], value.get("arguments")
    if name not in TOOLS:
        return f"There is no such tool; the tools are {' and '.join(TOOLS)}."
    if not isinstance(arguments, dict):
        return 'The call has no "arguments".'
    return _read_arguments(name, {_ALIASES.get(str(key), str(key)): argument for key, argument in arguments.items()})


def _read_arguments(name: str, arguments: dict[str, Any]) -> ToolCall | str:
    key = "query" if name == SEARCH else "url"
    wanted = {key} if name == SEARCH else {key, "goal"}
    texts = _texts(arguments.get(key))
    if texts is None:
        return f'{name} needs "{key}": a list of texts.'
    if set(arguments) - wanted:
        return f"{name} takes only {' and '.join(sorted(wanted))}."
    if name == SEARCH:
        return search_call(texts)
    goal = _texts(arguments.get("goal"))
    if goal is None:
        return 'visit needs "goal": what to look for.'
    return visit_call(texts, " ".join(goal))


def _texts(value: Any) -> list[str] | None:
    """One or more non-empty texts; a single one may stand without its list."""
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not values or not all(isinstance(item, str) and item.strip() for item in values):
        return None
    return [item.strip() for item in values]
