"""One loader for store and index: the same pages in both, whatever happened before."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

import pytest

import terrarium
from terrarium.corpus.page import Page
from terrarium.errors import Outage, TerrariumError
from terrarium.job import SilentReport
from terrarium.tables import read_drops
from terrarium.world.build import Content, build, index_text
from terrarium.world.index import IndexSettings, SearchIndex
from terrarium.world.store import PageStore
from tests.terrarium.world.conftest import FILLER, PAGES, TOWN, WordEmbedder, build_job, page, write_inputs


def test_a_second_run_writes_nothing(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    inputs = write_inputs(tmp_path)
    first = build(build_job(tmp_path, inputs), SilentReport())
    content = {name: (tmp_path / name / "content.json").read_text() for name in ("store", "index")}
    second = build(build_job(tmp_path, inputs), SilentReport())
    assert (first.costs["written"], first.costs["embedded"]) == (11, 11)
    assert (second.costs["written"], second.costs["embedded"], second.costs["unchanged"]) == (0, 0, 11)
    assert {name: (tmp_path / name / "content.json").read_text() for name in ("store", "index")} == content


def test_equal_inputs_give_equal_content_files_anywhere(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    for name, pages in (("a", PAGES), ("b", PAGES[::-1])):
        build(build_job(tmp_path / name, write_inputs(tmp_path / name, pages)), SilentReport())
    for folder in ("store", "index"):
        assert (tmp_path / "a" / folder / "content.json").read_bytes() == (tmp_path / "b" / folder / "content.json").read_bytes()


def test_changed_pages_alone_are_written_and_lost_ones_taken_out(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    build(build_job(tmp_path, write_inputs(tmp_path)), SilentReport())
    changed = [
        page(TOWN.url, "Velmora", "# Velmora\n\nVelmora is now a city.") if entry is TOWN else entry for entry in PAGES if entry is not FILLER[0]
    ]
    outcome = build(build_job(tmp_path, write_inputs(tmp_path, changed)), SilentReport())
    assert (outcome.counts["pages"], outcome.costs["written"], outcome.costs["embedded"]) == (10, 1, 1)
    assert outcome.gates[0].passed
    with PageStore.open(tmp_path / "store", Content.read(tmp_path / "store").build) as store:
        assert store.pages([TOWN.page_id])[TOWN.page_id].markdown.endswith("city.")
        assert store.find(FILLER[0].url) is None


def test_store_and_index_are_repaired_to_agree(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    inputs = write_inputs(tmp_path)
    build(build_job(tmp_path, inputs), SilentReport())
    content = Content.read(tmp_path / "index")
    assert content.settings is not None
    with SearchIndex.create(tmp_path / "index", content.settings, content.build, 64, lexical=False) as index:
        index.delete([TOWN.page_id])
    with PageStore.create(tmp_path / "store", content.build) as store:
        store.delete([FILLER[1].page_id])
    outcome = build(build_job(tmp_path, inputs), SilentReport())
    assert outcome.gates[0].passed
    assert outcome.costs["written"] == 2
    assert Content.read(tmp_path / "index") == content


def test_a_page_that_no_store_takes_is_in_neither(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    bad = [
        Page.make("https://x.example/nul", "Nul", "a\x00b"),
        Page.make("https://x.example/" + "u" * 6000, "Long", "text"),
        Page.make("https://x.example/empty", "Empty", " "),
    ]
    outcome = build(build_job(tmp_path, write_inputs(tmp_path, [*PAGES, *bad])), SilentReport())
    assert outcome.drops == {"empty": 1, "nul_character": 1, "url_too_long": 1}
    assert outcome.counts["pages"] == 11
    assert outcome.gates[0].passed
    assert {drop.reason for drop in read_drops(tmp_path / "store" / "dropped.parquet")} == set(outcome.drops)


def test_what_is_missing_is_said(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    inputs = write_inputs(tmp_path)
    with pytest.raises(TerrariumError, match="No page of .* is left to load"):
        build(build_job(tmp_path, write_inputs(tmp_path / "none", [TOWN], removed=[TOWN])), SilentReport())
    (inputs.pages / "pages.parquet").unlink()
    with pytest.raises(TerrariumError, match="materialise candidate_pages first"):
        build(build_job(tmp_path, inputs), SilentReport())


def test_a_page_is_found_by_title_summary_or_lead_and_headings() -> None:
    text = index_text(page("https://x.example/t", "Velmora", "# Velmora\n\nA town.\n\n## Schools\n\nSecret detail.\n\n## Schools\n\n## Rail"), 3)
    assert text == "Velmora\nA town.\nSchools; Rail"
    assert (
        index_text(page("https://x.example/t", "Velmora", "# Velmora\n\nA town.", summary="A model's  summary."), 50) == "Velmora\nA model's summary."
    )


BUILDER = """
import hashlib, sys, time
from pathlib import Path
from typing import Literal
from terrarium.job import SilentReport
from terrarium.world import build as module
from tests.terrarium.world.conftest import WordEmbedder, build_job, Inputs

class Slow(WordEmbedder):
    def embed(self, texts):
        time.sleep(0.05)
        return super().embed(texts)

module.open_embedder = lambda settings: Slow()
root = Path(sys.argv[1])
print("started", flush=True)
module.build(build_job(root, Inputs(root / "pages", root / "removed", root / "questions")), SilentReport())
"""


@pytest.mark.process
def test_a_builder_killed_at_any_moment_is_continued(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    many = [page(f"https://x.example/{i}", f"Page {i}", f"Text number {i} about {hashlib.md5(str(i).encode()).hexdigest()}.") for i in range(80)]
    inputs = write_inputs(tmp_path, many, removed=())
    for wait in (0.9, 1.4, 1.9):
        builder = subprocess.Popen([sys.executable, "-c", BUILDER, str(tmp_path)], cwd=Path(terrarium.__file__).parent.parent, stdout=subprocess.PIPE)
        assert builder.stdout is not None
        assert builder.stdout.readline() == b"started\n"
        time.sleep(wait)
        os.kill(builder.pid, signal.SIGKILL)
        builder.wait()
    outcome = build(build_job(tmp_path, inputs), SilentReport())
    assert outcome.gates[0].passed
    assert outcome.counts["pages"] == 80
    other = write_inputs(tmp_path / "undisturbed", many, removed=())
    build(build_job(tmp_path / "undisturbed", other), SilentReport())
    for folder in ("store", "index"):
        assert Content.read(tmp_path / folder) == Content.read(tmp_path / "undisturbed" / folder)


def test_an_engine_that_fails_is_an_outage(tmp_path: Path, word_embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise Outage("The search engine failed to upsert.")

    monkeypatch.setattr(SearchIndex, "upsert", away)
    with pytest.raises(Outage):
        build(build_job(tmp_path, write_inputs(tmp_path)), SilentReport())
    assert not (tmp_path / "store" / "content.json").exists()


@pytest.mark.parametrize(("reads", "found"), [("page", True), ("lead", False)])
def test_a_page_is_found_by_what_stands_far_down_where_bm25_reads_pages(
    tmp_path: Path, word_embedder: WordEmbedder, reads: Literal["page", "lead"], found: bool
) -> None:
    filler = " ".join(f"Sentence {i} says nothing." for i in range(60))
    deep = page("https://registry.example/deep", "Deep Works", f"# Deep Works\n\n{filler}\n\n| Founder | Quirin Zaltman |\n|---|---|\n")
    job = build_job(tmp_path, write_inputs(tmp_path, [*PAGES, deep]))
    build(job.model_copy(update={"index_settings": IndexSettings(bm25_reads=reads)}), SilentReport())
    content = Content.read(tmp_path / "index")
    assert content.settings is not None
    with SearchIndex.open(tmp_path / "index", content.settings, content.build, lexical=False) as index:
        (leg,) = index.legs("Quirin Zaltman", None, None, 5)
    assert (deep.page_id in [page_id for page_id, _ in leg]) is found


def test_a_changed_body_is_indexed_again_without_being_embedded_again(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    filler = " ".join(f"Sentence {i} says nothing." for i in range(60))
    before, after = (
        page("https://registry.example/deep", "Deep Works", f"# Deep Works\n\n{filler}\n\nThe founder is {name}.") for name in ("Ada", "Zaltman")
    )
    build(build_job(tmp_path, write_inputs(tmp_path, [*PAGES, before])), SilentReport())
    outcome = build(build_job(tmp_path, write_inputs(tmp_path, [*PAGES, after])), SilentReport())
    assert outcome.costs["written"] == 1
    content = Content.read(tmp_path / "index")
    assert content.settings is not None
    with SearchIndex.open(tmp_path / "index", content.settings, content.build, lexical=False) as index:
        assert index.legs("Zaltman", None, None, 5)[0][0][0] == after.page_id
