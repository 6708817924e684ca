"""File locks that die with their process, and with the children that inherit them. Leases and staging folders are held by these."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_HELD: set[int] = set()


def held_descriptors() -> tuple[int, ...]:
    """Descriptors of all locks this process holds; a child that inherits them keeps the locks until it ends too."""
    return tuple(sorted(_HELD))


class FileLock:
    """An exclusive `flock` on a file. Who holds it is written into the file, for those who wait.

    The kernel frees the lock when the last process that has the descriptor ends, however it ends: there is nothing to clean up after a kill.
    """

    def __init__(self, path: Path, holder: str) -> None:
        self.path = path
        self.holder = holder
        self._descriptor: int | None = None

    def try_acquire(self) -> bool:
        """Take the lock if it is free."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        if not _is_at(descriptor, self.path):
            # Whoever held it removed the file between our opening and our locking it: this lock is nobody's, the next try makes a new one.
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        _HELD.add(descriptor)
        self.note()
        return True

    def acquire(self, waiting: Callable[[str], None] | None = None, poll_seconds: float = 0.2, tell_every_seconds: float = 30.0) -> None:
        """Wait for the lock. `waiting` is told who holds it, at once and then every `tell_every_seconds`."""
        tell_at = time.monotonic()
        while not self.try_acquire():
            if waiting is not None and time.monotonic() >= tell_at:
                waiting(who_holds(self.path))
                tell_at = time.monotonic() + tell_every_seconds
            time.sleep(poll_seconds)

    @contextmanager
    def held(self, waiting: Callable[[str], None] | None = None, remove: bool = False) -> Iterator[FileLock]:
        """Wait for the lock, hold it, give it up."""
        self.acquire(waiting)
        try:
            yield self
        finally:
            self.release(remove)

    def note(self, pids: tuple[int, ...] = ()) -> None:
        """Write into the file who holds it: this process and `pids`."""
        if self._descriptor is None:
            return
        text = json.dumps({"holder": self.holder, "pids": [os.getpid(), *pids], "since": time.strftime("%Y-%m-%d %H:%M:%S")})
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def release(self, remove: bool = False) -> None:
        """Give the lock up. Closing (not unlocking) leaves it with a child that still runs. `remove` takes the file away too."""
        if self._descriptor is not None:
            if remove:
                self.path.unlink(missing_ok=True)
            _HELD.discard(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def who_holds(path: Path) -> str:
    """Who wrote himself into a lock file, in words."""
    try:
        note = json.loads(path.read_text())
        return f"{note['holder']} (process {' and '.join(str(pid) for pid in note['pids'])}, since {note['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "an unknown process"
