# SPDX-License-Identifier: Apache-2.0
"""Who holds lag and who moved records: brokers, a day each case; members, a group each."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_lag_report.aggregates import group_segments, topic_segments
from kafka_lag_report.partials import DayRows
from kafka_lag_report.tables.hotspots import broker_hotspots, consumer_hotspots
from tests.glue_jobs.days import Row, frame, minute, topic_row

pytestmark = pytest.mark.spark

Values = list[int | None]


def led(
    partition: int, leader: int | None, *ends: int | None, since: int = 0, **more: Any
) -> list[Row]:
    """A partition under a leader, read once a minute with these log ends."""
    row = {"leader": leader, "leader_rack": "a", **more}
    return [
        topic_row(partition, end, taken_at=minute(since + run), **row)
        for run, end in enumerate(ends or (0,))
    ]


def lags(
    partition: int, leader: int | None, *values: int | None, since: int = 0, **more: Any
) -> list[Row]:
    """A group's partition under a leader, read once a minute with these lags."""
    row = {"consumer_group": "billing", "topic": "orders", "topic_id": "id-1", **more}
    place = {"partition_id": partition, "leader": leader}
    return [
        {**row, **place, "lag": value, "taken_at": minute(since + run)}
        for run, value in enumerate(values)
    ]


def even(*totals: int) -> tuple[list[Row], list[Row]]:
    """Brokers with a partition each, and so much lag on it."""
    return (
        [row for n in range(len(totals)) for row in led(n, n)],
        [row for n, total in enumerate(totals) for row in lags(n, n, total)],
    )


# rows of topic partitions, of group partitions, the report's by leader and rack
Broker = tuple[int | None, str | None]
BROKERS: dict[str, tuple[list[Row], list[Row], dict[Broker, Row]]] = {
    "shares": (
        [
            *led(0, 1, 0, 300),
            *led(1, 1, 5),
            *led(2, 2, 10, 110, leader_rack="b"),
            *led(3, 2, 90, 10, leader_rack="b"),
        ],
        [*lags(0, 1, 60), *lags(2, 2, 20, consumer_group="a"), *lags(2, 2, 10, 30)],
        {
            (1, "a"): {
                "partitions_led": 2.0,
                "partitions_share": 0.5,
                "produced": 300,
                "produce_share": 0.75,
                "lag_mean": 60.0,
                "lag_share": 0.6,
                "lag_to_partitions": 1.2,
                "lag_to_others": 1.5,
                "hot": False,
            },
            (2, "b"): {"partitions_led": 2.0, "produced": 100, "lag_mean": 40.0, "lag_share": 0.4},
        },
    ),
    "a partition that moved counts by its runs": (
        [*led(0, 1, 0, 10, 30), *led(0, 2, 40, since=3)],
        [*lags(0, 1, 20, 20, 20), *lags(0, 2, 500, since=3)],
        {
            (1, "a"): {"partitions_led": 0.75, "produced": 30, "lag_mean": 15.0},
            (2, "a"): {"partitions_led": 0.25, "produced": 10, "lag_mean": 125.0},
        },
    ),
    "a leader that came back made what rose in its runs": (
        [*led(0, 1, 0, 10), *led(0, 2, 25, 30, since=2), *led(0, 1, 40, since=4)],
        [],
        {(1, "a"): {"produced": 20}, (2, "a"): {"produced": 20}},
    ),
    "what rose unseen is the next one's that was seen": (
        [*led(0, 1, 0, None), *led(0, 2, None, 50, since=2), *led(1, 3, None, None)],
        [],
        {(1, "a"): {"produced": None}, (2, "a"): {"produced": 50}, (3, "a"): {"produced": None}},
    ),
    "what is written again counts again": (
        [*led(0, 1, 0, 100), *led(0, 2, 60, 90, since=2)],
        [],
        {(1, "a"): {"produced": 100}, (2, "a"): {"produced": 30}},
    ),
    "a topic made anew is the same partition": (
        [*led(0, 1, 0, 30, topic_id="old"), *led(0, 1, 0, 5, topic_id="new", since=2)],
        [*lags(0, 1, 20, 20, 20, topic_id="old"), *lags(0, 1, 40, topic_id="new", since=3)],
        {(1, "a"): {"partitions_led": 1.0, "produced": 35, "lag_mean": 25.0}},
    ),
    "a topic without an id is one": (
        [
            *led(0, 1, 0, topic_id=None),
            *led(0, 2, 9, since=1, topic_id=None),
            *led(0, 1, 12, since=2, topic_id=None),
        ],
        [],
        {(1, "a"): {"produced": 3}, (2, "a"): {"produced": 9}},
    ),
    "lag goes to a leader's newest rack": (
        [
            *led(0, 1, leader_rack="old", since=5),
            *led(0, 1, leader_rack="new", since=9),
            *led(1, 1, leader_rack=None, since=7),
        ],
        lags(0, 1, 8),
        {
            (1, "old"): {"lag_mean": 0.0},
            (1, "new"): {"lag_mean": 8.0},
            (1, None): {"lag_mean": 0.0, "partitions_led": 1.0},
        },
    ),
    "of racks seen at once the least, a known one first": (
        [*led(0, 1, leader_rack=None), *led(1, 1, leader_rack="b"), *led(2, 1)],
        lags(0, 1, 8),
        {
            (1, None): {"lag_mean": 0.0},
            (1, "b"): {"lag_mean": 0.0},
            (1, "a"): {"lag_mean": 8.0},
        },
    ),
    "without a leader": (
        [*led(0, None, leader_rack=None), *led(1, 1)],
        [*lags(0, None, 30), *lags(1, 1, 10)],
        {(None, None): {"partitions_led": 1.0, "lag_mean": 30.0}, (1, "a"): {"lag_mean": 10.0}},
    ),
    "a leader that only groups know": (
        led(0, 1),
        [*lags(0, 1, 10), *lags(1, 2, 30)],
        {
            (1, "a"): {"partitions_share": 1.0, "lag_share": 0.25, "lag_to_others": None},
            (2, None): {
                "partitions_led": 0.0,
                "partitions_share": 0.0,
                "produced": None,
                "lag_mean": 30.0,
                "lag_to_partitions": None,
                "lag_to_others": None,
                "hot": False,
            },
        },
    ),
    "topics were never read": (
        [],
        lags(0, 1, 500),
        {(1, None): {"partitions_led": 0.0, "partitions_share": None, "produce_share": None}},
    ),
    "lag was never known": (
        led(0, 1),
        lags(0, 1, None),
        {(1, "a"): dict.fromkeys(("lag_mean", "lag_share", "lag_to_partitions", "hot"))},
    ),
    "nobody lags": (
        [*led(0, 1, 4, 4), *led(1, 2)],
        lags(0, 1, 0),
        {
            (1, "a"): {"lag_mean": 0.0, "lag_share": None, "produce_share": None, "hot": False},
            (2, "a"): {"lag_mean": 0.0, "lag_share": None},
        },
    ),
    "hot": (
        *even(250, 50, 50, 50),
        {(0, "a"): {"lag_to_partitions": 2.5, "hot": True}, (1, "a"): {"hot": False}},
    ),
    "too little lag to be hot": (
        *even(133, 0, 0, 0),
        {(0, "a"): {"lag_to_partitions": 4.0, "lag_to_others": None, "hot": False}},
    ),
    "all of the lag is hot": (
        *even(134, 0, 0, 0),
        {(0, "a"): {"lag_to_others": None, "hot": True}},
    ),
    "just enough lag and share to be hot": (
        *even(225, 75, 75),
        {(0, "a"): {"lag_to_others": 3.0, "hot": True}},
    ),
    "too few records above the mean to be hot": (
        *even(222, 74, 74),
        {(0, "a"): {"lag_to_others": 3.0, "hot": False}},
    ),
    "too small a share to be hot": (*even(22_499, 7_500, 7_500), {(0, "a"): {"hot": False}}),
    "one of two is hot": (*even(750, 250), {(0, "a"): {"hot": True}, (1, "a"): {"hot": False}}),
    "one of two is not yet hot": (*even(749, 251), {(0, "a"): {"hot": False}}),
}


def owned(
    partition: int, member: str | None, *values: int | None, since: int = 0, **more: Any
) -> list[Row]:
    """A partition under a member, read once a minute with these lags."""
    row: Row = {"leader": 1, "member_id": member, "client_host": "h", **more}
    return lags(partition, row.pop("leader"), *values, since=since, **row)


def commits(
    partition: int, member: str | None, *offsets: int | None, since: int = 0, **more: Any
) -> list[Row]:
    """The same with these committed offsets."""
    rows = owned(partition, member, *([None] * len(offsets)), since=since, **more)
    return [{**row, "committed_offset": offset} for row, offset in zip(rows, offsets, strict=True)]


# rows of group partitions, the report's by member
MEMBERS: dict[str, tuple[list[Row], dict[str | None, Row]]] = {
    "shares": (
        [
            *owned(0, "a", 60),
            *owned(1, "a", 0),
            *owned(2, "b", 40),
            *owned(2, "b", 20, topic="t"),
        ],
        {
            "a": {
                "partitions_owned": 2.0,
                "partitions_share": 0.5,
                "lag_mean": 60.0,
                "lag_share": 0.5,
                "lag_to_partitions": 1.0,
                "lag_to_others": 1.0,
                "hot": False,
            },
            "b": {"partitions_owned": 2.0, "lag_mean": 60.0},
        },
    ),
    "a partition that changed hands counts by its runs": (
        [*owned(0, "a", 20, 20, 20), *owned(0, "b", 500, since=3)],
        {
            "a": {"partitions_owned": 0.75, "lag_mean": 15.0},
            "b": {"partitions_owned": 0.25, "lag_mean": 125.0},
        },
    ),
    "owned by nobody": (
        [*owned(0, None, 10), *owned(1, "a", 30)],
        {None: {"lag_mean": 10.0, "lag_share": 0.25}, "a": {"lag_share": 0.75}},
    ),
    "consumed": (
        [
            *commits(0, "a", 10, 40),
            *commits(1, "a", 90, 10),
            *commits(2, "a", 7),
            *commits(3, "b", 7),
        ],
        {"a": {"consumed": 30}, "b": {"consumed": None}},
    ),
    "consumed while the leader changed": (
        [*commits(0, "a", 10, 40), *commits(0, "a", 60, 70, since=2, leader=2)],
        {"a": {"consumed": 60, "partitions_owned": 1.0}},
    ),
    "consumed of a topic made anew": (
        [
            *commits(0, "a", 500, 540, topic_id="old"),
            *commits(0, "a", 0, 5, topic_id="new", since=2),
        ],
        {"a": {"consumed": 45, "partitions_owned": 1.0}},
    ),
    "consumed by one that came back": (
        [
            *commits(0, "a", 0, 5),
            *commits(0, None, 5, 5, since=2),
            *commits(0, "a", 9, 20, since=4),
            *commits(0, None, 20, since=6),
        ],
        {"a": {"consumed": 20}, None: {"consumed": 0}},
    ),
    "read again after a reset": (
        [*commits(0, "a", 0, 100), *commits(0, "b", 0, 100, since=2)],
        {"a": {"consumed": 100}, "b": {"consumed": 100}},
    ),
    "lag unknown under one member": (
        [*owned(0, "a", None), *owned(1, "b", 30)],
        {
            "a": {"partitions_owned": 1.0, "lag_mean": None, "lag_share": None, "hot": None},
            "b": {"lag_mean": 30.0, "lag_share": 1.0, "lag_to_partitions": 2.0, "hot": False},
        },
    ),
    "nobody lags": (
        [*owned(0, "a", 0), *owned(1, "b", 0)],
        {"a": {"lag_mean": 0.0, "lag_share": None, "lag_to_partitions": None, "hot": False}},
    ),
    "hot": (
        [*owned(0, "a", 250), *owned(1, "b", 50), *owned(2, "c", 50), *owned(3, None, 50)],
        {"a": {"lag_to_partitions": 2.5, "hot": True}, None: {"hot": False}},
    ),
    "the only owner after an incident is not hot": (
        [*owned(0, "a", 200, 200, 200), *owned(0, "b", 5_000, since=3)],
        {"a": {"hot": False}, "b": {"lag_to_partitions": 25 / 7, "hot": False}},
    ),
    "nobody while the only owner was away is not hot": (
        [*owned(0, "a", 0, 0, 0), *owned(0, None, 5_000, since=3), *owned(0, "b", 0, since=4)],
        {None: {"lag_share": 1.0, "hot": False}},
    ),
    "hot beside one that came later": (
        [*owned(0, "a", 900, 900, 900), *owned(1, "b", 0, since=1), *owned(2, "b", 0, since=2)],
        {"a": {"hot": True}, "b": {"hot": False}},
    ),
}


Key = tuple[str, Any]


def segments(spark: SparkSession, groups: list[Row], topics: list[Row]) -> tuple[DataFrame, ...]:
    """Those of groups' partitions, and of topics'."""
    return (
        group_segments(DayRows(frame(spark, "group_partitions", groups))),
        topic_segments(DayRows(frame(spark, "topic_partitions", topics))),
    )


@pytest.mark.parametrize("case", BROKERS)
def test_brokers(spark: SparkSession, case: str) -> None:
    topics, groups, expected = BROKERS[case]

    rows = [row.asDict() for row in broker_hotspots(*segments(spark, groups, topics)).collect()]

    found = {(row["leader"], row["leader_rack"]): row for row in rows}
    for key, values in expected.items():
        assert {n: found[key][n] for n in values} == pytest.approx(values, abs=1e-9)
    led = {(row["leader"], row["leader_rack"]) for row in topics}
    racks = {leader for leader, _ in led}
    assert len(rows) == len(found)
    assert found.keys() == led | {(r["leader"], None) for r in groups if r["leader"] not in racks}


@pytest.fixture(name="members", scope="module")
def _members(spark: SparkSession) -> dict[Key, Row]:
    """Rows by case and owner."""
    groups = [
        {**row, "consumer_group": case} for case, (rows, _) in MEMBERS.items() for row in rows
    ]
    of_groups, _ = segments(spark, groups, [])
    rows = consumer_hotspots(of_groups).collect()
    return {(row["consumer_group"], row["member_id"]): row.asDict() for row in rows}


@pytest.mark.parametrize("case", MEMBERS)
def test_members(members: dict[Key, Row], case: str) -> None:
    for member, expected in MEMBERS[case][1].items():
        row = members[case, member]
        assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_each_member_has_one_row(members: dict[Key, Row]) -> None:
    assert members.keys() == {
        (case, row["member_id"]) for case, (rows, _) in MEMBERS.items() for row in rows
    }
