# SPDX-License-Identifier: Apache-2.0
"""The proxy's effects on the bytes between a client and a server."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from dev.faults.proxy import Proxies, Proxy


def answer(number: int) -> bytes:
    """A framed answer as Kafka sends one: length, number, body."""
    body = struct.pack(">i", number) + b"body of the answer"
    return struct.pack(">i", len(body)) + body


@contextmanager
def server() -> Iterator[str]:
    """Answers each byte that comes with the next answer; yields its address."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        number = 0
        with closing(connection):
            try:
                while connection.recv(1):
                    connection.sendall(answer(number))
                    number += 1
            except OSError:
                return

    def accept() -> None:
        try:
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()
        except OSError:
            return

    threading.Thread(target=accept, daemon=True).start()
    with closing(listening):
        yield "{}:{}".format(*listening.getsockname())


@pytest.fixture(name="proxies")
def _proxies() -> Iterator[tuple[Proxies, Proxy]]:
    with server() as upstream:
        proxy = Proxy(upstream, seed=1)
        with Proxies({1: proxy}) as running:
            yield running, proxy


@contextmanager
def client(proxy: Proxy) -> Iterator[socket.socket]:
    host, _, port = proxy.address.rpartition(":")
    with closing(socket.create_connection((host, int(port)), 5)) as connection:
        yield connection


def sent(connection: socket.socket) -> bytes:
    """The next answer, or as many bytes as there are before the end."""
    connection.sendall(b"?")
    wanted, got = len(answer(0)), b""
    while len(got) < wanted and (more := connection.recv(wanted - len(got))):
        got += more
    return got


def ended(connection: socket.socket) -> bool:
    """Whether the other side has closed it, in whichever way."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_bytes_pass(proxies: tuple[Proxies, Proxy]) -> None:
    with client(proxies[1]) as connection:
        assert [sent(connection) for _ in range(3)] == [answer(n) for n in range(3)]


def test_what_is_stalled_arrives_later(proxies: tuple[Proxies, Proxy]) -> None:
    proxy = proxies[1]
    with client(proxy) as connection:
        proxy.stalled = True
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            sent(connection)
        proxy.stalled = False
        connection.settimeout(240)
        assert connection.recv(100) == answer(0)


def test_a_cut_ends_connections_and_takes_new_ones(proxies: tuple[Proxies, Proxy]) -> None:
    running, proxy = proxies
    with client(proxy) as connection:
        assert sent(connection) == answer(0)
        running.cut(1)
        assert ended(connection)
    with client(proxy) as connection:
        assert sent(connection) == answer(0)


def test_one_byte_of_one_answer_is_damaged(proxies: tuple[Proxies, Proxy]) -> None:
    proxy = proxies[1]
    with client(proxy) as connection:
        proxy.damage = 1
        got = [sent(connection) for _ in range(2)]
    differing = [
        [i for i in range(len(answer(0))) if g[i] != answer(n)[i]] for n, g in enumerate(got)
    ]
    assert [len(places) for places in differing] == [1, 0]
