"""The web a profile works on, where the profile brings its own: starts its server when nobody did, and stops it when nobody needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg


class PracticeWeb(dg.ConfigurableResource):
    """A loopback web server that a profile names. `command` are arguments after `python`; empty = the open web, nothing to start."""

    root: str | None = None
    proxy: str | None = None
    command: list[str] = []
    ready_url: str | None = None
    patience_seconds: float = 60.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold the server up: start it unless its port answers, and let it go afterwards (it stops when the last user has gone, however it went).

        Raises:
            TerrariumError: the port is held by something else, or the server did not come up; says where its log is.
        """
        raise NotImplementedError
        yield
