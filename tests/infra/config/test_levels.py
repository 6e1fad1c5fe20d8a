# SPDX-License-Identifier: Apache-2.0
"""The levels that a deploy reckons with are those of the collector's own code."""

from __future__ import annotations

import re

from functions import contract
from functions.lag.model import Snapshot
from functions.lag.rules import NameFilter
from functions.sinks.budget import HEALTH_METRICS, Levels, plan
from functions.sinks.metrics import lag_sets
from infra.config.levels import GROUP, HEALTH, LAGS, SCALING
from tests.functions.sinks.reports import a_report


def published(asked: Levels) -> dict[int, list[str]]:
    """Names of metrics by how many dimensions their set has, of one partition."""
    report = a_report({"billing": {"orders": 1}})
    chosen = plan(report, Snapshot.empty(), asked)
    return {
        len(one.dimensions): sorted(name for name, _ in one.values)
        for one in lag_sets(report, chosen, asked, "c")
    }


def test_the_reporters_own_metrics_are_those_that_it_publishes() -> None:
    assert sorted(HEALTH) == sorted(HEALTH_METRICS)


def test_groups_topics_and_partitions_have_the_metrics_that_are_published() -> None:
    found = published(Levels(partition_groups=NameFilter()))
    assert list(found.values()) == [sorted(GROUP), sorted(LAGS), sorted(LAGS)]


def test_a_group_that_is_scaled_has_those_of_scaling_too() -> None:
    found = published(Levels(scaling=NameFilter(allow=re.compile("billing"))))
    assert next(iter(found.values())) == sorted((*GROUP, *SCALING))


def test_every_name_is_one_of_the_contract() -> None:
    assert {*HEALTH, *GROUP, *SCALING} <= set(contract.METRIC_UNITS)
