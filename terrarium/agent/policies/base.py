"""What the loop asks of a policy."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from terrarium.agent.codec import Codec


@dataclass(frozen=True, slots=True)
class Request:
    """The next turn of one rollout. `context` holds all ids so far; it begins with the context and the sample of the rollout's last turn."""

    rollout_id: str
    turn: int
    context: Sequence[int]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Sample:
    """What was sampled. The last id is the end token unless `max_tokens` cut the turn off.

    `logprobs` are those of the sampled ids at the temperature of sampling, before any `top_p` cut.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample. The noise of a turn is a function of `seed`, rollout id and turn number alone."""

    temperature: float = 1.0
    top_p: float = 1.0
    seed: int = 0

    def noise_seed(self, rollout_id: str, turn: int) -> int:
        """A 63-bit seed for one turn of one rollout."""
        digest = hashlib.sha256(f"{self.seed}\x1f{rollout_id}\x1f{turn}".encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1


class Policy(Protocol):
    """Takes turns for a batch of rollouts.

    `sample` raises `Outage` when what serves the policy does not answer.
    """

    name: str

    @property
    def codec(self) -> Codec:
        """Its tokenizer."""

    def sample(self, requests: Sequence[Request], sampling: Sampling) -> list[Sample]:
        """One sample a request, in order."""

    def forget(self, rollout_ids: Iterable[str]) -> None:
        """These rollouts ended: what was kept for their next turn can go."""
