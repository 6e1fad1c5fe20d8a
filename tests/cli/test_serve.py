# SPDX-License-Identifier: Apache-2.0
"""The views on this machine: what is answered, to whom, and what is said of wrong options."""

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
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from threading import Barrier, Timer, get_ident
from typing import Any
from urllib.parse import quote, unquote

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


def ask(
    server: LocalServer, path: str, method: str = "GET", **headers: str
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(server.url.removeprefix("http://"), timeout=240)
    result = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, headers=result)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def exchange(server: LocalServer, sent: bytes) -> bytes:
    """All that comes back for these bytes on a connection of their own."""
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), 10) as line:
        line.sendall(sent)
        return b"".join(iter(lambda: line.recv(65_536), b""))


def received(line: socket.socket) -> bytes:
    """All until its end, in whichever way it ends."""
    parts: list[bytes] = []
    with suppress(ConnectionError):
        parts.extend(iter(lambda: line.recv(65_536), b""))
    return b"".join(parts)


def ask_or_none(server: LocalServer) -> int | None:
    """The status of /healthz; None where the connection is closed at once."""
    try:
        return ask(server, "/healthz")[0].status
    except (ConnectionError, HTTPException):
        return None


def test_a_signal_that_another_thread_gets_ends_the_wait(folder: Path) -> None:
    ended_late: list[bool] = []

    def end() -> None:
        ended_late.append(True)
        server.__exit__(None, None, None)

    def wait() -> None:
        interrupt.start()
        server.wait()

    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    interrupt = Timer(0.2, lambda: signal.pthread_kill(get_ident(), signal.SIGUSR1))
    # else a wait that no signal ends would go on for good
    last = Timer(60, end)
    try:
        with serving(folder) as server:
            last.start()
            with pytest.raises(KeyboardInterrupt):
                wait()
            last.cancel()
    finally:
        signal.signal(signal.SIGUSR1, before)

    assert not ended_late


def test_a_request_over_http_is_answered(server: LocalServer) -> None:
    response, body = ask(server, LAG)

    assert (response.status, response.getheader("Content-Type")) == (200, "application/json")
    assert json.loads(body)["status"]["totallag"] == 5
    assert response.getheader("Server") == "msk-lag-reporter"
    assert response.getheader("Date") == formatdate((NOON + MINUTE) / 1000, usegmt=True)
    for path in ("/", "/metrics", "/burrow/admin"):
        assert ask(server, path)[0].status == 200


def test_a_connection_serves_one_request_after_the_other(server: LocalServer) -> None:
    connection = HTTPConnection(server.url.removeprefix("http://"), timeout=240)
    for method in ("GET", "HEAD", "GET"):
        connection.request(method, LAG)
        response = connection.getresponse()
        assert (response.status, bool(response.read())) == (200, method == "GET")
    connection.close()


@pytest.mark.parametrize(
    ("path", "host", "status"), [(LAG, "localhost", 200), ("/", "localhost", 200), (LAG, "x", 421)]
)
def test_head_has_the_length_of_what_get_would_send(
    server: LocalServer, path: str, host: str, status: int
) -> None:
    (got, body), (headed, nothing) = (
        ask(server, path, method, Host=host) for method in ("GET", "HEAD")
    )

    assert (got.status, headed.status, nothing) == (status, status, b"")
    assert headed.headers.get_all("Content-Length") == [str(len(body))]


def test_an_error_leaves_the_connection_to_the_next_request(server: LocalServer) -> None:
    result = exchange(
        server, b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET /burrow/admin HTTP/1.0\r\n\r\n"
    )

    head, rest = result.split(b"\r\n\r\n", 1)
    assert b" 421 " in head
    assert rest.startswith(b"HTTP/1.1 200 OK")


OURS = ("localhost:1", "127.0.0.1:1", "[::1]:1", "localhost")
STRANGE = ("evil.example:1", "evil.example", "localhost.evil.example", "[", "a b")
NOT_UTF_8 = (b"/v3/kafka/\xff", b"/v3/kafka/\xc3", b"/\xff", b"/metrics\xa0")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        *((f"GET {LAG} HTTP/1.1\r\nHost: {host}".encode(), 200) for host in OURS),
        *((f"GET {LAG} HTTP/1.1\r\nHost: {host}".encode(), 421) for host in STRANGE),
        *((b"GET " + path + b" HTTP/1.0", 404) for path in NOT_UTF_8),
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
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), 240) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nA: ")
        # It ends by the server: what is sent without end has no other one.
        with suppress(ConnectionError):
            while True:
                line.sendall(b"a" * 65_536)


@pytest.mark.parametrize(
    ("path", "kind"), [(LAG, "application/json"), ("/metrics", "text/plain; charset=utf-8")]
)
@pytest.mark.parametrize("method", ["PROPFIND", "connect"])
def test_an_unknown_method_is_answered_by_the_view(
    server: LocalServer, path: str, kind: str, method: str
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


# The second byte of the first is a blank to str.split, that of the second a line break.
@pytest.mark.parametrize("name", ["\u00e0", "\u2005\u0145", "größe日本", "\U0001f600"])
def test_a_name_sent_as_raw_utf_8_is_the_same_as_encoded(name: str, tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    shop = Shop([a_partition(consumer_group=name)], [a_group(name)])
    for key, data in shop.store.objects.items():
        store.write_once(key, data)
    path = f"/v3/kafka/shop/consumer/{name}/lag"

    with serving(tmp_path) as server:
        result = exchange(server, f"GET {path} HTTP/1.0\r\n\r\n".encode())
        _, encoded = ask(server, quote(path))

    head, _, body = result.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert json.loads(body)["status"]["group"] == name
    assert json.loads(body) == {**json.loads(encoded), "request": {"url": path, "host": ""}}


def test_what_strangers_send_is_not_logged(
    server: LocalServer, capfd: pytest.CaptureFixture[str]
) -> None:
    exchange(server, b"nonsense\r\n\r\n")
    exchange(server, b"GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
    exchange(server, b"GET /" + b"\x1b[31m" + b" HTTP/1.0\r\n\r\n")

    assert capfd.readouterr().err == ""


def test_many_requests_at_once_are_all_answered(server: LocalServer) -> None:
    ready = Barrier(100)

    def ask_with_the_others(_: int) -> int:
        ready.wait()
        connection = HTTPConnection(server.url.removeprefix("http://"), timeout=240)
        connection.request("GET", LAG)
        status = connection.getresponse().status
        connection.close()
        return status

    with ThreadPoolExecutor(100) as threads:
        statuses = list(threads.map(ask_with_the_others, range(100)))

    assert statuses == [200] * 100


def test_with_a_token_only_its_owners_are_answered(folder: Path) -> None:
    with serving(folder, Bearer(lambda: TOKEN, lambda: 0.0)) as server:
        statuses = [
            ask(server, LAG, Authorization=result, Host="prometheus.example:1")[0].status
            for result in (f"Bearer {TOKEN}", "Bearer wrong", "")
        ]

    assert statuses == [200, 401, 401]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [(None, (200, b"ok\n")), ("no run for 200 seconds", (503, b"no run for 200 seconds\n"))],
)
def test_whoever_restarts_it_needs_neither_a_token_nor_a_name(
    fault: str | None, expected: tuple[int, bytes], folder: Path
) -> None:
    bearer = Bearer(lambda: TOKEN, lambda: 0.0)
    with serving(folder, bearer, health=lambda: fault) as server:
        response, body = ask(server, "/healthz", Host="10.1.2.3:8000")
        headed, nothing = ask(server, "/healthz", "HEAD")

    assert (response.status, body) == expected
    assert (headed.status, nothing) == (expected[0], b"")


def test_only_the_path_of_health_is_open(folder: Path) -> None:
    with serving(folder, Bearer(lambda: TOKEN, lambda: 0.0)) as server:
        statuses = [
            ask(server, path)[0].status for path in ("/healthz/", "/healthzz", "/healthz/x")
        ]

    assert statuses == [401, 401, 401]


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
    command = [*SERVE, "--state", str(tmp_path), "--listen", "localhost:0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        warning = process.stderr.readline()
        url = process.stdout.readline().split()[0]
        connection = HTTPConnection(url.removeprefix("http://").rstrip("/"), timeout=240)
        connection.request("GET", "/burrow/admin/ready")
        answered = connection.getresponse().read()
        process.send_signal(signal.SIGTERM)
        ended = process.wait(timeout=240)

    where = f"under {tmp_path}/snapshots/"
    assert warning == f"There are no snapshots {where} yet; they are shown once they come.\n"
    assert (answered, ended) == (b"STARTING", 0)


def test_connections_beyond_the_most_are_closed_until_one_ends(folder: Path) -> None:
    with serving(folder, connections=1) as server:
        address = "127.0.0.1", int(server.url.rpartition(":")[2])
        with socket.create_connection(address, timeout=240) as held:
            held.sendall(HEALTHZ)
            assert held.recv(65_536).startswith(b"HTTP/1.1 200")
            with socket.create_connection(address, timeout=240) as other:
                assert received(other) == b""
            held.close()
            # The server learns of the end by and by.
            while ask_or_none(server) is None:
                pass


@pytest.mark.timeout(240)
def test_it_ends_while_a_connection_is_idle(folder: Path) -> None:
    with ExitStack() as lines, serving(folder, idle_seconds=3000.0) as server:
        address = "127.0.0.1", int(server.url.rpartition(":")[2])
        answered, silent, slow = (
            lines.enter_context(socket.create_connection(address, timeout=240)) for _ in range(3)
        )
        slow.sendall(b"GET /heal")
        answered.sendall(HEALTHZ)
        assert answered.recv(65_536)
        del silent


@pytest.mark.timeout(240)
def test_a_connection_without_a_request_is_closed(folder: Path) -> None:
    with serving(folder, idle_seconds=0.2) as server:
        address = "127.0.0.1", int(server.url.rpartition(":")[2])
        with socket.create_connection(address, timeout=240) as silent:
            assert received(silent) == b""
        with socket.create_connection(address, timeout=240) as answered:
            answered.sendall(HEALTHZ)
            assert received(answered).endswith(b"ok\n")


@pytest.mark.parametrize("end", [b"", b"Connection: close\r\n"], ids=["kept", "closed"])
@pytest.mark.timeout(240)
def test_an_answer_that_nobody_reads_frees_its_place(folder: Path, end: bytes) -> None:
    large = "x" * 20_000_000

    with serving(folder, connections=1, idle_seconds=0.3, health=lambda: large) as server:
        address = "127.0.0.1", int(server.url.rpartition(":")[2])
        with socket.create_connection(address, timeout=240) as slow:
            slow.sendall(HEALTHZ.removesuffix(b"\r\n") + end + b"\r\n")
            while ask_or_none(server) is None:
                pass
            assert len(received(slow)) < len(large)


@pytest.mark.parametrize("before", [b"", HEALTHZ], ids=["the first", "the second"])
@pytest.mark.timeout(240)
def test_a_request_that_does_not_end_frees_its_place(folder: Path, before: bytes) -> None:
    with serving(folder, connections=1, request_seconds=0.5) as server:
        address = "127.0.0.1", int(server.url.rpartition(":")[2])
        with socket.create_connection(address, timeout=240) as slow:
            slow.sendall(before + b"GET /heal")
            # Byte by byte makes it no longer.
            with suppress(OSError):
                while True:
                    slow.sendall(b"t")
                    slow.settimeout(0.05)
                    with suppress(TimeoutError):
                        if not slow.recv(65_536):
                            break
        while ask_or_none(server) is None:
            pass


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
