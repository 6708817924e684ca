"""The processes of a round: found by a mark in their environment, told apart by what they run. Linux only, since /proc tells."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

MARK = "TERRARIUM_CHAOS"
PROC = Path("/proc")

Kind = Literal["child", "trainer", "crawler", "index", "owner", "step", "worker"]


def marked(mark: str) -> list[int]:
    """Pids of all living processes that carry `mark`, this one excepted."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in PROC.iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0") and _state(int(entry.name)) not in "ZX":
                    found.append(int(entry.name))
            except OSError:
                continue
    return sorted(found)


def line(pid: int) -> str:
    """What a process was started as."""
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def of_kind(kind: Kind, mark: str) -> list[int]:
    """The living processes of a round that are a `kind`.

    child: the work of a step; trainer: such a child that trains; crawler: its process that fetches; index: the search engine; owner: the
    child that has it open; step and worker: Dagster's processes of a run that its daemon launched.
    """
    return [pid for pid in marked(mark) if _IS[kind](pid)]


def kill(pid: int) -> bool:
    """Kill without a word; whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def all_gone(mark: str, seconds: float = 20.0) -> list[str]:
    """Wait until no process of a round is left; what is left after that, as text."""
    deadline = time.monotonic() + seconds
    while (left := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return [f"{pid}: {line(pid)[:120]}" for pid in left]


def end(mark: str) -> None:
    """Kill all that is left of a round, by the mark that only its processes carry."""
    for pid in marked(mark):
        kill(pid)


def _is_child(pid: int) -> bool:
    return "-m terrarium.launch" in line(pid)


def _is_engine(pid: int) -> bool:
    return line(pid).split(" ")[0].endswith("milvus_lite/lib/milvus")


def _is_forkserver(pid: int) -> bool:
    return "multiprocessing.forkserver" in line(pid)


_IS: dict[Kind, Callable[[int], bool]] = {
    "child": _is_child,
    "trainer": lambda pid: _is_child(pid) and any(name in line(pid) for name in ("terrarium.sft.train:", "terrarium.rl.train:")),
    "crawler": lambda pid: "-m terrarium.corpus.spider" in line(pid),
    "index": _is_engine,
    "owner": lambda pid: _is_child(pid) and any(_is_engine(child) for child in _children(pid)),
    "step": lambda pid: _is_forkserver(pid) and _is_forkserver(_parent(pid)),
    "worker": lambda pid: "multiprocessing.spawn" in line(pid) and any(_is_forkserver(child) for child in _children(pid)),
}


def _fields(pid: int) -> list[str]:
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _state(pid: int) -> str:
    return (_fields(pid) or ["X"])[0]


def _parent(pid: int) -> int:
    fields = _fields(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def _children(pid: int) -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit() and _parent(int(entry.name)) == pid]
