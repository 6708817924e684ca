"""A model of under 0.1 M parameters with a tokenizer of bytes, rollouts to train it on, and a world of one page."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from terrarium.agent.rollout import Rollout, RolloutTurn, Termination
from terrarium.agent.settings import AgentSettings
from terrarium.questions.question import Question
from terrarium.rl.settings import StageSettings

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def make_tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE({letter: number for number, letter in enumerate(letters)}, []))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    return tokenizer


def make_model(seed: int = 0) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=260,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        eos_token_id=256,
        pad_token_id=257,
    )
    return LlamaForCausalLM(config)


@pytest.fixture(scope="session")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint artifact: a folder with model/ in it."""
    folder = tmp_path_factory.mktemp("parent")
    make_model().save_pretrained(str(folder / "model"))
    make_tokenizer().save_pretrained(str(folder / "model"))
    (folder / "model" / "chat_template.jinja").write_text("{{ messages }}")
    return folder


def make_stage(**changes: Any) -> StageSettings:
    values: dict[str, Any] = {
        "number": 1,
        "std": "population",
        "clip_low": 0.2,
        "clip_high": 0.4,
        "kl": 0,
        "entropy": 0,
        "importance_cap": 2.0,
        "learning_rate": 1e-3,
        "weight_decay": 0.0,
        "betas": (0.9, 0.999),
        "max_grad_norm": 1.0,
        "temperature": 1.0,
        "save_every": 2,
        "micro_batch": 1,
        "precision": "float32",
        "context": 512,
        "turns": 2,
        "tokens_a_turn": 16,
        "questions": 2,
        "group": 2,
        "steps": 1,
    }
    return StageSettings.model_validate(values | changes)


def make_question(number: int, **changes: Any) -> Question:
    question = Question(f"q{number:02d}", f"What is {number}?", (str(number),), "single", "direct", 1, (), (), split="train", share="rl")
    return dataclasses.replace(question, **changes)


def make_rollout(question_id: str, prompt: Sequence[int], turns: Sequence[Sequence[int]], correct: bool | None, **changes: Any) -> Rollout:
    """A rollout whose turns are `turns`, with an observation of three tokens after each but the last."""
    ids, mask, made = list(prompt), [0] * len(prompt), []
    for number, turn in enumerate(turns):
        made.append(RolloutTurn("", "", (), "", None, len(ids), len(ids) + len(turn)))
        ids += turn
        mask += [1] * len(turn)
        if number < len(turns) - 1:
            ids += [7, 8, 9]
            mask += [0, 0, 0]
    ended = Termination.TOOL_OUTAGE if correct is None else Termination.ANSWERED
    rollout = Rollout(
        rollout_id=f"{question_id}-{'-'.join(map(str, ids[-3:]))}",
        question_id=question_id,
        policy="p",
        recipe="r",
        stage=1,
        snapshot="s",
        sampling={},
        messages=(),
        turns=tuple(made),
        token_ids=tuple(ids),
        loss_mask=tuple(mask),
        logprobs=(0.0,) * len(ids),
        answer="a",
        termination=ended,
        correct=correct,
        searches=1,
        visits=1,
    )
    return dataclasses.replace(rollout, **changes)


@pytest.fixture
def agent() -> AgentSettings:
    return AgentSettings(context_tokens=512, turns=2, tokens_a_turn=16, answer_tokens=12, concurrency=4, temperature=1.0)


class EmptyWorld:
    """A world in which nothing is found."""

    snapshot = "empty"

    def search(self, queries: list[str], k: int | None = None) -> list[Any]:
        return []

    def visit(self, urls: list[str], goal: str) -> list[Any]:
        return []

    def for_question(self, question: Any) -> EmptyWorld:
        return self
