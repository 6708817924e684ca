"""Ending a run in every rude way there is leaves no process and no lease: the child under test ignores what can be ignored, and has two workers.

The run worker is a real one with real step processes (forkserver), as the launcher of the UI starts it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from resources.lease import lease
from terrarium.watchdog import lives, relatives

pytestmark = [pytest.mark.process, pytest.mark.slow]

REPOSITORY = Path(__file__).parents[2]


@dataclass
class Run:
    """A run worker under test, and where its state lies."""

    worker: subprocess.Popen[bytes]
    state: Path

    def pids(self) -> list[int]:
        """The child, its worker, and its worker in a session of its own; waits until they run."""
        noted = self.state / "pids"
        _wait(noted.exists, 60)
        return [int(pid) for pid in noted.read_text().split()]

    def step(self) -> int:
        return int((self.state / "step.pid").read_text())

    def log(self) -> str:
        return (self.state / "run.log").read_text()


def _wait(condition: object, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


def _gone(pids: list[int], seconds: float = 15.0) -> bool:
    return _wait(lambda: not any(lives(str(pid) + ":") for pid in pids), seconds)


def _lease_free(state: Path) -> bool:
    def taken(who: str) -> None:
        raise TimeoutError(who)

    try:
        with lease(state, "gpu", "the test", waiting=taken):
            return True
    except TimeoutError:
        return False


@pytest.fixture
def run(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    monkeypatch.setenv("TERRARIUM_LEASES", str(tmp_path / "leases"))
    mark = f"test-{tmp_path.name}-{os.getpid()}"
    env = {
        **os.environ,
        "TERRARIUM_STATE": str(tmp_path),
        "DAGSTER_HOME": str(tmp_path),
        "TEST_FUNCTION": getattr(request, "param", "stubborn"),
        "TERRARIUM_CHILD": mark,
    }
    with (tmp_path / "run.log").open("wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.process.lineage"], cwd=REPOSITORY, env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    yield Run(worker, tmp_path)
    # Whatever a failing test leaves is ours to end: by the mark we gave it, never by name.
    noted = tmp_path / "pids"
    leftovers = [worker.pid, *relatives(mark), *(int(pid) for pid in (noted.read_text().split() if noted.exists() else []))]
    for pid in leftovers:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    worker.wait()


def test_a_terminated_run_leaves_nothing(run: Run) -> None:
    pids, step = run.pids(), run.step()
    assert not _lease_free(run.state)
    # What "Terminate" in the UI does to a run worker.
    run.worker.send_signal(signal.SIGINT)
    assert run.worker.wait(30) != 0
    assert _gone([*pids, step]), run.log()
    assert _lease_free(run.state)


def test_a_killed_run_worker_leaves_nothing(run: Run) -> None:
    pids, step = run.pids(), run.step()
    run.worker.kill()
    run.worker.wait()
    assert _gone([*pids, step]), run.log()
    assert _lease_free(run.state)


def test_a_killed_step_leaves_nothing(run: Run) -> None:
    pids, step = run.pids(), run.step()
    os.kill(step, signal.SIGKILL)
    assert _gone([*pids, step]), run.log()
    assert run.worker.wait(30) != 0
    assert _lease_free(run.state)


def test_a_killed_child_fails_its_step_with_a_sentence(run: Run) -> None:
    pids = run.pids()
    os.kill(pids[0], signal.SIGKILL)
    assert run.worker.wait(30) != 0
    assert _gone(pids), run.log()
    assert "tests.process.children:stubborn was killed by signal 9, which is what the system does when memory runs out" in run.log()
    assert _lease_free(run.state)


@pytest.mark.parametrize("run", ["chatty"], indirect=True)
def test_a_chatty_child_does_not_hang(run: Run) -> None:
    assert run.worker.wait(60) == 0, run.log()[-3000:]
    logs = list(run.state.glob("processes/*/log.txt"))
    assert len(logs) == 1 and logs[0].stat().st_size > 6_000_000
    assert _lease_free(run.state)
