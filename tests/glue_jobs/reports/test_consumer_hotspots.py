# SPDX-License-Identifier: Apache-2.0
"""Lag and consumption by member: each case is a group."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.reports.consumer_hotspots import consumer_hotspots
from tests.glue_jobs.days import Row
from tests.glue_jobs.reports.frames import SEGMENTS, found_in, rows_of, watched

pytestmark = pytest.mark.spark


def owned(partition: int, member: str | None, total: int | None = None, **more: Any) -> Row:
    """A partition under a member, with the sum of its lag in `lags` of `reads` runs."""
    row = {"partition_id": partition, "member_id": member, "lag_sum": total, "reads": 1}
    return {**row, "lags": 0 if total is None else 1, "client_host": "h", **more}


def commit(first: int, last: int, *, since: int = 0, until: int = 100, times: int = 2) -> Row:
    """What a segment saw of the group's commit."""
    return watched("committed", first, last, times=times, since=since, until=until)


# segments, rows by member
CASES: dict[str, tuple[list[Row], dict[str | None, Row]]] = {
    "shares": (
        [owned(0, "a", 60), owned(1, "a", 0), owned(2, "b", 40), owned(2, "b", 20, topic="t")],
        {
            "a": {
                "partitions_owned": 2.0,
                "partitions_share": 0.5,
                "lag_mean": 60.0,
                "lag_share": 0.5,
                "lag_to_partitions": 1.0,
                "hot": False,
            },
            "b": {"partitions_owned": 2.0, "lag_mean": 60.0},
        },
    ),
    "a partition that changed hands counts by its runs": (
        [owned(0, "a", 60, reads=3, lags=3), owned(0, "b", 500, reads=1)],
        {
            "a": {"partitions_owned": 0.75, "lag_mean": 15.0},
            "b": {"partitions_owned": 0.25, "lag_mean": 125.0},
        },
    ),
    "owned by nobody": (
        [owned(0, None, 10, client_host=None), owned(1, "a", 30)],
        {None: {"lag_mean": 10.0, "lag_share": 0.25}, "a": {"lag_share": 0.75}},
    ),
    "consumed": (
        [
            owned(0, "a", **commit(10, 40)),
            owned(1, "a", **commit(90, 10)),
            owned(2, "a", **commit(7, 7, times=1)),
            owned(3, "b", **commit(7, 7, times=1)),
        ],
        {"a": {"consumed": 30}, "b": {"consumed": None}},
    ),
    "consumed while the leader changed": (
        [
            owned(0, "a", leader=2, **commit(60, 70, since=50)),
            owned(0, "a", leader=1, **commit(10, 40, until=40)),
        ],
        {"a": {"consumed": 60, "partitions_owned": 1.0}},
    ),
    "consumed of a topic made anew": (
        [
            owned(0, "a", topic_id="old", **commit(500, 540, until=40)),
            owned(0, "a", topic_id="new", **commit(0, 5, since=50)),
        ],
        {"a": {"consumed": 45, "partitions_owned": 1.0}},
    ),
    "lag unknown under one member": (
        [owned(0, "a"), owned(1, "b", 30)],
        {
            "a": {"partitions_owned": 1.0, "lag_mean": None, "lag_share": None, "hot": None},
            "b": {"lag_mean": 30.0, "lag_share": 1.0, "lag_to_partitions": 2.0, "hot": False},
        },
    ),
    "nobody lags": (
        [owned(0, "a", 0), owned(1, "b", 0)],
        {"a": {"lag_mean": 0.0, "lag_share": None, "lag_to_partitions": None, "hot": False}},
    ),
    "hot": (
        [owned(0, "a", 250), owned(1, "b", 50), owned(2, "c", 50), owned(3, None, 50)],
        {"a": {"lag_to_partitions": 2.5, "hot": True}, None: {"hot": False}},
    ),
    "hot for its part of a partition": (
        [owned(0, "a", 300, reads=1), owned(0, "b", 0, reads=3, lags=1), owned(1, "b", 10)],
        {"a": {"lag_mean": 150.0, "lag_to_partitions": 7.5, "hot": False}},
    ),
    "too little lag to be hot": (
        [owned(0, "a", 133), owned(1, "b", 0), owned(2, "c", 0), owned(3, "d", 0)],
        {"a": {"lag_to_partitions": 4.0, "hot": False}},
    ),
}


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[tuple[str, str | None], Any]:
    segments = [
        {"consumer_group": case, **row} for case, (rows, _) in CASES.items() for row in rows
    ]
    same_name = owned(0, "a", 1000, cluster="other", consumer_group="shares")
    report = consumer_hotspots(rows_of(spark, SEGMENTS, [*segments, same_name]))
    rows = [row for row in found_in(report) if row["cluster"] == "demo"]
    return {(row["consumer_group"], row["member_id"]): row for row in rows}


@pytest.mark.parametrize("case", CASES)
def test_members(found: dict[tuple[str, str | None], Any], case: str) -> None:
    for member, expected in CASES[case][1].items():
        row = found[case, member]
        assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_each_member_has_one_row(found: dict[tuple[str, str | None], Any]) -> None:
    assert found.keys() == {
        (case, row["member_id"]) for case, (rows, _) in CASES.items() for row in rows
    }
