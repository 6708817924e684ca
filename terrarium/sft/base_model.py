"""Base models: from a package that carries weights, a folder, the Hugging Face hub, or made fresh; all saved the same way.

What is saved is a plain transformers folder with the one chat template of `terrarium.agent.template`.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from terrarium.agent.template import CHAT_TEMPLATE, END, PAD, START
from terrarium.errors import TerrariumError
from terrarium.job import Job, Outcome, Report

_QUANTISATION_MARKS = ("quantization_config", "_name_or_path")


class FreshSettings(BaseModel):
    """Shape of a model that is made from nothing, and of its tokenizer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tokenizer_text: Path = Field(description="text file the tokenizer is trained on")
    vocabulary: int = Field(ge=300, le=65536, description="tokens, control tokens included")
    layers: int = Field(ge=1)
    width: int = Field(ge=8, description="hidden size")
    heads: int = Field(ge=1)
    inner: int = Field(ge=8, description="width of the MLP")
    positions: int = Field(default=4096, ge=128, description="longest context")
    seed: int = 0


class ModelSource(BaseModel):
    """Where a base model comes from; exactly the fields of its kind are given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["package", "folder", "hub", "fresh"]
    package: str | None = Field(default=None, description="import name of an installed package that carries the weights")
    file: str | None = Field(default=None, description="GGUF file in the package or folder")
    folder: Path | None = None
    name: str | None = Field(default=None, description="name on the Hugging Face hub")
    revision: str | None = None
    licence: str | None = Field(default=None, description="where the source itself does not say")
    fresh: FreshSettings | None = None

    @model_validator(mode="after")
    def _complete(self) -> ModelSource:
        needed = {"package": self.package and self.file, "folder": self.folder, "hub": self.name, "fresh": self.fresh}[self.kind]
        if not needed:
            raise ValueError(f"a model source of kind {self.kind!r} needs {'package and file' if self.kind == 'package' else self.kind}")
        return self


class BaseModelJob(Job):
    """Prepare a base model in `out/model`."""

    source: ModelSource


def prepare(job: BaseModelJob, report: Report) -> Outcome:
    """Write `out/model`: configuration, safetensors, tokenizer, chat template.

    Raises:
        TerrariumError: the source does not exist or cannot be read.
    """
    folder = job.out / "model"
    if folder.exists():
        shutil.rmtree(folder)
    report.say(f"base model: {describe(job.source)}")
    revision, licence = _make_fresh(job.source, folder) if job.source.kind == "fresh" else _copy(job.source, folder)
    _clean_config(folder)
    digest = weights_hash(folder)
    parameters = _parameters(folder)
    notes = {"source": describe(job.source), "revision": revision, "licence": licence, "weights_sha256": digest}
    return Outcome(counts={"parameters": parameters, "bytes": sum(file.stat().st_size for file in folder.iterdir())}, notes=notes)


def describe(source: ModelSource) -> str:
    """One line that names a source."""
    if source.kind == "package":
        return f"{source.file} in the package {source.package}"
    if source.kind == "fresh" and source.fresh is not None:
        return f"made fresh, {source.fresh.layers} layers of width {source.fresh.width}, seed {source.fresh.seed}"
    return str(source.folder or source.name)


def weights_hash(folder: Path) -> str:
    """SHA-256 over names and bytes of all weight files of a model folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.safetensors")):
        digest.update(file.name.encode())
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _copy(source: ModelSource, folder: Path) -> tuple[str, str]:
    """Load a published model in fp32 and save it. Returns revision and licence."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    place, gguf, revision, licence = _locate(source)
    # Weights that come from outside are data: neither pickles nor a repository's own code are run.
    options: dict[str, Any] = {"trust_remote_code": False}
    weights: dict[str, Any] = {} if gguf else {"use_safetensors": True}
    if gguf:
        options["gguf_file"] = gguf
    if source.kind == "hub" and source.revision:
        options["revision"] = source.revision
    logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, **options)
        model = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32, **weights, **options)
    except (OSError, ValueError) as error:
        what = f"The base model {describe(source)} cannot be loaded ({error})"
        raise TerrariumError(f"{what}; check the model section of the profile.") from error
    finally:
        logging.enable_progress_bar()
    _prepare_tokenizer(tokenizer)
    if len(tokenizer) > model.config.vocab_size:
        model.resize_token_embeddings(len(tokenizer))
    _save(model, tokenizer, folder)
    return revision, licence


def _locate(source: ModelSource) -> tuple[str, str | None, str, str]:
    """Place, GGUF file, revision and licence of a published model."""
    if source.kind == "package":
        assert source.package is not None and source.file is not None
        spec = importlib.util.find_spec(source.package)
        if spec is None or not spec.submodule_search_locations:
            raise TerrariumError(f"The package {source.package} that carries the base model is not installed; run `make setup`.")
        folder = Path(next(iter(spec.submodule_search_locations)))
        if not (folder / source.file).is_file():
            raise TerrariumError(f"The package {source.package} has no file {source.file}; check the model section of the profile.")
        metadata = importlib.metadata.metadata(source.package.replace("_", "-"))
        return str(folder), source.file, f"{metadata['Name']} {metadata['Version']}", source.licence or metadata["License"] or "unknown"
    if source.kind == "folder":
        assert source.folder is not None
        if not source.folder.is_dir():
            raise TerrariumError(f"The model folder {source.folder} does not exist; check the model section of the profile.")
        return str(source.folder), source.file, source.revision or "local folder", source.licence or _licence_of_card(source.folder)
    assert source.name is not None
    return source.name, source.file, source.revision or "main", source.licence or "see the model card"


def _licence_of_card(folder: Path) -> str:
    card = folder / "README.md"
    for line in card.read_text(encoding="utf-8", errors="replace").splitlines() if card.is_file() else ():
        if line.startswith("license:"):
            return line.removeprefix("license:").strip()
    return "unknown"


def _prepare_tokenizer(tokenizer: Any) -> None:
    """Set our template and the control tokens it needs; some conversions name the wrong end token."""
    missing = [token for token in (START, END) if tokenizer.convert_tokens_to_ids(token) in (None, tokenizer.unk_token_id)]
    if tokenizer.unk_token in missing:
        missing.remove(tokenizer.unk_token)
    if missing:
        tokenizer.add_special_tokens({"additional_special_tokens": missing})
    if PAD in tokenizer.get_vocab():
        tokenizer.pad_token = PAD
    elif tokenizer.pad_token is None:
        tokenizer.pad_token = END
    tokenizer.eos_token = END
    tokenizer.bos_token = START
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.padding_side = "right"
    # Made for WordPiece; on byte-pair tokens it eats spaces before punctuation.
    tokenizer.clean_up_tokenization_spaces = False


def _save(model: Any, tokenizer: Any, folder: Path) -> None:
    from transformers import GenerationConfig

    end, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    model.config.eos_token_id, model.config.pad_token_id, model.config.bos_token_id = end, pad, tokenizer.bos_token_id
    model.generation_config = GenerationConfig(eos_token_id=end, pad_token_id=pad, bos_token_id=tokenizer.bos_token_id)
    if hasattr(model, "hf_quantizer"):
        del model.hf_quantizer
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)


def _clean_config(folder: Path) -> None:
    """Take away marks of the form the weights were published in; the saved weights are plain."""
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for mark in _QUANTISATION_MARKS:
        config.pop(mark, None)
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _parameters(folder: Path) -> int:
    from safetensors import safe_open

    count = 0
    for file in folder.glob("*.safetensors"):
        with safe_open(str(file), framework="pt") as tensors:
            for name in tensors.keys():  # noqa: SIM118 (not a dictionary)
                shape = tensors.get_slice(name).get_shape()
                size = 1
                for length in shape:
                    size *= length
                count += size
    return count


def _make_fresh(source: ModelSource, folder: Path) -> tuple[str, str]:
    """A small Llama with random weights, and its own tokenizer. Returns revision and licence."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    settings = source.fresh
    assert settings is not None
    tokenizer = train_tokenizer(settings.tokenizer_text, settings.vocabulary)
    _prepare_tokenizer(tokenizer)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=settings.width,
        intermediate_size=settings.inner,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        num_key_value_heads=settings.heads,
        max_position_embeddings=settings.positions,
        tie_word_embeddings=True,
    )
    torch.manual_seed(settings.seed)
    _save(LlamaForCausalLM(config), tokenizer, folder)
    return f"seed {settings.seed}", "none: made here"


def train_tokenizer(text: Path, vocabulary: int) -> Any:
    """A byte-level BPE tokenizer: digits one by one, ChatML control tokens and the protocol's tags one token each.

    Raises:
        TerrariumError: the text is missing or empty.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    if not text.is_file() or text.stat().st_size == 0:
        raise TerrariumError(f"The text for the tokenizer, {text}, is missing or empty; check the model section of the profile.")
    tokenizer = Tokenizer(models.BPE())
    pieces = r" ?\p{L}+| ?\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pieces), behavior="isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(text.read_text(encoding="utf-8").splitlines(keepends=True), trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, bos_token=START, clean_up_tokenization_spaces=False)
