# SPDX-License-Identifier: Apache-2.0
"""Brokers on real sockets that answer in Kafka's protocol, and can hang or refuse."""

from __future__ import annotations

import select
import socket
import socketserver
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from kafka.protocol import admin, consumer, metadata, sasl
from kafka.protocol.api_header import RequestHeader, ResponseHeader

from kafka_lag.brokers.access import Access
from tests.functions.brokers.brokers import END, START, Brokers, Topic

# A look-up by time is a ListOffsets like those for starts and ends.
LOOK_UPS = "look-ups"
ALL = "all requests"
HANDSHAKE = "TLS handshake"

# Bytes: socket.request.max.bytes, unless it is set.
_LARGEST_REQUEST = 104_857_600

_APIS = (
    *(consumer.ListOffsetsRequest, consumer.OffsetFetchRequest, metadata.MetadataRequest),
    *(metadata.FindCoordinatorRequest, metadata.ApiVersionsRequest, admin.DescribeGroupsRequest),
    *(admin.ListGroupsRequest, admin.DescribeConfigsRequest),
    *(sasl.SaslHandshakeRequest, sasl.SaslAuthenticateRequest),
)
_REQUESTS = {each.API_KEY: each for each in _APIS}
_RESPONSES = {
    each.API_KEY: getattr(module, each.__name__.replace("Request", "Response"))
    for module in (consumer, metadata, admin, sasl)
    for each in _APIS
    if hasattr(module, each.__name__.replace("Request", "Response"))
}
# By API key the highest version that the brokers speak.
_VERSIONS = {2: 7, 3: 12, 9: 8, 10: 4, 15: 5, 16: 4, 17: 1, 18: 3, 32: 4, 36: 2}
_REFUSED_LOGIN = 58
_TOPIC, _COMMITTED = "orders", 4


def _encodable(kind: Any, answer: Any) -> Any:
    """The library's answer of this kind; fields that the answer lacks have their defaults."""
    values = {name: getattr(answer, name) for name in kind.fields if hasattr(answer, name)}
    for name, field_of in kind.fields.items():
        if name in values and field_of.is_struct_array():
            values[name] = [_encodable(field_of.data_class, each) for each in values[name]]
    return kind(**values)


@dataclass
class Broker:
    """One broker: leads one partition of the topic, coordinates the group named after it.

    `hangs_on` are names of requests that it never answers, `slow_on` of those that take it 0.3 s.
    `passwords` are those it accepts, None where it takes any. By a client quota it mutes a
    connection for `mutes` seconds after each answer, and says so in that; a login is not muted.
    """

    node: int
    cluster: Cluster
    tls: ssl.SSLContext | None = None
    hangs_on: set[str] = field(default_factory=set)
    passwords: set[str] | None = None
    slow_on: set[str] = field(default_factory=set)
    mutes: float = 0.0
    requests: list[str] = field(default_factory=list)
    connections_made: int = 0
    open: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        broker = self
        self._muted: dict[Any, float] = {}
        self._lock, self._at_work, self._steps = threading.Lock(), 0, 0

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                try:
                    broker.serve(self.request)
                finally:
                    broker._works(-1)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False

            def get_request(self) -> Any:
                broker._works(+1)
                try:
                    return super().get_request()
                except OSError:
                    broker._works(-1)
                    raise

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"

    def is_idle(self) -> bool:
        """Whether all that was sent to it has come, and is answered or never will be."""
        before, now = self._steps, time.monotonic()
        heard = [each for each in self.open if self._muted.get(each, 0.0) <= now]
        try:
            coming, _, _ = select.select([self.server, *heard], [], [], 0)
        except (OSError, ValueError):  # a connection that ends now
            return False
        with self._lock:
            return not coming and self._at_work == 0 and self._steps == before

    def _works(self, change: int) -> None:
        with self._lock:
            self._at_work += change
            self._steps += 1

    @contextmanager
    def _rests(self) -> Iterator[None]:
        """While it waits for what is still to come. It is at work again before it takes that."""
        self._works(-1)
        try:
            yield
        finally:
            self._works(+1)

    def serve(self, connection: Any) -> None:
        self.connections_made += 1
        # An answer that was sent has arrived.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self.open.append(connection)
        try:
            if HANDSHAKE in self.hangs_on:
                with self._rests():
                    _wait_for_end(connection)
                return
            if self.tls is not None:
                encrypted = self.tls.wrap_socket(connection, server_side=True)
                with self._lock:
                    self.open[self.open.index(connection)] = encrypted
                connection = encrypted
            while frame := self._next(connection):
                name, answer = self._answer(frame)
                if answer is not None:
                    connection.sendall(struct.pack(">i", len(answer)) + answer)
                    if self._mutes(name):
                        self._mute(connection)
        except OSError:
            pass
        finally:
            with self._lock:
                self.open.remove(connection)

    def _mute(self, connection: Any) -> None:
        self._muted[connection] = time.monotonic() + self.mutes
        with self._rests():
            while time.monotonic() < self._muted[connection]:
                time.sleep(0.001)

    def _mutes(self, request: str) -> bool:
        logs_in = request.startswith("Sasl") or (request == "ApiVersions" and self.passwords)
        return bool(self.mutes) and not logs_in

    def _next(self, connection: Any) -> bytes | None:
        if not (isinstance(connection, ssl.SSLSocket) and connection.pending()):
            with self._rests():
                select.select([connection], [], [])
        return _received(connection)

    def cut(self) -> None:
        """Ends all connections, as a broker that restarts does."""
        for connection in list(self.open):
            connection.shutdown(socket.SHUT_RDWR)

    def _answer(self, frame: bytes) -> tuple[str, bytes | None]:
        key, version, correlation = struct.unpack(">hhi", frame[:8])
        request = _REQUESTS[key].decode(frame, version=version, header=True)
        name = _name(request)
        self.requests.append(name)
        if self.hangs_on & {name, ALL}:
            return name, None
        if name in self.slow_on:
            time.sleep(0.3)
        header = RequestHeader(request_api_key=key, request_api_version=version)
        flexible = header.get_response_class().flexible_version_q(version)
        response_header = ResponseHeader(correlation_id=correlation)
        head = response_header.encode(flexible=flexible and name != "ApiVersions")
        answer = _encodable(_RESPONSES[key], self._content(name, request))
        if self._mutes(name):
            answer.throttle_time_ms = int(self.mutes * 1000)
        return name, bytes(head + answer.encode(version=version))

    def _content(self, name: str, request: Any) -> Any:
        """What the answer to a request says: of the login, or as the described cluster has it."""
        if name == "ApiVersions":
            keys = [
                SimpleNamespace(api_key=key, min_version=0, max_version=highest)
                for key, highest in _VERSIONS.items()
            ]
            return SimpleNamespace(error_code=0, api_keys=keys)
        if name == "SaslHandshake":
            return SimpleNamespace(error_code=0, mechanisms=["PLAIN"])
        if name == "SaslAuthenticate":
            password = request.auth_bytes.split(b"\0")[-1].decode()
            if self.passwords is None or password in self.passwords:
                return SimpleNamespace(error_code=0, error_message=None, auth_bytes=b"")
            return SimpleNamespace(
                error_code=_REFUSED_LOGIN, error_message="Authentication failed", auth_bytes=b""
            )
        return self.cluster.content(name, self.node, request)


class Cluster:
    """Brokers 1 to `count`, each with its partition and its group."""

    def __init__(self, count: int = 3, tls: ssl.SSLContext | None = None) -> None:
        self.brokers: list[Broker] = []
        for node in range(1, count + 1):
            self.brokers.append(Broker(node, self, tls))
        nodes = range(1, count + 1)
        topic = Topic([(0, 10)] * count, leaders=dict(enumerate(nodes)))
        commits = {_TOPIC: [_COMMITTED] * count}
        self._described = Brokers({_TOPIC: topic}, {f"group-{node}": commits for node in nodes})
        self._described.coordinators = {f"group-{node}": node for node in nodes}

    def __getitem__(self, node: int) -> Broker:
        return self.brokers[node - 1]

    def content(self, name: str, node: int, request: Any) -> Any:
        """The described cluster's answer to a request; no record is as new as any look-up wants."""
        kind = name
        if name in ("ListOffsets", LOOK_UPS):
            time_of = request.topics[0].partitions[0].timestamp
            kind = {START: "Starts", END: "Ends"}.get(time_of, "Nothing")
        answer = self._described.answer(kind, node, request)
        if name == "Metadata":
            addresses = [(each.node, *each.server.server_address[:2]) for each in self.brokers]
            answer.brokers = [
                SimpleNamespace(node_id=node, host=host, port=port)
                for node, host, port in addresses
            ]
        return answer

    def access(self, **changes: Any) -> Access:
        servers = tuple(broker.address for broker in self.brokers)
        options = {"security_protocol": "PLAINTEXT", "sasl_mechanism": None, **changes}
        return Access(servers, **options)

    def open_connections(self) -> list[int]:
        return [len(broker.open) for broker in self.brokers]


@contextmanager
def cluster(count: int = 3, tls: ssl.SSLContext | None = None) -> Iterator[Cluster]:
    """A cluster while it is needed."""
    made = Cluster(count, tls)
    try:
        yield made
    finally:
        for broker in made.brokers:
            broker.server.shutdown()
            broker.server.server_close()


def _name(request: Any) -> str:
    name: str = type(request).__name__.removesuffix("Request")
    if name == "ListOffsets" and request.topics[0].partitions[0].timestamp not in (-1, -2):
        return LOOK_UPS
    return name


def _wait_for_end(connection: Any) -> None:
    while connection.recv(4096):
        pass


def _received(connection: Any) -> bytes | None:
    """None at the end, and for what is no request of Kafka's, as brokers do."""
    head = _exactly(connection, 4)
    size = struct.unpack(">i", head)[0] if head else -1
    return _exactly(connection, size) if 0 < size <= _LARGEST_REQUEST else None


def _exactly(connection: Any, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            return None
        data += more
    return data
