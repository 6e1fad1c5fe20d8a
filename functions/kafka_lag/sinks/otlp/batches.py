# SPDX-License-Identifier: Apache-2.0
"""Metric sets as OTLP requests: gauges under the metrics' names, dimensions as attributes.

Names are those that Kafka has, not CloudWatch's legal forms: OTLP carries any text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Gauge, Metric, NumberDataPoint

from kafka_lag import contract
from kafka_lag.sinks.metrics import MetricSet

# UCUM; receivers for Prometheus append what is not in braces to the name, and "1" as "_ratio".
_UNITS = {contract.SECONDS: "s", contract.COUNT: "{count}", contract.NO_UNIT: ""}
_SERVICE = "service.name"
_NS_PER_MS = 1_000_000
# More than the tags and lengths that wrap a point, and a metric's name and unit.
_WRAPPING, _HEAD = 12, 128


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one request: CloudWatch takes 1,000 points; a megabyte, uncompressed, everybody takes."""

    points: int = 1_000
    size: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Batch:
    """One request's body, and how many points are in it."""

    body: bytes
    points: int


def batches(
    sets: Iterable[MetricSet], taken_at: int, namespace: str, limits: Limits
) -> Iterator[Batch]:
    """All points at the scheduled time (ms UTC), within the limits; a larger point goes alone."""
    gathered: dict[str, list[NumberDataPoint]] = {}
    points = size = 0
    for name, point in _points(sets, taken_at * _NS_PER_MS):
        more = point.ByteSize() + _WRAPPING
        if points and (points == limits.points or size + more + _HEAD > limits.size):
            yield _batch(gathered, points, namespace)
            gathered, points, size = {}, 0, 0
        size += more if name in gathered else more + _HEAD
        gathered.setdefault(name, []).append(point)
        points += 1
    if points:
        yield _batch(gathered, points, namespace)


def _points(sets: Iterable[MetricSet], at_ns: int) -> Iterator[tuple[str, NumberDataPoint]]:
    for one in sets:
        attributes = [_attribute(name, value) for name, value in one.dimensions]
        for name, value in one.values:
            yield (
                name,
                NumberDataPoint(
                    time_unix_nano=at_ns, as_double=float(value), attributes=attributes
                ),
            )


def _batch(gathered: dict[str, list[NumberDataPoint]], points: int, namespace: str) -> Batch:
    request = ExportMetricsServiceRequest()
    resource = request.resource_metrics.add()
    resource.resource.attributes.append(_attribute(_SERVICE, namespace))
    scope = resource.scope_metrics.add()
    scope.scope.name = namespace
    scope.metrics.extend(
        Metric(
            name=name,
            unit=_UNITS[contract.METRIC_UNITS[name]],
            gauge=Gauge(data_points=those),
        )
        for name, those in gathered.items()
    )
    return Batch(request.SerializeToString(), points)


def _attribute(name: str, value: str) -> KeyValue:
    # Half a surrogate pair is no text in any encoding, and protobuf would refuse the whole point.
    text = value.encode("utf-8", "backslashreplace").decode()
    return KeyValue(key=name, value=AnyValue(string_value=text))
