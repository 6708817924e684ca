"""What a person sees while the lineage grows: which step, how far, how long still. On a terminal a live board, elsewhere plain lines.

How far a step is comes from the file that TERRARIUM_PROGRESS names, to which child processes' notes are passed on; how long steps take comes
from what they took last time, or from `durations.yaml` where they never ran.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

PLAIN_EVERY_SECONDS = 30.0


class Board:
    """Shows the steps of a run. `plan` what is to come, `done` what needed nothing; a thread follows the progress file between them."""

    def __init__(self, console: Console, progress_file: Path) -> None:
        self._console = console
        self._file = progress_file
        self._position = 0
        self._expected: dict[str, float | None] = {}
        self._finished: dict[str, float] = {}
        self._current: dict[str, Any] = {}
        self._started = time.monotonic()
        self._step_started = self._started
        self._told = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="board", daemon=True)
        self._live = Live(console=console, refresh_per_second=4, get_renderable=self._render) if console.is_terminal else None

    def __enter__(self) -> Board:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text("")
        if self._live:
            self._live.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=5)
        if self._live:
            self._live.stop()

    def plan(self, expected: Mapping[str, float | None]) -> None:
        """Steps still to come and the seconds each is expected to take (None = unknown), by "asset" or "asset [partition]"."""
        self._expected = dict(expected)

    def done(self, names: list[str]) -> None:
        """These are finished, also those that no child process worked for."""
        for name in names:
            self._finish(name, 0.0)

    def say(self, text: str) -> None:
        """One line above the board, in rich's markup."""
        self._console.print(text, highlight=False)

    def _finish(self, name: str, seconds: float) -> None:
        if name not in self._finished:
            self._finished[name] = seconds
            if seconds >= 1.0:
                self.say(f"[green]✓[/green] {escape(name)}  [dim]{span(seconds)}[/dim]")

    def _follow(self) -> None:
        while not self._stop.wait(0.5):
            self._read()
            if self._live is None and self._current and time.monotonic() - self._told >= PLAIN_EVERY_SECONDS:
                self._told = time.monotonic()
                self.say(escape(self._line()))
        self._read()

    def _read(self) -> None:
        try:
            with self._file.open(encoding="utf-8") as file:
                file.seek(self._position)
                lines = file.readlines()
                self._position = file.tell()
        except OSError:
            return
        for line in lines:
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError):
                continue

    def _take(self, note: dict[str, Any]) -> None:
        name = label(note["asset"], note.get("partition"))
        if note["state"] in ("done", "failed"):
            if note["state"] == "done":
                self._finish(name, time.monotonic() - self._step_started)
            self._current = {}
            return
        if self._current.get("name") != name:
            self._step_started = time.monotonic()
            self._told = 0.0
        self._current = {**note, "name": name}

    def remaining_seconds(self) -> float | None:
        """How long still, as far as it can be told; None when nothing to come is known."""
        waiting = {name: seconds for name, seconds in self._expected.items() if name not in self._finished}
        known = [seconds for seconds in waiting.values() if seconds is not None]
        if waiting and not known:
            return None
        total = 0.0
        for name, seconds in waiting.items():
            if name == self._current.get("name"):
                total += self._left_of_step(seconds) or 0.0
            else:
                total += seconds or 0.0
        return total

    def _left_of_step(self, expected: float | None) -> float | None:
        spent = time.monotonic() - self._step_started
        done, whole = self._current.get("done"), self._current.get("total")
        if done and whole and spent > 5:
            return spent / done * max(whole - done, 0)
        return None if expected is None else max(expected - spent, 0.0)

    def _line(self) -> str:
        note = self._current
        far = f"{note['done']:,} of {note['total']:,} {note['what']}" if note.get("total") else str(note.get("what", note["state"]))
        return f"  {self._count()}  {note['name']}: {far}  {self._still()}"

    def _count(self) -> str:
        whole = len({*self._finished, *self._expected})
        return f"step {min(len(self._finished) + 1, whole)} of {whole}"

    def _still(self) -> str:
        left = self.remaining_seconds()
        some_unknown = any(seconds is None for name, seconds in self._expected.items() if name not in self._finished)
        about = "at least" if some_unknown else "about"
        return f"{span(time.monotonic() - self._started)} so far" + (f", {about} {span(left)} still" if left is not None else "")

    def _render(self) -> Group | Text:
        if not self._current:
            return Text(f"{self._count()}  {self._still()}" if self._expected else "Looking at what is up to date ...")
        note = self._current
        table = Table.grid(padding=(0, 1))
        whole = float(note.get("total") or 0)
        bar = ProgressBar(total=whole or None, completed=float(note.get("done") or 0), width=30, pulse=not whole)
        count = f"{note.get('done', 0):,}/{note['total']:,}" if whole else ""
        table.add_row(Text(note["name"], style="bold"), bar, count, Text(str(note.get("what", note["state"]))))
        return Group(table, Text(f"{self._count()}   {self._still()}", style="dim"))


def label(asset: str, partition: str | None) -> str:
    """How a step is called on the board."""
    return f"{asset} [{partition}]" if partition else asset


def span(seconds: float) -> str:
    """A duration as people say it: 8 s, 3 min 20 s, 1 h 05 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
