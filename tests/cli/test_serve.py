# SPDX-License-Identifier: Apache-2.0
"""The views on this machine: answers, access, and errors for wrong options."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from email.utils import formatdate
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from subprocess import PIPE
from threading import Barrier
from typing import Any
from urllib.parse import unquote

import pytest

from kafka_lag.errors import ConfigError
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.auth import Bearer
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.command import main
from kafka_lag_cli.local_server import LocalServer
from tests.builders import MINUTE, NOON
from tests.functions.views.burrow.snapshots import Shop, a_group, a_partition

LAG = "/v3/kafka/shop/consumer/billing/lag"
TOKEN = "correct-horse"
HEALTHZ = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
SERVE = (sys.executable, "-m", "kafka_lag_cli.command", "serve")
LONG = 240


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("state")
    store = FolderStore(folder)
    for key, data in Shop([a_partition()], [a_group()]).store.objects.items():
        store.write_once(key, data)
    return folder


def serving(folder: Path, bearer: Bearer | None = None, **more: Any) -> LocalServer:
    def clock() -> float:
        return (NOON + MINUTE) / 1000

    return LocalServer(Snapshots(FolderStore(folder), clock), clock, bearer=bearer, **more)


@pytest.fixture(name="server", scope="module")
def _server(folder: Path) -> Iterator[LocalServer]:
    with serving(folder) as server:
        yield server


def over_http(server: LocalServer) -> HTTPConnection:
    return HTTPConnection(server.url.removeprefix("http://"), timeout=LONG)


def ask(
    server: LocalServer, path: str, method: str = "GET", **headers: str
) -> tuple[HTTPResponse, bytes]:
    connection = over_http(server)
    result = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, headers=result)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def connect(server: LocalServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), LONG)


def received(line: socket.socket) -> bytes:
    """All until its end, in whichever way it ends."""
    parts: list[bytes] = []
    with suppress(ConnectionError):
        parts.extend(iter(lambda: line.recv(65_536), b""))
    return b"".join(parts)


def exchange(server: LocalServer, sent: bytes) -> bytes:
    """All that comes back for these bytes on a connection of their own."""
    with connect(server) as line:
        line.sendall(sent)
        return received(line)


def test_a_request_over_http_is_answered(server: LocalServer) -> None:
    response, body = ask(server, LAG)

    assert (response.status, response.getheader("Content-Type")) == (200, "application/json")
    assert json.loads(body)["status"]["totallag"] == 5
    assert response.getheader("Server") == "msk-lag-reporter"
    assert response.getheader("Date") == formatdate((NOON + MINUTE) / 1000, usegmt=True)
    for path in ("/", "/metrics", "/burrow/admin"):
        assert ask(server, path)[0].status == 200


def test_head_has_the_length_of_what_get_would_send_on_the_same_connection(
    server: LocalServer,
) -> None:
    connection = over_http(server)
    for path, host, status in ((LAG, "localhost", 200), ("/", "localhost", 200), (LAG, "x", 421)):
        lengths = []
        for method in ("GET", "HEAD"):
            connection.request(method, path, headers={"Host": host})
            response = connection.getresponse()
            body = response.read()
            assert (response.status, bool(body)) == (status, method == "GET")
            lengths.append(response.headers.get_all("Content-Length"))
            assert method == "HEAD" or lengths == [[str(len(body))]]
        assert lengths[0] == lengths[1]
    connection.close()


OURS = ("localhost:1", "127.0.0.1:1", "[::1]:1", "localhost")
STRANGE = ("evil.example:1", "evil.example", "localhost.evil.example", "[", "a b")
NOT_UTF_8 = (b"/v3/kafka/\xff", b"/v3/kafka/\xc3", b"/\xff", b"/metrics\xa0")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        *((f"GET {LAG} HTTP/1.1\r\nHost: {host}".encode(), 200) for host in OURS),
        *((f"GET {LAG} HTTP/1.1\r\nHost: {host}".encode(), 421) for host in STRANGE),
        *((b"GET " + path + b" HTTP/1.0", 400) for path in NOT_UTF_8),
        (f"GET {LAG}?{'q' * 9_000} HTTP/1.0".encode(), 414),
        (f"POST {LAG} HTTP/1.0\r\nContent-Length: 10000000".encode(), 405),
        # More words, no host, no words, two lengths, and a blank in a header's name.
        (b"GET /v3/kafka x y HTTP/1.1\r\nHost: x", 400),
        (b"GET /metrics HTTP/1.1", 400),
        (b"nonsense", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\na b: c", 400),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_request_is_answered_by_its_status_and_what_comes_behind_one_that_is_none_is_not(
    server: LocalServer, sent: bytes, status: int
) -> None:
    behind = b"\r\nConnection: close\r\n\r\nGET /healthz HTTP/1.0\r\n\r\n"
    result = exchange(server, sent + behind)

    assert result.startswith(b"HTTP/1.1 %d " % status)
    assert result.count(b"HTTP/1.1 ") == 1


def test_an_endless_head_is_cut(server: LocalServer) -> None:
    with connect(server) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nA: ")
        # It ends by the server: what is sent without end has no other one.
        with suppress(ConnectionError):
            while True:
                line.sendall(b"a" * 65_536)


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [("PROPFIND", LAG, "application/json"), ("connect", "/metrics", "text/plain; charset=utf-8")],
)
def test_an_unknown_method_is_answered_by_the_view(
    server: LocalServer, method: str, path: str, kind: str
) -> None:
    response, body = ask(server, path, method)

    assert (response.status, response.getheader("Content-Type")) == (405, kind)
    assert response.getheader("Allow") == "GET, HEAD"
    assert b"nothing can be changed or deleted here" in body


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"/v3/kafka/shop/topic/{'x' * 70_000}", "cluster or topic not found"),
        (f"/v3/kafka/shop/consumer/{'%C3%A4' * 12_000}", "cluster or consumer not found"),
    ],
)
def test_an_oversized_path_is_answered_by_the_view(
    server: LocalServer, path: str, message: str
) -> None:
    response, body = ask(server, path)

    result = json.loads(body)
    assert (response.status, result["error"], result["message"]) == (404, True, message)
    assert result["request"]["url"] == unquote(path)


def test_what_strangers_send_is_not_logged(
    server: LocalServer, capfd: pytest.CaptureFixture[str]
) -> None:
    exchange(server, b"nonsense\r\n\r\n")
    exchange(server, b"GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
    exchange(server, b"GET /" + b"\x1b[31m" + b" HTTP/1.0\r\n\r\n")

    assert capfd.readouterr().err == ""


@pytest.mark.timeout(LONG)
def test_clients_that_are_slow_or_do_not_read_block_nobody(folder: Path) -> None:
    large = "x" * 20_000_000
    ready = Barrier(200)

    def ask_with_the_others(_: int) -> int:
        ready.wait()
        return ask(server, LAG)[0].status

    with ExitStack() as lines, serving(folder, health=lambda: large) as server:
        for _ in range(60):
            lines.enter_context(connect(server)).sendall(b"GET /heal")
        for _ in range(3):
            lines.enter_context(connect(server)).sendall(HEALTHZ)
        with ThreadPoolExecutor(200) as threads:
            assert list(threads.map(ask_with_the_others, range(200))) == [200] * 200


def test_with_a_token_only_its_owners_and_whoever_asks_for_health_are_answered(
    folder: Path,
) -> None:
    with serving(folder, Bearer(lambda: TOKEN, lambda: 0.0)) as server:
        statuses = {
            (path, token): ask(server, path, Authorization=token, Host="prometheus.example:1")[
                0
            ].status
            for path, token in (
                *((LAG, token) for token in (f"Bearer {TOKEN}", "Bearer wrong", "")),
                *((path, "") for path in ("/healthz", "/healthz/", "/healthzz", "/healthz/x")),
            )
        }

    assert [*statuses.values()] == [200, 401, 401, 200, 401, 401, 401]


def test_whoever_restarts_it_is_told_why(folder: Path) -> None:
    fault = "no run for 200 seconds"
    with serving(folder, Bearer(lambda: TOKEN, lambda: 0.0), health=lambda: fault) as server:
        response, body = ask(server, "/healthz", Host="10.1.2.3:8000")
        headed, nothing = ask(server, "/healthz", "HEAD")

    assert (response.status, body) == (503, b"no run for 200 seconds\n")
    assert (headed.status, nothing) == (503, b"")


def test_an_ipv6_address_is_answered_and_written_in_brackets(folder: Path) -> None:
    with serving(folder, host="::1") as server:
        response, body = ask(server, "/burrow/admin/ready")

    assert server.url.startswith("http://[::1]:")
    assert (response.status, body) == (200, b"READY")


def test_what_breaks_is_reported_here_and_not_outside(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(FolderStore):
        def folders(self, prefix: str) -> list[str]:
            raise RuntimeError("secret detail")

    snapshots = Snapshots(Broken(Path()), lambda: 0.0)
    with LocalServer(snapshots, lambda: 0.0) as server:
        response, body = ask(server, "/v3/kafka")

    assert response.status == 500
    assert "the terminal of kafka-lag serve says what" in json.loads(body)["message"]
    assert "secret detail" in capsys.readouterr().err


def test_a_port_that_is_taken_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--state", str(folder), "--listen", str(port)]) == 1

    sentence = f"127.0.0.1:{port} cannot be listened on (Address already in use): name another"
    assert sentence in capsys.readouterr().err


def test_the_command_serves_until_it_is_ended_and_says_where_snapshots_would_be(
    tmp_path: Path,
) -> None:
    # Without a token any name is answered.
    call = [*SERVE, "--state", str(tmp_path), "--listen", "0.0.0.0:0", "--no-token"]
    with subprocess.Popen(call, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        port = int(process.stdout.readline().split()[0].rstrip("/").rpartition(":")[2])
        connection = HTTPConnection("127.0.0.1", port, timeout=LONG)
        names = {"Host": "lag.monitoring.svc:8000"}
        connection.request("GET", "/burrow/admin/ready", headers=names)
        answered = connection.getresponse().read()
        process.send_signal(signal.SIGTERM)
        ended = process.wait(timeout=LONG)
        said = process.stderr.read()

    where = f"under {tmp_path}/snapshots/"
    assert f"There are no snapshots {where} yet; they are shown once they come.\n" in said
    assert (answered, ended) == (b"STARTING", 0)


@pytest.mark.timeout(LONG)
def test_it_ends_while_a_connection_is_idle(folder: Path) -> None:
    with ExitStack() as lines, serving(folder) as server:
        answered, _silent, slow = (lines.enter_context(connect(server)) for _ in range(3))
        slow.sendall(b"GET /heal")
        answered.sendall(HEALTHZ)
        assert answered.recv(65_536)


def test_a_token_that_cannot_be_read_is_explained_on_the_terminal_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def read() -> str:
        raise ConfigError("Cannot read the token in /home/ops/token (Permission denied).")

    with serving(folder, Bearer(read, lambda: 0.0)) as server:
        answers = [ask(server, LAG) for _ in range(3)]

    assert [response.status for response, _ in answers] == [503] * 3
    assert not any(b"/home" in body for _, body in answers)
    assert capsys.readouterr().err.count("/home/ops/token (Permission denied)") == 1
