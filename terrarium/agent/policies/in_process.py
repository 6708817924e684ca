"""A transformers model in this process, with the KV cache kept across turns.

Only what a turn added is read in; hidden states become logits only where a token is sampled; rows that end their turn leave the
batch. Noise is one number in [0, 1) a token, from a generator seeded by rollout and turn, so it does not depend on the batch.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from terrarium.agent.codec import TokenizerCodec
from terrarium.agent.policies.base import Request, Sample, Sampling
from terrarium.agent.policies.cache import RowCache, step_cache

if TYPE_CHECKING:
    import torch

Precision = Literal["auto", "float32", "bfloat16"]

_PREFILL_TOKENS = 1024
_PREFILL_FILL = 0.75


class TransformersPolicy:
    """Samples turns with a causal language model of the transformers library.

    Args:
        folder: the model's folder (config, safetensors, tokenizer).
        name: what the rollouts call it; part of their ids. Give something that follows the weights, not the place they lie at.
        dtype: of weights and cache; "auto" is bfloat16 where the processor multiplies it faster (a GPU, or AMX), float32 elsewhere.
    """

    def __init__(self, folder: Path, name: str, dtype: Precision = "auto"):
        self.name = name
        self.codec = TokenizerCodec(folder)
        self._model = _load(folder, dtype)
        config = self._model.config
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        self._cache = RowCache(config.num_hidden_layers, config.num_key_value_heads, size, self._model.dtype, self._model.device)
        self._slots: dict[str, int] = {}
        self._read: dict[str, list[int]] = {}
        self._layout = {name: (weight.shape, weight.stride()) for name, weight in self._model.named_parameters()}
        stops = self._model.generation_config.eos_token_id
        self._stops = {self.codec.end_id, self.codec.pad_id, *(stops if isinstance(stops, list) else [] if stops is None else [stops])}

    def update(self, model: Any) -> None:
        """Take over the weights of another model of the same shape (a training copy), and forget all rollouts."""
        import torch

        self.forget(list(self._slots))
        with torch.no_grad():
            for (name, mine), (other, theirs) in zip(self._model.named_parameters(), model.named_parameters(), strict=True):
                shape, stride = self._layout[name]
                if shape != theirs.shape:
                    raise ValueError(f"parameter {name} has shape {tuple(shape)}, but {other} has {tuple(theirs.shape)}")
                if mine.shape != shape:
                    mine.data = torch.empty_strided(shape, stride, dtype=mine.dtype, device=mine.device)
                mine.copy_(theirs)

    def rest(self) -> None:
        """Let go of all rollouts and of the weights, until `update` brings new ones: a trainer in the same process needs the memory."""
        self.forget(list(self._slots))
        for weight in self._model.parameters():
            weight.data = weight.data.new_empty(0)

    def forget(self, rollout_ids: Iterable[str]) -> None:
        """Free the slots of ended rollouts; with the last of them the cache's memory, which a trainer in the same process needs."""
        for rollout_id in rollout_ids:
            slot = self._slots.pop(rollout_id, None)
            self._read.pop(rollout_id, None)
            if slot is not None:
                self._cache.lengths[slot] = 0
        if not self._slots:
            self._cache.release()

    def sample(self, requests: Sequence[Request], sampling: Sampling) -> list[Sample]:
        """One turn a request. Each rollout occurs once.

        The longest prefix of the context that was read before is not read again, whether or not the context begins with all of it.
        """
        import torch

        if not requests:
            return []
        with torch.inference_mode():
            seats = len(self._slots.keys() | {request.rollout_id for request in requests})
            self._cache.reserve(seats, max(len(request.context) + request.max_tokens for request in requests))
            rows = self._seat(requests)
            hidden = self._prefill(rows)
            self._decode(rows, hidden, sampling)
        for row in rows:
            self._read[row.request.rollout_id] = [*row.request.context, *row.ids[:-1]]
        return [Sample(tuple(row.ids), tuple(row.logprobs)) for row in rows]

    def _seat(self, requests: Sequence[Request]) -> list[_Row]:
        """Give each request a slot among the first ones, and find what it still has to read."""
        rows = []
        for request in requests:
            known = self._read.get(request.rollout_id, [])
            if request.rollout_id not in self._slots:
                taken = set(self._slots.values())
                self._slots[request.rollout_id] = next(slot for slot in range(len(taken) + 1) if slot not in taken)
            # At least one token is read anew: its hidden state gives the first sampled token.
            shared = min(_common_prefix(known, request.context), len(request.context) - 1)
            rows.append(_Row(request, shared))
        for target, row in enumerate(rows):
            self._move(self._slots[row.request.rollout_id], target)
        for row in rows:
            self._cache.lengths[self._slots[row.request.rollout_id]] = row.shared
        return rows

    def _move(self, slot: int, target: int) -> None:
        if slot == target:
            return
        self._cache.swap(slot, target)
        for rollout_id, other in self._slots.items():
            if other in (slot, target):
                self._slots[rollout_id] = target if other == slot else slot

    def _prefill(self, rows: list[_Row]) -> torch.Tensor:
        """Read what is new of each row. Returns the hidden state at the last position of each, (rows, width)."""
        import torch

        fresh = [row for row in rows if row.shared == 0]
        if len(fresh) > 1:
            self._read_shared_prompt(fresh)
        last: dict[int, torch.Tensor] = {}
        order = sorted(range(len(rows)), key=lambda index: (-rows[index].unread, index))
        while order:
            group = [order[0]]
            width = rows[order[0]].unread
            for index in order[1:]:
                if (len(group) + 1) * width > _PREFILL_TOKENS or rows[index].unread < _PREFILL_FILL * width:
                    break
                group.append(index)
            order = order[len(group) :]
            group.sort()
            slots = [self._slots[rows[index].request.rollout_id] for index in group]
            hidden = self._forward(slots, [list(rows[index].request.context[rows[index].shared :]) for index in group])
            for place, index in enumerate(group):
                last[index] = hidden[place, rows[index].unread - 1]
        return torch.stack([last[index] for index in range(len(rows))])

    def _read_shared_prompt(self, fresh: list[_Row]) -> None:
        """Read the beginning that all new rollouts share once, and copy it."""
        first, *others = fresh
        shared = len(first.request.context) - 1
        for row in others:
            shared = min(shared, _common_prefix(first.request.context, row.request.context), len(row.request.context) - 1)
        if shared < 1:
            return
        source = self._slots[first.request.rollout_id]
        self._forward([source], [list(first.request.context[:shared])])
        targets = [self._slots[row.request.rollout_id] for row in others]
        self._cache.copy(source, targets, shared)
        for row in fresh:
            row.shared = shared

    def _decode(self, rows: list[_Row], hidden: torch.Tensor, sampling: Sampling) -> None:
        """Sample until every row has ended its turn or used its tokens."""
        import torch

        head = self._model.get_output_embeddings()
        noise = {row.request.rollout_id: random.Random(sampling.noise_seed(row.request.rollout_id, row.request.turn)) for row in rows}
        active = list(rows)
        while active:
            logits = head(hidden).float()
            drawn = torch.tensor([noise[row.request.rollout_id].random() for row in active], dtype=torch.float32, device=logits.device)
            ids, logprobs = draw(logits, drawn, sampling)
            for row, number, logprob in zip(active, ids.tolist(), logprobs.tolist(), strict=True):
                row.ids.append(number)
                row.logprobs.append(logprob)
                row.ended = number in self._stops or len(row.ids) >= row.request.max_tokens
            # Swap ended rows behind the others, from the end, so that the rest stay in the first slots.
            for place in range(len(active) - 1, -1, -1):
                if active[place].ended:
                    self._move(place, len(active) - 1)
                    active[place] = active[-1]
                    active.pop()
            if active:
                hidden = self._forward(list(range(len(active))), [row.ids[-1:] for row in active])[:, 0]

    def _forward(self, slots: list[int], ids: list[list[int]]) -> torch.Tensor:
        """Append `ids` to the rows in `slots`. Returns hidden states (rows, longest, width); what is behind a row's end is noise."""
        import torch

        model, device = self._model, self._model.device
        width = max(len(row) for row in ids)
        starts = [self._cache.lengths[slot] for slot in slots]
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in ids], device=device)
        positions = torch.tensor(starts, device=device)[:, None] + torch.arange(width, device=device)
        reach = torch.arange(max(starts) + width, device=device)
        hidden_positions = reach[None, None, None, :] > positions[:, None, :, None]
        mask = torch.zeros(hidden_positions.shape, dtype=model.dtype, device=device).masked_fill_(hidden_positions, torch.finfo(model.dtype).min)
        step = step_cache(self._cache, slots, width)
        output = model.base_model(input_ids=tokens, attention_mask=mask, position_ids=positions, past_key_values=step, use_cache=True)
        for slot, row in zip(slots, ids, strict=True):
            self._cache.lengths[slot] += len(row)
        return output.last_hidden_state


class _Row:
    """One request while it is sampled. `shared` tokens of its context are in the cache."""

    __slots__ = ("ended", "ids", "logprobs", "request", "shared")

    def __init__(self, request: Request, shared: int):
        self.request = request
        self.shared = shared
        self.ids: list[int] = []
        self.logprobs: list[float] = []
        self.ended = False

    @property
    def unread(self) -> int:
        return len(self.request.context) - self.shared


def draw(logits: torch.Tensor, noise: torch.Tensor, sampling: Sampling) -> tuple[torch.Tensor, torch.Tensor]:
    """Pick one token a row by inverting the cumulative distribution at `noise`.

    Args:
        logits: (rows, vocabulary), float32.
        noise: (rows,), in [0, 1).

    Returns:
        ids and log-probabilities at the temperature (1 where the temperature is 0, which picks the likeliest token), each (rows,).
    """
    import torch

    if sampling.temperature == 0.0:
        ids = logits.argmax(-1)
        return ids, torch.log_softmax(logits, -1).gather(-1, ids[:, None])[:, 0]
    if sampling.temperature != 1.0:
        logits = logits / sampling.temperature
    logprobs = torch.log_softmax(logits, -1)
    weights = logprobs.exp()
    if sampling.top_p < 1.0:
        ordered, order = weights.sort(dim=-1, descending=True, stable=True)
        before = ordered.cumsum(-1) - ordered
        weights = torch.zeros_like(weights).scatter_(-1, order, ordered.masked_fill(before >= sampling.top_p, 0.0))
    reached = weights.cumsum(-1, dtype=torch.float64)
    # Rounding may leave the total a little off 1; scaled noise still lands inside, and `right=True` skips tokens of weight 0.
    ids = torch.searchsorted(reached, (noise.double() * reached[:, -1])[:, None], right=True).clamp_(max=logits.shape[-1] - 1)
    return ids[:, 0], logprobs.gather(-1, ids)[:, 0]


def _common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return index
    return min(len(first), len(second))


def _load(folder: Path, precision: Precision) -> Any:
    """Load a model for sampling. Raises `TerrariumError` where the folder holds none."""
    import torch
    from transformers import AttentionInterface, AutoModelForCausalLM
    from transformers.utils import logging

    from terrarium.errors import TerrariumError

    AttentionInterface.register("rows", _attention)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    fast_bfloat16 = device == "cuda" or torch.cpu._is_amx_tile_supported()
    dtype = torch.bfloat16 if precision == "bfloat16" or (precision == "auto" and fast_bfloat16) else torch.float32
    logging.disable_progress_bar()
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(str(folder), dtype=dtype, attn_implementation="rows", use_safetensors=True)
        model = model.to(device).eval()
    except (OSError, ValueError) as error:
        raise TerrariumError(f"The model folder {folder} cannot be loaded ({error}); make its step again.") from error
    finally:
        logging.enable_progress_bar()
    if device == "cpu":
        _lay_out_for_small_batches(model)
    return model.requires_grad_(False)


def _lay_out_for_small_batches(model: Any) -> None:
    """Store linear weights transposed in memory: MKL multiplies 8 to 32 rows with them up to twice as fast. Shapes and names stay."""
    import torch

    shared = model.get_output_embeddings()
    for module in model.modules():
        if isinstance(module, torch.nn.Linear) and module is not shared:
            module.weight.data = module.weight.data.t().contiguous().t()


def _attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attention of transformers' interface that never repeats the keys of shared heads in memory.

    query (rows, heads, new, size), key and value (rows, shared heads, reach, size), mask (rows, 1, new, reach).
    """
    import torch

    output = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=attention_mask, scale=scaling, enable_gqa=True)
    return output.transpose(1, 2).contiguous(), None
