"""Keys and values of many rollouts, kept across turns, each row with a length of its own.

Rows lie in slots of one tensor a layer. Rows that decode together lie in the first slots, so that attention reads a view and copies
nothing; a row that ends its turn is swapped out of the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_STEP = 128


class RowCache:
    """Key and value tensors of shape (slots, heads, positions, head size), one pair a layer."""

    def __init__(self, layers: int, heads: int, size: int, dtype: torch.dtype, device: torch.device) -> None:
        import torch

        empty = torch.zeros((0, heads, 0, size), dtype=dtype, device=device)
        self.keys = [empty] * layers
        self.values = [empty] * layers
        self.lengths: list[int] = []

    def reserve(self, slots: int, positions: int) -> None:
        """Make room for at least so many slots and positions; what is there stays."""
        have_slots, heads, have_positions, size = self.keys[0].shape
        if slots > have_slots or positions > have_positions:
            shape = (max(slots, have_slots), heads, max(-(-positions // _STEP) * _STEP, have_positions), size)
            # One layer at a time, so that old and new lie side by side for one layer only.
            for tensors in (self.keys, self.values):
                for layer, old in enumerate(tensors):
                    tensors[layer] = self._grown(old, shape)
        self.lengths += [0] * (slots - len(self.lengths))

    def release(self) -> None:
        """Let go of all slots and their memory."""
        for tensors in (self.keys, self.values):
            tensors[:] = [tensor.new_zeros((0, tensor.shape[1], 0, tensor.shape[3])) for tensor in tensors]
        self.lengths = []

    def swap(self, first: int, second: int) -> None:
        """Exchange two slots."""
        length = max(self.lengths[first], self.lengths[second])
        for tensor in (*self.keys, *self.values):
            kept = tensor[first, :, :length].clone()
            tensor[first, :, :length] = tensor[second, :, :length]
            tensor[second, :, :length] = kept
        self.lengths[first], self.lengths[second] = self.lengths[second], self.lengths[first]

    def copy(self, source: int, targets: Sequence[int], length: int) -> None:
        """Give `targets` the first `length` positions of `source`."""
        for tensor in (*self.keys, *self.values):
            tensor[list(targets), :, :length] = tensor[source : source + 1, :, :length]
        for target in targets:
            self.lengths[target] = length

    @staticmethod
    def _grown(old: torch.Tensor, shape: tuple[int, int, int, int]) -> torch.Tensor:
        # Zeros, not empty memory: positions behind a row's end are masked, but 0 times NaN would still be NaN.
        new = old.new_zeros(shape)
        new[: old.shape[0], :, : old.shape[2]] = old
        return new


def step_cache(cache: RowCache, slots: Sequence[int], width: int) -> Any:
    """A transformers cache for one forward pass: row i writes `width` positions at its end and reads its slot.

    `slots` are either 0, 1, 2, ... (then nothing is copied) or any others. Lengths are left to the caller, who knows which of the
    `width` positions are padding.
    """
    import torch
    from transformers.cache_utils import Cache

    starts = [cache.lengths[slot] for slot in slots]
    reach = max(starts) + width
    leading = list(slots) == list(range(len(slots)))

    class StepCache(Cache):
        """The part of the row cache that one forward pass sees."""

        def __init__(self) -> None:
            super().__init__(layers=[])
            self.index: tuple[torch.Tensor, torch.Tensor] | None = None

        def update(self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any) -> Any:
            if self.index is None:
                device = key_states.device
                rows = torch.tensor(list(slots), device=device)
                self.index = (rows[:, None], torch.tensor(starts, device=device)[:, None] + torch.arange(width, device=device))
            rows, positions = self.index
            keys, values = cache.keys[layer_idx], cache.values[layer_idx]
            keys.transpose(1, 2)[rows, positions] = key_states.transpose(1, 2)
            values.transpose(1, 2)[rows, positions] = value_states.transpose(1, 2)
            if leading:
                return keys[: len(slots), :, :reach], values[: len(slots), :, :reach]
            return keys[rows[:, 0], :, :reach], values[rows[:, 0], :, :reach]

        def get_seq_length(self, layer_idx: int = 0) -> int:
            return max(starts)

    return StepCache()
