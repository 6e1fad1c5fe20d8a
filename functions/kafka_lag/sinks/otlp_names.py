# SPDX-License-Identifier: Apache-2.0
"""Names of metrics and attributes over OTLP: those of CloudWatch, or those of OpenTelemetry."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.contract.otlp import OTEL_ATTRIBUTES, name_otel_metric
from kafka_lag.sinks.config import OTEL_NAMES
from kafka_lag.sinks.metric_sets import MetricSet


@dataclass(frozen=True, slots=True)
class NamedMetrics:
    """A set's attributes, and its metrics: name, the contract's unit and value."""

    attributes: tuple[tuple[str, str | int], ...]
    metrics: tuple[tuple[str, str, float], ...]


def name_for(names: str, one: MetricSet) -> NamedMetrics:
    """Returns a set with the names of an endpoint; OpenTelemetry's `partition` is a number."""
    otel = names == OTEL_NAMES
    dimensions = {name for name, _ in one.dimensions}
    return NamedMetrics(
        tuple(_otel_attribute(*each) if otel else each for each in one.dimensions),
        tuple(
            (
                name_otel_metric(metric, dimensions) if otel else metric,
                contract.METRIC_UNITS[metric],
                value,
            )
            for metric, value in one.values
        ),
    )


def _otel_attribute(dimension: str, value: str) -> tuple[str, str | int]:
    number = dimension == contract.DIMENSION_PARTITION
    return OTEL_ATTRIBUTES[dimension], int(value) if number else value
