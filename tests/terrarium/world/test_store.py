"""The page store on SQLite, and on PostgreSQL where a server can be started."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from terrarium.corpus.page import Page
from terrarium.errors import Outage, TerrariumError
from terrarium.world.store import PageStore, resolve_reference
from tests.terrarium.world.conftest import ELEMENT, PLANET, TOWN

URLS = {page.page_id: (page.url,) for page in (ELEMENT, PLANET, TOWN)}


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server started for these tests, over a Unix socket."""
    binaries = shutil.which("initdb") or next((str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)
    if binaries is None:
        print("skipped: no PostgreSQL server (initdb) on this machine")
        pytest.skip("no PostgreSQL server (initdb) on this machine")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    bin_folder = Path(binaries).resolve().parent
    # PostgreSQL refuses to run as root.
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if as_user:
        try:
            shutil.chown(folder, "postgres", "postgres")
        except LookupError:
            pytest.skip("running as root, and there is no user postgres to run the server")
    try:
        subprocess.run(
            [*as_user, str(bin_folder / "initdb"), "-D", str(folder / "data"), "-A", "trust", "-U", "tester", "-E", "UTF8"],
            check=True,
            capture_output=True,
        )
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        control = [*as_user, str(bin_folder / "pg_ctl"), "-D", str(folder / "data"), "-w"]
        subprocess.run([*control, "-o", options, "-l", str(folder / "log"), "start"], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"the PostgreSQL server did not start: {getattr(error, 'stderr', error)}")
    yield f"postgresql://tester@/postgres?host={folder}"
    subprocess.run([*control, "-m", "immediate", "stop"], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str | None]:
    return tmp_path, None if request.param == "sqlite" else request.getfixturevalue("postgres")


def test_pages_come_back_by_id_and_by_address(place: tuple[Path, str | None]) -> None:
    folder, url = place
    with PageStore.create(folder, "b1", url) as store:
        assert store.write([TOWN, PLANET], {TOWN.page_id: (TOWN.url, "https://other.example/v"), PLANET.page_id: (PLANET.url,)}) == []
    with PageStore.open(folder, "b1", url) as store:
        assert store.pages([TOWN.page_id, "none"])[TOWN.page_id].markdown == TOWN.markdown
        assert store.find("https://other.example/v") == TOWN.page_id
        assert store.find(ELEMENT.url) is None
        if url is not None:
            assert PageStore.open(folder, "another", url).find(TOWN.url) is None


def test_writing_again_replaces(place: tuple[Path, str | None]) -> None:
    folder, url = place
    with PageStore.create(folder, "b2", url) as store:
        store.write([TOWN], {TOWN.page_id: (TOWN.url, "https://old.example/v")})
        first = store.digest()
        changed = Page.make(TOWN.url, "Velmora", "New text.")
        store.write([changed], {TOWN.page_id: (TOWN.url,)})
        assert store.pages([TOWN.page_id])[TOWN.page_id].markdown == "New text."
        assert store.find("https://old.example/v") is None
        assert store.digest() != first
        store.write([TOWN], {TOWN.page_id: (TOWN.url, "https://old.example/v")})
        assert store.digest() == first
        store.delete([TOWN.page_id])
        assert store.row_hashes() == {}
        assert store.find(TOWN.url) is None


def test_one_bad_page_costs_that_page_alone(place: tuple[Path, str | None]) -> None:
    folder, url = place
    bad = [
        Page("nul", "https://x.example/1", "t", "a\x00b", "h"),
        Page("surrogate", "https://x.example/2", "t", "a\ud800b", "h"),
        Page("long", "https://x.example/" + "u" * 6000, "t", "text", "h"),
        Page("huge", "https://x.example/4", "t", "x" * 20_000_000, "h"),
        Page("empty", "https://x.example/5", "t", "  ", "h"),
    ]
    with PageStore.create(folder, "b3", url) as store:
        drops = store.write([TOWN, *bad, PLANET], {**URLS, "nul": ("https://x.example/1",)})
        assert {drop.id: drop.reason for drop in drops} == {
            "nul": "nul_character",
            "surrogate": "lone_surrogate",
            "long": "url_too_long",
            "huge": "text_too_long",
            "empty": "empty",
        }
        assert set(store.row_hashes()) == {TOWN.page_id, PLANET.page_id}


def test_what_the_database_refuses_costs_that_page_alone(place: tuple[Path, str | None]) -> None:
    folder, url = place
    nameless = Page("odd", "https://x.example/odd", "t", "text", "h", language=None)  # type: ignore[arg-type]
    with PageStore.create(folder, "b4", url) as store:
        drops = store.write([TOWN, nameless, PLANET], URLS)
        assert [(drop.id, drop.reason) for drop in drops] == [("odd", "refused_by_database")]
        assert set(store.row_hashes()) == {TOWN.page_id, PLANET.page_id}


def test_a_reader_leaves_nothing_beside_the_file(tmp_path: Path) -> None:
    with PageStore.create(tmp_path, "b") as store:
        store.write([TOWN], URLS)
    assert [path.name for path in tmp_path.iterdir()] == ["pages.sqlite"]
    with PageStore.open(tmp_path, "b") as store:
        assert store.find(TOWN.url)
        assert [path.name for path in tmp_path.iterdir()] == ["pages.sqlite"]
        with pytest.raises(TerrariumError):
            store.write([PLANET], URLS)


def test_a_server_that_is_away_is_an_outage(tmp_path: Path) -> None:
    with pytest.raises(Outage, match="did not answer"):
        PageStore.create(tmp_path, "b", f"postgresql://tester@/postgres?host={tmp_path}")


def test_a_damaged_file_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "pages.sqlite").write_bytes(b"not a database" * 500)
    with pytest.raises(TerrariumError, match=r"pages\.sqlite refused an operation"), PageStore.open(tmp_path, "b") as store:
        store.find(TOWN.url)
    with pytest.raises(TerrariumError, match="does not exist"):
        PageStore.open(tmp_path / "none", "b")


def test_passwords_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TerrariumError, match="env:NAME"):
        resolve_reference("postgresql://me:secret@host/db")
    with pytest.raises(TerrariumError, match="STORE_ADDRESS"):
        resolve_reference("env:STORE_ADDRESS")
    monkeypatch.setenv("STORE_ADDRESS", "postgresql://me:secret@host/db")
    assert resolve_reference("env:STORE_ADDRESS") == "postgresql://me:secret@host/db"
