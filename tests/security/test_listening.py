"""What `make ui` and the practice web start listens on loopback only; read from the kernel, not from what the programs say."""

from __future__ import annotations

import ipaddress
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from terrarium.watchdog import relatives
from tests.console import ROOT, free_port

pytestmark = [pytest.mark.process, pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads /proc/net, which only Linux has")]
LISTENING = "0A"


def listening(pids: list[int]) -> set[tuple[str, int]]:
    """Addresses and ports on which some processes wait for connections."""
    sockets: set[str] = set()
    for pid in pids:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            try:
                target = str(entry.readlink())
            except OSError:
                continue
            if target.startswith("socket:["):
                sockets.add(target[8:-1])
    found: set[tuple[str, int]] = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:] if Path(f"/proc/net/{table}").exists() else ():
            fields = line.split()
            if fields[3] == LISTENING and fields[9] in sockets:
                address, port = fields[1].split(":")
                found.add((_address(address), int(port, 16)))
    return found


def _address(text: str) -> str:
    words = [bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, len(text), 8)]
    return str(ipaddress.ip_address(b"".join(words)))


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[str]:
    """What marks the processes of this test; whatever is left of them is ended."""
    name = f"listening-{tmp_path.name}-{os.getpid()}"
    yield name
    for pid in relatives(name):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def wait_for(port: int, mark: str, seconds: float) -> set[tuple[str, int]]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = listening(relatives(mark))
        if port in {number for _, number in found}:
            time.sleep(1)
            return listening(relatives(mark))
        time.sleep(0.2)
    raise AssertionError(f"nothing listens on {port}")


def assert_loopback(found: set[tuple[str, int]]) -> None:
    assert all(ipaddress.ip_address(address).is_loopback for address, _ in found), found


def test_the_practice_web(mark: str) -> None:
    port = free_port()
    command = [sys.executable, "-m", "littleweb", "serve", "--flavour", "tiny", "--port", str(port)]
    web = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "TERRARIUM_CHILD": mark}, start_new_session=True)
    assert_loopback(wait_for(port, mark, 30))
    web.terminate()
    web.wait(20)


def test_the_eye_sees_an_open_server(mark: str) -> None:
    """Otherwise the tests beside this one could not fail."""
    port = free_port()
    command = [sys.executable, "-m", "http.server", "--bind", "0.0.0.0", str(port)]
    server = subprocess.Popen(command, cwd="/proc", env={**os.environ, "TERRARIUM_CHILD": mark}, start_new_session=True)
    with pytest.raises(AssertionError):
        assert_loopback(wait_for(port, mark, 30))
    server.kill()
    server.wait(20)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_ui_with_its_daemon_and_code_server(tmp_path: Path, mark: str) -> None:
    port = free_port()
    environment = {**os.environ, "TERRARIUM_STATE": str(tmp_path / "state"), "TERRARIUM_CHILD": mark, "PYTHONPATH": str(ROOT)}
    command = ["make", "-o", "setup", "ui", f"PORT={port}", f"BIN={Path(sys.executable).parent}"]
    with (tmp_path / "ui.log").open("wb") as log:
        ui = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        found = wait_for(port, mark, 120)
        assert_loopback(found)
    finally:
        os.killpg(ui.pid, signal.SIGINT)
        ui.wait(60)
