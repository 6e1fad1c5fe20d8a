# SPDX-License-Identifier: Apache-2.0
"""A service of AWS on this machine, as AWS_ENDPOINT_URL_<SERVICE> names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple

import pytest


class Asked(NamedTuple):
    """A request that came."""

    path: str
    headers: Message
    body: str


class AwsEndpoint:
    """Gives one answer to everybody, and remembers what was asked."""

    def __init__(self) -> None:
        self.status, self.body = 200, "{}"
        self.asked: list[Asked] = []


@contextmanager
def aws_endpoint(service: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsEndpoint]:
    endpoint = AwsEndpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            endpoint.asked.append(Asked(self.path, self.headers, body))
            answer = endpoint.body.encode()
            self.send_response(endpoint.status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", url)
        yield endpoint
        server.shutdown()
