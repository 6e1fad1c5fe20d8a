# SPDX-License-Identifier: Apache-2.0
"""A small HTTP server around the views, by default on this machine's own address only."""

from __future__ import annotations

import io
import re
import socket
import sys
import time
import traceback
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Event, Lock, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.views.app import answer, error_answer
from kafka_lag.views.auth import Bearer
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.terminal.text import printable

_ADDRESS = "127.0.0.1"
# How soon it notices that it is to end.
_POLL_SECONDS = 0.05
# A page elsewhere may have its own name resolve to this machine; then the Host header shows it.
_OWN_NAMES = (_ADDRESS, "localhost", "::1")
_FOREIGN_NAME = "Only requests to this machine by its own name are answered: open http://localhost."
_BROKEN = "Something is wrong here; the terminal of kafka-lag serve says what."
_UNREADABLE = "The token cannot be compared; the terminal of kafka-lag serve says why."
_HEALTH_PATH = "/healthz"


# As the deployed views pass a path of any length on; beyond this it is no mistake.
_MAX_REQUEST_LINE = 1024 * 1024
_LINE_TOO_LONG = f"The request line is longer than {_MAX_REQUEST_LINE:,} bytes; shorten it"
_MAX_LINES_DISCARDED = 100
_MAX_PATH_IN_ERROR = 1024
# Connections served at once, as each has a thread, and how long one may send nothing.
_CONNECTIONS = 128
_IDLE_SECONDS = 30.0
# How long the head of a request may take from its first byte.
_REQUEST_SECONDS = 10.0
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


class _Server(ThreadingHTTPServer):
    # Connections that the system holds until they are accepted: a page of many panels, or several
    # scrapers, come at once.
    request_queue_size = 256

    def __init__(
        self,
        address: tuple[str, int],
        handler: type[BaseHTTPRequestHandler],
        family: int,
        connections: int,
    ) -> None:
        self.address_family = family
        self._free = BoundedSemaphore(connections)
        self._ending = Event()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Others wait in the system's queue until a connection ends."""
        while not self._free.acquire(timeout=_POLL_SECONDS):
            if self._ending.is_set():
                self.shutdown_request(request)
                return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def shutdown(self) -> None:
        """Also while it waits for a connection to end."""
        self._ending.set()
        super().shutdown()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves before its answer is no error."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class LocalServer:
    """Answers at `url` while it is entered; `clock` in seconds since the epoch, port 0 any free.

    Raises OSError when the address cannot be listened on. With a `bearer`, only those who have its
    token, but for /healthz: `health` says in a sentence what is wrong, None if nothing is.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        clock: Callable[[], float],
        port: int = 0,
        bearer: Bearer | None = None,
        *,
        host: str = _ADDRESS,
        health: Callable[[], str | None] | None = None,
        connections: int = _CONNECTIONS,
        request_seconds: float = _REQUEST_SECONDS,
        idle_seconds: float = _IDLE_SECONDS,
    ) -> None:
        self._snapshots = snapshots
        self._clock = clock
        self._bearer = bearer
        # Snapshots are for one thread at a time, as in a Lambda.
        self._lock = Lock()
        self._health = health or (lambda: None)
        self._token_fault: ConfigError | None = None
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        handler = _handler(self.answer, request_seconds, idle_seconds)
        self._server = _Server((host, port), handler, family, connections)
        self._thread = Thread(target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def wait(self) -> None:
        """Until somebody interrupts."""
        self._thread.join()

    def answer(self, request: Request, authorization: str) -> Answer:
        """What is answered, whatever happens."""
        try:
            if request.path == _HEALTH_PATH:
                return _health_answer(request, self._health())
            if self._bearer is None and not _is_own_name(request.host):
                return error_answer(request, 421, _FOREIGN_NAME)
            if self._bearer is not None:
                try:
                    allowed = self._bearer.allows(authorization)
                except ConfigError as error:
                    self._report(error)
                    return error_answer(request, 503, _UNREADABLE)
                if not allowed:
                    headers = {"WWW-Authenticate": "Bearer"}
                    return error_answer(request, 401, "A valid token is needed.", headers)
            with self._lock:
                return answer(request, self._snapshots, int(self._clock() * 1000))
        except ReporterError as error:
            return error_answer(request, 503, str(error))
        except Exception:  # noqa: BLE001  # the last line before strangers: no trace goes out
            traceback.print_exc(file=sys.stderr)
            return error_answer(request, 500, _BROKEN)

    def _report(self, error: ConfigError) -> None:
        """Once for each time that the token is read: requests of strangers fill no log."""
        if error is not self._token_fault:
            self._token_fault = error
            print(printable(str(error)), file=sys.stderr, flush=True)


def _health_answer(request: Request, fault: str | None) -> Answer:
    """For whoever restarts what is broken; names nothing of the cluster."""
    status = HTTPStatus.OK if fault is None else HTTPStatus.SERVICE_UNAVAILABLE
    body = b"" if request.method == "HEAD" else f"{fault or 'ok'}\n".encode()
    return Answer(status, "text/plain; charset=utf-8", body)


def _is_own_name(host: str) -> bool:
    """Whether a Host header, with or without a port, is this machine's own name."""
    try:
        return not host or urlsplit(f"//{host}").hostname in _OWN_NAMES
    except ValueError:
        return False


class _TimedReader(io.RawIOBase):
    """A connection's bytes; TimeoutError where a request begins or ends too late."""

    def __init__(
        self, connection: socket.socket, request_seconds: float, idle_seconds: float
    ) -> None:
        self._connection = connection
        self._request_seconds, self._idle_seconds = request_seconds, idle_seconds
        self._deadline: float | None = None

    def begin(self) -> None:
        """The next byte is the first of a request."""
        self._deadline = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        left = self._idle_seconds
        if self._deadline is not None:
            left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        try:
            count = self._connection.recv_into(buffer)
        finally:
            # An answer has its own time.
            self._connection.settimeout(self._idle_seconds)
        if self._deadline is None:
            self._deadline = time.monotonic() + self._request_seconds
        return count


def _handler(
    respond: Callable[[Request, str], Answer], request_seconds: float, idle_seconds: float
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One connection; what it sends beyond a request's head is never read."""

        protocol_version = "HTTP/1.1"
        timeout = idle_seconds

        def setup(self) -> None:
            """A client that sends its request byte by byte must not keep a thread."""
            super().setup()
            self.rfile.close()
            self._reader = _TimedReader(self.connection, request_seconds, idle_seconds)
            self.rfile = io.BufferedReader(self._reader)

        def handle_one_request(self) -> None:
            """Any method and any path reaches the views; the library's own would answer some."""
            self._reader.begin()
            try:
                line = self.rfile.readline(_MAX_REQUEST_LINE + 1)
                # Bytes sent raw mean what they mean encoded, and none of them is a blank.
                self.raw_requestline = _NOT_ASCII.sub(lambda byte: b"%%%02X" % byte[0][0], line)
                if len(line) > _MAX_REQUEST_LINE:
                    self._discard_head()
                    self.send_error(414, _LINE_TOO_LONG)
                elif not line:
                    self.close_connection = True
                elif self.parse_request():
                    self._respond()
            except TimeoutError:
                self.close_connection = True

        def send_error(self, code: int, message: str | None = None, _: str | None = None) -> None:
            """What is no HTTP request, in the shape of the view of its path."""
            # Of one that is not parsed, a status line is sent too.
            self.request_version = self.protocol_version
            fields = [field.decode() for field in self.raw_requestline.split(maxsplit=2)]
            method, target = fields[:2] if len(fields) > 1 else ("GET", "/")
            path = target.partition("?")[0][:_MAX_PATH_IN_ERROR]
            sentence = f"{(message or HTTPStatus(code).phrase).rstrip('.')}."
            answer = error_answer(Request.of(method, path, "", {}), code, sentence)
            self._send(answer, keep_alive=False)

        def _respond(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            path, _, query = self.path.partition("?")
            request = Request.of(self.command, path, query, headers)
            has_body = "content-length" in headers or "transfer-encoding" in headers
            answer = respond(request, headers.get("authorization", ""))
            self._send(answer, keep_alive=not has_body)

        def _send(self, answer: Answer, *, keep_alive: bool) -> None:
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            length = {"Content-Length": str(len(answer.body))}
            for name, value in {**length, **answer.headers}.items():
                self.send_header(name, value)
            if not keep_alive:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(answer.body)

        def _discard_head(self) -> None:
            """Reads on for a while: the answer of a connection closed on unread bytes is lost."""
            for _ in range(_MAX_LINES_DISCARDED):
                if self.rfile.readline(_MAX_REQUEST_LINE) in (b"\r\n", b"\n", b""):
                    break

        def version_string(self) -> str:
            return "msk-lag-reporter"

        def log_request(self, *_: object) -> None:
            """Requests are not logged."""

    return Handler
