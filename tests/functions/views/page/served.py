# SPDX-License-Identifier: Apache-2.0
"""The page over HTTP on this machine, as a browser needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.page import answer
from tests.fakes import MemoryStore


@dataclass
class Served:
    """A store that is served at `url`; store and clock may be changed meanwhile."""

    store: MemoryStore
    now: int
    url: str = ""

    def at(self, path: str, query: str, host: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for a path and query as sent."""
        # A new one each time: what is listed must not be believed for longer than a test.
        snapshots = Snapshots(self.store, lambda: self.now / 1000)
        given = answer(Request.of("GET", path, query, {"host": host}), snapshots, self.now)
        return given.status, {"Content-Type": given.content_type, **given.headers}, given.body


@contextmanager
def serving(served: Served) -> Iterator[Served]:
    """The same, with its address, as long as the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            status, headers, body = served.at(path, query, self.headers.get("Host", ""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
