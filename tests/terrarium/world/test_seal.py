"""Sealing: the probe finds what is planted, the gates say so, and the snapshot's id covers what can change a result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from terrarium.corpus.urls import canonical_url
from terrarium.errors import Outage, TerrariumError
from terrarium.job import Gate, SilentReport
from terrarium.tables import read_rows
from terrarium.world import open_world
from terrarium.world.index import IndexSettings, SearchIndex
from terrarium.world.probe import PROBE_SCHEMA, Target, addresses_of, probe
from terrarium.world.seal import SealJob, seal
from terrarium.world.snapshot import snapshot_id
from terrarium.world.spellings import spellings
from terrarium.world.tools import Status, ToolSettings
from tests.terrarium.world.conftest import (
    COPY,
    MINILM,
    PAGES,
    QUESTION,
    SECRET,
    SOURCE,
    SUPPORT,
    TOWN,
    Sealed,
    WordEmbedder,
    build_world,
    page,
    write_inputs,
)


def target(url_page=SOURCE, question_id: str | None = None) -> Target:  # type: ignore[no-untyped-def]
    row = {"url": url_page.url, "aliases": url_page.aliases}
    return Target(url_page.page_id, url_page.url, url_page.title, addresses_of(row), (SECRET,), question_id)


def gates(outcomes: list[Gate]) -> dict[str, bool]:
    return {gate.name: gate.passed for gate in outcomes}


def test_the_probe_asks_both_tools_for_every_removed_page(sealed: Sealed) -> None:
    rows = read_rows(sealed.folder / "probe.parquet", PROBE_SCHEMA)
    assert {(row["page_id"], row["tool"]) for row in rows} == {(page.page_id, tool) for page in (SOURCE, COPY) for tool in ("visit", "search")}
    assert all(row["leaks"] == 0 for row in rows)
    assert sum(row["asked"] for row in rows if row["tool"] == "visit") > 40
    assert sealed.sealed.counts["searches_probed"] == 3


def test_with_removal_switched_off_the_same_probe_finds_every_one(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    folder, _, outcome = build_world(tmp_path, write_inputs(tmp_path, mode="none"))
    assert gates(outcome.gates) == {"no_removed_page_reachable": True, "index_matches_store": True}
    with open_world(folder) as world:
        found = probe(world, [target()], SilentReport())
    visit, search = found.rows
    # Every spelling is one the world understands, so that none of them tests nothing.
    assert visit.leaks == visit.asked > 20
    assert search.leaks == search.asked == 2
    assert found.leaks == 2


def test_a_leak_fails_the_gate(tmp_path: Path, word_embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = write_inputs(tmp_path, mode="question")
    monkeypatch.setattr("terrarium.world.world.World.for_question", lambda self, question: self)
    _, _, outcome = build_world(tmp_path, inputs)
    assert gates(outcome.gates) == {"no_removed_page_reachable": False, "index_matches_store": True}
    gate = next(gate for gate in outcome.gates if gate.name == "no_removed_page_reachable")
    assert "for example visit of https://encyclopedia.example/wiki/Brennick_Lighthouse" in gate.detail


def test_per_question_removal_hides_from_that_question_alone(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    folder, _, outcome = build_world(tmp_path, write_inputs(tmp_path, mode="question"))
    assert gates(outcome.gates) == {"no_removed_page_reachable": True, "index_matches_store": True}
    assert outcome.counts["questions_with_hidden_pages"] == 1
    with open_world(folder) as world:
        mine, others = world.for_question(QUESTION), world.for_question(replace(QUESTION, question_id="q2", source_page_ids=(TOWN.page_id,)))
        assert mine.snapshot == others.snapshot == world.snapshot
        assert world.mode == "question"
        for address in (SOURCE.url, COPY.url, SOURCE.aliases[0]):
            assert mine.visit([address], "keeper")[0].status is Status.UNKNOWN_PAGE
            assert others.visit([address], "keeper")[0].status is Status.FOUND
        assert others.visit([TOWN.url], "x")[0].status is Status.UNKNOWN_PAGE
        assert SOURCE.page_id not in {hit.page_id for hit in mine.search([SECRET], 10)[0].hits}
        assert others.search([SECRET], 10)[0].hits[0].page_id == SOURCE.page_id
        assert mine.search([SECRET], 10)[0].hits[0].page_id == SUPPORT.page_id
        mine.close()
        assert world.search(["town"])[0].status is Status.FOUND


def test_a_page_that_repeats_the_evidence_is_reported(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    thief = page("https://blog.example/lights", "Lights I saw", f"# Lights I saw\n\nOda Malvern, Brennick lighthouse.\n\n{SECRET.upper()}")
    _, _, outcome = build_world(tmp_path, write_inputs(tmp_path, [*PAGES, thief]))
    assert outcome.counts["pages_repeating_evidence"] == 1
    assert outcome.notes["pages_repeating_evidence"] == [thief.page_id]


def test_a_tool_that_fails_leaves_the_world_unsealed(tmp_path: Path, word_embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise Outage("away")

    monkeypatch.setattr(SearchIndex, "legs", away)
    with pytest.raises(Outage, match="could not search"):
        build_world(tmp_path, write_inputs(tmp_path))


def test_store_and_index_of_different_builds_are_refused(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    inputs = write_inputs(tmp_path / "a")
    build_world(tmp_path / "a", inputs)
    build_world(tmp_path / "b", write_inputs(tmp_path / "b", PAGES[:8]))
    job = SealJob(
        out=tmp_path,
        store=tmp_path / "a/store",
        index=tmp_path / "b/index",
        removed=inputs.removed,
        pages=inputs.pages,
        questions=[],
        embedder=MINILM,
    )
    with pytest.raises(TerrariumError, match="different builds"):
        seal(job, SilentReport())


def test_rows_changed_after_the_build_fail_the_gate(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    inputs = write_inputs(tmp_path)
    folder, built, _ = build_world(tmp_path, inputs)
    with SearchIndex.create(tmp_path / "index", IndexSettings(), str(built.notes["build"]), 64, lexical=False) as index:
        index.delete([TOWN.page_id])
    job = SealJob(
        out=folder,
        store=tmp_path / "store",
        index=tmp_path / "index",
        removed=inputs.removed,
        pages=inputs.pages,
        questions=[inputs.questions],
        embedder=MINILM,
    )
    assert gates(seal(job, SilentReport()).gates)["index_matches_store"] is False


def test_equal_worlds_have_equal_files_and_other_worlds_other_ids(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    folders = [
        build_world(tmp_path / name, write_inputs(tmp_path / name, pages))[0] for name, pages in (("a", PAGES), ("b", PAGES[::-1]), ("c", PAGES[:-1]))
    ]
    worlds = [(folder / "world.json").read_text() for folder in folders]
    assert worlds[0] == worlds[1]
    assert str(tmp_path) not in worlds[0]
    assert json.loads(worlds[0])["snapshot"] != json.loads(worlds[2])["snapshot"]


def test_the_snapshot_covers_what_can_change_a_result() -> None:
    def made(**changed: object) -> str:
        parts = {
            "store_digest": "s",
            "index_digest": "i",
            "removal_digest": "r",
            "embedder_fingerprint": "e",
            "index_settings": IndexSettings(),
            "tools": ToolSettings(),
        }
        return snapshot_id(**{**parts, **changed})  # type: ignore[arg-type]

    others = [
        made(store_digest="x"),
        made(index_digest="x"),
        made(removal_digest="x"),
        made(embedder_fingerprint="x"),
        made(index_settings=IndexSettings(rrf_k=10)),
        made(tools=ToolSettings(snippet_words=20)),
        made(tools=ToolSettings(k=5)),
    ]
    assert len({made(), *others}) == 8
    assert made(index_settings=IndexSettings(uri="http://elsewhere:1")) == made(tools=ToolSettings(cached_results=0)) == made()


def test_a_world_that_was_moved_or_lost_parts(tmp_path: Path, word_embedder: WordEmbedder) -> None:
    build_world(tmp_path / "old", write_inputs(tmp_path / "old"))
    (tmp_path / "old").rename(tmp_path / "new")
    with open_world(tmp_path / "new" / "world") as world:
        assert world.search(["town"])[0].status is Status.FOUND
    (tmp_path / "new" / "store").rename(tmp_path / "new" / "gone")
    with pytest.raises(TerrariumError, match="which is gone; materialise page_store"):
        open_world(tmp_path / "new" / "world")
    with pytest.raises(TerrariumError, match="materialise world first"):
        open_world(tmp_path / "nowhere")


def test_other_weights_are_refused(tmp_path: Path, word_embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _, _ = build_world(tmp_path, write_inputs(tmp_path))
    monkeypatch.setattr(word_embedder, "fingerprint", "words-2", raising=False)
    with pytest.raises(TerrariumError, match="weights are not those"):
        open_world(folder)


@pytest.mark.parametrize(
    "address", [SOURCE.url, "https://a.example/b/c.html?id=7&x=y", "https://a.example/", "https://en.wikipedia.org/wiki/Caf%C3%A9_au_lait"]
)
def test_spellings_are_many_and_all_of_the_same_page(address: str) -> None:
    found = spellings(address)
    assert len(found) == len(set(found)) > 10
    assert {canonical_url(spelling) for spelling in found} == {canonical_url(address)}
