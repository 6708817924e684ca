"""One child process with its process group: started, followed, and ended for certain. Knows nothing of Dagster.

Its output goes straight to a file, so that no pipe can fill up and the log is whole even when its parent was killed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from terrarium.watchdog import HEARTBEAT_VARIABLE, MARK_VARIABLE, WATCHED_VARIABLE, group_members, identity, relatives


class Child:
    """A running child in a session of its own. Use it as a context manager: leaving it, for whatever reason, leaves nothing of it behind."""

    def __init__(
        self, command: Sequence[str], log: Path, env: Mapping[str, str], inherit: Sequence[int] = (), patience_seconds: float = 10.0
    ) -> None:
        """Start `command`. `inherit` are descriptors (locks) that it keeps open; `patience_seconds` is what each step of stopping waits."""
        self.log = log
        self.patience = patience_seconds
        self.mark = uuid.uuid4().hex
        heard, self._heartbeat = os.pipe()
        full_env = {**env, HEARTBEAT_VARIABLE: str(heard), MARK_VARIABLE: self.mark, WATCHED_VARIABLE: ",".join(_watched())}
        try:
            with log.open("ab") as output:
                self.process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=full_env,
                    start_new_session=True,
                    pass_fds=(heard, *inherit),
                )
        except BaseException:
            os.close(self._heartbeat)
            raise
        finally:
            os.close(heard)

    @property
    def pid(self) -> int:
        return self.process.pid

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self.process.poll()

    def remains(self) -> list[int]:
        """Pids of it and of all its descendants that still run, in its group or in sessions of their own."""
        self.process.poll()
        return sorted({*group_members(self.pid), *relatives(self.mark)})

    def stop(self) -> None:
        """End it in steps: interrupt, terminate, kill, each waiting for `patience`. A second interrupt on the way goes straight to the kill."""
        try:
            for step in (signal.SIGINT, signal.SIGTERM):
                if not self._signal(step) or self._gone_within(self.patience):
                    return
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill whatever remains of it, and collect it."""
        deadline = time.monotonic() + self.patience
        while (remaining := self.remains()) and time.monotonic() < deadline:
            for pid in remaining:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=self.patience)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self.kill()
            else:
                self.stop()
        finally:
            os.close(self._heartbeat)

    def _signal(self, number: int) -> bool:
        remaining = self.remains()
        for pid in remaining:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        return bool(remaining)

    def _gone_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.remains():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True


def last_lines(path: Path, count: int = 40, most_bytes: int = 20_000) -> str:
    """The end of a log."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - most_bytes))
            return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-count:])
    except OSError:
        return ""


def _watched() -> list[str]:
    """The run worker, where this process is a step that it started: it may be killed without a word to its steps.

    What started the run worker (the code server) is not watched: it may be restarted while runs go on.
    """
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid is None or _is_code_server(parent.pid):
        return []
    return [identity(parent.pid)]


def _is_code_server(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return False
    return "grpc" in command or "code-server" in command or "dagster._grpc" in " ".join(command)
