# SPDX-License-Identifier: Apache-2.0
"""Lambda's Runtime API for one process: it asks for events by HTTP and posts its answers."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from threading import Thread
from typing import Any, Self, cast
from uuid import uuid4

_ROOT = "/2018-06-01/runtime/"
_TIMEOUT_SECONDS = 55
_FUNCTION = "arn:aws:lambda:eu-west-1:111122223333:function:collect_lag"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an event: the handler's value, or else the error's fields."""

    value: Any = None
    error: dict[str, Any] | None = None


class RuntimeApi:
    """A context manager; events wait until the process asks, answers until the caller does."""

    def __init__(self) -> None:
        self.events: SimpleQueue[Any] = SimpleQueue()
        self.answers: SimpleQueue[Answer] = SimpleQueue()
        self._server = _Server(self)

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        """Host and port, as `AWS_LAMBDA_RUNTIME_API` has them."""
        return f"127.0.0.1:{self._server.server_port}"


class _Server(ThreadingHTTPServer):
    # A process that has ended leaves a thread behind that waits for an event.
    daemon_threads = True

    def __init__(self, api: RuntimeApi) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.api = api

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keeps quiet of a process that was ended while it waited; all else is printed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path != f"{_ROOT}invocation/next":
            self._reply(404)
            return
        event = json.dumps(self._api.events.get()).encode()
        deadline = int((time.time() + _TIMEOUT_SECONDS) * 1000)
        self._reply(
            200,
            event,
            {
                "Content-Type": "application/json",
                "Lambda-Runtime-Aws-Request-Id": str(uuid4()),
                "Lambda-Runtime-Deadline-Ms": str(deadline),
                "Lambda-Runtime-Invoked-Function-Arn": _FUNCTION,
            },
        )

    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        # `/error` follows an event's id, and `init` when the function could not be imported.
        failed = self.path.endswith("/error")
        self._reply(202)
        self._api.answers.put(Answer(error=told) if failed else Answer(value=told))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Keeps quiet: a line for each request would only hide what fails."""

    @property
    def _api(self) -> RuntimeApi:
        return cast("_Server", self.server).api

    def _reply(self, code: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
