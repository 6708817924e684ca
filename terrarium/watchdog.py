"""The watchdog of a child process: when those who started it are gone, it ends, and its whole process group with it.

A killed run worker cannot tell its children to stop, and some (engine workers, elastic launchers) live in sessions of their own.
So a child watches the pids it is told to watch and a pipe whose other end its parent holds, and finds relatives by a mark in their environment.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from pathlib import Path

HEARTBEAT_VARIABLE = "TERRARIUM_HEARTBEAT"
WATCHED_VARIABLE = "TERRARIUM_WATCHED"
MARK_VARIABLE = "TERRARIUM_CHILD"

_PROC = Path("/proc")


def start_watchdog(interval_seconds: float = 0.5) -> threading.Thread | None:
    """Watch what the environment names; None (and no thread) where it names nothing, as when a person starts a job by hand."""
    heartbeat = os.environ.get(HEARTBEAT_VARIABLE)
    watched = [entry for entry in os.environ.get(WATCHED_VARIABLE, "").split(",") if entry]
    if heartbeat is None and not watched:
        return None
    thread = threading.Thread(
        target=_watch, args=(None if heartbeat is None else int(heartbeat), watched, interval_seconds), name="watchdog", daemon=True
    )
    thread.start()
    return thread


def identity(pid: int) -> str:
    """A process by its pid and, where the system tells it, its start time: a pid alone may be given out again."""
    return f"{pid}:{_started(pid)}"


def lives(entry: str) -> bool:
    """Whether the process of an `identity` still runs."""
    pid, _, started = entry.partition(":")
    if not _PROC.joinpath("self").exists():
        return _answers(int(pid))
    now = _started(int(pid))
    return bool(now) and (not started or now == started) and _state(int(pid)) not in "ZX"


def relatives(mark: str) -> list[int]:
    """Pids of all other living processes that carry `mark` in their environment, in whatever session (Linux; elsewhere none are found)."""
    wanted = f"{MARK_VARIABLE}={mark}".encode()
    found = []
    for pid in _pids():
        try:
            if pid != os.getpid() and wanted in (_PROC / str(pid) / "environ").read_bytes().split(b"\0") and _state(pid) not in "ZX":
                found.append(pid)
        except OSError:
            continue
    return found


def group_members(group: int) -> list[int]:
    """Pids of the living processes of a process group; zombies that nobody collects do not count."""
    if not _PROC.joinpath("self").exists():
        return [group] if _answers(-group) else []
    members = []
    for pid in _pids():
        fields = _stat(pid)
        if len(fields) > 2 and fields[2] == str(group) and fields[0] not in "ZX":
            members.append(pid)
    return members


def end_everything(mark: str | None) -> None:
    """Kill all relatives, this process and its group. Does not return."""
    for pid in relatives(mark) if mark else []:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _watch(heartbeat: int | None, watched: list[str], interval: float) -> None:
    while True:
        if heartbeat is None:
            time.sleep(interval)
        elif select.select([heartbeat], [], [], interval)[0] and not os.read(heartbeat, 64):
            break
        if not all(lives(entry) for entry in watched):
            break
    print("Who started this process is gone: it ends, with all its children.", flush=True)
    end_everything(os.environ.get(MARK_VARIABLE))


def _pids() -> list[int]:
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()] if _PROC.is_dir() else []


def _stat(pid: int) -> list[str]:
    # The name of a program may hold spaces and brackets; what follows its last bracket is state, parent, group, session, ...
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _state(pid: int) -> str:
    fields = _stat(pid)
    return fields[0] if fields else "X"


def _started(pid: int) -> str:
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else ""


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
