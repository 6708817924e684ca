"""Ctrl-C and kill: the command ends with a sentence or at once, its children with it, and the next one goes on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest

from pipelines import run

PROGRAM = """
import sys
from types import SimpleNamespace
import dagster as dg
from assets import graph
from assets.lineage import Lineage
from pipelines import run
from resources import profiles
from resources.artifacts import ArtifactStore
from resources.process import ChildProcess
from resources.web import PracticeWeb
from tests.assets import small
profile = SimpleNamespace(name="small", seed=0, recipes=("x",), stages=1, recipe=lambda name: SimpleNamespace(name=name))
lineage = Lineage(profile, small.small())
profiles.load_profile = lambda *_: profile
graph.graph = lambda _: lineage
made = small.definitions(lineage, ArtifactStore().folder, process=ChildProcess(patience_seconds=2.0))
run._job = lambda _: made.resolve_implicit_global_asset_job_def()
sys.exit(run.main(["--profile", "small", "--until", "a"]))
"""


def start(home: Path, state: Path, slow: bool) -> subprocess.Popen[str]:
    environment = {**os.environ, "DAGSTER_HOME": str(home), "TERRARIUM_STATE": str(state), "SLOW_SECONDS": "120" if slow else "0"}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=run.ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def child_of(state: Path) -> int:
    """The process that does the work, once it said so."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for file in state.glob("slow-*.pid"):
            return int(file.read_text())
        time.sleep(0.1)
    raise AssertionError("no child started")


def gone(pid: int, within: float = 20) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end:
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


@pytest.mark.process
@pytest.mark.timeout(180)
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_it_stops_and_goes_on(tmp_path: Path, sent: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    home, state = tmp_path / "home", tmp_path / "state"
    home.mkdir()
    state.mkdir()
    shutil.copy(run.ROOT / "dagster.yaml", home)
    program = start(home, state, slow=True)
    pid = child_of(state)
    program.send_signal(sent)
    output, _ = program.communicate(timeout=60)
    assert gone(pid)
    if sent is signal.SIGINT:
        assert program.returncode == 130, output
        assert "Stopped. What was finished is kept" in " ".join(output.split())
        assert "Traceback" not in output
    again = start(home, state, slow=False)
    output, _ = again.communicate(timeout=90)
    assert again.returncode == 0, output
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    monkeypatch.setenv("TERRARIUM_STATE", str(state))
    with dg.DagsterInstance.get() as instance:
        statuses = sorted(one.status.value for one in instance.get_runs())
        assert "SUCCESS" in statuses and not {"STARTED", "STARTING", "CANCELING"} & set(statuses)
