"""A small web on loopback that behaves well, badly, or not at all, and where the real data lie."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest


def article(name: str, fact: str = "", links: str = "") -> bytes:
    """A page with boilerplate around enough prose to count as content."""
    return (
        f"<!doctype html><html lang='en'><head><title>{name} - The Site</title></head><body><nav><a href='/'>Home</a></nav><main><h1>{name}</h1>"
        f"<p>{name} is described on this page at some length, so that nobody takes it for an empty shell. {fact}</p>{links}</main>"
        "<footer>Imprint and privacy</footer></body></html>"
    ).encode()


_LATIN = "<html><body><main><h1>Städte</h1><p>Die Stadt Köln liegt am Rhein und hat viele Brücken, mehr als man zählt.</p></main></body></html>"


class _Handler(BaseHTTPRequestHandler):
    """Answers absolute-form requests, as a proxy does. Hosts: dead.example never answers, stall.example only for robots.txt."""

    protocol_version = "HTTP/1.1"
    asked: list[str] = []
    released = threading.Event()

    def log_message(self, *_: object) -> None:
        return None

    def do_GET(self) -> None:  # noqa: N802 - the name is given
        parts = urlsplit(self.path)
        host, path = parts.netloc, parts.path
        self.asked.append(self.path)
        if host == "dead.example" or (host == "stall.example" and path != "/robots.txt"):
            self.released.wait(60)
            return
        pages = {
            "/robots.txt": (b"User-agent: *\nDisallow: /private\n", "text/plain"),
            "/sitemap.xml": (self._sitemap(host), "application/xml"),
            "/latin": (_LATIN.encode("latin-1"), "text/html"),
        }
        if path in pages:
            self._send(*pages[path])
        elif path == "/moved":
            self._send(b"", status=301, location=f"http://{host}/town/1")
        elif path == "/loop":
            self._send(b"", status=302, location=f"http://{host}/loop")
        elif path == "/broken":
            self._send(b"oops", status=500)
        elif path == "/pdf":
            self._send(b"%PDF-1.7 ...", "application/pdf")
        elif path == "/challenge":
            self._send(
                b"<html><head><title>Just a moment...</title></head><body><div id='challenge-running'>Verify you are human</div></body></html>"
            )
        elif path == "/cut":
            self._begin(100_000)
            self.wfile.write(b"<html>abc")
            self.close_connection = True
        elif path == "/huge":
            self._begin(None)
            try:
                for _ in range(500):
                    self.wfile.write(b"<p>much text</p>" * 6_500)
            except OSError:
                pass
            self.close_connection = True
        elif path.startswith(("/town/", "/private")):
            self._send(article(f"Town {path.rsplit('/', 1)[-1]} of {host}"))
        else:
            self._send(b"nothing here", status=404)

    def _sitemap(self, host: str) -> bytes:
        places = [f"http://{host}/town/{number}" for number in range(1, 6)] + [f"http://{host}/private/1", "http://elsewhere.example/x"]
        entries = "".join(f"<url><loc>{place}</loc></url>" for place in places)
        return f"<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}</urlset>".encode()

    def _send(self, body: bytes, kind: str = "text/html; charset=utf-8", status: int = 200, location: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def _begin(self, length: int | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()


class _Server(ThreadingHTTPServer):
    """Says nothing about clients that hang up, which a crawler with limits does."""

    def handle_error(self, request: object, client_address: object) -> None:
        return None


@pytest.fixture
def proxy() -> Iterator[str]:
    """The address of the small web's proxy; the list of requests is `requests_of(proxy)`."""
    _Handler.asked.clear()
    _Handler.released = threading.Event()
    server = _Server(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        _Handler.released.set()
        server.shutdown()
        server.server_close()
        time.sleep(0.01)


@pytest.fixture
def asked(proxy: str) -> list[str]:
    """Every address the proxy was asked for."""
    return _Handler.asked


@pytest.fixture
def wikipedia() -> Path:
    """The folder with real Wikipedia excerpts."""
    folder = Path(os.environ.get("TERRARIUM_TEST_DATA", Path(__file__).resolve().parents[4] / "shared" / "data")) / "wikipedia"
    if not folder.is_dir():
        pytest.skip(f"no Wikipedia excerpts at {folder}; set TERRARIUM_TEST_DATA")
    return folder
