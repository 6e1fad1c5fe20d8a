# SPDX-License-Identifier: Apache-2.0
"""The values that the model of CloudWatch keeps of the collector's lines."""

from __future__ import annotations

import io

import pytest

from dev.sim.cloudwatch import Metrics, Series
from kafka_lag import contract
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import MetricSet
from tests.builders import MINUTE, NOON

DIMENSIONS = ((contract.DIMENSION_CLUSTER, "shop"), (contract.DIMENSION_GROUP, "billing"))
LAG = Series.of("KafkaLag", contract.OFFSET_LAG, dict(DIMENSIONS))


def lines(minute: int, lag: float) -> list[str]:
    stream = io.StringIO()
    observed = MetricSet(
        DIMENSIONS, ((contract.OFFSET_LAG, lag), (contract.ESTIMATED_TIME_LAG, 1.5))
    )
    EmfSink(stream).publish([observed], NOON + minute * MINUTE)
    return stream.getvalue().splitlines()


def test_a_line_of_the_collector_is_a_value_of_its_minute_under_its_dimensions() -> None:
    metrics = Metrics(NOON)
    metrics.feed(lines(3, 7))
    assert metrics.point(LAG, "Maximum", range(3, 4), 3) == 7
    assert metrics.point(LAG, "Maximum", range(3), 3) is None


@pytest.mark.parametrize(
    ("statistic", "value"),
    [("Maximum", 9), ("Minimum", 7), ("Average", 23 / 3), ("Sum", 23), ("SampleCount", 3)],
)
def test_a_line_that_is_delivered_twice_counts_twice(statistic: str, value: float) -> None:
    metrics = Metrics(NOON)
    metrics.feed([*lines(0, 7), *lines(0, 7), *lines(1, 9)])
    assert metrics.point(LAG, statistic, range(2), 1) == value


def test_a_late_value_is_seen_from_its_arrival_on_in_its_own_minute() -> None:
    metrics = Metrics(NOON)
    metrics.feed(lines(0, 7), delay=2)
    assert [metrics.point(LAG, "Maximum", range(1), seen) for seen in range(4)] == [
        None,
        None,
        7,
        7,
    ]
