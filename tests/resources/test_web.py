"""The practice web: started once, shared, stopped when the last user has gone, and no confusion with what else holds its port."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.web import PracticeWeb
from terrarium.errors import TerrariumError


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _web(root: Path, port: int, **more: object) -> PracticeWeb:
    values: dict[str, object] = {
        "root": str(root),
        "proxy": f"http://127.0.0.1:{port}",
        "command": ["-m", "tests.resources.server", str(port)],
        "ready_url": "http://ready.example/",
        "identity": "pages/7",
        "patience_seconds": 20.0,
    }
    return PracticeWeb(**{**values, **more})  # type: ignore[arg-type]


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _closed_within(port: int, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while _listens(port) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not _listens(port)


@pytest.fixture
def port() -> Iterator[int]:
    yield _free_port()


def test_it_runs_while_it_is_used_and_stops_afterwards(tmp_path: Path, port: int) -> None:
    with _web(tmp_path, port).running():
        assert _listens(port)
    assert _closed_within(port)


def test_the_one_who_started_it_may_leave_first(tmp_path: Path, port: int) -> None:
    first, second = _web(tmp_path, port).running(), _web(tmp_path, port).running()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    time.sleep(1.0)
    assert _listens(port)
    second.__exit__(None, None, None)
    assert _closed_within(port)


@pytest.mark.process
def test_it_stops_when_its_user_is_killed(tmp_path: Path, port: int) -> None:
    code = (
        "import time; from resources.web import PracticeWeb\n"
        f"web = PracticeWeb(root={str(tmp_path)!r}, proxy='http://127.0.0.1:{port}', command=['-m', 'tests.resources.server', '{port}'])\n"
        "with web.running():\n    print('up', flush=True); time.sleep(60)"
    )
    user = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert user.stdout is not None
    assert user.stdout.readline() == "up\n"
    assert _listens(port)
    user.send_signal(signal.SIGKILL)
    user.wait()
    user.stdout.close()
    assert _closed_within(port)


def test_a_port_in_use_by_something_mute_is_one_sentence(tmp_path: Path, port: int) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        other.settimeout(0.1)
        with pytest.raises(TerrariumError, match=f"port of http://127.0.0.1:{port} is in use by something else"), _web(tmp_path, port).running():
            pass


def test_another_web_on_the_port_is_not_taken_for_ours(tmp_path: Path, port: int) -> None:
    with (
        _web(tmp_path, port).running(),
        pytest.raises(TerrariumError, match=r"in use by something else \(pages/7.*\)"),
        _web(tmp_path, port, identity="pages/8").running(),
    ):
        pass


def test_a_command_that_fails_names_its_log(tmp_path: Path, port: int) -> None:
    with (
        pytest.raises(TerrariumError, match=r"ended before it was ready \(.*no_such_module.*\); its log is"),
        _web(tmp_path, port, command=["-m", "no_such_module"]).running(),
    ):
        pass


def test_a_server_that_never_comes_up_is_stopped(tmp_path: Path, port: int) -> None:
    command = ["-m", "tests.resources.server", str(port), "60"]
    with pytest.raises(TerrariumError, match="was not ready after 0.5 s"), _web(tmp_path, port, command=command, patience_seconds=0.5).running():
        pass
    assert not _listens(port)


def test_an_open_web_needs_nothing(tmp_path: Path) -> None:
    with PracticeWeb(root=str(tmp_path)).running():
        assert not list(tmp_path.iterdir())
