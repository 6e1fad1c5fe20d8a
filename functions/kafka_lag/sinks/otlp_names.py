# SPDX-License-Identifier: Apache-2.0
"""Names of metrics and attributes over OTLP: those of CloudWatch, or those of OpenTelemetry.

OpenTelemetry's Kafka receiver has names for lag by partition, its sum by topic, and members
[opentelemetry-collector-contrib kafkametricsreceiver metadata]. All other metrics follow the same
pattern, because the receiver has no name for them.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.sinks.config import OTEL_NAMES
from kafka_lag.sinks.metric_sets import MetricSet

_ATTRIBUTES = {
    contract.DIMENSION_CLUSTER: "kafka.cluster.alias",
    contract.DIMENSION_GROUP: "group",
    contract.DIMENSION_TOPIC: "topic",
    contract.DIMENSION_PARTITION: "partition",
}
_OF_A_GROUP, _OF_THE_REPORTER = "kafka.consumer_group.", "kafka_lag."
# A group's sum has another name than those of its topics, or it would be counted twice.
_LAGS = {"partition": "lag", "topic": "lag_sum", "group": "lag_of_all_topics"}
_TIME_LAG = "time_lag"
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


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
                _otel_metric(metric, dimensions) if otel else metric,
                contract.METRIC_UNITS[metric],
                value,
            )
            for metric, value in one.values
        ),
    )


def _otel_attribute(dimension: str, value: str) -> tuple[str, str | int]:
    number = dimension == contract.DIMENSION_PARTITION
    return _ATTRIBUTES[dimension], int(value) if number else value


def _otel_metric(metric: str, dimensions: AbstractSet[str]) -> str:
    if metric in contract.HEALTH_UNITS:
        return _OF_THE_REPORTER + _WORD.sub("_", metric).lower()
    if metric == contract.OFFSET_LAG:
        return _OF_A_GROUP + _LAGS[_level(dimensions)]
    if metric == contract.ESTIMATED_TIME_LAG:
        return _OF_A_GROUP + _TIME_LAG
    return _OF_A_GROUP + _WORD.sub("_", metric).lower()


def _level(dimensions: AbstractSet[str]) -> str:
    if contract.DIMENSION_PARTITION in dimensions:
        return "partition"
    return "topic" if contract.DIMENSION_TOPIC in dimensions else "group"
