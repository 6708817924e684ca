"""The sealed world through its two tools."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

import terrarium
from terrarium.errors import TerrariumError
from terrarium.world import open_world
from terrarium.world.tools import Status
from terrarium.world.world import World
from tests.terrarium.world.conftest import CHINESE, COPY, ELEMENT, GONE, PLANET, REPRINT, SOURCE, SUPPORT, TOWN, Sealed


@pytest.fixture(scope="module")
def world(sealed: Sealed) -> Iterator[World]:
    with open_world(sealed.folder) as opened:
        yield opened


def test_both_gates_hold(sealed: Sealed) -> None:
    assert {gate.name: gate.passed for gate in (*sealed.built.gates, *sealed.sealed.gates)} == {
        "index_matches_store": True,
        "no_removed_page_reachable": True,
    }
    assert sealed.built.counts["pages"] == 11
    assert sealed.built.counts["removed"] == 2
    assert sealed.built.counts["vanished"] == 1
    assert sealed.built.counts["copies"] == 1


def test_search_finds_by_words_and_by_meaning(world: World) -> None:
    by_words, by_meaning = world.search(["population of Velmora", "person who tended a coastal lamp"])
    assert by_words.status is Status.FOUND
    assert by_words.hits[0].page_id == TOWN.page_id
    assert by_meaning.hits[0].page_id == SUPPORT.page_id
    assert len(by_words.hits) == world.tools.k


def test_chinese_pages_are_found_by_chinese_words(world: World) -> None:
    (result,) = world.search(["北京的大学在哪里"])
    assert [hit.page_id for hit in result.hits] == [CHINESE.page_id]


def test_a_removed_page_looks_like_an_unknown_one(world: World) -> None:
    removed, never, vanished, copy = world.visit([SOURCE.url, "https://nowhere.example/x", GONE.url, COPY.url], "who lit it")
    assert {result.status for result in (removed, never, vanished, copy)} == {Status.UNKNOWN_PAGE}
    assert (removed.page_id, removed.title, removed.evidence, removed.error) == (never.page_id, never.title, never.evidence, never.error)


def test_a_namesake_of_the_removed_page_stays(world: World) -> None:
    assert world.visit([PLANET.url, ELEMENT.url], "what is it")[1].page_id == ELEMENT.page_id


@pytest.mark.parametrize(
    "spelling",
    [
        TOWN.url,
        "http://www.encyclopedia.example/wiki/Velmora/",
        "encyclopedia.example/wiki/Velmora",
        " <https://encyclopedia.example/wiki/Velmor%61#population> ",
        "https://encyclopedia.example/wiki/Velmora_(town)?utm_source=x",
        REPRINT.url,
    ],
)
def test_a_page_answers_to_all_its_addresses(world: World, spelling: str) -> None:
    (result,) = world.visit([spelling], "inhabitants in 2000")
    assert result.status is Status.FOUND
    assert result.page_id == TOWN.page_id
    assert "11,873" in result.evidence
    assert result.url == spelling


def test_nonsense_is_no_failure(world: World) -> None:
    assert [result.status for result in world.visit(["", "javascript:alert(1)", "http://", "x" * 7000, "http://a\x00b/"], "x")] == [
        Status.UNKNOWN_PAGE
    ] * 5
    empty, odd = world.search(["  ", "\x00 \ud800 ***"])
    assert empty.status is Status.NOTHING_FOUND
    assert empty.error
    assert odd.status is not Status.FAILED


def test_k_is_bounded(world: World) -> None:
    assert len(world.search(["valley"], k=5)[0].hits) == 5
    with pytest.raises(ValueError, match="between 1 and 50"):
        world.search(["valley"], k=0)


def test_an_error_is_never_an_empty_result_and_is_not_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise TerrariumError("the engine is away")

    with monkeypatch.context() as patch:
        patch.setattr(world._engines.index, "legs", broken)
        (failed,) = world.search(["soap makers"])
    assert failed.status is Status.FAILED
    assert failed.error == "the engine is away"
    assert world.search(["soap makers"])[0].status is Status.FOUND


def test_results_are_kept_by_hidden_set_and_arguments(world: World) -> None:
    first = world.search(["paper company"])[0]
    assert world.search(["paper company"])[0] is first
    hidden = world.hiding([first.hits[0].page_id]).search(["paper company"])[0]
    assert hidden is not first
    assert first.hits[0].page_id not in {hit.page_id for hit in hidden.hits}
    assert hidden.hits[0].page_id == first.hits[1].page_id


def test_reading_leaves_no_trace(sealed: Sealed) -> None:
    root = sealed.folder.parent

    def state() -> dict[str, str]:
        files = sorted(path for name in ("store", "index", "world") for path in (root / name).rglob("*") if not path.name.endswith(".lock"))
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = state()
    with open_world(sealed.folder) as again:
        again.search(["town"])
        again.visit([TOWN.url], "river")
    assert state() == before


@pytest.mark.process
def test_another_process_gives_the_same_bytes_and_leaves_no_process(sealed: Sealed, world: World) -> None:
    queries = ["town on a river", "北京大学", "soap"]
    here = [asdict(result) for result in world.search(queries, 6)]
    world.close()
    command = [sys.executable, "-m", "terrarium.world", "search", str(sealed.folder), *queries, "--json", "--k", "6"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(terrarium.__file__).parent.parent)
    assert run.stdout == json.dumps(here, ensure_ascii=False, indent=1) + "\n"
    assert not [pid for pid in _engines() if str(sealed.folder.parent) in pid]


def _engines() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\x00", b" ").decode(errors="replace")
        except OSError:
            continue
        if "milvus_lite" in command:
            found.append(command)
    return found
