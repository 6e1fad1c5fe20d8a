# SPDX-License-Identifier: Apache-2.0
"""An OTLP endpoint over real HTTP: it decodes with the official protobufs, answers as chosen."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from dev.otlp import Point, decode_request, points_of


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer; the last one is given again and again."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @classmethod
    def partial(cls, rejected: int, message: str = "") -> Reply:
        response = ExportMetricsServiceResponse()
        response.partial_success.rejected_data_points = rejected
        response.partial_success.error_message = message
        return cls(200, {}, response.SerializeToString())


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came: header names in lower case, the body unpacked and decoded."""

    path: str
    headers: Mapping[str, str]
    packed: bytes
    request: ExportMetricsServiceRequest

    def points(self) -> list[Point]:
        return points_of(self.request)


@dataclass(slots=True)
class Receiver:
    """Where it listens, and what has come."""

    url: str
    received: list[Received] = field(default_factory=list)


@contextmanager
def receiving(*replies: Reply) -> Iterator[Receiver]:
    """A server on this machine that gives the replies in turn."""
    waiting = list(replies or (Reply(),))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            packed = self.rfile.read(int(self.headers["Content-Length"]))
            request = decode_request(packed)
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.received.append(Received(self.path, headers, packed, request))
            reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Nothing on the console of the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}/v1/metrics")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
