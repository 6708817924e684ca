"""Peak memory counts what children hold."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipelines.memory import PeakMemory


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux's /proc")
def test_a_child_counts() -> None:
    memory = PeakMemory(every_seconds=0.1).start()
    time.sleep(0.5)
    before = memory.peak_bytes
    script = "import sys, time; held = bytearray(200_000_000); held[::4096] = b'x' * len(held[::4096]); print('held', flush=True); time.sleep(5)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(1)
        child.kill()
    assert memory.stop() - before > 150_000_000
