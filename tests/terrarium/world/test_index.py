"""The search index on Milvus Lite: rows, legs, locks, and the engine's process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import terrarium
from terrarium.errors import Outage, TerrariumError
from terrarium.world.index import IndexRow, IndexSettings, SearchIndex
from terrarium.world.milvus_lite_file import open_lite_file

WORDS = ["river", "town", "museum", "law", "glass", "harbour", "mill", "soap"]
EXACT = IndexSettings()


def rows(count: int, dimension: int = 16, seed: int = 0) -> list[IndexRow]:
    noise = np.random.default_rng(seed)
    made = []
    for i in range(count):
        vector = noise.normal(size=dimension).astype(np.float32)
        text = " ".join(noise.choice(WORDS, size=12))
        made.append(IndexRow(f"p{i:04d}", f"h{i}", text, vector / np.linalg.norm(vector)))
    return made


def filled(folder: Path, data: Sequence[IndexRow], settings: IndexSettings = EXACT) -> SearchIndex:
    folder.mkdir(exist_ok=True)
    index = SearchIndex.create(folder, settings, "b", 16, lexical=False)
    index.upsert(data)
    return index


def engines(folder: Path) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "milvus_lite" in command and str(folder) in command and (path.parent / "exe").exists():
            found.append(int(path.parent.name))
    return found


def test_rows_are_inserted_replaced_and_deleted(tmp_path: Path) -> None:
    data = rows(20)
    with filled(tmp_path, data) as index:
        assert index.row_hashes() == {row.page_id: row.row_hash for row in data}
        digest = index.digest()
        index.upsert([IndexRow("p0003", "new", "zebra unicorns", data[3].dense)])
        index.delete(["p0005", "never there"])
        assert index.row_hashes()["p0003"] == "new"
        assert "p0005" not in index.row_hashes()
        assert index.digest() != digest
        assert [page for page, _ in index.legs("unicorn", None, None, 5)[0]] == ["p0003"]
    with SearchIndex.open(tmp_path, EXACT, "b", lexical=False) as again:
        assert len(again.row_hashes()) == 19


def test_the_order_of_writing_changes_nothing(tmp_path: Path) -> None:
    data = rows(60)
    straight = filled(tmp_path / "a", data)
    crooked = filled(tmp_path / "b", [IndexRow(row.page_id, "old", "soap soap", row.dense) for row in data[:30]])
    for start in range(0, 60, 20):
        crooked.upsert(data[::-1][start : start + 20])
    with straight, crooked:
        for query in ("river law", "glass harbour mill", "soap"):
            assert straight.legs(query, data[7].dense, None, 25) == crooked.legs(query, data[7].dense, None, 25)


def test_equals_are_cut_by_page_id(tmp_path: Path) -> None:
    vector = rows(1)[0].dense
    data = [IndexRow(f"p{i:04d}", "h", "river town", vector) for i in range(200)]
    noise = np.random.default_rng(1)
    noise.shuffle(data)  # type: ignore[arg-type]
    with filled(tmp_path, data) as index:
        for leg in index.legs("river", vector, None, 7):
            assert [page for page, _ in leg] == [f"p{i:04d}" for i in range(7)]


def test_an_approximate_index_finds_what_the_exact_one_does(tmp_path: Path) -> None:
    data = rows(300)
    settings = IndexSettings(dense="IVF_FLAT", build_parameters={"nlist": 8}, search_parameters={"nprobe": 8})
    with filled(tmp_path / "a", data) as exact, filled(tmp_path / "b", data, settings) as lists:
        assert exact.legs("", data[4].dense, None, 10) == lists.legs("", data[4].dense, None, 10)


def test_a_vector_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    good = rows(2)
    with filled(tmp_path, good) as index:
        with pytest.raises(TerrariumError, match="not finite, first for 'bad'"):
            index.upsert([IndexRow("fine", "h", "river", good[0].dense), IndexRow("bad", "h", "river", np.full(16, np.nan, dtype=np.float32))])
        assert set(index.row_hashes()) == {"p0000", "p0001"}


def test_other_settings_make_the_collection_anew(tmp_path: Path) -> None:
    filled(tmp_path, rows(5)).close()
    with SearchIndex.create(tmp_path, EXACT, "b", 16, lexical=False) as same:
        assert len(same.row_hashes()) == 5
    with SearchIndex.create(tmp_path, IndexSettings(bm25_b=0.5), "b", 16, lexical=False) as other:
        assert other.row_hashes() == {}


def test_odd_queries_are_no_failure(tmp_path: Path) -> None:
    with filled(tmp_path, rows(5)) as index:
        for query in ("", "!!!", "the of and", "\u200b", "x" * 30_000, "' or 1=1 --", "%s {}"):
            assert isinstance(index.legs(query, None, None, 3), list)


@pytest.mark.process
def test_an_engine_that_was_killed_is_started_again_and_none_is_left(tmp_path: Path) -> None:
    data = rows(30)
    with filled(tmp_path, data) as index:
        before = index.legs("river", data[0].dense, None, 5)
        (engine,) = engines(tmp_path)
        os.kill(engine, signal.SIGKILL)
        assert index.legs("river", data[0].dense, None, 5) == before
        assert len(engines(tmp_path)) == 1
    assert engines(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["milvus.db"]
    with pytest.raises(TerrariumError, match="was closed"):
        index.legs("river", None, None, 5)


def test_a_process_shares_its_engine(tmp_path: Path) -> None:
    with filled(tmp_path, rows(5)) as first:
        with SearchIndex.open(tmp_path, EXACT, "b", lexical=False) as second:
            assert len(engines(tmp_path)) == 1
            assert second.row_hashes() == first.row_hashes()
        assert len(first.row_hashes()) == 5
    assert engines(tmp_path) == []


@pytest.mark.process
def test_another_process_waits_and_hears_why_and_dies_without_leaving_an_engine(tmp_path: Path) -> None:
    filled(tmp_path, rows(3)).close()
    hold = (
        "import pathlib, sys, time\nfrom terrarium.world.milvus_lite_file import open_lite_file\n"
        "open_lite_file(pathlib.Path(sys.argv[1]))\nprint('open', flush=True)\ntime.sleep(120)"
    )
    holder = subprocess.Popen([sys.executable, "-c", hold, str(tmp_path)], stdout=subprocess.PIPE, cwd=Path(terrarium.__file__).parent.parent)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(Outage, match="still open in another process"):
            open_lite_file(tmp_path, patience=0.5)
        said: list[str] = []
        threading.Timer(3.0, holder.kill).start()
        began = time.monotonic()
        with SearchIndex.open(tmp_path, EXACT, "b", lexical=False, say=said.append) as index:
            assert len(index.row_hashes()) == 3
            assert len(engines(tmp_path)) == 1
        assert time.monotonic() - began > 1.0
        assert any("another process has it open" in text for text in said)
    finally:
        holder.kill()
        holder.wait()


def test_an_index_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(TerrariumError, match="materialise search_index"):
        SearchIndex.open(tmp_path / "none", EXACT, "b", lexical=False)
    with pytest.raises(TerrariumError, match="holds no collection"):
        SearchIndex.open(tmp_path, EXACT, "b", lexical=False)
    assert engines(tmp_path) == []


@pytest.mark.process
def test_a_server_by_address_holds_builds_apart(tmp_path: Path) -> None:
    """Milvus Lite's engine on a TCP port speaks the server's protocol."""
    from milvus_lite.server import Server

    port = _free_port()
    server = Server(str(tmp_path / "server.db"), f"127.0.0.1:{port}")
    assert server.init()
    assert server.start()
    try:
        settings = IndexSettings(uri=f"http://127.0.0.1:{port}")
        data = rows(12)
        with (
            SearchIndex.create(tmp_path, settings, "one", 16, lexical=False) as one,
            SearchIndex.create(tmp_path, settings, "two", 16, lexical=False) as two,
        ):
            one.upsert(data)
            two.upsert(data[:4])
        with SearchIndex.open(tmp_path, settings, "one", lexical=False) as one:
            assert len(one.row_hashes()) == 12
            legs = one.legs("river", data[0].dense, None, 5)
        with filled(tmp_path / "lite", data) as lite:
            assert legs == lite.legs("river", data[0].dense, None, 5)
    finally:
        server.stop()


def test_a_server_that_is_away_is_an_outage(tmp_path: Path) -> None:
    with pytest.raises(Outage, match="did not answer"):
        SearchIndex.open(tmp_path, IndexSettings(uri=f"http://127.0.0.1:{_free_port()}", seconds=1.0), "b", lexical=False)


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
