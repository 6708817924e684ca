"""Closeness in meaning: cosines that do not depend on what else was asked."""

from __future__ import annotations

import pytest

from terrarium.world.closeness import Closeness
from terrarium.world.embed import open_embedder
from tests.terrarium.world.conftest import MINILM, WordEmbedder


def test_the_same_cosine_alone_and_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["The museum was inaugurated in 1964.", "It is closed on Wednesdays.", "The collection comprises 24,740 objects." * 5]
    together = Closeness(open_embedder(MINILM))("When did the museum open?", texts)
    assert [Closeness(open_embedder(MINILM))("When did the museum open?", [text])[0] for text in texts] == together
    assert together[0] > together[2]


def test_what_the_embedder_cannot_read_is_not_close(monkeypatch: pytest.MonkeyPatch) -> None:
    near = Closeness(open_embedder(MINILM))
    assert near("韦尔莫拉的市长是谁", ["The mayor is Ines."]) == [0.0]
    assert near("Who is the mayor?", ["", "市长是伊内斯。"]) == [0.0, 0.0]
    assert near("   ", ["The mayor is Ines."]) == [0.0]


def test_each_text_is_embedded_once() -> None:
    embedder = WordEmbedder()
    seen: list[str] = []
    real = embedder.embed
    embedder.embed = lambda texts: (seen.extend(texts), real(texts))[1]  # type: ignore[method-assign]
    near = Closeness(embedder)
    assert near("river town", ["a river", "a town"]) == near("river town", ["a river", "a town"])
    assert sorted(seen) == ["a river", "a town", "river town"]
