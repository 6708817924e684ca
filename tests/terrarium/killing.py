"""Killing a real child of a step at a random moment, and finishing it afterwards: `python -m terrarium.launch`, as a run starts it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from terrarium.job import Job, Outcome
from terrarium.lineage.content import data_version_of

ROOT = Path(__file__).parents[2]


def kill(function: str, job: Job, ready: Callable[[], bool], most_seconds: float = 0.4) -> None:
    """Start `function` on `job` and kill it with signal 9 at a random moment after `ready`; it must not have ended before."""
    child = _start(function, job)
    try:
        deadline = time.monotonic() + 120
        while not ready():
            assert child.poll() is None, f"it ended before it could be killed: {_log(job)}"
            assert time.monotonic() < deadline, f"it was never ready to be killed: {_log(job)}"
            time.sleep(0.01)
        time.sleep(random.uniform(0, most_seconds))
        assert child.poll() is None, f"it ended before it could be killed: {_log(job)}"
    finally:
        # Its own group: a crawler or an engine goes with it.
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def finish(function: str, job: Job) -> Outcome:
    """Run it to its end."""
    child = _start(function, job)
    assert child.wait(240) == 0, _log(job)
    return Outcome.model_validate_json((_folder(job) / "result.json").read_text())


def continued(function: str, job: Job, journal: str, volatile: Sequence[str] = ()) -> None:
    """Kill a step twice; no row of its journal is made twice, and the result is that of a run that nobody killed."""
    whole = job.model_copy(update={"out": job.out.with_name("whole")})
    whole.out.mkdir()
    outcome = finish(function, whole)
    path = job.out / journal
    kill(function, job, lambda: lines(path) >= 2, most_seconds=0.15)
    first = path.read_text().splitlines()
    kill(function, job, lambda: lines(path) >= len(first) + 2, most_seconds=0.1)
    rows = [json.loads(line)["key"] for line in path.read_text().splitlines() if line.endswith("}")]
    assert len(rows) == len(set(rows))
    again = finish(function, job)
    assert again.model_copy(update={"costs": {}}) == outcome.model_copy(update={"costs": {}})
    assert data_version_of(job.out, "", volatile) == data_version_of(whole.out, "", volatile)
    assert not path.exists()


def lines(path: Path) -> int:
    """Whole lines of a file that may not be there."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _folder(job: Job) -> Path:
    return job.out.with_name(job.out.name + "-process")


def _start(function: str, job: Job) -> subprocess.Popen[bytes]:
    folder = _folder(job)
    folder.mkdir(exist_ok=True)
    (folder / "job.json").write_text(job.model_dump_json())
    with (folder / "log.txt").open("ab") as log:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "terrarium.launch", function, str(folder / "job.json")]
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True)


def _log(job: Job) -> str:
    return (_folder(job) / "log.txt").read_text(errors="replace")[-2000:]
