"""Secrets stay in the environment: planted ones are in no file that a run leaves, in no process's arguments and in no message."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard

from resources.profiles import load_profile
from terrarium.corpus.websearch import SearchSettings, SerperClient
from terrarium.errors import Outage, TerrariumError
from terrarium.world.store import resolve_reference
from tests.console import ROOT, free_port

KEY, TOKEN, PASSWORD = "planted-key-71c0ffee", "planted-token-5ca1ab1e", "planted-password-0ddba11"
PLANTED = {
    "PLANTED_SEARCH": KEY,
    "PLANTED_INDEX": TOKEN,
    "PLANTED_STORE": f"postgresql+psycopg://agent:{PASSWORD}@127.0.0.1:9/pages",
    "TERRARIUM_POSTGRES_URL": f"postgresql://dagster:{PASSWORD}@127.0.0.1:9/dagster",
}
PROFILE = """
base: tiny
search: {key_env: PLANTED_SEARCH}
index: {token_env: PLANTED_INDEX}
store_url: env:PLANTED_STORE
"""


def profile_of(folder: Path, text: str) -> Path:
    """A profile beside those of the project, on which it stands."""
    for file in (ROOT / "profiles").glob("*.yaml"):
        shutil.copy(file, folder)
    path = folder / "planted.yaml"
    path.write_text(text)
    return path


def contents(file: Path) -> Iterator[bytes]:
    """What is in a file, as it lies there and unpacked."""
    raw = file.read_bytes()
    yield raw
    if file.suffix == ".parquet":
        yield json.dumps(pq.read_table(file).to_pylist(), default=str).encode()
    elif raw.startswith(b"\x28\xb5\x2f\xfd"):
        yield zstandard.ZstdDecompressor().stream_reader(raw).read()
    elif raw.startswith(b"\x1f\x8b"):
        yield gzip.decompress(raw)


def holding(folder: Path, *secrets: str) -> list[str]:
    """The files of a folder that hold one of some secrets."""
    wanted = [secret.encode() for secret in secrets]
    return [str(file) for file in sorted(folder.rglob("*")) if file.is_file() and any(w in text for text in contents(file) for w in wanted)]


class Arguments(threading.Thread):
    """Watches the arguments of all processes for secrets."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen: list[str] = []
        self.looked = 0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.1):
            for file in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    line = file.read_bytes()
                except OSError:
                    continue
                self.looked += 1
                if any(secret.encode() in line for secret in (KEY, TOKEN, PASSWORD)):
                    self.seen.append(line.decode(errors="replace"))


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("until", ["search_hits", "page_store"])
def test_a_run_leaves_no_secret(tmp_path: Path, until: str) -> None:
    """To the search, which needs the key and works; and to the page store, whose server does not answer, so that an error is told."""
    profile, state = profile_of(tmp_path, PROFILE), tmp_path / "state"
    environment = {**os.environ, **PLANTED, "DAGSTER_HOME": str(ROOT), "TERRARIUM_STATE": str(state), "WEB_PORT": str(free_port())}
    command = [sys.executable, "-m", "pipelines.run", "--profile", str(profile), "--until", until]
    watch = Arguments()
    watch.start()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280)
    watch.over.set()
    watch.join()
    said = done.stdout + done.stderr
    assert (done.returncode == 0) == (until == "search_hits"), said
    if until == "search_hits":
        # The key was used: without it the step would have failed with a sentence.
        assert (state / "artifacts" / "search_hits").is_dir()
    else:
        assert "page_store" in said
    assert watch.looked and not watch.seen
    assert not [secret for secret in (KEY, TOKEN, PASSWORD) if secret in said]
    assert not holding(state, KEY, TOKEN, PASSWORD)


def test_the_search_finds_what_is_planted(tmp_path: Path) -> None:
    """Otherwise the test above could not fail."""
    import pyarrow as pa

    pq.write_table(pa.table({"a": [KEY]}), tmp_path / "a.parquet", compression="zstd")
    (tmp_path / "b.gz").write_bytes(gzip.compress(KEY.encode()))
    (tmp_path / "c.zst").write_bytes(zstandard.ZstdCompressor().compress(KEY.encode()))
    (tmp_path / "d.json").write_text("{}")
    assert [Path(file).name for file in holding(tmp_path, KEY)] == ["a.parquet", "b.gz", "c.zst"]


class Echo(BaseHTTPRequestHandler):
    """A search endpoint that repeats the key in what it answers."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"message": f"quota of key {self.headers['X-API-KEY']} is used up"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


def test_an_endpoint_that_repeats_the_key_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PLANTED_SEARCH", KEY)
    settings = SearchSettings(endpoint=f"http://127.0.0.1:{server.server_port}/search", key_env="PLANTED_SEARCH", retries=0)
    client = SerperClient(settings, sleep=lambda _: None)
    try:
        with pytest.raises(Outage, match="quota of key") as told:
            client.search("a mill")
    finally:
        client.close()
        server.shutdown()
        server.server_close()
    assert KEY not in str(told.value)


@pytest.mark.parametrize(
    "line", ["search: {endpoint: 'http://search.example/?key=${PLANTED_API_KEY}'}", "web: {proxy: 'http://me:pass-word@127.0.0.1:8711'}"]
)
def test_a_profile_takes_no_secret_into_its_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Values of a profile stand in fingerprints and manifests; a secret is named there, never written."""
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    path = profile_of(tmp_path, f"base: tiny\n{line}\n")
    with pytest.raises(TerrariumError, match="writes the secret PLANTED_API_KEY into|has an address with a password in") as told:
        load_profile(str(path))
    assert KEY not in str(told.value) and "pass-word" not in str(told.value)


def test_a_store_address_is_resolved_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_STORE", PLANTED["PLANTED_STORE"])
    assert PASSWORD in resolve_reference("env:PLANTED_STORE")
    with pytest.raises(TerrariumError) as told:
        resolve_reference(PLANTED["PLANTED_STORE"])
    assert PASSWORD not in str(told.value)
