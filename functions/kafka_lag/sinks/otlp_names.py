# SPDX-License-Identifier: Apache-2.0
"""Names of metrics and attributes over OTLP: those of CloudWatch, or those of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Collection

from kafka_lag import contract
from kafka_lag.contract.otlp import OTEL_ATTRIBUTES, name_otel_metric
from kafka_lag.sinks.config import OTEL_NAMES


def name_metric(names: str, metric: str, dimensions: Collection[str]) -> str:
    """Returns an endpoint's name of a metric with these dimensions."""
    return name_otel_metric(metric, dimensions) if names == OTEL_NAMES else metric


def name_attribute(names: str, dimension: str, value: str) -> tuple[str, str | int]:
    """Returns an endpoint's attribute for a dimension; OpenTelemetry's `partition` is a number."""
    if names != OTEL_NAMES:
        return dimension, value
    number = dimension == contract.DIMENSION_PARTITION
    return OTEL_ATTRIBUTES[dimension], int(value) if number else value
