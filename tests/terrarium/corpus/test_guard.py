"""Where the fetcher never goes, whatever a page, a redirect or a resolver says."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.corpus.fetch import Fetched, fetch_pages
from terrarium.corpus.guard import refused, refused_url
from terrarium.corpus.web import WebSettings
from terrarium.job import SilentReport
from tests.terrarium.corpus.conftest import article

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "240.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.0.192", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
        "fec0::1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1", "2002:7f00:1::", "no address", "",
        "168.63.129.16", "100.100.100.200",
    ],
)  # fmt: skip
def test_addresses_that_are_none_of_the_open_internet(address: str) -> None:
    assert refused(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "172.32.0.1", "64:ff9b::808:808"])
def test_addresses_of_the_open_internet(address: str) -> None:
    assert refused(address) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://127.1/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://017700000001/", "http://2130706433/", "http://0/",
        "http://[::1]/", "http://[::ffff:10.0.0.1]/", "http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://db.internal/",
        "http://metadata.google.internal/", "http://printer.local/", "http://169.254.169.254/latest/meta-data/", "http://user@10.0.0.1/x",
        "ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "//example.org/",
        "javascript:alert(1)", "http:///x", "http://[::1", "http://999.1/",
        "http://%31%32%37.0.0.1/", "http://127%2e0.0.1/", "http://loc%61lhost/", "http://127.0.0.1%00.example.org/", "http://router/", "http://db.corp/",
    ],
)  # fmt: skip
def test_urls_that_are_refused_by_what_stands_in_them(url: str) -> None:
    assert refused_url(url)


@pytest.mark.parametrize(
    "url", ["http://example.org/", "https://example.org:443/a?b=c", "http://8.8.8.8/", "http://127.0.0.1.example.org/", "https://10.example/"]
)
def test_urls_that_are_not(url: str) -> None:
    assert refused_url(url) is None


@given(st.integers(0, 2**32 - 1))
def test_every_spelling_of_a_number_is_judged_as_the_address(number: int) -> None:
    import ipaddress

    address = str(ipaddress.IPv4Address(number))
    for spelling in (address, str(number), hex(number), f"0{number:o}", ".".join(hex(int(part)) for part in address.split("."))):
        assert bool(refused_url(f"http://{spelling}/")) == bool(refused(address))


def fetch(urls: list[str], proxy: str, folder: Path) -> dict[str, Fetched]:
    web = WebSettings(proxy=proxy, timeout_seconds=3, retries=0)
    return {found.url: found for found in fetch_pages(urls, web, folder, SilentReport())}


class _Leading(BaseHTTPRequestHandler):
    """A proxy whose sites lead astray; /slow drips, /bomb unpacks to far more than it is."""

    asked: list[str] = []
    ways: dict[str, str] = {}

    def log_message(self, *_: object) -> None:
        return None

    def do_GET(self) -> None:  # noqa: N802 - the name is given
        self.asked.append(self.path)
        path = "/" + self.path.split("/", 3)[3]
        if path == "/robots.txt":
            self._send(404, b"")
        elif path in self.ways:
            self._send(302, b"", ("Location", self.ways[path]))
        elif path == "/slow":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            try:
                for _ in range(200):
                    self.wfile.write(b"<p>a drop</p>")
                    self.wfile.flush()
                    threading.Event().wait(0.1)
            except OSError:
                pass
        elif path == "/bomb":
            import gzip

            self._send(200, gzip.compress(b"<p>boom</p>" * 4_000_000), ("Content-Encoding", "gzip"))
        else:
            self._send(200, article(f"Page {path}"))

    def _send(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def leading() -> Iterator[str]:
    _Leading.asked = []
    _Leading.ways = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Leading)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_the_named_proxy_is_used_and_nothing_private_is_asked_through_it(leading: str, tmp_path: Path) -> None:
    private = ["http://127.0.0.1/a", "http://169.254.169.254/latest/meta-data/", "http://0x0a000001/", "http://[::1]/", f"{leading}/itself"]
    _Leading.ways = {f"/{number}": url for number, url in enumerate(private)} | {"/chain": "http://good.example/0"}
    urls = ["http://good.example/page", *private, *(f"http://good.example/{number}" for number in range(len(private))), "http://good.example/chain"]
    found = fetch(urls, leading, tmp_path)
    assert found.pop("http://good.example/page").page is not None
    assert {entry.reason for entry in found.values()} == {"refused_address"}, found
    assert all("not fetched, since" in entry.detail for entry in found.values())
    assert not [url for url in _Leading.asked if "good.example" not in url]


def test_a_page_has_a_time_and_a_size_and_no_more(leading: str, tmp_path: Path) -> None:
    found = fetch(["http://good.example/slow", "http://good.example/bomb", "http://good.example/page"], leading, tmp_path)
    assert found["http://good.example/slow"].reason == "no_answer"
    assert found["http://good.example/bomb"].reason == "too_large"
    assert found["http://good.example/page"].page is not None


REBINDING = """
import json, socket, sys
from pathlib import Path
answers = iter(json.loads(sys.argv[2]))
asked = []
def resolve(name):
    asked.append(name)
    return next(answers)
socket.gethostbyname = resolve
connected = []
from twisted.internet import tcp
whole = tcp.BaseClient.doConnect
def connect(self):
    connected.append(self.realAddress[0])
    self.failIfNotConnected(ConnectionRefusedError("no network here"))
tcp.BaseClient.doConnect = connect
from terrarium.corpus.spider import main
main(sys.argv[1])
print(json.dumps({"asked": asked, "connected": connected}))
"""


def direct(folder: Path, answers: list[str], obey_robots: bool = False) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Fetch one page without a proxy, where the resolver gives these answers one after the other; reasons, and who was connected to."""
    folder.mkdir()
    web = WebSettings(obey_robots=obey_robots, retries=0, timeout_seconds=3)
    order = {"urls": ["http://rebind.example/"], "sitemaps": {}, "journal": str(folder / "journal.jsonl"), "web": web.model_dump(mode="json")}
    (folder / "order.json").write_text(json.dumps(order))
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    asked = [sys.executable, "-c", REBINDING, str(folder / "order.json"), json.dumps(answers)]
    done = subprocess.run(asked, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60)
    rows = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    assert done.returncode == 0, done.stderr
    return {row["url"]: row["reason"] for row in rows}, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("obey_robots", [False, True])
def test_a_name_that_leads_inside_is_refused_before_a_connection(tmp_path: Path, obey_robots: bool) -> None:
    reasons, seen = direct(tmp_path / "inside", ["10.0.0.5"] * 3, obey_robots)
    assert reasons == {"http://rebind.example/": "refused_address"}
    assert set(seen["asked"]) == {"rebind.example"} and seen["connected"] == []


def test_the_connection_goes_to_the_address_that_was_checked(tmp_path: Path) -> None:
    reasons, seen = direct(tmp_path / "rebinding", ["93.184.216.34", "127.0.0.1", "127.0.0.1"])
    assert set(seen["connected"]) <= {"93.184.216.34"} and seen["connected"]
    assert reasons["http://rebind.example/"] != ""
