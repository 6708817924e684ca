"""How much memory this process and all below it hold at most, read from /proc now and then. On other systems: unknown."""

from __future__ import annotations

import os
import threading
from pathlib import Path

PROC = Path("/proc")


class PeakMemory:
    """Watches from a thread until `stop`. `peak_bytes` sums proportional set sizes, so that shared pages count once; 0 = unknown."""

    def __init__(self, every_seconds: float = 2.0) -> None:
        self.peak_bytes = 0
        self._every = every_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-memory", daemon=True)

    def start(self) -> PeakMemory:
        if PROC.is_dir():
            self._thread.start()
        return self

    def stop(self) -> int:
        """Stop watching; the peak in bytes."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)
        return self.peak_bytes

    def _watch(self) -> None:
        while not self._stop.wait(self._every):
            self.peak_bytes = max(self.peak_bytes, sum(map(_held, _family(os.getpid()))))


def _family(root: int) -> list[int]:
    """A process and everything below it."""
    parents: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    family, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        family.append(pid)
        waiting.extend(parents.get(pid, []))
    return family


def _held(pid: int) -> int:
    try:
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return 0
