# SPDX-License-Identifier: Apache-2.0
"""Moves leaders: replicas in another order (KIP-455), then the preferred one is elected.

confluent-kafka has no AlterPartitionReassignments, so that one request is written by hand.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Mapping, Sequence

from dev.kafka import KafkaClusterError

_ALTER_PARTITION_REASSIGNMENTS = 45
_ANSWERS_WITHIN = 10.0


def reorder_replicas(address: str, replicas: Mapping[str, Mapping[int, Sequence[int]]]) -> None:
    """Set the order of replicas by topic and partition; no data moves when they stay the same.

    `address` is that of a listener without login. Raises KafkaClusterError.
    """
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), _ANSWERS_WITHIN) as connection:
        connection.sendall(_framed(_request(replicas)))
        answer = _answer(connection)
    # Correlation id, tags, throttle time, then the error of the request as a whole.
    (code,) = struct.unpack_from(">h", answer, 9)
    if code:
        raise KafkaClusterError(f"The reassignment was refused with error code {code}")


def _request(replicas: Mapping[str, Mapping[int, Sequence[int]]]) -> bytes:
    header = struct.pack(">hhi", _ALTER_PARTITION_REASSIGNMENTS, 0, 1) + struct.pack(">h", -1)
    topics = _array(
        _string(name)
        + _array(
            struct.pack(">i", number) + _array(struct.pack(">i", r) for r in order) + b"\0"
            for number, order in partitions.items()
        )
        + b"\0"
        for name, partitions in replicas.items()
    )
    return header + b"\0" + struct.pack(">i", int(_ANSWERS_WITHIN * 1_000)) + topics + b"\0"


def _array(items: Iterable[bytes]) -> bytes:
    each = list(items)
    return _varint(len(each) + 1) + b"".join(each)


def _string(text: str) -> bytes:
    raw = text.encode()
    return _varint(len(raw) + 1) + raw


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def _answer(connection: socket.socket) -> bytes:
    (length,) = struct.unpack(">i", _exactly(connection, 4))
    return _exactly(connection, length)


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise KafkaClusterError("The broker hung up on a reassignment")
        data += more
    return data
