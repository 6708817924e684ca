"""A Milvus Lite file, open in this process: the lock that makes others wait, the engine's child process, and its end.

The engine serves one process at a time. The lock here is an OS lock on the file's folder: it leaves nothing on the disk, and it is
gone when its process is, however that ended. Within a process the same file may be opened many times; the engine is shared.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from terrarium.errors import Outage, TerrariumError

FILE = "milvus.db"
_log = logging.getLogger(__name__)
# pymilvus pings an idle engine every ten seconds; after a minute of that the engine hangs up ("too_many_pings").
_GRPC = {"grpc.keepalive_time_ms": 2**31 - 1, "grpc.keepalive_permit_without_calls": 0}
_open: dict[Path, LiteFile] = {}
_guard = threading.Lock()


class LiteFile:
    """An open file. `client` is a pymilvus MilvusClient; `close` as often as it was opened."""

    def __init__(self, path: Path, lock: int, client: Any) -> None:
        self.path = path
        self.client = client
        self._lock = lock
        self.users = 1
        self.process = os.getpid()

    def reopen(self) -> None:
        """Start the engine anew after it died; the lock stays held."""
        with _guard:
            _stop(self.path, self.client)
            self.client = _start(self.path)

    def close(self) -> None:
        """Let go of the file; the last user of this process ends the engine and waits until it is gone."""
        with _guard:
            self.users -= 1
            if self.users > 0 or self.process != os.getpid():
                return
            _open.pop(self.path, None)
            _stop(self.path, self.client)
            os.close(self._lock)


def open_lite_file(folder: Path, say: Callable[[str], None] = _log.warning, patience: float = 3600.0) -> LiteFile:
    """Open the Milvus Lite file of a folder, waiting while another process has it; `say` hears of the wait.

    Raises:
        Outage: another process still had it after `patience` seconds, or the engine did not start.
        TerrariumError: the folder does not exist or cannot be locked.
    """
    path = (folder / FILE).resolve()
    with _guard:
        shared = _open.get(path)
        if shared is not None and shared.process == os.getpid():
            shared.users += 1
            return shared
    lock = _wait_for_lock(path.parent, say, patience)
    with _guard:
        try:
            client = _start(path)
        except BaseException:
            os.close(lock)
            raise
        _open[path] = LiteFile(path, lock, client)
        return _open[path]


def _wait_for_lock(folder: Path, say: Callable[[str], None], patience: float) -> int:
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise TerrariumError(f"The search index {folder} cannot be opened ({error.strerror}); materialise search_index first.") from error
    began = time.monotonic()
    told = 0.0
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            waited = time.monotonic() - began
            if waited > patience:
                os.close(lock)
                raise Outage(
                    f"The search index {folder} is still open in another process after {waited:.0f} s; end that process and try again."
                ) from None
            if waited >= told:
                told = max(2.0, told * 2) if told else 2.0
                if waited >= 2.0:
                    say(f"Waiting for the search index {folder}: another process has it open ({waited:.0f} s so far).")
            time.sleep(0.1)
        except OSError as error:
            os.close(lock)
            raise TerrariumError(f"The folder {folder} cannot be locked ({error.strerror}); keep the search index on a local disk.") from error


def _start(path: Path) -> Any:
    with warnings.catch_warnings():
        # milvus-lite 2.5.1 imports pkg_resources, which warns of its own end.
        warnings.simplefilter("ignore")
        from pymilvus import MilvusClient
        from pymilvus.exceptions import MilvusException

        quiet_pymilvus()
        try:
            return MilvusClient(str(path), grpc_options=_GRPC)
        except (MilvusException, RuntimeError, OSError) as error:
            with contextlib.suppress(Exception):
                _stop(path, None)
            raise Outage(
                f"The search engine did not start on {path} ({str(error)[:200]}); check disk space and that the folder can be written."
            ) from error


def _stop(path: Path, client: Any) -> None:
    from milvus_lite.server_manager import server_manager_instance

    if client is not None:
        with contextlib.suppress(Exception):
            client.close()
    # Closing the client leaves the engine's process running; only its manager ends it.
    with contextlib.suppress(Exception):
        server_manager_instance.release_server(str(path))


def quiet_pymilvus() -> None:
    """pymilvus logs whole tracebacks of errors that it also raises; ours say what happened once."""
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("pymilvus"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
