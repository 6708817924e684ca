"""One rollout in the making: its tokens, its limits, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from terrarium.agent.codec import Codec, encode_observation, encode_prompt
from terrarium.agent.policies.base import Sample, Sampling
from terrarium.agent.protocol import parse_turn, render_observation
from terrarium.agent.rollout import Rollout, RolloutTurn, Termination, ToolCall
from terrarium.agent.settings import AgentSettings
from terrarium.agent.template import first_messages, system_prompt
from terrarium.agent.tools import Observation
from terrarium.questions.question import Question

ANSWER_NOW = "No more calls. Answer now."


class Verdict(Protocol):
    """What a grader gives (terrarium.rewards.Grade)."""

    @property
    def correct(self) -> bool:
        """Is the answer right?"""

    @property
    def method(self) -> str:
        """How that was found."""


Grader = Callable[[str, tuple[str, ...], Question], Verdict]


@dataclass(frozen=True, slots=True)
class Task:
    """One try at a question. `attempt` numbers the tries of the same question."""

    question: Question
    attempt: int = 0


class Attempt:
    """The state of one rollout between its turns.

    The context is kept such that at any time the forced answer still fits: the end token of a turn that was cut off, a tool response
    that asks for the answer, and `answer_tokens` to give it.
    """

    def __init__(self, task: Task, rollout_id: str, codec: Codec, settings: AgentSettings, clock: Callable[[], float] = time.monotonic):
        self.task = task
        self.rollout_id = rollout_id
        self.codec = codec
        self.settings = settings
        self.messages: list[dict[str, Any]] = first_messages(codec.neutralise(task.question.question), system_prompt(settings.system_prompt))
        self.ids: list[int] = encode_prompt(codec, self.messages)
        self.mask: list[int] = [0] * len(self.ids)
        self.logprobs: list[float] = [0.0] * len(self.ids)
        self.turns: list[RolloutTurn] = []
        self.answer: str | None = None
        self.termination: Termination | None = None
        self.error: str | None = None
        self.searches = 0
        self.visits = 0
        self._forced_by: Termination | None = None
        self._pending: _Pending | None = None
        self._clock = clock
        self._started = clock()
        self._ended = self._started
        # A call needs more room than an answer: with less, a turn would only be cut off.
        self._least = min(settings.tokens_a_turn, 2 * settings.answer_tokens)
        self._reserve = 1 + len(encode_observation(codec, ANSWER_NOW)) + settings.answer_tokens
        if self.budget() < self._least:
            self._end(Termination.CONTEXT_LIMIT)

    def budget(self) -> int:
        """Tokens the next turn may take."""
        room = self.settings.context_tokens - len(self.ids)
        if self._forced_by is not None:
            return min(self.settings.answer_tokens, room)
        return min(self.settings.tokens_a_turn, room - self._reserve)

    def take(self, sample: Sample) -> tuple[ToolCall, ...]:
        """Append a sampled turn. Returns the calls that are to be carried out; `observe` follows if there are any."""
        start = len(self.ids)
        self._append(sample.ids, 1, sample.logprobs)
        finished = bool(sample.ids) and sample.ids[-1] == self.codec.end_id
        text = self.codec.decode(sample.ids[:-1] if finished else sample.ids)
        turn = parse_turn(text, finished)
        errors = turn.errors or self._refuse(turn.calls)
        pending = _Pending(text, turn.thought, turn.calls, " ".join(errors) or None, start, len(self.ids))
        self.messages.append({"role": "assistant", "content": text})
        if not finished:
            self._append((self.codec.end_id,), 0)
        if not errors and turn.answer is not None:
            self._close(pending, "")
            self._answered(turn.answer)
        elif self._forced_by is not None:
            self._close(pending, "")
            self._end(self._forced_by)
        elif errors:
            self._pending = pending
            self._continue("Error: " + " ".join(errors))
        else:
            self._pending = pending
            return turn.calls
        return ()

    def observe(self, observation: Observation, emptied: bool = False) -> None:
        """Append what the calls of the last turn gave."""
        assert self._pending is not None
        self.searches += observation.searches
        self.visits += observation.visits
        if observation.outage is not None:
            self._close(self._pending, "")
            self.error = observation.outage
            self._end(Termination.TOOL_OUTAGE)
            return
        self._continue("" if emptied else self.codec.neutralise(observation.text))

    def policy_failed(self, error: str) -> None:
        """End without an answer because the policy could not be reached."""
        self.error = error
        self._end(Termination.POLICY_OUTAGE)

    def rollout(self, policy: str, recipe: str, stage: int, snapshot: str, sampling: Sampling, emptied: bool, grader: Grader | None) -> Rollout:
        """The finished record, graded."""
        assert self.termination is not None
        correct, method = self._grade(grader)
        return Rollout(
            rollout_id=self.rollout_id,
            question_id=self.task.question.question_id,
            policy=policy,
            recipe=recipe,
            stage=stage,
            snapshot=snapshot,
            sampling={**asdict(sampling), "attempt": self.task.attempt, "emptied": emptied, "agent": self.settings.model_dump()},
            messages=tuple(self.messages),
            turns=tuple(self.turns),
            token_ids=tuple(self.ids),
            loss_mask=tuple(self.mask),
            logprobs=tuple(self.logprobs),
            answer=self.answer,
            termination=self.termination,
            correct=correct,
            grade=method,
            error=self.error,
            searches=self.searches,
            visits=self.visits,
            seconds=self._ended - self._started,
        )

    def _refuse(self, calls: tuple[ToolCall, ...]) -> tuple[str, ...]:
        asked = sum(len(call.arguments.get("query") or call.arguments.get("url") or ()) for call in calls)
        if asked > self.settings.calls_a_turn:
            return (f"Ask for at most {self.settings.calls_a_turn} queries or pages a turn.",)
        return ()

    def _continue(self, text: str) -> None:
        """Append an observation; where a limit is reached, cut it to what fits and ask for the answer."""
        assert self._pending is not None
        limit = self._limit(text)
        if limit is not None:
            self._forced_by = limit
            text = self._cut(text)
        ids = encode_observation(self.codec, text)
        self._close(self._pending, text)
        self.messages.append({"role": "user", "content": render_observation(text)})
        self._append(ids, 0)

    def _limit(self, text: str) -> Termination | None:
        settings = self.settings
        if len(self.turns) + 1 >= settings.turns:
            return Termination.TURN_LIMIT
        if settings.time_limit_seconds is not None and self._clock() - self._started > settings.time_limit_seconds:
            return Termination.TIME_LIMIT
        left = settings.context_tokens - len(self.ids) - len(encode_observation(self.codec, text)) - self._reserve
        if left < self._least:
            return Termination.CONTEXT_LIMIT
        return None

    def _cut(self, text: str) -> str:
        """The longest beginning of `text` that fits with the request for the answer after it."""
        room = self.settings.context_tokens - len(self.ids) - self.settings.answer_tokens

        def asking(part: str) -> str:
            return f"{part}\n{ANSWER_NOW}" if part else ANSWER_NOW

        fits, too_long = 0, len(text) + 1
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            if len(encode_observation(self.codec, asking(text[:middle].rstrip()))) <= room:
                fits = middle
            else:
                too_long = middle
        return asking(text[:fits].rstrip())

    def _answered(self, answer: str) -> None:
        self.answer = answer
        if not answer:
            self._end(self._forced_by or Termination.NO_ANSWER)
        else:
            self._end(Termination.ANSWERED if self._forced_by is None else Termination.ANSWERED_WHEN_FORCED)

    def _grade(self, grader: Grader | None) -> tuple[bool | None, str]:
        assert self.termination is not None
        if self.termination.outage:
            return None, ""
        if not self.answer:
            return False, "no answer"
        if grader is None:
            from terrarium.rewards import grade

            grader = grade
        verdict = grader(self.answer, self.task.question.answers, self.task.question)
        return verdict.correct, verdict.method

    def _append(self, ids: tuple[int, ...] | list[int], mask: int, logprobs: tuple[float, ...] | None = None) -> None:
        self.ids += ids
        self.mask += [mask] * len(ids)
        self.logprobs += logprobs if logprobs is not None else [0.0] * len(ids)

    def _close(self, pending: _Pending, observation: str) -> None:
        self.turns.append(RolloutTurn(pending.text, pending.thought, pending.calls, observation, pending.malformed, pending.start, pending.end))
        self._pending = None

    def _end(self, termination: Termination) -> None:
        self.termination = termination
        self._ended = self._clock()


@dataclass(frozen=True, slots=True)
class _Pending:
    """A sampled turn that waits for its observation."""

    text: str
    thought: str
    calls: tuple[ToolCall, ...]
    malformed: str | None
    start: int
    end: int
