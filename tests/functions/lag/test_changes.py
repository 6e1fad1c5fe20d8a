# SPDX-License-Identifier: Apache-2.0
"""Clusters change: partitions come and go, groups and topics are deleted, members take turns."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.lag.model import LagReport, Snapshot
from tests.builders import HOUR, MINUTE, NOON, a_reading, a_report, a_snapshot, cell, table

THEN, NOW = NOON - MINUTE, NOON
OWNER = {("g", "orders", 0): "m1"}


def old(groups: dict[str, Any], topics: dict[str, Any], **more: Any) -> Snapshot:
    return a_snapshot(groups, topics, at=THEN, **more)


def test_more_partitions_appear_with_the_next_run() -> None:
    before = old({"g": {"orders": [5]}}, {"orders": [(0, 10)]})
    now = a_reading({"g": {"orders": [5, 0]}}, {"orders": [(0, 10), (0, 3)]})
    groups = a_report(now, before).snapshot.groups
    assert table(groups, "lag", "partitions") == [(8, 2)]


def test_fewer_partitions_leave_with_the_next_run() -> None:
    before = old({"g": {"orders": [5, 5]}}, {"orders": [(0, 10), (0, 10)]})
    snapshot = a_report(a_reading({"g": {"orders": [5]}}, {"orders": [(0, 10)]}), before).snapshot
    assert len(snapshot.topic_partitions) == len(snapshot.group_partitions) == 1
    assert table(snapshot.groups, "lag", "partitions") == [(5, 1)]


def farewell() -> LagReport:
    before = old({"g": {"orders": [5]}, "h": {"orders": [5]}}, {"orders": [(0, 10)]})
    return a_report(
        a_reading({"h": {"orders": [5]}}, {"orders": [(0, 10)]}, gone_groups=["g"]), before
    )


def test_a_deleted_group_gets_one_last_row() -> None:
    names = ("consumer_group", "status_reason", "lag", "status", "read_at", "taken_at")
    rows = table(farewell().snapshot.groups, *names)
    assert rows[1:] == [("g", contract.GONE, None, None, THEN + 150, NOW)]


def test_a_deleted_group_has_no_partition_rows() -> None:
    assert farewell().snapshot.group_partitions.strings("consumer_group").to_list() == ["h"]


def test_a_deleted_group_is_told_once() -> None:
    again = a_reading({"h": {"orders": [5]}}, {"orders": [(0, 10)]}, gone_groups=["g"])
    groups = a_report(again, farewell().snapshot).snapshot.groups
    assert groups.strings("consumer_group").to_list() == ["h"]


def test_a_group_nobody_knew_gets_no_farewell() -> None:
    assert len(a_report(a_reading(gone_groups=["g"])).snapshot.groups) == 0


def test_a_group_that_comes_back_is_a_group_again() -> None:
    now = a_reading({"g": {"orders": [7]}, "h": {"orders": [5]}}, {"orders": [(0, 10)]})
    groups = a_report(now, farewell().snapshot).snapshot.groups
    assert table(groups, "consumer_group", "lag", "status_reason") == [
        ("g", 3, None),
        ("h", 5, None),
    ]


def test_a_deleted_topic_leaves_even_from_a_group_that_is_silent() -> None:
    before = old({"g": {"orders": [5], "bills": [1]}}, {"orders": [(0, 10)], "bills": [(0, 7)]})
    now = a_reading({"g": contract.TIMEOUT}, {"bills": [(0, 7)]}, gone_topics=["orders"])
    snapshot = a_report(now, before).snapshot
    assert snapshot.topic_partitions.strings("topic").to_list() == ["bills"]
    assert snapshot.group_partitions.strings("topic").to_list() == ["bills"]
    assert cell(snapshot.groups, "lag", consumer_group="g") == 6


def test_owned_at_is_this_run_while_a_member_owns_the_partition() -> None:
    rows = a_snapshot({"g": {"orders": [5, 5]}}, {"orders": [(0, 9)] * 2}, owners=OWNER)
    assert table(rows.group_partitions, "owned_at") == [(NOON,), (None,)]


def test_owned_at_remembers_the_last_owner() -> None:
    before = old({"g": {"orders": [5]}}, {"orders": [(0, 9)]}, owners=OWNER)
    report = a_report(a_reading({"g": {"orders": [5]}}, {"orders": [(0, 9)]}), before)
    assert table(report.snapshot.group_partitions, "owned_at", "member_id") == [(THEN, None)]


def test_owned_at_of_an_unread_partition_does_not_advance() -> None:
    before = old({"g": {"orders": [5]}}, {"orders": [(0, 9)]}, owners=OWNER)
    rows = a_report(a_reading({"g": contract.TIMEOUT}, {"orders": [(0, 9)]}), before).snapshot
    assert table(rows.group_partitions, "owned_at", "member_id") == [(THEN, "m1")]


@pytest.mark.parametrize(
    ("then", "now", "changed"),
    [
        pytest.param("m1", "m1", 0, id="stays"),
        pytest.param("m1", "m2", 1, id="another"),
        pytest.param("m1", None, 1, id="left"),
        pytest.param(None, "m1", 1, id="came"),
        pytest.param(None, None, 0, id="nobody"),
    ],
)
def test_a_change_of_owner_is_counted(then: str | None, now: str | None, changed: int) -> None:
    owners = [{("g", "orders", 0): who, ("g", "orders", 1): "m9"} for who in (then, now)]
    asked: dict[str, Any] = {
        "groups": {"g": {"orders": [5, 5]}},
        "topics": {"orders": [(0, 9)] * 2},
    }
    before = a_snapshot(**asked, owners=owners[0], at=THEN)
    report = a_report(a_reading(**asked, owners=owners[1]), before)
    assert cell(report.snapshot.groups, "owners_changed", consumer_group="g") == changed


def test_a_partition_seen_for_the_first_time_has_not_changed_hands() -> None:
    snapshot = a_snapshot({"g": {"orders": [5]}}, {"orders": [(0, 9)]}, owners=OWNER)
    assert cell(snapshot.groups, "owners_changed", consumer_group="g") == 0


def test_changes_of_a_silent_group_are_unknown() -> None:
    before = old({"g": {"orders": [5]}}, {"orders": [(0, 9)]}, owners=OWNER)
    groups = a_report(a_reading({"g": contract.TIMEOUT}, {"orders": [(0, 9)]}), before).snapshot
    assert cell(groups.groups, "owners_changed", consumer_group="g") is None


def test_a_silent_group_never_read_has_a_row_and_no_numbers() -> None:
    snapshot = a_snapshot({"g": contract.DENIED}, {"orders": [(0, 9)]}, at=NOON + HOUR)
    names = ("unread_reason", "lag", "read_at", "partitions")
    assert table(snapshot.groups, *names) == [(contract.DENIED, None, None, 0)]
