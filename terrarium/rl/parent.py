"""The checkpoint a stage starts from: what must be there before anything is sampled, and how its likeness is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from terrarium.errors import TerrariumError


def check_parent(folder: Path, context: int) -> None:
    """Refuse a stage that cannot start from the model in `folder`.

    Raises:
        TerrariumError: there is no model, its configuration is unreadable, or it takes fewer than `context` tokens.
    """
    file = folder / "config.json"
    try:
        largest = json.loads(file.read_text(encoding="utf-8")).get("max_position_embeddings")
    except FileNotFoundError:
        raise TerrariumError(f"There is no model in {folder}; make the parent checkpoint of this stage first.") from None
    except (ValueError, AttributeError) as error:
        raise TerrariumError(f"The configuration {file} of the parent checkpoint is not readable ({error}); make that checkpoint again.") from error
    if largest is not None and context > largest:
        raise TerrariumError(f"The stage has a context of {context} tokens and the model in {folder} takes {largest}; lower the stage's context.")


def load_parent(folder: Path, context: int) -> tuple[Any, Any]:
    """The parent's model in float32, and its tokenizer.

    Raises:
        TerrariumError: as `check_parent`, or the weights cannot be loaded.
    """
    check_parent(folder, context)
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        model = AutoModelForCausalLM.from_pretrained(str(folder), dtype="float32", local_files_only=True, use_safetensors=True)
        return model, AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except (OSError, ValueError) as error:
        raise TerrariumError(f"The parent checkpoint {folder} cannot be loaded ({error}); make it again.") from error


def save_model(model: Any, parent: Path, folder: Path) -> None:
    """Write weights in float32 (bfloat16 would round small updates away), and tokenizer and template as the parent has them."""
    model.save_pretrained(str(folder))
    for file in parent.iterdir():
        if file.is_file() and not (folder / file.name).exists() and ".safetensors" not in file.name:
            shutil.copy2(file, folder / file.name)
