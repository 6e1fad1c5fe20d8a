# SPDX-License-Identifier: Apache-2.0
"""What lay with each broker and each consumer."""

from pathlib import Path
from typing import Any

import pytest

from tests.dev.report_check.small_days import reports, second, write_rows
from tests.glue_jobs.days import Row, group_row, topic_row

UNREAD = {"unread_reason": "no_leader"}


def brokers(root: Path, topics: list[Row], groups: list[Row]) -> dict[tuple[Any, Any], Row]:
    write_rows(root, "topic_partitions", topics)
    write_rows(root, "group_partitions", groups)
    return {(row["leader"], row["leader_rack"]): row for row in reports(root)["broker_hotspots"]}


def led(partition: int, run: int, leader: int | None, end: int | None = None, **more: Any) -> Row:
    return topic_row(partition, end, taken_at=second(60 * run), leader=leader, **more)


def lagging(partition: int, run: int, lag: int | None, **more: Any) -> Row:
    return group_row(partition, None, 0, 0, taken_at=second(60 * run), lag=lag, **more)


def owned(partition: int, run: int, member: str | None, lag: int | None, **more: Any) -> Row:
    client = {"member_id": member, "client_id": "c", "client_host": "/h"} if member else {}
    return lagging(partition, run, lag, **client, **more)


def test_a_leader_that_changed_and_came_back(tmp_path: Path) -> None:
    leaders = [1, 1, 2, 1]
    found = brokers(
        tmp_path,
        [
            *(
                led(0, run, leader, 100 * run, leader_rack=f"r{leader}")
                for run, leader in enumerate(leaders)
            ),
            *(led(1, run, 2, 10 * run, leader_rack="r2") for run in range(4)),
            led(0, 4, 1, 10**9, leader_rack="r1", **UNREAD),
        ],
        [lagging(0, run, 1000 * leader, leader=leader) for run, leader in enumerate(leaders)]
        + [lagging(1, 0, None, leader=2)],
    )

    one, two = found[1, "r1"], found[2, "r2"]
    assert (one["partitions_led"], two["partitions_led"]) == (0.75, 1.25)
    assert (one["partitions_share"], two["partitions_share"]) == (0.375, 0.625)
    # from its first to its last reading of each, whoever led in between
    assert (one["produced"], two["produced"]) == (300, 30)
    assert one["produce_share"] == pytest.approx(300 / 330)
    assert (one["lag_mean"], two["lag_mean"]) == (750, 500)
    assert one["lag_share"] == pytest.approx(0.6)
    assert one["lag_to_partitions"] == pytest.approx(1.6)
    assert (one["hot"], two["hot"]) == (False, False)


def test_lag_goes_to_the_newest_rack(tmp_path: Path) -> None:
    found = brokers(
        tmp_path,
        [led(0, 0, 1, 5, leader_rack="old"), led(0, 1, 1, 9, leader_rack="new")],
        [lagging(0, 0, 40, leader=1), lagging(1, 0, 4, leader=7)],
    )

    assert {place: row["lag_mean"] for place, row in found.items()} == {
        (1, "old"): 0,
        (1, "new"): 40,
        (7, None): 4,
    }
    unlisted = found[7, None]
    assert (unlisted["partitions_led"], unlisted["partitions_share"]) == (0, 0)
    assert (unlisted["produced"], unlisted["lag_to_partitions"]) == (None, None)
    assert found[1, "old"]["produced"] is None


def test_a_partition_without_a_leader(tmp_path: Path) -> None:
    found = brokers(
        tmp_path,
        [led(0, 0, None, 5), led(0, 1, None, 9), led(1, 0, 1, leader_rack="r")],
        [lagging(0, 0, 300)],
    )

    none = found[None, None]
    assert (none["partitions_led"], none["produced"], none["lag_mean"]) == (1, 4, 300)
    assert (none["lag_to_partitions"], none["hot"]) == (2, True)
    assert (found[1, "r"]["lag_mean"], found[1, "r"]["hot"]) == (0, False)


def test_no_lag_known_is_no_lag_of_zero(tmp_path: Path) -> None:
    (row,) = brokers(tmp_path, [led(0, 0, 1)], [lagging(0, 0, None, leader=1)]).values()

    unknown = ("produced", "produce_share", "lag_mean", "lag_share", "lag_to_partitions", "hot")
    assert {row[name] for name in unknown} == {None}
    assert (row["partitions_led"], row["partitions_share"]) == (1, 1)


def consumers(root: Path, rows: list[Row]) -> dict[str | None, Row]:
    write_rows(root, "group_partitions", rows)
    return {row["member_id"]: row for row in reports(root)["consumer_hotspots"]}


def test_a_member_is_measured_by_what_it_owned(tmp_path: Path) -> None:
    found = consumers(
        tmp_path,
        [
            owned(0, 0, "a", 100, committed_offset=10),
            owned(0, 1, "a", 300, committed_offset=30, leader=2),
            owned(0, 2, None, 500, committed_offset=30),
            owned(0, 3, None, None, committed_offset=None),
            owned(1, 0, "b", 10, committed_offset=50),
            owned(1, 1, "b", 30, committed_offset=40),
            owned(1, 2, "b", 10**9, committed_offset=999, **UNREAD),
        ],
    )

    a, b, nobody = found["a"], found["b"], found[None]
    assert (a["client_id"], a["client_host"]) == ("c", "/h")
    assert (nobody["client_id"], nobody["client_host"]) == (None, None)
    assert [row["partitions_owned"] for row in (a, b, nobody)] == [0.5, 1, 0.5]
    assert [row["partitions_share"] for row in (a, b, nobody)] == [0.25, 0.5, 0.25]
    assert [row["lag_mean"] for row in (a, b, nobody)] == pytest.approx([400 / 3, 20, 500 / 3])
    assert a["lag_share"] == pytest.approx(400 / 960)
    # a leader that changes divides nothing; what went back is 0, one reading is unknown
    assert [row["consumed"] for row in (a, b, nobody)] == [20, 0, None]
    assert nobody["lag_to_partitions"] == pytest.approx(500 / 960 / 0.25)


def test_hot_is_twice_the_share_and_a_hundred_records(tmp_path: Path) -> None:
    found = consumers(
        tmp_path,
        [owned(0, 0, "a", 400), owned(1, 0, "b", 0), owned(2, 0, "c", 0), owned(3, 0, "d", None)],
    )

    assert [found[name]["lag_mean"] for name in "abcd"] == [400, 0, 0, None]
    assert [found[name]["hot"] for name in "abcd"] == [True, False, False, None]


def test_few_records_are_never_hot(tmp_path: Path) -> None:
    rows = [
        owned(partition, 0, member, lag, leader=partition)
        for partition, (member, lag) in enumerate([("a", 99), ("b", 0), ("c", 0)])
    ]

    of_members = consumers(tmp_path, rows)
    of_leaders = brokers(tmp_path, [led(p, 0, p) for p in range(3)], rows)

    assert (of_members["a"]["lag_to_partitions"], of_members["a"]["hot"]) == (3, False)
    assert (of_leaders[0, None]["lag_to_partitions"], of_leaders[0, None]["hot"]) == (3, False)


def test_groups_are_measured_apart(tmp_path: Path) -> None:
    found = consumers(
        tmp_path, [owned(0, 0, "a", 400), owned(0, 0, "b", 9, consumer_group="other")]
    )

    assert [found[name]["lag_share"] for name in "ab"] == [1, 1]
    assert [found[name]["partitions_share"] for name in "ab"] == [1, 1]
