"""In which order rows are seen: a function of seed and pass alone, so that a training that was killed sees what it would have seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any


def ordered_by_pass(trainer_class: type) -> type:
    """A Trainer whose rows of like length stand together in an order drawn anew for each pass, from its seed and the pass's number.

    Transformers draws it from the generator that everything else draws from too: a resumed training then finds that generator in another
    state than it had when the pass began, and goes on with other rows.
    """
    from torch.utils.data import Sampler
    from transformers.trainer_pt_utils import LengthGroupedSampler, get_length_grouped_indices

    class PassOrder(Sampler):  # type: ignore[misc]
        """Row numbers of the pass in which the trainer stands."""

        def __init__(self, trainer: Any, grouped: LengthGroupedSampler) -> None:
            self.trainer, self.lengths, self.batch = trainer, grouped.lengths, grouped.batch_size

        def __len__(self) -> int:
            return len(self.lengths)

        def __iter__(self) -> Iterator[int]:
            import torch

            args = self.trainer.args
            micro_batches = math.ceil(len(self.lengths) / (args.train_batch_size * args.world_size))
            done = self.trainer.state.global_step // math.ceil(micro_batches / args.gradient_accumulation_steps)
            generator = torch.Generator().manual_seed(args.data_seed * 1_000_003 + done)
            return iter(get_length_grouped_indices(self.lengths, self.batch, generator=generator))

    class Ordered(trainer_class):  # type: ignore[misc, valid-type]
        def _get_train_sampler(self, train_dataset: Any = None) -> Any:
            sampler = super()._get_train_sampler(train_dataset)
            return PassOrder(self, sampler) if isinstance(sampler, LengthGroupedSampler) else sampler

    return Ordered
