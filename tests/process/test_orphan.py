"""A lease goes with whoever computes: it is taken as long as an orphan of its holder runs, and free when that has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from resources.lease import lease

pytestmark = pytest.mark.process

# A step that dies without a word; its child is no launcher of ours, so that no watchdog ends it.
STEP = """
import os, signal, sys
from pathlib import Path
from resources.child import Child
from resources.lease import lease
from resources.locks import held_descriptors

state = Path(sys.argv[1])
with lease(state, "gpu", "stage_1/checkpoint of run 1234") as held:
    child = Child([sys.executable, "-c", "import time; time.sleep(120)"], state / "log.txt", dict(os.environ), held_descriptors())
    held.note(child.pid)
    print(child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_orphan_still_holds_the_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERRARIUM_LEASES", str(tmp_path / "leases"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    step = subprocess.run([sys.executable, "-c", STEP, str(tmp_path)], stdout=subprocess.PIPE, text=True, timeout=60, cwd=Path(__file__).parents[2])
    orphan = int(step.stdout)
    assert step.returncode == -signal.SIGKILL
    said: list[str] = []

    def waiting(who: str) -> None:
        # Now it is known that it is taken; the orphan ends, and the waiting too.
        said.append(who)
        os.kill(orphan, signal.SIGKILL)

    began = time.monotonic()
    with lease(tmp_path, "gpu", "the next", waiting=waiting) as held:
        assert held.devices == ("gpu-0",)
    assert len(said) == 1
    assert said[0].startswith("Waiting for GPU 0, which stage_1/checkpoint of run 1234 (process ") and f" and {orphan}, since" in said[0]
    assert time.monotonic() - began < 20
