# SPDX-License-Identifier: Apache-2.0
"""Reads OTLP requests as an endpoint gets them, with OpenTelemetry's own classes."""

from __future__ import annotations

import gzip
from typing import TypeAlias

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

# A point: its metric's name, attributes, value and time (ns).
Point: TypeAlias = tuple[str, dict[str, str | int], float, int]


def decode_request(packed: bytes) -> ExportMetricsServiceRequest:
    """Returns the request in a body that is compressed by gzip."""
    request = ExportMetricsServiceRequest()
    request.ParseFromString(gzip.decompress(packed))
    return request


def points_of(request: ExportMetricsServiceRequest) -> list[Point]:
    """Returns the points of all gauges."""
    return [
        (
            metric.name,
            {each.key: _value_of(each.value) for each in point.attributes},
            point.as_double,
            point.time_unix_nano,
        )
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.gauge.data_points
    ]


def _value_of(value: AnyValue) -> str | int:
    return value.int_value if value.HasField("int_value") else value.string_value
