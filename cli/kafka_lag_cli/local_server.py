# SPDX-License-Identifier: Apache-2.0
"""The views over HTTP or HTTPS on uvicorn, by default on this machine's own address only."""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import uvicorn

from kafka_lag.brokers.login import as_file
from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.views.app import answer, error_answer
from kafka_lag.views.auth import Bearer
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.latest_run import Snapshots
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
# Connections that the system holds until they are accepted: a page of many panels, or several
# scrapers, come at once.
_BACKLOG = 256
# What a request in progress is given once the server is to end.
_END_SECONDS = 5
# OpenSSL then asks no terminal for it.
_NO_PASSWORD = ""
_WAIT_SECONDS = 1.0


class LocalServer:
    """Answers at `url` while it is entered; `clock` in seconds since the epoch, port 0 any free.

    Raises OSError when the address cannot be listened on. With a `bearer`, only those who have its
    token, but for /healthz: `health` says in a sentence what is wrong, None if nothing is. Without
    one, only requests by this machine's own name, unless `any_name`. `certificate` makes it HTTPS.
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
        certificate: ssl.SSLContext | None = None,
        health: Callable[[], str | None] | None = None,
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
            http="h11",
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
            timeout_graceful_shutdown=_END_SECONDS,
            h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
        )
        config.load()
        config.ssl = certificate
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, args=([self._socket],), daemon=True)
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
        self._server.should_exit = True
        self._thread.join()
        self._reader.shutdown(wait=False, cancel_futures=True)

    def wait(self) -> None:
        """Waits for an interrupt; in the main thread only."""
        while self._thread.is_alive():
            # Python sees a signal that another thread gets once the wait is over.
            self._thread.join(_WAIT_SECONDS)

    async def _respond(self, scope: Any, _: Any, send: Any) -> None:
        """Answers one request, whose body is never read."""
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
        """Returns an answer, whatever happens."""
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

    def _report(self, error: ConfigError) -> None:
        """Reports an error once for each reading of a file: strangers' requests fill no log."""
        if error is not self._reported:
            self._reported = error
            print(printable(str(error)), file=sys.stderr, flush=True)


def load_certificate(certfile: Path, keyfile: Path) -> ssl.SSLContext:
    """Returns what a certificate chain and its key serve. Raises ConfigError for no such pair."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        pair = certfile.expanduser().read_bytes() + b"\n" + keyfile.expanduser().read_bytes()
        with as_file(pair) as path:
            context.load_cert_chain(path, password=_NO_PASSWORD)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"{certfile} and {keyfile} are no certificate with its key: both must be PEM, the key "
            "without a password."
        ) from error
    except OSError as error:
        raise ConfigError(
            f"The certificate {certfile} and its key {keyfile} cannot be read ({error.strerror})."
        ) from error
    return context


def _health_answer(request: Request, fault: str | None) -> Answer:
    """Returns the health answer, which names nothing of the cluster."""
    status = HTTPStatus.OK if fault is None else HTTPStatus.SERVICE_UNAVAILABLE
    body = b"" if request.method == "HEAD" else f"{fault or 'ok'}\n".encode()
    return Answer(status, "text/plain; charset=utf-8", body)


def _is_own_name(host: str) -> bool:
    """Returns true if a Host header, with or without a port, is this machine's own name."""
    try:
        return not host or urlsplit(f"//{host}").hostname in _OWN_NAMES
    except ValueError:
        return False
