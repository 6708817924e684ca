"""The trainer moves the policy the way the advantages point, and trains on exactly the tokens that were sampled."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from terrarium.agent.rollout import Rollout
from terrarium.rl.loss import add_scoring, policy_loss
from terrarium.rl.settings import StageSettings
from terrarium.rl.source import with_advantages
from terrarium.rl.trainer import Batch, Row, _trim, build_trainer
from tests.terrarium.rl.conftest import make_model, make_rollout, make_stage, make_tokenizer

PROMPT = list(range(40, 60))


class Fixed:
    """The same rollouts at every step."""

    def __init__(self, batch: Batch):
        self._batch = batch

    def batch(self, step: int, question_ids: Sequence[str]) -> Batch:
        return self._batch


def groups() -> list[list[Rollout]]:
    good = [make_rollout("a", PROMPT, [[1, 2, 3, 256], [4, 5, 256]], True), make_rollout("a", PROMPT, [[11, 12, 13, 256], [14, 15, 256]], False)]
    other = [make_rollout("b", PROMPT[:9], [[21, 22, 23, 24, 25, 26, 256]], False), make_rollout("b", PROMPT[:9], [[31, 256]], True)]
    return [good, other]


def logprob(model: Any, rollout: Rollout) -> float:
    """Mean log-probability of the sampled tokens, by the model's ordinary forward pass."""
    ids = torch.tensor([rollout.token_ids])
    with torch.no_grad():
        logs = torch.log_softmax(model(input_ids=ids).logits, -1)
    picked = logs[0, :-1].gather(-1, ids[0, 1:, None])[:, 0]
    return float(picked[torch.tensor(rollout.loss_mask[1:]).bool()].mean())


def as_sampled(model: Any, rollout: Rollout) -> Rollout:
    """The rollout with the log-probabilities the model gives its tokens."""
    ids = torch.tensor([rollout.token_ids])
    with torch.no_grad():
        logs = torch.log_softmax(model(input_ids=ids).logits, -1)[0, :-1].gather(-1, ids[0, 1:, None])[:, 0].tolist()
    values = [0.0, *(value * flag for value, flag in zip(logs, rollout.loss_mask[1:], strict=True))]
    return dataclasses.replace(rollout, logprobs=tuple(values))


def one_step(tmp_path: Path, sign: float, **changes: Any) -> tuple[dict[str, float], list[Rollout], Any]:
    """Change of each rollout's log-probability over one update whose advantages are multiplied by `sign`."""
    stage: StageSettings = make_stage(**changes)
    model = make_model()
    batch = with_advantages([[as_sampled(model, rollout) for rollout in group] for group in groups()], stage)
    batch.advantages = [[sign * value for value in values] for values in batch.advantages]
    before = [logprob(model, rollout) for rollout in batch.rollouts]
    trainer = build_trainer(model, make_tokenizer(), Fixed(batch), [["a", "b"]] * stage.steps, stage, tmp_path, seed=0)
    trainer.train()
    model.eval()
    change = {rollout.rollout_id: logprob(model, rollout) - old for rollout, old in zip(batch.rollouts, before, strict=True)}
    return change, batch.rollouts, trainer


def lift(change: dict[str, float], rollouts: Sequence[Rollout]) -> float:
    """How much more right rollouts gained than wrong ones."""
    right = [change[rollout.rollout_id] for rollout in rollouts if rollout.correct]
    wrong = [change[rollout.rollout_id] for rollout in rollouts if not rollout.correct]
    return sum(right) / len(right) - sum(wrong) / len(wrong)


@pytest.mark.parametrize("micro_batch", [1, 2])
def test_one_step_raises_rollouts_with_positive_advantage(tmp_path: Path, micro_batch: int) -> None:
    change, rollouts, _ = one_step(tmp_path, sign=1.0, micro_batch=micro_batch)
    assert lift(change, rollouts) > 1e-3


def test_with_flipped_signs_it_does_not(tmp_path: Path) -> None:
    change, rollouts, _ = one_step(tmp_path, sign=-1.0)
    assert lift(change, rollouts) < -1e-3


def test_training_rows_hold_what_was_sampled(tmp_path: Path) -> None:
    _, _, trainer = one_step(tmp_path, sign=1.0)
    figures = trainer.ours.sums.figures()
    assert figures["token_mismatches"] == 0
    assert figures["worst_drift"] < 1e-4
    assert trainer.ours.sums.sampled == 4 + 3 + 4 + 3 + 7 + 2


def test_a_row_with_other_tokens_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = Row.of.__func__  # type: ignore[attr-defined]
    calls = []

    def spoiled(cls: Any, rollout: Rollout, advantages: Sequence[float], filler: int) -> Row:
        row = original(cls, rollout, advantages, filler)
        calls.append(row)
        if len(calls) == 2:
            row.completion[1] += 1
        return row

    monkeypatch.setattr(Row, "of", classmethod(spoiled))
    _, _, trainer = one_step(tmp_path, sign=1.0)
    assert trainer.ours.sums.figures()["token_mismatches"] == 1


def test_a_batch_without_spread_changes_nothing(tmp_path: Path) -> None:
    stage = make_stage(weight_decay=0.1)
    model = make_model()
    same = [[dataclasses.replace(rollout, correct=False) for rollout in group] for group in groups()]
    before = {name: value.clone() for name, value in model.state_dict().items()}
    build_trainer(model, make_tokenizer(), Fixed(with_advantages(same, stage)), [["a", "b"]], stage, tmp_path, seed=0).train()
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_an_outage_takes_no_part_and_a_rollout_without_tokens_is_borne(tmp_path: Path) -> None:
    stage = make_stage(group=3, questions=1)
    model = make_model()
    lost = make_rollout("a", PROMPT, [], None)
    right, wrong = (as_sampled(model, rollout) for rollout in groups()[0])
    batch = with_advantages([[right, lost, wrong]], stage)
    assert batch.advantages == [[1.0, 1.0], [], [-1.0, -1.0]]
    trainer = build_trainer(model, make_tokenizer(), Fixed(batch), [["a"]], stage, tmp_path, seed=0)
    trainer.train()
    alone = make_model()
    pair = with_advantages([[right, wrong]], stage)
    other = build_trainer(alone, make_tokenizer(), Fixed(pair), [["a"]], make_stage(group=2, questions=1), tmp_path / "2", seed=0)
    other.train()
    # Adam's first step does not see how large a gradient is, so that is looked at by itself.
    assert trainer.state.log_history[0]["grad_norm"] == pytest.approx(other.state.log_history[0]["grad_norm"], rel=1e-4)
    assert all(torch.allclose(value, alone.state_dict()[name], atol=1e-6) for name, value in model.state_dict().items())


def test_a_micro_batch_is_cut_to_its_own_width() -> None:
    inputs = {
        "prompt_ids": torch.tensor([[0, 0, 0, 1, 2], [0, 0, 3, 4, 5]]),
        "prompt_mask": torch.tensor([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]]),
        "completion_ids": torch.tensor([[6, 7, 0, 0], [8, 0, 0, 0]]),
        "completion_mask": torch.tensor([[1, 1, 0, 0], [1, 0, 0, 0]]),
        "advantages": torch.tensor([[1.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]]),
        "valid": torch.tensor(2.0),
    }
    cut = _trim(inputs)
    assert cut["prompt_ids"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert cut["completion_ids"].tolist() == [[6, 7], [8, 0]]
    assert cut["advantages"].tolist() == [[1.0, 1.0], [2.0, 0.0]]


def test_scoring_equals_the_ordinary_forward_pass() -> None:
    model = make_model()
    ids = torch.randint(0, 256, (2, 12))
    attention = torch.ones_like(ids)
    attention[1, :3] = 0
    scored = torch.zeros_like(ids)
    scored[0, 4:9] = 1
    scored[1, 6:12] = 1
    logs = torch.log_softmax(model(input_ids=ids, attention_mask=attention).logits / 0.7, -1)
    expected = logs[:, :-1].gather(-1, ids[:, 1:, None])[..., 0] * scored[:, 1:]
    entropy = -(logs.exp() * logs).sum(-1)[:, :-1] * scored[:, 1:]
    add_scoring(model, 0.7)
    got, entropies = model(input_ids=ids, attention_mask=attention, scored=scored)
    assert torch.allclose(got[:, 1:], expected, atol=1e-5)
    assert torch.allclose(entropies[:, 1:], entropy, atol=1e-5)


def test_scoring_in_pieces_gives_the_same_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    gradients = []
    for rows in (1024, 3):
        monkeypatch.setattr("terrarium.rl.loss._ROWS_AT_ONCE", rows)
        model = make_model()
        add_scoring(model, 1.0)
        ids = torch.arange(24).reshape(2, 12)
        model(input_ids=ids, attention_mask=None, scored=torch.ones_like(ids))[0].sum().backward()
        gradients.append(model.model.embed_tokens.weight.grad)
    assert torch.allclose(*gradients, atol=1e-5)


def test_loss_is_the_sequence_mean_of_token_means() -> None:
    logprobs = torch.log(torch.tensor([[0.5, 0.5, 0.1], [0.2, 0.9, 0.9]])).requires_grad_()
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    advantages = torch.tensor([[1.0, 1.0, 5.0], [-2.0, 0.0, 0.0]])
    loss = policy_loss(logprobs, logprobs.detach(), mask, advantages, 2, 0.2, 0.4, 2.0)
    assert float(loss.detach()) == pytest.approx(-((1 + 1) / 2 - 2) / 2)
    loss.backward()
    assert logprobs.grad is not None
    assert torch.allclose(logprobs.grad, torch.tensor([[-0.25, -0.25, 0.0], [1.0, 0.0, 0.0]]))


def test_weights_of_the_sampling_engine_are_truncated() -> None:
    logprobs = torch.zeros(1, 2)
    sampled = torch.log(torch.tensor([[0.1, 2.0]]))
    loss = policy_loss(logprobs, sampled, torch.ones(1, 2), torch.ones(1, 1), 1, 0.2, 0.4, cap=2.0)
    assert float(loss) == pytest.approx(-(2.0 + 0.5) / 2)
