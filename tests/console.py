"""A webserver and a daemon of Dagster for tests: real processes on loopback, ended with everything they started."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pipelines.console import Console
from terrarium.errors import TerrariumError
from terrarium.watchdog import relatives

ROOT = Path(__file__).parents[1]
# The daemon looks for backfills every 30 s; nothing but that waiting changes here.
DAEMON = """
from dagster._daemon import controller
controller.DEFAULT_DAEMON_INTERVAL_SECONDS = 1
from dagster._daemon.cli import main
main()
"""


def free_port() -> int:
    """A port that nobody holds just now."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@contextmanager
def console(state: Path, module: str, environment: Mapping[str, str] | None = None, daemon: bool = True) -> Iterator[Console]:
    """A UI over a state folder, with the project's instance settings, serving the definitions of a module."""
    home = state / "home"
    home.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "dagster.yaml", home)
    port = free_port()
    mark = f"console-{state.parent.name}-{os.getpid()}"
    env = {
        **os.environ,
        "DAGSTER_HOME": str(home),
        "TERRARIUM_STATE": str(state),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "TERRARIUM_LEASES": str(state / "leases"),
        "TERRARIUM_CHILD": mark,
        **(environment or {}),
    }
    location = ["-m", module, "-d", str(ROOT)]
    commands = {"webserver": [sys.executable, "-m", "dagster_webserver", "-h", "127.0.0.1", "-p", str(port), *location]}
    if daemon:
        commands["daemon"] = [sys.executable, "-c", DAEMON, "run", *location]
    started: list[subprocess.Popen[bytes]] = []
    try:
        with Console(f"http://127.0.0.1:{port}") as asked:
            # One after the other: two processes that make the same new database trip over each other.
            for name, command in commands.items():
                with (state / f"{name}.log").open("wb") as log:
                    started.append(subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True))
                _wait_until_ready(asked, started, state, daemon=name == "daemon")
            yield asked
    finally:
        end(started, mark)


def _wait_until_ready(asked: Console, started: list[subprocess.Popen[bytes]], state: Path, daemon: bool) -> None:
    deadline, said = time.monotonic() + 180, ""
    while time.monotonic() < deadline:
        for process in started:
            if process.poll() is not None:
                break
        else:
            try:
                asked.assets()
                if daemon:
                    asked.require_daemon()
                return
            except TerrariumError as error:
                said = str(error)
                time.sleep(0.5)
                continue
        break
    logs = "\n".join(file.read_text(errors="replace")[-3000:] for file in state.glob("*.log"))
    raise AssertionError(f"the UI did not start: {said}\n{logs}")


def end(started: list[subprocess.Popen[bytes]], mark: str) -> None:
    """End processes that we started and whatever they started, known by the mark in their environment."""
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    for process in started:
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pid in relatives(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
