"""The keeper of a shared server: it runs a command for as long as somebody holds the users' lock.

    python -m resources.serving <users file> -- <command>

Several steps (and runs) may need one server; whoever comes first starts it, and none of them may stop it under the others' feet.
Users hold the lock shared; the keeper asks for it exclusively, and gets it when the last user is gone, also when it was killed.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from terrarium.watchdog import group_members


@contextmanager
def using(users: Path) -> Iterator[None]:
    """Be a user of the server that `users` stands for."""
    users.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(users, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def start_keeper(users: Path, command: list[str], log: Path) -> subprocess.Popen[bytes]:
    """Start the keeper of a server in a session of its own; the caller is a user, so it stays. All output goes to `log`."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "resources.serving", str(users), "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=Path(__file__).parents[1],
        )


def keep(users: Path, command: list[str], poll_seconds: float = 0.25, patience_seconds: float = 5.0) -> int:
    """Run `command` until it ends, or until nobody uses it; then end it and its group."""
    # The keeper outlives interrupts to those who started it: others may still use the server.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    server = subprocess.Popen(command, start_new_session=True)
    descriptor = os.open(users, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        while server.poll() is None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The lock is kept until the server is down: who comes now waits, and starts a new one.
                return 0
            except BlockingIOError:
                time.sleep(poll_seconds)
        return server.returncode
    finally:
        _end(server, patience_seconds)
        os.close(descriptor)


def _end(server: subprocess.Popen[bytes], patience: float) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + patience
        for pid in group_members(server.pid):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
        while time.monotonic() < deadline:
            server.poll()
            if not group_members(server.pid):
                return
            time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(keep(Path(sys.argv[1]), sys.argv[3:]))
