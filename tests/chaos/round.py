"""One round: hurt, started again until it finishes, compared."""

from __future__ import annotations

import subprocess
import time
from contextlib import nullcontext
from dataclasses import dataclass, field

from tests.chaos import daemon
from tests.chaos.end_state import EndState, differences, told_now
from tests.chaos.hurts import BY_DAEMON, Plan, hurt, small_disk
from tests.chaos.processes import all_gone, end
from tests.chaos.reference import Reference
from tests.chaos.setting import Place, Setting

STARTS = 4
PATIENCE = 600.0


@dataclass(frozen=True)
class Result:
    """What became of a round. `starts` counts all; `met` is False where the run had ended before its victim came."""

    plan: Plan
    seconds: float
    starts: int
    met: bool
    differences: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        return not self.differences


def play(setting: Setting, plan: Plan, reference: Reference, name: str | None = None) -> Result:
    """Play a round; its folder stays where something differs."""
    place = Place.fresh(setting, name or f"round-{plan.seed}")
    began = time.monotonic()
    try:
        if plan.victim in BY_DAEMON:
            met, starts, told, failed = _by_daemon(place, plan, reference)
            said = [*failed, *_compared(place, reference.end, told)]
        else:
            disk = small_disk(place.state, int(plan.moment * reference.bytes)) if plan.victim == "disk" else nullcontext()
            with disk as small:
                met, starts, told, failed = _by_command(place, plan, small)
                said = [*failed, *_compared(place, reference.end, told)]
    finally:
        end(place.mark)
    result = Result(plan, time.monotonic() - began, starts, met, said)
    if result.equal:
        _forget(place)
    return result


def _by_command(place: Place, plan: Plan, small: object) -> tuple[bool, int, dict[str, list[str]], list[str]]:
    began = time.monotonic()
    running = place.grow()
    met = plan.victim == "disk" or hurt(plan, place, running, began)
    code = _ended(running)
    if plan.victim == "disk":
        met = code != 0
        small.free()  # type: ignore[attr-defined]
    told = {} if code == 0 else _told(place)
    starts, failed = _again(place, code)
    return met, starts, told, failed


def _by_daemon(place: Place, plan: Plan, reference: Reference) -> tuple[bool, int, dict[str, list[str]], list[str]]:
    reference.lay_out(plan.job, place.state)
    met, failed = daemon.disturbed(place, plan)
    told = _told(place)
    starts, more = _again(place, 1)
    return met, starts, told, [*failed, *more]


def _again(place: Place, code: int) -> tuple[int, list[str]]:
    """Start it again until it ends well; how often it was started in all, and what is wrong where it never does."""
    starts = 1
    while code != 0 and starts < STARTS:
        code = _ended(place.grow())
        starts += 1
    return starts, [] if code == 0 else [f"it did not finish in {starts} starts: {place.tail(3)}"]


def _told(place: Place) -> dict[str, list[str]]:
    """What Dagster knew before it was started again; nothing where it had no database yet."""
    if not list(place.state.rglob("index.db")):
        return {}
    return told_now(place.state, place.home, place.setting.lineage, place.setting.partitions)


def _compared(place: Place, reference: EndState, told: dict[str, list[str]]) -> list[str]:
    left = [f"left: process {one}" for one in all_gone(place.mark)]
    return left + differences(reference, place.end_state(), told or None)


def _ended(running: subprocess.Popen[bytes]) -> int:
    try:
        return running.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        running.kill()
        return running.wait()


def _forget(place: Place) -> None:
    import shutil

    shutil.rmtree(place.folder, ignore_errors=True)
