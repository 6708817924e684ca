"""The one chat template of SFT, reinforcement learning and serving, and the system prompts.

It is ChatML with `{% generation %}` around what the policy writes. It never looks back: no earlier thought is dropped, no default
system prompt is slipped in, so the ids of a conversation are always a prefix of the ids of the conversation that continues it.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from terrarium.agent.protocol import neutralise
from terrarium.errors import TerrariumError

START = "<|im_start|>"
END = "<|im_end|>"
PAD = "<|endoftext|>"

CHAT_TEMPLATE = (
    "{%- for message in messages %}"
    "{%- if message['role'] == 'assistant' %}"
    "{{- '<|im_start|>assistant\\n' }}"
    "{% generation %}{{- message['content'] + '<|im_end|>' }}{% endgeneration %}"
    "{{- '\\n' }}"
    "{%- else %}"
    "{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{%- endif %}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)


def system_prompt(name: str) -> str:
    """The system prompt called `name`.

    Raises:
        TerrariumError: there is none of that name.
    """
    folder = resources.files("terrarium.agent") / "prompts"
    file = folder / f"{name}.txt"
    if not file.is_file():
        names = ", ".join(sorted(item.name.removesuffix(".txt") for item in folder.iterdir() if item.name.endswith(".txt")))
        raise TerrariumError(f"There is no system prompt {name!r} in terrarium/agent/prompts; the profile may name one of: {names}.")
    return file.read_text(encoding="utf-8").strip()


def first_messages(question: str, prompt: str) -> list[dict[str, Any]]:
    """The messages a rollout begins with: `prompt` is the text of the system prompt."""
    return [{"role": "system", "content": prompt}, {"role": "user", "content": neutralise(question)}]


def render_messages(messages: list[dict[str, Any]], generation_prompt: bool = False) -> str:
    """What `CHAT_TEMPLATE` gives for `messages`, without a template engine (a test holds the two together)."""
    text = "".join(f"{START}{message['role']}\n{message['content']}{END}\n" for message in messages)
    return text + (f"{START}assistant\n" if generation_prompt else "")
