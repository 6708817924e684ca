"""Child processes of steps: where the work of an asset runs, so that the interpreter of Dagster stays light and nothing outlives a run.

`child.py` starts and ends a process, `lease.py` says where it may compute, `terrarium/launch.py` is what runs in it. Here is what
Dagster sees of it: a log, progress, observations of a training curve, a failure with one sentence.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import dagster as dg
from pydantic import ValidationError

import terrarium
from resources.child import Child, last_lines
from resources.follow import LogEcho, MetricsTail, ProgressFeed
from resources.lease import Lease, lease
from resources.locks import held_descriptors
from resources.state import state_folder
from terrarium.job import Job, Outcome
from terrarium.launch import EXIT_DONE, ErrorNote


class ChildProcess(dg.ConfigurableResource):
    """Runs `work(job, report)` functions as `python -m terrarium.launch`, each in a process group of its own.

    `root` as in ArtifactStore; run folders (job, log, progress, metrics, result) lie under `<root>/processes/`. `patience_seconds` is
    what each step of stopping waits: interrupt, terminate, kill. `cpu_slots` are the children that may compute at once where there
    is no GPU. `echo` copies the child's log to this process's stdout, which Dagster keeps as the step's compute log.
    """

    root: str | None = None
    patience_seconds: float = 10.0
    observe_every_seconds: float = 30.0
    cpu_slots: int = 1
    echo: bool = True

    def run(
        self,
        context: dg.AssetExecutionContext | None,
        function: str,
        job: Job,
        needs: Literal["cpu", "gpu"] = "cpu",
        on_progress: Callable[[dict[str, Any]], None] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run `function` ("package.module:name") on `job` and wait for it, holding the lease of what it needs.

        `on_progress` gets {"done", "total", "what", "since", "at"} when it changed.

        Raises:
            dagster.Failure: one sentence, with the log's path and last 40 lines as metadata; not retried for a TerrariumError or a fault
                of the program, retried for an Outage or a killed process where the asset has a retry policy.
        """
        told = _Told.of(context, function)
        state = state_folder(self.root)
        folder = _run_folder(state, told.name)
        (folder / "job.json").write_text(job.model_dump_json(indent=1))
        command = [sys.executable, "-m", "terrarium.launch", function, str(folder / "job.json")]
        feed = ProgressFeed(folder, told.asset, told.partition, on_progress)
        told.log(f"{function} runs in {folder}")
        feed.state("waiting")
        try:
            with lease(state, needs, told.holder, self.cpu_slots, waiting=told.log) as held:
                began = time.monotonic()
                feed.state("running")
                with Child(command, folder / "log.txt", _environment(held, env), held_descriptors(), self.patience_seconds) as child:
                    held.note(child.pid)
                    code = self._follow(child, folder, feed, told)
                seconds = time.monotonic() - began
            outcome = _outcome(folder, function, code)
            if gpus := sum(device.startswith("gpu-") for device in held.devices):
                outcome = outcome.model_copy(update={"costs": {**outcome.costs, "gpu_seconds": round(seconds * gpus, 3)}})
        except BaseException:
            feed.state("failed")
            raise
        feed.state("done")
        told.metadata({"log": dg.MetadataValue.path(str(folder / "log.txt"))})
        return outcome

    def _follow(self, child: Child, folder: Path, feed: ProgressFeed, told: _Told) -> int:
        echo = LogEcho(child.log if self.echo else None)
        metrics = MetricsTail(folder / "metrics.jsonl", self.observe_every_seconds)
        result, finished_at = folder / "result.json", None
        while (code := child.poll()) is None:
            time.sleep(0.1)
            echo.catch_up()
            feed.catch_up()
            if (row := metrics.due()) is not None:
                told.observe(row)
            # A library's thread may keep a process from ending whose work is done and written.
            if finished_at is None and result.exists():
                finished_at = time.monotonic()
            if finished_at is not None and time.monotonic() - finished_at > self.patience_seconds:
                told.log("The work is done and its process does not end; it is stopped.")
                child.stop()
                code = EXIT_DONE
                break
        echo.catch_up()
        feed.catch_up()
        if (row := metrics.last()) is not None:
            told.observe(row)
        return code


class _Told:
    """What is told to Dagster, where there is a context to tell it to."""

    def __init__(self, context: dg.AssetExecutionContext | None, keys: list[dg.AssetKey], partition: str | None, function: str) -> None:
        self.context, self.keys, self.partition = context, keys, partition
        self.asset = " and ".join(key.to_user_string() for key in keys) or function
        self.name = self.asset + (f"-{partition}" if partition else "")
        self.holder = self.name if context is None else f"{self.name} of run {context.run.run_id[:8]}"

    @classmethod
    def of(cls, context: dg.AssetExecutionContext | None, function: str) -> _Told:
        if context is None:
            return cls(None, [], None, function)
        return cls(context, sorted(context.selected_asset_keys), context.partition_key if context.has_partition_key else None, function)

    def log(self, text: str) -> None:
        if self.context is not None:
            self.context.log.info(text)

    def observe(self, row: dict[str, float]) -> None:
        if self.context is not None:
            for key in self.keys:
                self.context.log_event(dg.AssetObservation(asset_key=key, partition=self.partition, metadata={k: float(v) for k, v in row.items()}))

    def metadata(self, values: Mapping[str, Any]) -> None:
        if self.context is not None:
            for key in self.keys:
                self.context.add_asset_metadata(values, asset_key=key)


def _run_folder(state: Path, name: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    safe = "".join(character if character.isalnum() or character in "._-" else "_" for character in name)
    for number in range(10_000):
        folder = state / "processes" / f"{stamp}-{safe}{f'-{number}' if number else ''}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise RuntimeError(f"no free name for a run folder below {state}")


def _environment(held: Lease, extra: Mapping[str, str] | None) -> dict[str, str]:
    home = str(Path(terrarium.__file__).parents[1])
    path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0", **held.env, **(extra or {})}


def _outcome(folder: Path, function: str, code: int) -> Outcome:
    """The outcome of a child that ended with `code` (negative: the signal that killed it), or the failure it is."""
    if code == EXIT_DONE:
        try:
            return Outcome.model_validate_json((folder / "result.json").read_text())
        except (OSError, ValidationError) as error:
            raise _failure(folder, f"{function} ended without a result that can be read ({type(error).__name__}).", retry=False) from error
    try:
        note = ErrorNote.model_validate_json((folder / "error.json").read_text())
    except (OSError, ValidationError):
        if code < 0:
            memory = ", which is what the system does when memory runs out" if code == -9 else ""
            raise _failure(folder, f"{function} was killed by signal {-code}{memory}; its log is {folder / 'log.txt'}.", retry=True) from None
        raise _failure(folder, f"{function} ended with exit code {code}; its log is {folder / 'log.txt'}.", retry=False) from None
    raise _failure(folder, note.sentence, retry=note.kind == "outage")


def _failure(folder: Path, sentence: str, retry: bool) -> dg.Failure:
    log = folder / "log.txt"
    return dg.Failure(
        description=sentence,
        metadata={"log": dg.MetadataValue.path(str(log)), "last lines": dg.MetadataValue.text(last_lines(log))},
        allow_retries=retry,
    )
