"""The policy-gradient loss on sampled tokens, and their log-probabilities at the cost of their own logits only."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import Tensor

# Logits of this many positions are held at once; beyond, they are computed again in the backward pass.
_ROWS_AT_ONCE = 1024


def policy_loss(
    logprobs: Tensor, sampled: Tensor, mask: Tensor, advantages: Tensor, rollouts: float, clip_low: float, clip_high: float, cap: float
) -> Tensor:
    """Clipped policy gradient, strictly on-policy, sequence-mean of token-means.

        L = -1/N sum_i 1/|M_i| sum_{t in M_i} w_t min(rho_t A_t, clip(rho_t, 1 - low, 1 + high) A_t)

    rho = pi / pi_old (PPO, arXiv 1707.06347; asymmetric clip as in DAPO, arXiv 2503.14476). One update a batch means pi_old = pi, so
    rho is 1 in value and carries the gradient. w = min(pi_old / pi_sampling, cap), token by token and without gradient, corrects for a
    sampling engine that rounds otherwise (truncated importance sampling; LiteResearcher uses a cap of 2).

    Args:
        logprobs: (B, T) of the training pass, with gradient. sampled: (B, T) of the sampling engine.
        mask: (B, T), 1 on sampled tokens. advantages: (B, T) or (B, 1).
        rollouts: N, valid rollouts of the whole step, over all micro-batches.
    """
    import torch

    old = logprobs.detach()
    ratio = torch.exp(logprobs - old)
    surrogate = torch.minimum(ratio * advantages, ratio.clamp(1 - clip_low, 1 + clip_high) * advantages)
    weights = importance_weights(old, sampled, mask).clamp(max=cap)
    a_sequence = (surrogate * weights * mask).sum(1) / mask.sum(1).clamp(min=1)
    return -a_sequence.sum() / rollouts


def importance_weights(trained: Tensor, sampled: Tensor, mask: Tensor) -> Tensor:
    """pi_training / pi_sampling of every token, (B, T); 1 outside `mask`."""
    return ((trained - sampled) * mask).exp()


def add_scoring(model: Any, temperature: float) -> None:
    """Teach `model` a second way to be called: `model(input_ids, attention_mask, scored=mask)` gives (log-probabilities, entropies).

    Only the logits that predict scored positions are computed: on rollouts whose larger part is observations this saves most of the
    vocabulary projection. It stays a call of the model itself, so that what wraps a model (DDP, FSDP) sees it. Any other call is as before.

    Args:
        temperature: that of sampling; logits are divided by it.
    """
    original = model.forward

    @functools.wraps(original)
    def forward(self: Any, *args: Any, scored: Tensor | None = None, **kwargs: Any) -> Any:
        if scored is None:
            return original(*args, **kwargs)
        return _score(self, scored, temperature, **kwargs)

    model.forward = types.MethodType(forward, model)


def _score(model: Any, scored: Tensor, temperature: float, input_ids: Tensor, attention_mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy of the tokens that `scored` (B, T) marks, (B, T), 0 elsewhere. Position 0 cannot be scored."""
    import torch
    from torch.utils.checkpoint import checkpoint

    hidden = model.base_model(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).last_hidden_state
    chosen = scored[:, 1:].bool()
    rows, labels = hidden[:, :-1][chosen], input_ids[:, 1:][chosen]
    head = model.get_output_embeddings()
    logprobs, entropies = [], []
    for start in range(0, max(1, len(rows)), _ROWS_AT_ONCE):
        part, names = rows[start : start + _ROWS_AT_ONCE], labels[start : start + _ROWS_AT_ONCE]
        if len(rows) <= _ROWS_AT_ONCE:
            values = _read_off(head, part, names, temperature)
        else:
            values = checkpoint(_read_off, head, part, names, temperature, use_reentrant=False)
        logprobs.append(values[0])
        entropies.append(values[1])
    blank = torch.zeros(scored.shape, dtype=torch.float32, device=hidden.device)
    place = torch.zeros_like(blank, dtype=torch.bool)
    place[:, 1:] = chosen
    return blank.masked_scatter(place, torch.cat(logprobs)), blank.masked_scatter(place, torch.cat(entropies))


def _read_off(head: torch.nn.Module, rows: Tensor, labels: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    import torch

    logits = head(rows).float() / temperature
    logs = torch.log_softmax(logits, -1)
    with torch.no_grad():
        entropy = -(logs.exp() * logs).sum(-1)
    return logs.gather(-1, labels[:, None]).squeeze(-1), entropy
