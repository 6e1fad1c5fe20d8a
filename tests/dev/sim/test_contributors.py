# SPDX-License-Identifier: Apache-2.0
"""Alarms on a query with GROUP BY: a state for each series that it returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dev.sim.cloudwatch import Metrics, Series, contributor_states

QUERY = (
    'SELECT MAX(GroupStatus) FROM SCHEMA("KafkaLag","Cluster Name","Consumer Group") '
    "WHERE \"Cluster Name\"='shop' "
    'GROUP BY "Cluster Name","Consumer Group" ORDER BY MAX() DESC'
)
ANY_GROUP: Mapping[str, Any] = {
    "Metrics": [{"Id": "worst", "Expression": QUERY, "Period": 60, "ReturnData": True}],
    "EvaluationPeriods": 5,
    "DatapointsToAlarm": 3,
    "Threshold": 2,
    "ComparisonOperator": "GreaterThanOrEqualToThreshold",
    "TreatMissingData": "missing",
}


def status(cluster: str, *more: tuple[str, str]) -> Series:
    return Series.of("KafkaLag", "GroupStatus", dict((("Cluster Name", cluster), *more)))


def group(name: str, cluster: str = "shop") -> Series:
    return status(cluster, ("Consumer Group", name))


def metrics_of(values: Mapping[Series, list[int]]) -> Metrics:
    metrics = Metrics()
    for series, statuses in values.items():
        for minute, value in enumerate(statuses):
            metrics.put(series, minute, value)
    return metrics


def test_only_the_level_and_cluster_of_the_query_are_its_series() -> None:
    topics = status("shop", ("Consumer Group", "a"), ("Topic", "t"))
    values = {group("a"): [0], status("shop"): [2], group("a", "bank"): [2], topics: [2]}
    observed = contributor_states(ANY_GROUP, metrics_of(values), range(10))
    assert list(observed) == [("shop", "a")]


def test_series_that_the_query_leaves_out_are_none_of_its_own() -> None:
    query = QUERY.replace(
        "'shop' ", "'shop' AND \"Consumer Group\"!='b' AND \"Consumer Group\"!='c' "
    )
    alarm = {**ANY_GROUP, "Metrics": [{"Id": "q", "Expression": query, "Period": 60}]}
    values = {group(name): [2] for name in "abcd"}
    observed = contributor_states(alarm, metrics_of(values), range(10))
    assert list(observed) == [("shop", "a"), ("shop", "d")]


@pytest.mark.parametrize(
    "query",
    [
        'SELECT MAX(GroupStatus) FROM "KafkaLag"',
        QUERY.replace('GROUP BY "Cluster Name",', "GROUP BY "),
        QUERY.replace("'shop'", '"shop"'),
    ],
)
def test_a_query_of_another_shape_is_refused(query: str) -> None:
    alarm = {**ANY_GROUP, "Metrics": [{"Id": "q", "Expression": query, "Period": 60}]}
    with pytest.raises(ValueError, match="not a query that is modelled"):
        contributor_states(alarm, Metrics(), range(1))
