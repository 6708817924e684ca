"""Between text and token ids: the few operations a rollout needs, over any tokenizer.

Ids that were sampled are never encoded again. What is encoded are pieces that begin and end at a control token, where every
byte-pair tokenizer splits anyway; so the pieces laid together are the ids of the whole conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from terrarium.agent.protocol import neutralise, render_observation
from terrarium.agent.template import END, PAD, START, render_messages


class Codec(Protocol):
    """A tokenizer as the loop sees it."""

    @property
    def end_id(self) -> int:
        """Id of the token that ends a turn."""

    def encode(self, text: str) -> list[int]:
        """Ids of text whose control markers count as such."""

    def decode(self, ids: Sequence[int]) -> str:
        """Text of sampled ids, control tokens included."""

    def neutralise(self, text: str) -> str:
        """`text` without anything this tokenizer takes for a control token."""


class ByteCodec:
    """Ids are UTF-8 bytes, and three control tokens above them: for scripts that need no model."""

    _CONTROL = {START: 256, END: 257, PAD: 258}
    end_id = 257
    vocabulary = 259

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        while text:
            at, marker = min(((text.find(marker), marker) for marker in self._CONTROL if marker in text), default=(len(text), ""))
            ids += text[:at].encode("utf-8", "replace")
            if marker:
                ids.append(self._CONTROL[marker])
            text = text[at + len(marker) :]
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        names = {number: marker.encode() for marker, number in self._CONTROL.items()}
        return b"".join(names.get(number) or bytes([number]) for number in ids).decode("utf-8", "replace")

    def neutralise(self, text: str) -> str:
        return neutralise(text)


class TokenizerCodec:
    """A Hugging Face tokenizer. Loading it is left until the first use."""

    def __init__(self, folder: Path):
        self.folder = folder

    @cached_property
    def tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(str(self.folder))

    @cached_property
    def end_id(self) -> int:
        return int(self.tokenizer.convert_tokens_to_ids(END))

    @cached_property
    def pad_id(self) -> int:
        return int(self.tokenizer.pad_token_id if self.tokenizer.pad_token_id is not None else self.end_id)

    @cached_property
    def _markers(self) -> tuple[str, ...]:
        # Tokens of white space or plain words are not control tokens, whatever the tokenizer calls them.
        tokens = (str(token) for token in self.tokenizer.get_added_vocab())
        return tuple(sorted((token for token in tokens if len(token) > 2 and token[0] in "<["), key=lambda token: (-len(token), token)))

    def encode(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def neutralise(self, text: str) -> str:
        return neutralise(text, self._markers)


def encode_prompt(codec: Codec, messages: list[dict[str, Any]]) -> list[int]:
    """Ids of the conversation so far with the opening of the next assistant turn."""
    return codec.encode(render_messages(messages, generation_prompt=True))


def encode_observation(codec: Codec, text: str) -> list[int]:
    """Ids that follow the end token of a turn: the observation as a user message, and the opening of the next assistant turn.

    Args:
        text: what the tool gave, already neutralised, without its `<tool_response>` tags.
    """
    return codec.encode(f"\n{START}user\n{render_observation(text)}{END}\n{START}assistant\n")
