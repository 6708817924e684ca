"""The token audit: are the ids a trainer gets those of the text, and is the loss on turns and their end tokens alone?

The mask is built here a second time, without the chat template: message by message, from what each is. Whoever doubts a trainer
compares its rows with these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from terrarium.agent.codec import Codec
from terrarium.agent.template import END, START


@dataclass(frozen=True, slots=True)
class Row:
    """Token ids of a conversation, and 1 where the loss counts."""

    ids: tuple[int, ...]
    mask: tuple[int, ...]


def expected_row(codec: Codec, messages: Sequence[dict[str, Any]]) -> Row:
    """Ids and mask of a conversation, piece by piece."""
    ids: list[int] = []
    mask: list[int] = []
    for message in messages:
        trained = message["role"] == "assistant"
        pieces = [(f"{START}{message['role']}\n", 0), (f"{message['content']}{END}", int(trained)), ("\n", 0)]
        if not trained:
            # One piece: only around a turn is it certain that a tokenizer splits where we do.
            pieces = [("".join(text for text, _ in pieces), 0)]
        for text, bit in pieces:
            piece = codec.encode(text)
            ids += piece
            mask += [bit] * len(piece)
    return Row(tuple(ids), tuple(mask))


def row_faults(codec: Codec, messages: Sequence[dict[str, Any]], ids: Sequence[int], mask: Sequence[int]) -> list[str]:
    """What is wrong with a trainer's row of `messages`; empty where it is right."""
    wanted = expected_row(codec, messages)
    faults = []
    if len(ids) != len(mask):
        faults.append(f"{len(ids)} ids, but a mask of {len(mask)}")
    if tuple(ids) != wanted.ids:
        at = next((place for place, pair in enumerate(zip(ids, wanted.ids, strict=False)) if pair[0] != pair[1]), min(len(ids), len(wanted.ids)))
        faults.append(f"ids differ from the text's at token {at}: {codec.decode(ids[at : at + 5])!r} for {codec.decode(wanted.ids[at : at + 5])!r}")
    elif tuple(mask) != wanted.mask:
        at = next(place for place, pair in enumerate(zip(mask, wanted.mask, strict=False)) if pair[0] != pair[1])
        faults.append(f"the loss is {'on' if mask[at] else 'off'} at token {at}: {codec.decode(ids[at : at + 5])!r}")
    if sum(1 for number, bit in zip(ids, mask, strict=False) if bit and number == codec.end_id) != sum(
        message["role"] == "assistant" for message in messages
    ):
        faults.append("not every turn's end token is learnt once")
    return faults
