"""How a run is hurt: which victim, at which moment. A plan is a function of its seed and of when the victims lived in the undisturbed run."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from tests.chaos.processes import Kind, kill, marked, of_kind
from tests.chaos.setting import Place

Victim = Literal["command", "everything", "child", "trainer", "crawler", "index", "owner", "disk", "database", "step", "worker", "daemon"]
VICTIMS: tuple[Victim, ...] = get_args(Victim)
BY_DAEMON: frozenset[Victim] = frozenset(("step", "worker", "daemon"))
# Everything is killed as by a power cut, and children one by one, more often than a disk fills up.
WEIGHTS: dict[Victim, int] = {"command": 3, "everything": 2, "child": 3, "trainer": 3, "owner": 2, "disk": 2, "database": 2}


@dataclass(frozen=True)
class Plan:
    """`moment` is seconds after the start (for a full disk: the share of the undisturbed state that fits); `length` how long a lock is held;
    `job` what Dagster's daemon is asked to run, where it is."""

    seed: int
    victim: Victim
    moment: float
    length: float
    job: str

    @property
    def told(self) -> str:
        """The moment in words."""
        if self.victim == "disk":
            return f"when {self.moment:.0%} was written"
        where = f" of {self.job}" if self.victim in BY_DAEMON else ""
        return f"{self.moment:.1f} s{where}" + (f", for {self.length:.0f} s" if self.victim == "database" else "")


def plan_of(seed: int, lived: Mapping[str, Sequence[float]], jobs: Mapping[str, float], victims: Sequence[Victim] = VICTIMS) -> Plan:
    """The plan of a seed. `lived` are moments at which a victim was alive in the undisturbed run; `jobs` are the daemon's, with their seconds."""
    draw = random.Random(seed)
    victim = draw.choices(victims, [WEIGHTS.get(one, 1) for one in victims])[0]
    job = draw.choice(sorted(jobs)) if jobs else ""
    length = draw.uniform(1, 15)
    if victim == "disk":
        moment = draw.uniform(0.02, 0.95)
    elif victim in BY_DAEMON:
        moment = draw.uniform(0, jobs[job])
    else:
        alive = lived.get(victim) or lived["command"]
        moment = max(0.0, draw.choice(list(alive)) + draw.uniform(0, 0.25))
    return Plan(seed, victim, moment, length, job)


def hurt(plan: Plan, place: Place, running: subprocess.Popen[bytes], began: float) -> bool:
    """Wait for the moment and do it; whether there was something to hurt before `running` ended."""
    if not _awaited(running, began + plan.moment):
        return False
    if plan.victim == "database":
        while not list(place.state.rglob("runs.db")) and running.poll() is None:
            time.sleep(0.05)
        with locked_databases(place.state):
            _awaited(running, time.monotonic() + plan.length)
        return True
    if plan.victim == "command":
        return kill(running.pid)
    if plan.victim == "everything":
        killed = [kill(pid) for pid in marked(place.mark)]
        while left := marked(place.mark):
            killed += [kill(pid) for pid in left]
        return any(killed)
    kinds: dict[str, Kind] = {"child": "child", "trainer": "trainer", "crawler": "crawler", "index": "index", "owner": "owner"}
    return strike(kinds[plan.victim], place.mark, running)


def strike(kind: Kind, mark: str, running: subprocess.Popen[bytes]) -> bool:
    """Kill the first process of a kind, as soon as there is one."""
    while running.poll() is None:
        for pid in of_kind(kind, mark):
            return kill(pid)
        time.sleep(0.05)
    return False


def _awaited(running: subprocess.Popen[bytes], moment: float) -> bool:
    """Wait until a moment; False where the process ended before."""
    while time.monotonic() < moment:
        if running.poll() is not None:
            return False
        time.sleep(0.05)
    return running.poll() is None


@contextmanager
def locked_databases(state: Path) -> Iterator[None]:
    """Dagster's databases, locked against every writer, as a backup or another tool would."""
    with ExitStack() as held:
        for path in sorted(state.rglob("*.db")):
            if "artifacts" in path.parts or "staging" in path.parts:
                continue
            connection = held.enter_context(_closing(sqlite3.connect(path, timeout=2.0, isolation_level=None)))
            with suppress(sqlite3.OperationalError):
                connection.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def _closing(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[SmallDisk]:
    """A file system of `size` bytes on `folder`."""
    _mount("-t", "tmpfs", "-o", f"size={max(size, 4096)}", "chaos", str(folder))
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@dataclass(frozen=True)
class SmallDisk:
    """A mounted file system that can be given more room."""

    folder: Path

    def free(self) -> None:
        """Give it room enough."""
        _mount("-o", "remount,size=8G", str(self.folder))


def may_mount() -> bool:
    """Whether this process may mount file systems; without that there is no small disk."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)
