"""Runs that Dagster's daemon launches: its own process, the run worker, and a step are hurt while a job runs."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import dagster as dg

from tests.chaos.end_state import UNFINISHED, environment
from tests.chaos.hurts import Plan
from tests.chaos.processes import all_gone, kill, marked, of_kind
from tests.chaos.setting import ROOT, Place

PATIENCE = 240.0
POOLS = ("cpu", "gpu")


def disturbed(place: Place, plan: Plan) -> tuple[bool, list[str]]:
    """Launch the plan's job, hurt it at its moment, and let Dagster come to rest; whether there was a victim, and what went wrong."""
    running = _daemon(place)
    try:
        launch = place.start(sys.executable, "-m", "dagster", "job", "launch", "-w", str(ROOT / "workspace.yaml"), "-j", plan.job)
        if launch.wait(PATIENCE) != 0:
            return False, [f"the job was not launched: {place.tail(3)}"]
        if not _until(lambda: bool(of_kind("worker", place.mark)), 40.0):
            return False, [f"no run worker came: {place.tail(3)}"]
        end = time.monotonic() + plan.moment
        while time.monotonic() < end and of_kind("worker", place.mark):
            time.sleep(0.05)
        met = _strike(place, plan, running)
        if plan.victim == "daemon":
            running.wait()
            running = _daemon(place)
        rested = _until(lambda: not _busy(place), PATIENCE)
        return met, [] if rested else [f"Dagster did not come to rest in {PATIENCE:.0f} s: {', '.join(_busy(place))}"]
    finally:
        running.send_signal(signal.SIGINT)
        try:
            running.wait(30)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
        all_gone(place.mark, 45.0)


def _daemon(place: Place) -> subprocess.Popen[bytes]:
    return place.start(sys.executable, "-m", "dagster._daemon", "run", "-w", str(ROOT / "workspace.yaml"))


def _strike(place: Place, plan: Plan, running: subprocess.Popen[bytes]) -> bool:
    if plan.victim == "daemon":
        return kill(running.pid)
    kind = "step" if plan.victim == "step" else "worker"
    while of_kind("worker", place.mark):
        for pid in of_kind(kind, place.mark):
            return kill(pid)
        time.sleep(0.05)
    return False


def _busy(place: Place) -> list[str]:
    """Runs that have not ended and slots that are taken. A run ends for good a little after its process."""
    with environment(place.state, place.home), dg.DagsterInstance.get() as instance:
        runs = [f"run {run.run_id[:8]} is {run.status.value}" for run in instance.get_runs(filters=dg.RunsFilter(statuses=UNFINISHED))]
        slots = [pool for pool in POOLS if instance.event_log_storage.get_concurrency_info(pool).active_slot_count]
    workers = [f"worker {pid}" for pid in marked(place.mark) if pid in of_kind("worker", place.mark)]
    return [*runs, *(f"pool {pool} is taken" for pool in slots), *workers]


def _until(happened: object, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if happened():  # type: ignore[operator]
            return True
        time.sleep(0.3)
    return False
