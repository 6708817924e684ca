"""Work for child processes under test: well-behaved, chatty, failing, and such that does not want to end."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from terrarium.errors import Outage, TerrariumError
from terrarium.job import Job, Outcome, Report

SLEEPER = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"


class SmallJob(Job):
    """What the functions here take."""

    number: int = 1
    pids: str = ""


def well(job: SmallJob, report: Report) -> Outcome:
    """Writes a file, progress and a curve."""
    for step in range(job.number):
        report.progress(step + 1, job.number, "numbers")
        report.metrics(step, {"loss": 1.0 / (step + 1)})
    report.say("all well")
    (job.out / "number.txt").write_text(str(job.number))
    return Outcome(counts={"numbers": job.number}, notes={"offline": os.environ["HF_HUB_OFFLINE"], "hash_seed": os.environ.get("PYTHONHASHSEED")})


def curve(job: SmallJob, report: Report) -> Outcome:
    """A training curve of `number` rows, a tenth of a second apart."""
    for step in range(job.number):
        report.metrics(step, {"loss": 1.0 / (step + 1)})
        time.sleep(0.1)
    return Outcome()


def chatty(job: SmallJob, report: Report) -> Outcome:
    """Prints several megabytes on both streams."""
    for line in range(job.number):
        print(f"{line} " + "x" * 1000, flush=line % 100 == 0)
        print(f"{line} " + "y" * 1000, file=sys.stderr)
    return Outcome(counts={"lines": job.number})


def person(job: SmallJob, report: Report) -> Outcome:
    """Needs a person."""
    raise TerrariumError("The thing is broken: mend the thing.")


def outage(job: SmallJob, report: Report) -> Outcome:
    """A service that did not answer."""
    raise Outage("The search service did not answer for 60 s: start it.")


def crash(job: SmallJob, report: Report) -> Outcome:
    """A fault of the program."""
    raise ValueError("a fault\nwith a second line")


def full(job: SmallJob, report: Report) -> Outcome:
    """A disk that is full."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "table.parquet")


def full_elsewhere(job: SmallJob, report: Report) -> Outcome:
    """A disk that is full, as a library in another language says it."""
    raise RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)")


def killed(job: SmallJob, report: Report) -> Outcome:
    """Killed from outside, as when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)
    return Outcome()


def lingering(job: SmallJob, report: Report) -> Outcome:
    """Is done, and a thread of a library keeps the process from ending."""
    import threading

    threading.Thread(target=time.sleep, args=(300,)).start()
    return Outcome(counts={"done": 1})


def stubborn(job: SmallJob, report: Report) -> Outcome:
    """Ignores what can be ignored, with a worker of its own in its group and one in a session of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    worker = subprocess.Popen([sys.executable, "-c", SLEEPER])
    apart = subprocess.Popen([sys.executable, "-c", SLEEPER], start_new_session=True)
    noted = Path(job.pids + ".partial")
    noted.write_text(f"{os.getpid()} {worker.pid} {apart.pid}")
    noted.rename(job.pids)
    report.say("computing, and not to be disturbed")
    time.sleep(300)
    return Outcome()


def unannotated(job, report):  # type: ignore[no-untyped-def]
    """Cannot be launched."""
    return Outcome()
