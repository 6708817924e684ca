"""Starts a littleweb server as a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def start_server(folder: Path, *more: str) -> tuple[subprocess.Popen[bytes], int, float]:
    """A server process on a free port: (process, port, seconds until it was ready)."""
    ready = folder / "ready"
    began = time.monotonic()
    command = [sys.executable, "-m", "littleweb", "serve", "--port", "0", "--ready-file", str(ready), *more]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)
    while not ready.exists():
        if process.poll() is not None or time.monotonic() - began > 30:
            process.kill()
            raise AssertionError(f"littleweb did not start: {process.communicate()[1].decode()}")
        time.sleep(0.02)
    return process, int(ready.read_text()), time.monotonic() - began
