# SPDX-License-Identifier: Apache-2.0
"""The value of every metric of the contract, from a report in which all numbers differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import pytest

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import Snapshot
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import health_set, lag_sets, success_set
from tests.functions.sinks.reports import EVERYTHING, a_report_of_distinct_values

REPORT = a_report_of_distinct_values()
GROUPS, TOPICS = REPORT.snapshot.groups, REPORT.group_topics
PARTITIONS, SCALING = REPORT.snapshot.group_partitions, REPORT.scaling
SECONDS = 1.5

Value: TypeAlias = Callable[[], float]


def of(frame: Frame, column: str) -> Value:
    return lambda: float(frame.numbers(column).values[0])


def share(above: Value, below: Value) -> Value:
    return lambda: round(above() / below(), 3)


def number(value: float) -> Value:
    return lambda: value


# Where each value comes from, by level and metric.
OF_GROUP: dict[str, Value] = {
    contract.OFFSET_LAG: of(GROUPS, "lag"),
    contract.ESTIMATED_TIME_LAG: of(GROUPS, "time_lag_seconds"),
    # the report's group is ERR
    contract.GROUP_STATUS: number(2),
    contract.TIME_TO_DATA_LOSS: of(GROUPS, "seconds_until_loss"),
    contract.SCALING_LAG: of(SCALING, "scaling_lag"),
    contract.SCALING_LAG_PER_MEMBER: share(of(SCALING, "scaling_lag"), of(GROUPS, "members")),
    contract.TASKS_NEEDED: of(GROUPS, "tasks_needed"),
    contract.ESTIMATED_DRAIN_TIME: of(GROUPS, "drain_seconds"),
    contract.MEMBERS: of(GROUPS, "members"),
    # and prepares a rebalance
    contract.REBALANCING: number(1),
    contract.PRODUCE_RATE: of(GROUPS, "produce_rate"),
    contract.CONSUME_RATE: of(GROUPS, "consume_rate"),
    contract.UNUSUAL: number(1),
    contract.RELEASE_RISK: of(GROUPS, "release_risk"),
    contract.SLA_USED: share(of(GROUPS, "time_lag_seconds"), of(GROUPS, "sla_seconds")),
}
OF_TOPIC: dict[str, Value] = {
    contract.OFFSET_LAG: of(TOPICS, "lag"),
    contract.MAX_OFFSET_LAG: of(TOPICS, "max_lag"),
    contract.ESTIMATED_TIME_LAG: of(TOPICS, "time_lag_seconds"),
}
OF_PARTITION: dict[str, Value] = {
    contract.OFFSET_LAG: of(PARTITIONS, "lag"),
    contract.ESTIMATED_TIME_LAG: of(PARTITIONS, "time_lag_seconds"),
}
OF_REPORTER: dict[str, Value] = {
    contract.COLLECTOR_SUCCESS: number(1),
    contract.COLLECTOR_DURATION: number(SECONDS),
    contract.GROUPS_READ: number(1),
    contract.PARTITIONS_UNKNOWN: of(GROUPS, "partitions_unknown"),
    contract.PARTITIONS_UNCOMMITTED: of(GROUPS, "partitions_uncommitted"),
    # the report's partition is not OK
    contract.PARTITIONS_UNDATED: number(0),
    contract.READ_ERRORS: number(len(REPORT.problems)),
    contract.LAGS_CLAMPED: number(REPORT.lags_clamped),
    contract.TIME_LAG_LOOKUPS: number(REPORT.look_ups),
    # a budget for the reporter's own leaves out the rest
    contract.METRICS_OMITTED: number(len(OF_GROUP) + len(OF_TOPIC) + len(OF_PARTITION)),
}
# By how many dimensions a set has.
EXPECTED = {1: OF_REPORTER, 2: OF_GROUP, 3: OF_TOPIC, 4: OF_PARTITION}
ALL = Levels(**EVERYTHING)
NONE = replace(ALL, max_metrics=len(contract.HEALTH_UNITS))


def published() -> dict[tuple[int, str], float]:
    chosen, none = (plan(REPORT, Snapshot.empty(), levels) for levels in (ALL, NONE))
    sets = [
        *lag_sets(REPORT, chosen, ALL, "c"),
        health_set(REPORT, none.omitted, "c", SECONDS),
        success_set("c"),
    ]
    return {(len(one.dimensions), name): value for one in sets for name, value in one.values}


FOUND = published()


@pytest.mark.parametrize(("level", "metric"), FOUND)
def test_a_metric_has_the_value_of_its_column(level: int, metric: str) -> None:
    assert metric in EXPECTED[level], f"say in {__name__} where the value comes from"
    assert FOUND[level, metric] == EXPECTED[level][metric]()


def test_every_metric_of_the_contract_is_published_at_its_levels() -> None:
    expected = {(level, metric) for level, metrics in EXPECTED.items() for metric in metrics}
    assert set(FOUND) == expected
    assert {metric for _, metric in expected} == set(contract.METRIC_UNITS)


def test_no_two_columns_hold_the_same_value() -> None:
    """Else a metric could be read from the wrong one unseen. Two that are true look alike."""
    frames = (GROUPS, TOPICS, PARTITIONS, SCALING)
    columns = [column for frame in frames for column in frame.columns.values()]
    values = [v for column in columns for v in column.to_list() if type(v) in {int, float}]
    assert len(set(values)) == len(values) > 50
