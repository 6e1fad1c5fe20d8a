# SPDX-License-Identifier: Apache-2.0
"""The levels that the contract tells, and a deploy reckons with, are those published."""

from __future__ import annotations

import re

from kafka_lag import contract
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import Snapshot
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import health_set, lag_sets, success_set
from tests.functions.sinks.reports import a_report


def published(requested: Levels) -> dict[int, list[str]]:
    """Names of metrics by how many dimensions their set has, of one partition."""
    report = a_report({"billing": {"orders": 1}})
    chosen = plan(report, Snapshot.empty(), requested)
    return {
        len(one.dimensions): sorted(name for name, _ in one.values)
        for one in lag_sets(report, chosen, requested, "c")
    }


def test_the_reporters_own_metrics_are_those_that_it_publishes() -> None:
    report = a_report({"billing": {"orders": 1}})
    chosen = plan(report, Snapshot.empty(), Levels())
    sets = (health_set(report, chosen, "c", 1.0), success_set("c"))
    result = [name for one in sets for name, _ in one.values]
    assert sorted(result) == sorted(contract.HEALTH_UNITS)


def test_groups_topics_and_partitions_have_the_metrics_that_are_published() -> None:
    found = published(Levels(partition_groups=NameFilter()))
    assert list(found.values()) == [
        sorted(contract.GROUP_METRICS),
        sorted(contract.LAG_METRICS),
        sorted(contract.LAG_METRICS),
    ]


def test_a_group_that_is_scaled_has_those_of_scaling_too() -> None:
    found = published(Levels(scaling=NameFilter(allow=re.compile("billing"))))
    assert next(iter(found.values())) == sorted(
        (*contract.GROUP_METRICS, *contract.SCALING_METRICS)
    )


def test_every_name_is_one_of_the_contract() -> None:
    names = {*contract.HEALTH_UNITS, *contract.GROUP_METRICS, *contract.SCALING_METRICS}
    assert names <= set(contract.METRIC_UNITS)
