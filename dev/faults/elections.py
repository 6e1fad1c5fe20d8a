# SPDX-License-Identifier: Apache-2.0
"""Moves leaders: replicas in another order (KIP-455), then the preferred ones are elected.

confluent-kafka 2.16 has no AlterPartitionReassignments, and its `elect_leaders` ends in a
SystemError, so both requests are written by hand.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Mapping, Sequence

from dev.kafka import KafkaClusterError

_ALTER_PARTITION_REASSIGNMENTS, _ELECT_LEADERS = 45, 43
_ANSWERS_WITHIN = 10.0
_SEVEN_BITS = 0x7F


def reorder_replicas(address: str, replicas: Mapping[str, Mapping[int, Sequence[int]]]) -> None:
    """Set the order of replicas by topic and partition; no data moves when they stay the same.

    `address` is that of a listener without login. Raises KafkaClusterError.
    """
    _done(address, request_of(replicas))


def elect_preferred(address: str, partitions: Mapping[str, Iterable[int]]) -> None:
    """Make the first of its replicas the leader of each of these partitions, by topic.

    Raises KafkaClusterError.
    """
    _done(address, election_of(partitions))


def _done(address: str, request: bytes) -> None:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), _ANSWERS_WITHIN) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        answer = read_answer(connection)
    # Correlation id, tags, throttle time, then the error of the request as a whole.
    (code,) = struct.unpack_from(">h", answer, 9)
    if code:
        raise KafkaClusterError(f"The brokers refused to move leaders with error code {code}")


def _header(key: int, version: int) -> bytes:
    """Of a flexible version: correlation id 1, no client id, no tags."""
    return struct.pack(">hhihb", key, version, 1, -1, 0)


def request_of(replicas: Mapping[str, Mapping[int, Sequence[int]]]) -> bytes:
    """An AlterPartitionReassignments request, version 0, without its length."""
    topics = _array(
        _string(name)
        + _array(
            struct.pack(">i", number) + _array(struct.pack(">i", r) for r in order) + b"\0"
            for number, order in partitions.items()
        )
        + b"\0"
        for name, partitions in replicas.items()
    )
    timeout = struct.pack(">i", int(_ANSWERS_WITHIN * 1_000))
    return _header(_ALTER_PARTITION_REASSIGNMENTS, 0) + timeout + topics + b"\0"


def election_of(partitions: Mapping[str, Iterable[int]]) -> bytes:
    """An ElectLeaders request, version 2, for preferred leaders (0), without its length."""
    topics = _array(
        _string(name) + _array(struct.pack(">i", number) for number in numbers) + b"\0"
        for name, numbers in partitions.items()
    )
    timeout = struct.pack(">i", int(_ANSWERS_WITHIN * 1_000))
    return _header(_ELECT_LEADERS, 2) + b"\0" + topics + timeout + b"\0"


def _array(items: Iterable[bytes]) -> bytes:
    each = list(items)
    return _varint(len(each) + 1) + b"".join(each)


def _string(text: str) -> bytes:
    raw = text.encode()
    return _varint(len(raw) + 1) + raw


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > _SEVEN_BITS:
        out.append(number & _SEVEN_BITS | 0x80)
        number >>= 7
    return bytes([*out, number])


def read_answer(connection: socket.socket) -> bytes:
    """The next answer, without its length. Raises KafkaClusterError when the broker hangs up."""
    (length,) = struct.unpack(">i", _exactly(connection, 4))
    return _exactly(connection, length)


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise KafkaClusterError("The broker closed the connection")
        data += more
    return data
