# SPDX-License-Identifier: Apache-2.0
"""A small HTTP server around the views, on this machine's own address only."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from kafka_lag.errors import ReporterError
from kafka_lag.views.bearer import Bearer
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.routing import answer, refused
from kafka_lag.views.snapshots import Snapshots

_HERE = "127.0.0.1"
# How soon it notices that it is to end.
_POLL_SECONDS = 0.05
# A page elsewhere may have its own name resolve to this machine; then the Host header tells.
_NAMES_OF_HERE = (_HERE, "localhost", "::1")
_ELSEWHERE = "Only requests to this machine by its own name are answered: open http://localhost."
_BROKEN = "Something is wrong here; the terminal of kafka_lag.cli.serve says what."


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves before its answer is no news."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class LocalServer:
    """Answers at `url` while it is entered; `clock` in seconds since the epoch, port 0 any free.

    Raises OSError when the port is taken. With a `bearer`, only those who have its token.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        clock: Callable[[], float],
        port: int = 0,
        bearer: Bearer | None = None,
    ) -> None:
        self._snapshots = snapshots
        self._clock = clock
        self._bearer = bearer
        # Snapshots are kept for one request at a time, as in a Lambda.
        self._one_by_one = Lock()
        self._server = _Server((_HERE, port), _handler(self.answer))
        self._thread = Thread(target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
        self.url = f"http://{_HERE}:{self._server.server_port}"

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
            if self._bearer is None and not _of_here(request.host):
                return refused(request, 421, _ELSEWHERE)
            if self._bearer is not None and not self._bearer.allows(authorization):
                asks = {"WWW-Authenticate": "Bearer"}
                return refused(request, 401, "A valid token is needed.", asks)
            with self._one_by_one:
                return answer(request, self._snapshots, int(self._clock() * 1000))
        except ReporterError as error:
            return refused(request, 503, str(error))
        except Exception:  # noqa: BLE001  # the last line before strangers: no trace goes out
            traceback.print_exc(file=sys.stderr)
            return refused(request, 500, _BROKEN)


def _of_here(host: str) -> bool:
    """Whether a Host header, with or without a port, is this machine's own name."""
    try:
        return not host or urlsplit(f"//{host}").hostname in _NAMES_OF_HERE
    except ValueError:
        return False


def _handler(answered: Callable[[Request, str], Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One connection; what it sends beyond a request's head is never read."""

        protocol_version = "HTTP/1.1"
        timeout = 30.0

        def _answer(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            path, _, query = self.path.partition("?")
            request = Request.of(self.command, path, query, headers)
            told = answered(request, headers.get("authorization", ""))
            self.send_response(told.status)
            self.send_header("Content-Type", told.content_type)
            length = {"Content-Length": str(len(told.body))}
            for name, value in {**length, **told.headers}.items():
                self.send_header(name, value)
            if "content-length" in headers or "transfer-encoding" in headers:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(told.body)

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer  # noqa: N815

        def version_string(self) -> str:
            return "msk-lag-reporter"

        def log_message(self, *_: object) -> None:
            """Requests are no news."""

    return Handler
