# SPDX-License-Identifier: Apache-2.0
"""Metrics by OTLP in OpenTelemetry's words: names of metrics and attributes.

OpenTelemetry's Kafka receiver has names for lag by partition, its sum by topic, and members
[opentelemetry-collector-contrib kafkametricsreceiver metadata]. All other metrics follow the same
pattern, because the receiver has no name for them.
"""

import re
from collections.abc import Collection

from kafka_lag.contract import metrics

OTEL_ATTRIBUTES = {
    metrics.DIMENSION_CLUSTER: "kafka.cluster.alias",
    metrics.DIMENSION_GROUP: "group",
    metrics.DIMENSION_TOPIC: "topic",
    metrics.DIMENSION_PARTITION: "partition",
}
# Points that CloudWatch takes in one request.
MOST_POINTS = 1_000

_OF_A_GROUP, _OF_THE_REPORTER = "kafka.consumer_group.", "kafka_lag."
# A group's sum has another name than those of its topics, or it would be counted twice.
_LAGS = {
    metrics.DIMENSION_PARTITION: "lag",
    metrics.DIMENSION_TOPIC: "lag_sum",
    metrics.DIMENSION_GROUP: "lag_of_all_topics",
}
_TIME_LAG = "time_lag"
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def name_otel_metric(metric: str, dimensions: Collection[str]) -> str:
    """Returns OpenTelemetry's name of a metric with these dimensions."""
    if metric in metrics.HEALTH_UNITS:
        return _OF_THE_REPORTER + _WORD.sub("_", metric).lower()
    if metric == metrics.OFFSET_LAG:
        return _OF_A_GROUP + next(name for finest, name in _LAGS.items() if finest in dimensions)
    if metric == metrics.ESTIMATED_TIME_LAG:
        return _OF_A_GROUP + _TIME_LAG
    return _OF_A_GROUP + _WORD.sub("_", metric).lower()
