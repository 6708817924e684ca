"""A proxy of one page, for tests of the resource that starts such servers: `python -m tests.resources.server <port> [<delay seconds>]`."""

from __future__ import annotations

import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Page(BaseHTTPRequestHandler):
    """Answers every URL, in absolute form too."""

    server_version = "pages/7"

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ready")


if __name__ == "__main__":
    time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0.0)
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
