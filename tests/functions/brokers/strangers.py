# SPDX-License-Identifier: Apache-2.0
"""Ports at which a server other than Kafka answers, or no server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Serve = Callable[[socket.socket], Any]

BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"


@contextmanager
def port(serve: Serve) -> Iterator[str]:
    """The address of a port whose connections are served, each by a thread of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def handle(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                serve(connection)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=handle, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


def greets(banner: bytes) -> Serve:
    """Says something as soon as it is connected to, and then listens."""

    def serve(connection: socket.socket) -> None:
        connection.sendall(banner)
        stays_silent(connection)

    return serve


def answers(answer: bytes) -> Serve:
    """Says something once it was spoken to, and ends the connection."""

    def serve(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answer)

    return serve


def stays_silent(connection: socket.socket) -> None:
    """Listens for ever."""
    while connection.recv(4096):
        pass


def hangs_up(connection: socket.socket) -> None:
    """Ends the connection once it was spoken to."""
    connection.recv(4096)


@contextmanager
def patient_http_server() -> Iterator[str]:
    """The address of an HTTP server that waits for the end of a line, whatever comes before it."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
