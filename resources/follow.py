"""Following the files a child process writes: its log, its progress, its training curve. Reads them, and tells others."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRESS_VARIABLE = "TERRARIUM_PROGRESS"


class LogEcho:
    """Copies what is new in a log to this process's stdout."""

    def __init__(self, log: Path | None) -> None:
        self._log = log
        self._position = 0

    def catch_up(self, most_bytes: int = 1 << 20) -> None:
        """Copy at most `most_bytes`, so that a flood holds nothing else up; the file has it all."""
        if self._log is None or not self._log.exists():
            return
        with self._log.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            self._position = max(self._position, size - most_bytes)
            file.seek(self._position)
            new = file.read()
        if new:
            self._position += len(new)
            sys.stdout.write(new.decode("utf-8", "replace"))
            sys.stdout.flush()


class MetricsTail:
    """The newest row of metrics.jsonl, at most every `every_seconds`."""

    def __init__(self, path: Path, every_seconds: float) -> None:
        self._path, self._every = path, every_seconds
        self._position = 0
        self._rest = b""
        self._newest: dict[str, float] | None = None
        self._next = 0.0

    def due(self) -> dict[str, float] | None:
        """The newest row if there is one that was not given out yet and it is time."""
        now = time.monotonic()
        if now < self._next:
            return None
        row = self.last()
        if row is not None:
            self._next = now + self._every
        return row

    def last(self) -> dict[str, float] | None:
        """The newest row that was not given out yet, whatever the time."""
        self._read()
        row, self._newest = self._newest, None
        return row

    def _read(self) -> None:
        try:
            with self._path.open("rb") as file:
                file.seek(self._position)
                new = file.read()
        except FileNotFoundError:
            return
        self._position += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        for line in reversed(lines):
            try:
                row = json.loads(line)
                values = {name: float(value) for name, value in row["values"].items()}
                self._newest = {"step": float(row["step"]), **{name: value for name, value in values.items() if math.isfinite(value)}}
                return
            except (ValueError, KeyError, TypeError):
                continue


class ProgressFeed:
    """Passes progress.json on: to a callback, and as JSON lines to the file that TERRARIUM_PROGRESS names (for a command that draws bars).

    A line is {"asset", "partition", "folder", "state": waiting|running|done|failed, "at", and while running "done", "total", "what", "since"}.
    """

    def __init__(self, folder: Path, asset: str, partition: str | None, on_progress: Callable[[dict[str, Any]], None] | None) -> None:
        self._source = folder / "progress.json"
        self._who = {"asset": asset, "partition": partition, "folder": str(folder)}
        self._on_progress = on_progress
        self._seen = ""
        named = os.environ.get(PROGRESS_VARIABLE)
        self._sink = Path(named) if named else None

    def state(self, state: str) -> None:
        """Tell that the step waits, runs, is done or failed."""
        self._append({**self._who, "state": state, "at": round(time.time(), 3)})

    def catch_up(self) -> None:
        """Tell what is new since the last call."""
        try:
            text = self._source.read_text()
        except FileNotFoundError:
            return
        if text == self._seen:
            return
        self._seen = text
        try:
            note = json.loads(text)
        except ValueError:
            return
        if self._on_progress is not None:
            self._on_progress(note)
        self._append({**self._who, "state": "running", **note})

    def _append(self, line: dict[str, Any]) -> None:
        if self._sink is None:
            return
        # One write of one line: several steps append to the same file.
        try:
            descriptor = os.open(self._sink, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError:
            return
        try:
            os.write(descriptor, (json.dumps(line) + "\n").encode())
        except OSError:
            pass
        finally:
            os.close(descriptor)
