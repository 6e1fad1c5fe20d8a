# SPDX-License-Identifier: Apache-2.0
"""OTLP's messages in protobuf: requests with gauges, and the answer to one.

Only fields that are sent or read here are known [opentelemetry-proto v1: metrics, common,
metrics_service]. OpenTelemetry's own classes build an object for each attribute of each point,
which takes five times the CPU. Here the points of a set share the bytes of their attributes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from kafka_lag import contract
from kafka_lag.contract.otlp import MOST_POINTS
from kafka_lag.sinks.config import CLOUDWATCH_NAMES
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag.sinks.otlp_names import name_attribute, name_metric

# UCUM; Prometheus receivers append to the name what is not in braces, and "1" as "_ratio".
_UNITS = {
    contract.SECONDS: "s",
    contract.COUNT: "{count}",
    contract.NO_UNIT: "",
    contract.PER_SECOND: "{count}/s",
}
_NS_PER_MS = 1_000_000
# Upper bound for the tags and lengths around the points of a metric, its name and its unit.
_METRIC_OVERHEAD = 128

# Types of fields: a number of 7 bits a byte, 8 bytes, bytes after their length, 4 bytes.
_NUMBER, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_LENGTHS = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
_MORE = 0x80
_MOST_BITS = 64

# A metric's name and unit over OTLP.
_Metric: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of a request: CloudWatch takes 1,000 points, and all endpoints a megabyte,
    uncompressed.
    """

    points: int = MOST_POINTS
    size: int = 1_000_000


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """One request's body, and how many points are in it."""

    body: bytes
    points: int


@dataclass(frozen=True, slots=True)
class PartialSuccess:
    """What an endpoint says of a request that it took: points that it rejected, and a message."""

    rejected: int = 0
    message: str = ""


def encode_requests(
    sets: Iterable[MetricSet],
    taken_at: int,
    namespace: str,
    limits: RequestLimits,
    names: str = CLOUDWATCH_NAMES,
) -> Iterator[EncodedRequest]:
    """Yields requests with all points at the scheduled time (ms UTC), within the limits.

    A point that is larger gets its own request.
    """
    by_metric: dict[_Metric, list[bytes]] = {}
    points = size = 0
    for metric, point in _points(sets, taken_at * _NS_PER_MS, names):
        more = len(point)
        if points and (points == limits.points or size + more + _METRIC_OVERHEAD > limits.size):
            yield EncodedRequest(_encode_request(by_metric, namespace), points)
            by_metric, points, size = {}, 0, 0
        if metric not in by_metric:
            by_metric[metric] = []
            size += _METRIC_OVERHEAD
        by_metric[metric].append(point)
        size += more
        points += 1
    if points:
        yield EncodedRequest(_encode_request(by_metric, namespace), points)


def decode_answer(data: bytes) -> PartialSuccess:
    """Returns what an ExportMetricsServiceResponse says. Raises ValueError if it is none."""
    fields = dict(_read_fields(dict(_read_fields(data)).get(1, b"")))
    rejected, message = fields.get(1, 0), fields.get(2, b"")
    if not isinstance(rejected, int) or not isinstance(message, bytes):
        raise ValueError("no ExportMetricsServiceResponse")
    # A signed number is sent as one of 64 bits.
    negative = rejected >> (_MOST_BITS - 1)
    return PartialSuccess(0 if negative else rejected, message.decode(errors="replace"))


def _points(sets: Iterable[MetricSet], at_ns: int, names: str) -> Iterator[tuple[_Metric, bytes]]:
    """Yields each point, as a field of its gauge, with its metric."""
    double = struct.Struct("<d")
    tag = _tag(1, _BYTES)
    until_value = _tag(3, _EIGHT_BYTES) + struct.pack("<Q", at_ns) + _tag(4, _EIGHT_BYTES)
    for one in sets:
        attributes = b"".join([_attribute(names, *each) for each in one.dimensions])
        length = len(until_value) + double.size + len(attributes)
        begin = tag + _number(length) + until_value
        dimensions = tuple([name for name, _ in one.dimensions])
        for metric, value in one.values:
            yield _metric(names, metric, dimensions), begin + double.pack(value) + attributes


# A run has a handful of metrics, and a few thousand names of groups and topics.
@lru_cache(maxsize=256)
def _metric(names: str, metric: str, dimensions: tuple[str, ...]) -> _Metric:
    return name_metric(names, metric, dimensions), _UNITS[contract.METRIC_UNITS[metric]]


@lru_cache(maxsize=8192)
def _attribute(names: str, dimension: str, value: str) -> bytes:
    """Returns an attribute as a field of its point."""
    return _key_value(7, *name_attribute(names, dimension, value))


def _encode_request(by_metric: Mapping[_Metric, list[bytes]], namespace: str) -> bytes:
    metrics = [
        _message(2, _text(1, name), _text(3, unit), _message(5, *points))
        for (name, unit), points in by_metric.items()
    ]
    resource = _message(1, _key_value(1, "service.name", namespace))
    scope = _message(1, _text(1, namespace))
    return _message(1, resource, _message(2, scope, *metrics))


def _key_value(field: int, key: str, value: str | int) -> bytes:
    any_value = _tag(3, _NUMBER) + _number(value) if isinstance(value, int) else _text(1, value)
    return _message(field, _text(1, key), _message(2, any_value))


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())


def _message(field: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return _tag(field, _BYTES) + _number(len(body)) + body


def _tag(field: int, kind: int) -> bytes:
    return _number(field << 3 | kind)


def _number(value: int) -> bytes:
    """Returns a number from 0, in 7 bits a byte, the lowest first."""
    encoded = bytearray()
    while value >= _MORE:
        encoded.append(value % _MORE | _MORE)
        value //= _MORE
    encoded.append(value)
    return bytes(encoded)


def _read_fields(message: int | bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yields the fields of a message, numbers and bytes. Raises ValueError if it is none."""
    if isinstance(message, int):
        raise ValueError("a number is no message")
    at = 0
    while at < len(message):
        tag, at = _read_number(message, at)
        kind = tag & 7
        if kind == _NUMBER:
            number, at = _read_number(message, at)
            yield tag >> 3, number
            continue
        length = _LENGTHS.get(kind)
        if kind == _BYTES:
            length, at = _read_number(message, at)
        if length is None or at + length > len(message):
            raise ValueError("a field of no known type, or without an end")
        yield tag >> 3, message[at : at + length]
        at += length


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    """Returns a number, and the place behind it."""
    number = 0
    for shift in range(0, _MOST_BITS, 7):
        if at == len(data):
            break
        byte = data[at]
        at += 1
        number |= byte % _MORE << shift
        if byte < _MORE:
            return number, at
    raise ValueError("a number without an end")
