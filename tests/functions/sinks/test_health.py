# SPDX-License-Identifier: Apache-2.0
"""What the reporter says of itself, in full whatever it read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import MetricSet, health_set, success_set
from tests.functions.sinks.reports import a_report, with_groups

REPORT = a_report({"g": {"orders": 2, "bills": 1}})


def health(report: LagReport) -> MetricSet:
    levels = Levels(max_metrics=len(contract.HEALTH_UNITS))
    return health_set(report, plan(report, Snapshot.empty(), levels), "c", 1.23456)


def test_health_is_published_under_the_cluster_alone_to_the_millisecond() -> None:
    one = health(a_report({"g": {"orders": 1}, "h": {"orders": 1}}))
    assert one.dimensions == (("Cluster Name", "c"),)
    assert dict(one.values)["CollectorDuration"] == 1.235
    assert dict(one.values)["GroupsRead"] == 2


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"unread_reason": Strings.of([contract.DENIED])}, id="unread"),
        pytest.param({"status_reason": Strings.of([contract.GONE])}, id="gone"),
        pytest.param({"read_at": Column.unknown(1)}, id="other-protocol"),
    ],
)
def test_a_group_whose_commits_were_not_read_is_no_group_read(columns: dict[str, Any]) -> None:
    assert dict(health(with_groups(REPORT, **columns)).values)["GroupsRead"] == 0


def test_partitions_that_are_ok_by_a_lower_bound_of_their_age_alone_are_counted() -> None:
    report = a_report({"g": {"orders": 5}})
    rows = report.snapshot.group_partitions.with_columns(
        status=Strings.of([contract.OK, contract.OK, contract.OK, contract.STOP, None]),
        lag=Column.optional([1, 1, 0, 1, 1]),
        time_lag_error_seconds=Column.optional([None, 1.0, None, None, None], np.float64),
    )
    report = replace(report, snapshot=replace(report.snapshot, group_partitions=rows))
    assert dict(health(report).values)["PartitionsUndated"] == 1


def test_of_no_group_all_is_said_that_the_budget_reserves() -> None:
    values = dict((*health(a_report({})).values, *success_set("c").values))
    assert sorted(values) == sorted(contract.HEALTH_UNITS)
    report = with_groups(REPORT, partitions_unknown=Column.unknown(1))
    assert dict(health(report).values)["PartitionsUnknown"] == values["PartitionsUnknown"] == 0
