"""The child process of a step: `python -m terrarium.launch <module>:<function> <job.json>`.

It validates the job into the model that the function's first parameter is annotated with, calls `function(job, report)`, and writes beside
job.json: result.json (an Outcome) or error.json (what went wrong, in one sentence), progress.json and metrics.jsonl on the way.
It decides nothing about the work, and knows nothing of who started it but what the watchdog needs.
"""

from __future__ import annotations

import errno
import importlib
import inspect
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from terrarium.errors import Outage, TerrariumError
from terrarium.job import Job, Outcome, Report
from terrarium.watchdog import start_watchdog

EXIT_DONE, EXIT_ERROR, EXIT_CRASH, EXIT_OUTAGE, EXIT_INTERRUPTED = 0, 1, 70, 75, 130

# Nothing is fetched from a model hub unless a profile asks for it; no bars in a log that is read line by line.
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TQDM_DISABLE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "WANDB_MODE": "disabled",
    # Threads of torch that wait by spinning take the cores from each other as soon as anything else runs: an update of the tiny model
    # took 4.9 s beside other programs, and 1.3 s with a short spin.
    "GOMP_SPINCOUNT": "1000",
}


class ErrorNote(BaseModel):
    """What error.json holds: `terrarium` needs a person, `outage` may be tried again, `crash` is a fault of the program."""

    kind: Literal["terrarium", "outage", "crash"]
    sentence: str
    traceback: str = ""


class FileReport:
    """A report that writes progress.json (at most twice a second, and when all is done) and metrics.jsonl, and says lines on stdout."""

    def __init__(self, folder: Path, every_seconds: float = 0.5, say_every_seconds: float = 30.0) -> None:
        self.folder = folder
        self._every, self._say_every = every_seconds, say_every_seconds
        self._last = 0.0
        self._said = time.monotonic()
        self._what = ""
        self._what_began = time.time()

    def progress(self, done: int, total: int | None, what: str) -> None:
        """Write how far the work is; other calls within half a second are passed over."""
        now = time.monotonic()
        if what != self._what:
            self._what, self._what_began, self._last = what, time.time(), 0.0
        if now - self._last < self._every and done != total:
            return
        self._last = now
        note = {"done": done, "total": total, "what": what, "since": round(self._what_began, 3), "at": round(time.time(), 3)}
        partial = self.folder / "progress.json.partial"
        partial.write_text(json.dumps(note))
        partial.replace(self.folder / "progress.json")
        if now - self._said >= self._say_every:
            self._said = now
            self.say(f"{what}: {done}" + (f" of {total}" if total is not None else ""))

    def metrics(self, step: int, values: dict[str, float]) -> None:
        """Append one row of a training curve."""
        with (self.folder / "metrics.jsonl").open("a") as file:
            file.write(json.dumps({"step": step, "values": values, "at": round(time.time(), 3)}) + "\n")

    def say(self, text: str) -> None:
        """One line of the log."""
        print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def resolve(name: str) -> tuple[Callable[[Any, Report], Outcome], type[Job]]:
    """The function that `module:function` names, and the job it takes.

    Raises:
        TerrariumError: there is no such function, or its first parameter is not annotated with a Job.
    """
    module_name, _, function_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and not (module_name + ".").startswith(error.name + "."):
            raise
        raise TerrariumError(f"There is no function {name} to launch ({error}).") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise TerrariumError(f"There is no function {name} to launch: {module_name} has none of that name.")
    parameters = list(inspect.signature(function).parameters.values())
    annotation = parameters[0].annotation if parameters else None
    if isinstance(annotation, str):
        annotation = eval(annotation, function.__globals__)  # noqa: S307  (annotations of our own modules, postponed by __future__)
    if not (isinstance(annotation, type) and issubclass(annotation, Job)):
        raise TerrariumError(f"{name} cannot be launched: its first parameter is annotated with {annotation!r}, not with a Job.")
    return function, annotation


def read_job(path: Path, model: type[Job]) -> Job:
    """The job in a JSON file.

    Raises:
        TerrariumError: the file is missing or does not fit the model; says which field.
    """
    try:
        return model.model_validate_json(path.read_text())
    except FileNotFoundError:
        raise TerrariumError(f"The job {path} does not exist.") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise TerrariumError(f"The job {path} is no {model.__name__}: {'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}.") from error


def launch(name: str, job_path: Path) -> int:
    """Run one job and write down how it ended; the exit code says it too."""
    folder = job_path.parent
    for note in ("result.json", "error.json"):
        (folder / note).unlink(missing_ok=True)
    try:
        work, model = resolve(name)
        job = read_job(job_path, model)
        job.out.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        outcome = work(job, FileReport(folder))
        worked = round(time.monotonic() - began, 3)
        outcome = outcome.model_copy(update={"costs": {**outcome.costs, **_used(), "work_seconds": worked}})
        partial = folder / "result.json.partial"
        partial.write_text(outcome.model_dump_json(indent=1))
        partial.replace(folder / "result.json")
        return EXIT_DONE
    except KeyboardInterrupt:
        print("Interrupted.", flush=True)
        return EXIT_INTERRUPTED
    except Outage as error:
        return _fail(folder, "outage", str(error), EXIT_OUTAGE)
    except TerrariumError as error:
        return _fail(folder, "terrarium", str(error), EXIT_ERROR)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            what = error.filename or "its files"
            return _fail(folder, "terrarium", f"No space is left on the disk while {name} wrote {what}; free some and start again.", EXIT_ERROR)
        return _fail(folder, "crash", f"{name} failed: {_line(error)}", EXIT_CRASH)
    except MemoryError:
        return _fail(folder, "terrarium", f"{name} ran out of memory; give it more, or make the profile's sizes smaller.", EXIT_ERROR)
    except Exception as error:
        # Libraries in other languages report a full disk in errors of their own.
        if os.strerror(errno.ENOSPC).casefold() in str(error).casefold():
            return _fail(folder, "terrarium", f"No space is left on the disk while {name} wrote its files; free some and start again.", EXIT_ERROR)
        return _fail(folder, "crash", f"{name} failed: {_line(error)}", EXIT_CRASH)


def main(arguments: list[str]) -> int:
    """The command line."""
    if len(arguments) != 2:
        print("usage: python -m terrarium.launch <module>:<function> <job.json>", file=sys.stderr)
        return 2
    # A shell that starts things in the background leaves the interrupt ignored, and that is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for key, value in ENVIRONMENT.items():
        os.environ.setdefault(key, value)
    os.environ.setdefault("OMP_NUM_THREADS", str(available_cores()))
    start_watchdog()
    return launch(arguments[0], Path(arguments[1]).absolute())


def available_cores() -> int:
    """Cores this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def _fail(folder: Path, kind: Literal["terrarium", "outage", "crash"], sentence: str, code: int) -> int:
    text = traceback.format_exc()
    print(text, flush=True)
    try:
        (folder / "error.json").write_text(ErrorNote(kind=kind, sentence=sentence, traceback=text).model_dump_json(indent=1))
    except OSError as error:
        print(f"error.json could not be written: {error}", flush=True)
    return code


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _used() -> dict[str, float]:
    """What this process and its collected children cost: seconds of CPU, and the most memory one of them held, in bytes."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "cpu_seconds": round(own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, 2),
        "peak_memory_bytes": float(max(own.ru_maxrss, children.ru_maxrss) * unit),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
