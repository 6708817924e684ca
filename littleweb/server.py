"""One loopback HTTP proxy for all sites. It serves no other host: nothing that goes through it reaches the real web."""

from __future__ import annotations

import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType

from littleweb.traps import Wire
from littleweb.web import Reply, Web

MAX_BODY = 1 << 20
# Seconds for which a trap holds a client.
LONGEST = 120.0


class LittlewebServer(ThreadingHTTPServer):
    """The proxy. `web` answers; one thread a connection."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, web: Web, port: int, host: str = "127.0.0.1") -> None:
        self.web = web
        self.ended = threading.Event()
        super().__init__((host, port), Handler)

    def shutdown(self) -> None:
        """Stop serving, and let go of clients that a trap holds."""
        self.ended.set()
        super().shutdown()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Handler(BaseHTTPRequestHandler):
    """Answers absolute-form requests (as to a proxy) and ordinary ones with a Host header; connections are kept alive."""

    protocol_version = "HTTP/1.1"
    # Header and body leave in one write; two small ones would wait for each other on a kept-alive connection.
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 60
    server: LittlewebServer

    def version_string(self) -> str:
        """The `Server` header: which web this is, so that nobody takes another seed on the same port for it."""
        return self.server.web.identity

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_CONNECT(self) -> None:
        self._send(Reply(501, b"This web has no https; use http.\n", "text/plain; charset=utf-8"), close=True)

    def _answer(self) -> None:
        url = self.path if "://" in self.path else f"http://{self.headers.get('Host', '')}{self.path}"
        try:
            length = int(self.headers.get("Content-Length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= MAX_BODY:
            self._send(Reply(413, b"The request is too large.\n", "text/plain; charset=utf-8"), close=True)
            return
        body = self.rfile.read(length) if length else b""
        try:
            reply = self.server.web.answer(self.command, url, body)
        except ValueError:
            reply = Reply(400, b"The address cannot be read.\n", "text/plain; charset=utf-8")
        self._send(reply)

    def _send(self, reply: Reply, close: bool = False) -> None:
        if reply.wire is not None:
            self._send_badly(reply, reply.wire)
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        if close:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)
        self.wfile.flush()

    def _send_badly(self, reply: Reply, wire: Wire) -> None:
        """A reply that goes over the wire as its trap says; the connection ends with it."""
        self.close_connection = True
        whole = len(reply.body) * wire.repeat
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        if not wire.drip:
            self.send_header("Content-Length", str(whole if wire.claimed_length is None else wire.claimed_length))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.flush()
        ended = self.server.ended
        if wire.stall:
            ended.wait(LONGEST)
            return
        if wire.drip:
            until = time.monotonic() + LONGEST
            while time.monotonic() < until and not ended.wait(0.1):
                self.wfile.write(reply.body)
                self.wfile.flush()
            return
        for _ in range(wire.repeat):
            self.wfile.write(reply.body[: wire.cut_at])
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged; a crawl would write thousands of lines."""


def serve(web: Web, port: int, ready_file: Path | None = None) -> None:
    """Serve until interrupted or terminated. `ready_file` is written with the port once requests are answered.

    Raises OSError when the port cannot be had.
    """
    server = LittlewebServer(web, port)
    stopping = threading.Event()

    def stop(signum: int, frame: FrameType | None) -> None:
        if not stopping.is_set():
            stopping.set()
            threading.Thread(target=server.shutdown, daemon=True).start()

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, stop)
    threading.Thread(target=web.warm, daemon=True).start()
    if ready_file:
        partial = ready_file.with_name(ready_file.name + ".partial")
        partial.write_text(f"{server.server_address[1]}\n", encoding="utf-8")
        partial.replace(ready_file)
    try:
        server.serve_forever(poll_interval=0.2)
    finally:
        server.server_close()
        if ready_file:
            ready_file.unlink(missing_ok=True)
