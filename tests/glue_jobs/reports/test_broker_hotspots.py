# SPDX-License-Identifier: Apache-2.0
"""Lag and production by broker: each case is a cluster."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.reports.broker_hotspots import broker_hotspots
from tests.glue_jobs.days import Row
from tests.glue_jobs.reports.frames import SEGMENTS, TOPIC_SEGMENTS, found_in, rows_of

pytestmark = pytest.mark.spark


def led(partition: int, leader: int | None, rack: str | None = "a", **more: Any) -> Row:
    """A partition of the topic under a leader, read `reads` times until `last_at`."""
    row = {"partition_id": partition, "leader": leader, "leader_rack": rack, "last_at": 100}
    return {**row, **more}


def lag(partition: int, leader: int | None, total: int | None, lags: int = 1, **more: Any) -> Row:
    """A group's partition under a leader, with the sum of its lag in so many runs."""
    row = {"partition_id": partition, "leader": leader, "lag_sum": total, "lags": lags}
    return {**row, **more}


# topic segments, group segments, rows by leader and rack
CASES: dict[str, tuple[list[Row], list[Row], dict[tuple[int | None, str | None], Row]]] = {
    "shares": (
        [
            led(0, 1, end_first=0, end_last=300, ends=2),
            led(1, 1, end_first=5, end_last=5, ends=1),
            led(2, 2, "b", end_first=10, end_last=110, ends=2),
            led(3, 2, "b", end_first=90, end_last=10, ends=2),
        ],
        [lag(0, 1, 60), lag(2, 2, 20, consumer_group="a"), lag(2, 2, 40, lags=2)],
        {
            (1, "a"): {
                "partitions_led": 2.0,
                "partitions_share": 0.5,
                "produced": 300,
                "produce_share": 0.75,
                "lag_mean": 60.0,
                "lag_share": 0.6,
                "lag_to_partitions": 1.2,
                "hot": False,
            },
            (2, "b"): {"partitions_led": 2.0, "produced": 100, "lag_mean": 40.0, "lag_share": 0.4},
        },
    ),
    "a partition that moved counts by its runs": (
        [
            led(0, 1, reads=3, end_first=0, end_last=30, ends=3),
            led(0, 2, reads=1, end_first=40, end_last=40, ends=1),
        ],
        [lag(0, 1, 60, lags=3), lag(0, 2, 500, lags=1)],
        {
            (1, "a"): {"partitions_led": 0.75, "produced": 30, "lag_mean": 15.0},
            (2, "a"): {"partitions_led": 0.25, "produced": None, "lag_mean": 125.0},
        },
    ),
    "a topic made anew is the same partition": (
        [
            led(0, 1, topic_id="old", end_first=0, end_last=30, ends=2),
            led(0, 1, topic_id="new", end_first=0, end_last=5, ends=2),
        ],
        [lag(0, 1, 60, lags=3, topic_id="old"), lag(0, 1, 40, topic_id="new")],
        {(1, "a"): {"partitions_led": 1.0, "produced": 35, "lag_mean": 25.0}},
    ),
    "lag goes to a leader's newest rack": (
        [led(0, 1, "old", last_at=50), led(0, 1, "new", last_at=90), led(1, 1, None, last_at=70)],
        [lag(0, 1, 8)],
        {
            (1, "old"): {"lag_mean": 0.0},
            (1, "new"): {"lag_mean": 8.0},
            (1, None): {"lag_mean": 0.0, "partitions_led": 1.0},
        },
    ),
    "of racks seen at once the least, a known one first": (
        [led(0, 1, None), led(1, 1, "b"), led(2, 1, "a")],
        [lag(0, 1, 8)],
        {
            (1, None): {"lag_mean": 0.0},
            (1, "b"): {"lag_mean": 0.0},
            (1, "a"): {"lag_mean": 8.0},
        },
    ),
    "without a leader": (
        [led(0, None, None), led(1, 1)],
        [lag(0, None, 30), lag(1, 1, 10)],
        {(None, None): {"partitions_led": 1.0, "lag_mean": 30.0}, (1, "a"): {"lag_mean": 10.0}},
    ),
    "a leader that only groups know": (
        [led(0, 1)],
        [lag(0, 1, 10), lag(1, 2, 30)],
        {
            (1, "a"): {"partitions_share": 1.0, "lag_share": 0.25},
            (2, None): {
                "partitions_led": 0.0,
                "partitions_share": 0.0,
                "produced": None,
                "lag_mean": 30.0,
                "lag_to_partitions": None,
                "hot": False,
            },
        },
    ),
    "topics were never read": (
        [],
        [lag(0, 1, 500)],
        {(1, None): {"partitions_led": 0.0, "partitions_share": None, "produce_share": None}},
    ),
    "lag was never known": (
        [led(0, 1)],
        [lag(0, 1, None, lags=0)],
        {(1, "a"): dict.fromkeys(("lag_mean", "lag_share", "lag_to_partitions", "hot"))},
    ),
    "nobody lags": (
        [led(0, 1, end_first=4, end_last=4, ends=2), led(1, 2)],
        [lag(0, 1, 0)],
        {
            (1, "a"): {"lag_mean": 0.0, "lag_share": None, "produce_share": None, "hot": False},
            (2, "a"): {"lag_mean": 0.0, "lag_share": None},
        },
    ),
    "hot": (
        [led(n, n) for n in range(4)],
        [lag(0, 0, 250), lag(1, 1, 50), lag(2, 2, 50), lag(3, 3, 50)],
        {(0, "a"): {"lag_to_partitions": 2.5, "hot": True}, (1, "a"): {"hot": False}},
    ),
    "too little lag to be hot": (
        [led(n, n) for n in range(4)],
        [lag(0, 0, 133)],
        {(0, "a"): {"lag_to_partitions": 4.0, "hot": False}},
    ),
    "just enough lag and share to be hot": (
        [led(n, n) for n in range(3)],
        [lag(0, 0, 200), lag(1, 1, 50), lag(2, 2, 50)],
        {(0, "a"): {"lag_to_partitions": 2.0, "hot": True}},
    ),
    "too small a share to be hot": (
        [led(n, n) for n in range(3)],
        [lag(0, 0, 19_999), lag(1, 1, 5_000), lag(2, 2, 5_001)],
        {(0, "a"): {"hot": False}},
    ),
}


@pytest.fixture(name="found", scope="module")
def _found(spark: SparkSession) -> dict[tuple[str, int | None, str | None], Any]:
    led_rows = [{"cluster": case, **row} for case, (rows, _, _) in CASES.items() for row in rows]
    lag_rows = [{"cluster": case, **row} for case, (_, rows, _) in CASES.items() for row in rows]
    report = broker_hotspots(
        rows_of(spark, SEGMENTS, lag_rows), rows_of(spark, TOPIC_SEGMENTS, led_rows)
    )
    return {(row["cluster"], row["leader"], row["leader_rack"]): row for row in found_in(report)}


@pytest.mark.parametrize("case", CASES)
def test_brokers(found: dict[tuple[str, int | None, str | None], Any], case: str) -> None:
    for (leader, rack), expected in CASES[case][2].items():
        row = found[case, leader, rack]
        assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_each_leader_and_rack_has_one_row(
    found: dict[tuple[str, int | None, str | None], Any], case: str
) -> None:
    told = {(row["leader"], row["leader_rack"]) for row in CASES[case][0]}
    racks = {leader for leader, _ in told}
    lagging = {(row["leader"], None) for row in CASES[case][1] if row["leader"] not in racks}

    assert {key[1:] for key in found if key[0] == case} == told | lagging
