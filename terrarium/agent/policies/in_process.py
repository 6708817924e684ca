"""A transformers model in this process, with the KV cache kept across turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from terrarium.agent.codec import TokenizerCodec
from terrarium.agent.policies.base import Request, Sample, Sampling


class TransformersPolicy:
    """Samples turns with a causal language model.

    Args:
        folder: the model's folder (config, safetensors, tokenizer).
        name: what the rollouts call it; part of their ids. Give something that follows the weights, not the place they lie at.
        dtype: of weights and cache.
        model: a model that is loaded already (training lends its own); then nothing is read but the tokenizer.
    """

    def __init__(self, folder: Path, name: str, dtype: Literal["float32", "bfloat16"] = "bfloat16", model: object | None = None):
        self.name = name
        self.codec = TokenizerCodec(folder)
        raise NotImplementedError

    def sample(self, requests: Sequence[Request], sampling: Sampling) -> list[Sample]:
        """One turn a request."""
        raise NotImplementedError

    def forget(self, rollout_ids: Iterable[str]) -> None:
        """Free the cache of ended rollouts."""
        raise NotImplementedError
