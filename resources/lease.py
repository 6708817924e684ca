"""Leases: who may compute on a device now. A pool slot of Dagster is no lock: it can be freed while an orphan still computes.

A lease is a file lock per GPU, or one for the CPU, inherited by the child that computes: it is free when the last of them has ended.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from resources.locks import FileLock, who_holds

LEASES_VARIABLE = "TERRARIUM_LEASES"


@dataclass(frozen=True)
class Lease:
    """What is held: device names, the environment a child needs to see just these, and the locks."""

    devices: tuple[str, ...]
    env: dict[str, str]
    locks: tuple[FileLock, ...]

    def note(self, *pids: int) -> None:
        """Name the processes that compute under this lease, for those who wait."""
        for lock in self.locks:
            lock.note(pids)


def visible_gpus() -> list[str]:
    """Ids of the GPUs this process may use: CUDA_VISIBLE_DEVICES where set, else what nvidia-smi lists, else none."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        ids = [part.strip() for part in named.split(",") if part.strip()]
        return [] if "-1" in ids else ids
    if shutil.which("nvidia-smi") is None:
        return []
    try:
        listed = subprocess.run(["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in listed.stdout.splitlines() if line.strip().isdigit()]


@contextmanager
def lease(
    state: Path, needs: Literal["cpu", "gpu"], holder: str, cpu_slots: int = 1, waiting: Callable[[str], None] | None = None
) -> Iterator[Lease]:
    """Hold what `needs` asks for: every visible GPU, or one slot of the CPU (also where "gpu" is asked for and there is none).

    GPU locks are per machine (in the system's temporary folder), CPU slots per state folder and machine; TERRARIUM_LEASES names
    another folder for both.
    """
    gpus = visible_gpus() if needs == "gpu" else []
    held: list[FileLock] = []
    try:
        if gpus:
            # In one order everywhere, so that two who want the same two never wait for each other.
            for gpu in sorted(gpus):
                lock = FileLock(_folder(state, machine_wide=True) / f"gpu-{_file_name(gpu)}.lock", holder)
                lock.acquire(_tell(waiting, f"GPU {gpu}"))
                held.append(lock)
            yield Lease(tuple(f"gpu-{gpu}" for gpu in gpus), {"CUDA_VISIBLE_DEVICES": ",".join(gpus)}, tuple(held))
        else:
            lock, slot = _cpu_slot(_folder(state, machine_wide=False), holder, cpu_slots, _tell(waiting, "the CPU"))
            held.append(lock)
            yield Lease((f"cpu-{slot}",), {"CUDA_VISIBLE_DEVICES": ""} if needs == "cpu" else {}, tuple(held))
    finally:
        for lock in held:
            lock.release()


def _cpu_slot(folder: Path, holder: str, slots: int, waiting: Callable[[str], None] | None) -> tuple[FileLock, int]:
    tell_at = time.monotonic()
    while True:
        for slot in range(max(1, slots)):
            lock = FileLock(folder / f"cpu-{slot}.lock", holder)
            if lock.try_acquire():
                return lock, slot
        if waiting is not None and time.monotonic() >= tell_at:
            waiting(who_holds(folder / "cpu-0.lock"))
            tell_at = time.monotonic() + 30.0
        time.sleep(0.2)


def _tell(waiting: Callable[[str], None] | None, device: str) -> Callable[[str], None] | None:
    if waiting is None:
        return None
    return lambda who: waiting(f"Waiting for {device}, which {who} holds.")


def _folder(state: Path, machine_wide: bool) -> Path:
    named = os.environ.get(LEASES_VARIABLE)
    if named:
        return Path(named)
    if machine_wide:
        return Path(tempfile.gettempdir()) / f"terrarium-leases-{os.getuid()}"
    return state / "leases" / _file_name(socket.gethostname())


def _file_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)
