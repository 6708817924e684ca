"""A policy that is a plain function: for tests and for the scripted teacher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from terrarium.agent.codec import ByteCodec, Codec
from terrarium.agent.policies.base import Request, Sample, Sampling


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a script sees: the text of the whole conversation so far, as the policy would read it."""

    rollout_id: str
    turn: int
    text: str


class ScriptedPolicy:
    """Answers each turn with the text that `script` gives for it, encoded and ended. Log-probabilities are 0.0."""

    def __init__(self, script: Callable[[Conversation], str], name: str = "script", codec: Codec | None = None):
        self.name = name
        self.codec: Codec = codec or ByteCodec()
        self._script = script

    def sample(self, requests: Sequence[Request], sampling: Sampling) -> list[Sample]:
        """One turn a request, cut off at its `max_tokens` like any other policy's."""
        return [self._answer(request) for request in requests]

    def forget(self, rollout_ids: Iterable[str]) -> None:
        """Nothing is kept between turns."""

    def _answer(self, request: Request) -> Sample:
        conversation = Conversation(request.rollout_id, request.turn, self.codec.decode(request.context))
        ids = [*self.codec.encode(self._script(conversation)), self.codec.end_id][: request.max_tokens]
        return Sample(tuple(ids), (0.0,) * len(ids))
