"""The web a profile works on, where the profile brings its own: starts its server when nobody did, and lets it go when nobody needs it."""

from __future__ import annotations

import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import dagster as dg

from resources.child import last_lines
from resources.locks import FileLock
from resources.serving import start_keeper, using
from resources.state import state_folder
from terrarium.errors import TerrariumError


class PracticeWeb(dg.ConfigurableResource):
    """A loopback web server that a profile names. `command` are arguments after `python`; empty = the open web, nothing to start.

    `ready_url` is asked through the proxy; a 200 says that the server is up. `identity`, where given, must stand in its `Server` header: a server
    with another seed on the same port would be another web.
    """

    root: str | None = None
    proxy: str | None = None
    command: list[str] = []
    ready_url: str | None = None
    identity: str | None = None
    patience_seconds: float = 60.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold the server up: start it unless its port answers, and let it go afterwards (it stops when the last user has gone, however it went).

        Raises:
            TerrariumError: the port is held by something else, or the server did not come up; says where its log is.
        """
        if not self.command or self.proxy is None:
            yield
            return
        folder = state_folder(self.root) / "web"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{urlsplit(self.proxy).hostname}-{urlsplit(self.proxy).port}"
        with using(folder / f"{name}.users"):
            # One starts it, the others wait for it here.
            with FileLock(folder / f"{name}.start", "whoever starts the web").held():
                if not self._answers():
                    self._start(folder / f"{name}.users", folder / f"{name}.log")
            yield

    def _answers(self) -> bool:
        """Whether our server answers; something else on its port is an error."""
        if not _taken(self.proxy or ""):
            return False
        server = self._ask()
        if server is None or (self.identity and self.identity not in server):
            who = f" ({server})" if server else ""
            raise TerrariumError(
                f"The port of {self.proxy} is in use by something else{who} than `python {' '.join(self.command)}`; "
                "stop it, or take another port with WEB_PORT=..., or in the profile (web.proxy and serve)."
            )
        return True

    def _start(self, users: Path, log: Path) -> None:
        keeper = start_keeper(users, [sys.executable, *self.command], log)
        deadline = time.monotonic() + self.patience_seconds
        while time.monotonic() < deadline:
            if keeper.poll() is not None:
                raise TerrariumError(f"`python {' '.join(self.command)}` ended before it was ready ({_last(log)}); its log is {log}.")
            if _taken(self.proxy or "") and self._ask() is not None:
                self._answers()
                return
            time.sleep(0.1)
        keeper.terminate()
        keeper.wait()
        raise TerrariumError(f"`python {' '.join(self.command)}` was not ready after {self.patience_seconds:g} s; its log is {log}.")

    def _ask(self) -> str | None:
        """The `Server` header of a server that is ready, or None."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": self.proxy or ""}))
        try:
            with opener.open(self.ready_url or self.proxy or "", timeout=5) as answer:
                return str(answer.headers.get("Server", "")) if answer.status == 200 else None
        except (OSError, urllib.error.URLError, ValueError):
            return None


def _taken(proxy: str) -> bool:
    """Whether anything listens on the proxy's port."""
    where = urlsplit(proxy)
    try:
        with socket.create_connection((where.hostname or "127.0.0.1", where.port or 80), timeout=2):
            return True
    except OSError:
        return False


def _last(log: Path) -> str:
    lines = [line for line in last_lines(log, 5).splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it wrote nothing"
