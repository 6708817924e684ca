"""A trajectory while it is cleaned: turns with their observations, taken from a rollout and turned into messages again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from terrarium.agent.attempt import ANSWER_NOW
from terrarium.agent.protocol import SEARCH, neutralise, parse_turn, render_observation, render_turn
from terrarium.agent.rollout import Rollout, ToolCall
from terrarium.agent.template import first_messages, system_prompt
from terrarium.corpus.urls import canonical_url
from terrarium.questions.question import Question

_FAILED = ("No search results", "Search failed", "Visit of", "Unknown page")


@dataclass(frozen=True, slots=True)
class DraftTurn:
    """One turn that calls, and what it saw."""

    thought: str
    calls: tuple[ToolCall, ...]
    observation: str
    malformed: bool = False

    @property
    def failed(self) -> bool:
        """The calls gave nothing; to try again is no repeat."""
        return not self.observation or self.observation.startswith(_FAILED)


@dataclass(frozen=True, slots=True)
class Draft:
    """A conversation that ends in an answer. The answering turn counts as a turn."""

    question_id: str
    question: str
    prompt: str
    turns: tuple[DraftTurn, ...]
    thought: str
    answer: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation exactly as a policy in use would see it."""
        messages = first_messages(self.question, system_prompt(self.prompt))
        for turn in self.turns[:-1]:
            messages.append({"role": "assistant", "content": render_turn(turn.thought, turn.calls)})
            messages.append({"role": "user", "content": render_observation(neutralise(turn.observation))})
        messages.append({"role": "assistant", "content": render_turn(self.thought, answer=self.answer)})
        return messages


def align(rollout: Rollout, question: Question, prompt: str) -> Draft | None:
    """Format alignment: one system prompt, canonical argument names and types, one way to write a turn.

    Turns are read from their text again, so that rollouts of any origin come out alike. None where the rollout gave no answer.
    """
    turns = []
    for turn in rollout.turns:
        read = parse_turn(turn.text)
        if read.answer is not None and not turn.malformed:
            turns.append(DraftTurn(read.thought, (), ""))
            return Draft(question.question_id, question.question, prompt, tuple(turns), read.thought, read.answer) if read.answer else None
        turns.append(DraftTurn(read.thought, read.calls, turn.observation, malformed=turn.malformed is not None or not read.calls))
    return None


def pruned(draft: Draft, allowed: Sequence[str]) -> tuple[Draft, dict[str, int]]:
    """Pruning: without malformed turns, calls to other tools, and calls whose result the conversation holds already.

    A repeat is the same search (queries as a set) or visit (canonical URLs and goal) as one before; a repeat of what failed is none.
    An observation belongs to all calls of its turn, so a turn goes as a whole, and only if none of its calls is worth keeping.

    Returns:
        the draft, and how many were removed: malformed_turns, disallowed_calls, repeated_calls.
    """
    removed = {"malformed_turns": 0, "disallowed_calls": 0, "repeated_calls": 0}
    seen: set[tuple[str, ...]] = set()
    kept: list[DraftTurn] = []
    for turn in draft.turns[:-1]:
        signatures = [signature(call) for call in turn.calls]
        if turn.malformed:
            removed["malformed_turns"] += 1
        elif all(call.name not in allowed for call in turn.calls):
            removed["disallowed_calls"] += len(turn.calls)
        elif all(name in seen for name in signatures):
            removed["repeated_calls"] += len(turn.calls)
        else:
            kept.append(turn)
            if not turn.failed:
                seen |= set(signatures)
            continue
        # What asked for the answer stays with the turn before, or the answer would come out of nowhere.
        if turn.observation.endswith(ANSWER_NOW) and kept and not kept[-1].observation.endswith(ANSWER_NOW):
            kept[-1] = replace(kept[-1], observation=f"{kept[-1].observation}\n{ANSWER_NOW}")
    return replace(draft, turns=(*kept, draft.turns[-1])), removed


def signature(call: ToolCall) -> tuple[str, ...]:
    """Equal for calls that ask the same."""
    if call.name == SEARCH:
        return (SEARCH, *sorted({" ".join(query.split()).casefold() for query in call.arguments["query"]}))
    return (call.name, " ".join(str(call.arguments.get("goal", "")).split()).casefold(), *sorted({_canonical(url) for url in call.arguments["url"]}))


def _canonical(url: str) -> str:
    try:
        return canonical_url(url)
    except ValueError:
        return url
