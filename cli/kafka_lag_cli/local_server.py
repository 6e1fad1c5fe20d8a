# SPDX-License-Identifier: Apache-2.0
"""The views over HTTP or HTTPS on uvicorn, by default on this machine's own address only."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from threading import Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.views.app import answer, error_answer
from kafka_lag.views.auth import Bearer
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.server_certificate import ServerCertificate
from kafka_lag_cli.terminal.text import printable

_ADDRESS = "127.0.0.1"
# A page elsewhere may have its own name resolve to this machine; then the Host header shows it.
_OWN_NAMES = (_ADDRESS, "localhost", "::1")
_FOREIGN_NAME = "Only requests to this machine by its own name are answered: open http://localhost."
_BROKEN = "Something is wrong here; the terminal of kafka-lag serve says what."
_UNREADABLE = "The token cannot be compared; the terminal of kafka-lag serve says why."
_HEALTH_PATH = "/healthz"

# As the deployed views pass a path of any length on; beyond this it is no mistake.
_MAX_HEAD_BYTES = 1024 * 1024
# Connections at once; one more is closed. A process may have 1,024 files open by default, and the
# brokers and snapshots want some.
_CONNECTIONS = 512
# Connections that the system holds until they are accepted: a page of many panels, or several
# scrapers, come at once.
_BACKLOG = 256
# How long a connection may be without a request, and how long an answer may take to be read.
_IDLE_SECONDS = 30.0
# How long the head of a request may take from its first byte, and TLS's handshake before it.
_REQUEST_SECONDS = 10.0
# What a request in progress is given once the server is to end.
_END_SECONDS = 5
_CERTIFICATE_SECONDS = 10.0
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


class LocalServer:
    """Answers at `url` while it is entered; `clock` in seconds since the epoch, port 0 any free.

    Raises OSError when the address cannot be listened on. With a `bearer`, only those who have its
    token, but for /healthz: `health` says in a sentence what is wrong, None if nothing is. Without
    one, only requests by this machine's own name, unless `any_name`. `certificate` makes it HTTPS,
    and is loaded again when its files change.
    """

    def __init__(
        self,
        snapshots: Snapshots,
        clock: Callable[[], float],
        port: int = 0,
        bearer: Bearer | None = None,
        *,
        host: str = _ADDRESS,
        any_name: bool = False,
        certificate: ServerCertificate | None = None,
        health: Callable[[], str | None] | None = None,
        connections: int = _CONNECTIONS,
        request_seconds: float = _REQUEST_SECONDS,
        idle_seconds: float = _IDLE_SECONDS,
        certificate_seconds: float = _CERTIFICATE_SECONDS,
    ) -> None:
        self._snapshots = snapshots
        self._clock = clock
        self._bearer = bearer
        self._any_name = any_name or bearer is not None
        self._health = health or (lambda: None)
        self._reported: ConfigError | None = None
        # Snapshots are for one thread at a time, as in a Lambda.
        self._reader = ThreadPoolExecutor(1, "views")
        config = uvicorn.Config(
            self._respond,
            http=_limited(connections, request_seconds, idle_seconds),
            interface="asgi3",
            loop="asyncio",
            ws="none",
            lifespan="off",
            # What strangers send fills no log.
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            # Each answer has its own date: uvicorn's would have to be made every second.
            date_header=False,
            headers=[("Server", "msk-lag-reporter")],
            backlog=_BACKLOG,
            # uvicorn takes any number; its annotation wants a whole one.
            timeout_keep_alive=idle_seconds,  # type: ignore[arg-type]
            timeout_graceful_shutdown=_END_SECONDS,
            h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
        )
        config.load()
        if certificate is not None:
            config.ssl = certificate.context
            config.callback_notify = self._reload(certificate)
            config.timeout_notify = certificate_seconds  # type: ignore[assignment]
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        self._server = _Server(config)
        self._handshake_seconds = request_seconds
        self._thread = Thread(target=self._run, daemon=True)
        self._awaited, self._awaker = socket.socketpair()
        self._awaker.setblocking(False)
        name = f"[{host}]" if ":" in host else host
        scheme = "http" if certificate is None else "https"
        self.url = f"{scheme}://{name}:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.end()
        self._thread.join()
        self._reader.shutdown(wait=False, cancel_futures=True)
        self._awaited.close()
        self._awaker.close()

    def wait(self) -> None:
        """Wait until somebody interrupts; in the main thread only.

        A lock would not do: a signal that comes just before it is waited for, or to another thread,
        is seen only once somebody has it.
        """
        before = signal.set_wakeup_fd(self._awaker.fileno(), warn_on_full_buffer=False)
        try:
            while self._awaited.recv(1):
                pass
        finally:
            signal.set_wakeup_fd(before)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: _ServerLoop(self._handshake_seconds)) as loop:
                loop.run(self._server.serve([self._socket]))
        finally:
            self._awaker.shutdown(socket.SHUT_WR)

    async def _respond(self, scope: Any, _: Any, send: Any) -> None:
        """One request; its body, if it has any, is never read."""
        headers = {
            name.decode("latin-1"): text.decode("latin-1") for name, text in scope["headers"]
        }
        path, query = scope["raw_path"].decode("ascii"), scope["query_string"].decode("ascii")
        request = Request.of(scope["method"], path, query, headers)
        result = await self._answer(request, headers.get("authorization", ""))
        fields = {"Content-Type": result.content_type, "Content-Length": str(len(result.body))}
        fields |= {"Date": formatdate(self._clock(), usegmt=True), **result.headers}
        if "content-length" in headers or "transfer-encoding" in headers:
            fields["Connection"] = "close"
        encoded = [(name.encode(), text.encode("latin-1")) for name, text in fields.items()]
        await send({"type": "http.response.start", "status": result.status, "headers": encoded})
        await send({"type": "http.response.body", "body": result.body})

    async def _answer(self, request: Request, authorization: str) -> Answer:
        """Return an answer, whatever happens."""
        try:
            if request.path == _HEALTH_PATH:
                return _health_answer(request, self._health())
            if not self._any_name and not _is_own_name(request.host):
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
            now_ms = int(self._clock() * 1000)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(
                self._reader, answer, request, self._snapshots, now_ms
            )
        except ReporterError as error:
            return error_answer(request, 503, str(error))
        except Exception:  # noqa: BLE001  # the last line before strangers: no trace goes out
            traceback.print_exc(file=sys.stderr)
            return error_answer(request, 500, _BROKEN)

    def _reload(self, certificate: ServerCertificate) -> Callable[[], Any]:
        async def reload() -> None:
            try:
                certificate.reload()
            except ConfigError as error:
                self._report(error)

        return reload

    def _report(self, error: ConfigError) -> None:
        """Once for each time that a file is read: requests of strangers fill no log."""
        if error is not self._reported:
            self._reported = error
            print(printable(str(error)), file=sys.stderr, flush=True)


def _health_answer(request: Request, fault: str | None) -> Answer:
    """Return the health answer, which names nothing of the cluster."""
    status = HTTPStatus.OK if fault is None else HTTPStatus.SERVICE_UNAVAILABLE
    body = b"" if request.method == "HEAD" else f"{fault or 'ok'}\n".encode()
    return Answer(status, "text/plain; charset=utf-8", body)


def _is_own_name(host: str) -> bool:
    """Return true if a Host header, with or without a port, is this machine's own name."""
    try:
        return not host or urlsplit(f"//{host}").hostname in _OWN_NAMES
    except ValueError:
        return False


class _Server(uvicorn.Server):
    """uvicorn's, which would wake up ten times a second to see whether it is to end: as much CPU as
    an exporter's runs and scrapes of a small cluster.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = asyncio.Event()

    async def main_loop(self) -> None:
        """Serve until the end; a tick reloads a certificate after a while."""
        self._loop = asyncio.get_running_loop()
        seconds = None if self.config.callback_notify is None else self.config.timeout_notify
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), seconds)

    def end(self) -> None:
        """From any thread, at any time."""
        self.should_exit = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ended.set)


class _ServerLoop(asyncio.SelectorEventLoop):
    """asyncio's, which would wait a minute for a handshake; uvicorn has no setting for that."""

    def __init__(self, handshake_seconds: float) -> None:
        super().__init__()
        self._handshake_seconds = handshake_seconds

    async def create_server(self, *args: Any, **options: Any) -> asyncio.Server:
        if options.get("ssl") is not None:
            options["ssl_handshake_timeout"] = self._handshake_seconds
        return await super().create_server(*args, **options)


def _limited(
    connections: int, request_seconds: float, idle_seconds: float
) -> type[asyncio.Protocol]:
    """uvicorn's HTTP/1.1, for clients that are slow or many."""

    class Limited(H11Protocol):
        _head: asyncio.TimerHandle | None = None
        _unread: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > connections:
                self.transport.abort()
                return
            self.timeout_keep_alive_task = self.loop.call_later(
                idle_seconds, self.timeout_keep_alive_handler
            )

        def data_received(self, data: bytes) -> None:
            # Bytes sent raw in a path mean what they mean encoded; h11 rejects them.
            super().data_received(_NOT_ASCII.sub(lambda byte: b"%%%02X" % byte[0][0], data))
            if self.conn.their_state is not h11.IDLE:
                self._end_head()
            elif self._head is None:
                # A client that sends its request byte by byte.
                self._head = self.loop.call_later(request_seconds, self.transport.abort)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.transport.is_closing():
                # The last answer of a connection: nothing else ends it if nobody reads that.
                self._unread = self.loop.call_later(idle_seconds, self.transport.abort)

        def connection_lost(self, exc: Exception | None) -> None:
            self._end_head()
            if self._unread is not None:
                self._unread.cancel()
            super().connection_lost(exc)

        def timeout_keep_alive_handler(self) -> None:
            """No request came, or the last answer is not read."""
            if self.transport.get_write_buffer_size():
                self.transport.abort()
            super().timeout_keep_alive_handler()

        def _end_head(self) -> None:
            if self._head is not None:
                self._head.cancel()
                self._head = None

    return Limited
