from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from transformers import AutoModelForCausalLM, AutoTokenizer

from terrarium.agent.template import CHAT_TEMPLATE
from terrarium.errors import TerrariumError
from terrarium.job import Outcome, SilentReport
from terrarium.sft.base_model import BaseModelJob, FreshSettings, ModelSource, prepare, weights_hash
from tests.terrarium.agent.conftest import SENTENCES


def fresh(text: Path, seed: int = 0) -> ModelSource:
    return ModelSource(kind="fresh", fresh=FreshSettings(tokenizer_text=text, vocabulary=320, layers=1, width=16, heads=2, inner=32, seed=seed))


def make(folder: Path, source: ModelSource) -> Outcome:
    folder.mkdir(exist_ok=True)
    return prepare(BaseModelJob(out=folder, source=source), SilentReport())


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(SENTENCES * 5)
    return path


def test_a_fresh_model_is_whole_and_repeats_itself(tmp_path: Path, text: Path) -> None:
    one, two, other = make(tmp_path / "a", fresh(text)), make(tmp_path / "b", fresh(text)), make(tmp_path / "c", fresh(text, seed=1))
    assert one.notes["weights_sha256"] == two.notes["weights_sha256"] != other.notes["weights_sha256"]
    model = AutoModelForCausalLM.from_pretrained(str(tmp_path / "a/model"))
    assert one.counts["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    tokenizer = AutoTokenizer.from_pretrained(str(tmp_path / "a/model"))
    assert tokenizer.chat_template == CHAT_TEMPLATE
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|im_end|>", "<|endoftext|>")
    assert model.config.eos_token_id == tokenizer.eos_token_id
    sample = "12,345 café\n  <think>東京</think> "
    assert tokenizer.decode(tokenizer.encode(sample)) == sample
    assert {"1", "2", "3"} <= set(tokenizer.convert_ids_to_tokens(tokenizer.encode("123")))


def test_a_folder_is_taken_over_with_our_template_and_its_licence(tmp_path: Path, text: Path) -> None:
    make(tmp_path / "a", fresh(text))
    source = tmp_path / "a/model"
    (source / "README.md").write_text("---\nlicense: mit\n---\n")
    config = json.loads((source / "config.json").read_text())
    tokenizer = AutoTokenizer.from_pretrained(str(source))
    tokenizer.chat_template = "{{ messages }}"
    tokenizer.save_pretrained(source)
    outcome = make(tmp_path / "b", ModelSource(kind="folder", folder=source))
    assert outcome.notes["licence"] == "mit"
    assert outcome.notes["weights_sha256"] == weights_hash(source)
    assert AutoTokenizer.from_pretrained(str(tmp_path / "b/model")).chat_template == CHAT_TEMPLATE
    assert json.loads((tmp_path / "b/model/config.json").read_text())["hidden_size"] == config["hidden_size"]


def test_what_a_killed_attempt_left_is_replaced(tmp_path: Path, text: Path) -> None:
    (tmp_path / "a/model").mkdir(parents=True)
    (tmp_path / "a/model/model-00007.safetensors").write_bytes(b"half")
    outcome = make(tmp_path / "a", fresh(text))
    assert outcome.notes["weights_sha256"] == make(tmp_path / "b", fresh(text)).notes["weights_sha256"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (ModelSource(kind="package", package="no_such_package", file="x.gguf"), "make setup"),
        (ModelSource(kind="package", package="pytest", file="x.gguf"), "no file x.gguf"),
        (ModelSource(kind="folder", folder=Path("/no/such/folder")), "does not exist"),
        (fresh(Path("/no/such/text")), "missing or empty"),
    ],
)
def test_bad_sources_get_one_sentence(tmp_path: Path, source: ModelSource, words: str) -> None:
    with pytest.raises(TerrariumError, match=words):
        make(tmp_path / "out", source)


def test_a_folder_without_a_model_gets_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(TerrariumError, match="cannot be loaded"):
        make(tmp_path / "out", ModelSource(kind="folder", folder=tmp_path / "empty"))


@pytest.mark.parametrize("fields", [{"kind": "package", "package": "x"}, {"kind": "folder"}, {"kind": "hub"}, {"kind": "fresh"}])
def test_a_source_says_all_that_its_kind_needs(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="needs"):
        ModelSource(**fields)  # type: ignore[arg-type]
