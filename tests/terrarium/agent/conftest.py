"""A model so small that tests can sample from it, made once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from terrarium.job import SilentReport
from terrarium.sft.base_model import BaseModelJob, FreshSettings, ModelSource, prepare

SENTENCES = "The river Alder runs past the mill.\nIts length is 120 kilometres, 4 of them navigable.\nAsk in 1998, not in 2001.\n"


def make_model(folder: Path) -> Path:
    text = folder / "tokenizer.txt"
    text.write_text(SENTENCES * 20 + '<think>a</think>\n<tool_call>\n{"name": "search", "arguments": {"query": ["a"]}}\n</tool_call>\n' * 20)
    fresh = FreshSettings(tokenizer_text=text, vocabulary=400, layers=2, width=48, heads=4, inner=96, positions=2048)
    prepare(BaseModelJob(out=folder, source=ModelSource(kind="fresh", fresh=fresh)), SilentReport())
    return folder / "model"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("tiny_model"))
