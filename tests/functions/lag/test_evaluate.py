# SPDX-License-Identifier: Apache-2.0
"""Whole evaluations: the reports of runs, and changes from run to run."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.lag.model import LagReport, Snapshot
from tests.builders import (
    HOUR,
    MINUTE,
    NOON,
    Topics,
    a_reading,
    a_report,
    a_snapshot,
    cell,
    datasets,
    table,
)

# From a reading to the three datasets: what counts, what is apart, what is named worst.


def of_group(report: LagReport, *names: str, group: str = "g") -> tuple[Any, ...]:
    groups = report.snapshot.groups
    return tuple(cell(groups, name, consumer_group=group) for name in names)


def test_a_group_lags_by_the_sum_of_its_partitions() -> None:
    topics: Topics = {"orders": [(0, 10), (0, 10)], "bills": [(0, 7)]}
    report = a_report(a_reading({"g": {"orders": [5, 9], "bills": [0]}}, topics))
    assert of_group(report, "lag", "max_lag", "topics", "partitions") == (13, 7, 2, 3)


def test_a_topic_has_the_sum_and_the_maximum_of_its_partitions() -> None:
    topics: Topics = {"orders": [(0, 10), (0, 10)], "bills": [(0, 7)]}
    report = a_report(a_reading({"g": {"orders": [5, 9], "bills": [0]}}, topics))
    rows = table(report.group_topics, "consumer_group", "topic", "lag", "max_lag")
    assert sorted(rows) == [("g", "bills", 7, 7), ("g", "orders", 6, 5)]


def test_a_commit_beyond_the_end_is_counted_as_clamped() -> None:
    report = a_report(a_reading({"g": {"orders": [12, 5]}}, {"orders": [(0, 10), (0, 10)]}))
    assert report.lags_clamped == 1
    assert of_group(report, "lag") == (5,)


def test_a_clamp_of_an_unread_partition_is_not_counted_again() -> None:
    before = a_snapshot({"g": {"orders": [12]}}, {"orders": [(0, 10)]})
    reading = a_reading({"g": contract.TIMEOUT}, {"orders": [(0, 10)]}, at=NOON + MINUTE)
    assert a_report(reading, before, at=NOON + MINUTE).lags_clamped == 0


@pytest.mark.parametrize("state", ["Empty", "Dead", "PreparingRebalance"])
def test_a_group_is_reported_in_every_state(state: str) -> None:
    reading = a_reading({"g": {"orders": [5]}}, {"orders": [(0, 10)]}, state=state)
    assert of_group(a_report(reading), "group_state", "lag") == (state, 5)


def test_every_row_carries_the_scheduled_time() -> None:
    snapshot = a_snapshot({"g": {"orders": [5]}}, {"orders": [(0, 10)]}, at=NOON + HOUR)
    for frame in datasets(snapshot).values():
        assert set(frame.numbers("taken_at").to_list()) == {NOON + HOUR}


def test_an_empty_cluster_gives_empty_datasets() -> None:
    report = a_report(a_reading())
    assert [len(frame) for frame in datasets(report.snapshot).values()] == [0, 0, 0]
    assert len(report.group_topics) == report.lags_clamped == 0


def test_a_group_without_commits_has_a_row_and_no_lag() -> None:
    report = a_report(a_reading({"g": {}}, {"orders": [(0, 10)]}))
    assert of_group(report, "partitions", "lag", "max_lag") == (0, None, None)


# Clusters change: partitions come and go, groups and topics are deleted, members take turns.

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


def after_deletion() -> LagReport:
    before = old({"g": {"orders": [5]}, "h": {"orders": [5]}}, {"orders": [(0, 10)]})
    return a_report(
        a_reading({"h": {"orders": [5]}}, {"orders": [(0, 10)]}, gone_groups=["g"]), before
    )


def test_a_deleted_group_has_no_partition_rows() -> None:
    assert after_deletion().snapshot.group_partitions.strings("consumer_group").to_list() == ["h"]


def test_a_deleted_topic_leaves_even_from_a_group_that_is_unread() -> None:
    before = old({"g": {"orders": [5], "bills": [1]}}, {"orders": [(0, 10)], "bills": [(0, 7)]})
    now = a_reading({"g": contract.TIMEOUT}, {"bills": [(0, 7)]}, gone_topics=["orders"])
    snapshot = a_report(now, before).snapshot
    assert snapshot.topic_partitions.strings("topic").to_list() == ["bills"]
    assert snapshot.group_partitions.strings("topic").to_list() == ["bills"]
    assert cell(snapshot.groups, "lag", consumer_group="g") == 6


def test_owned_at_of_an_unread_partition_does_not_advance() -> None:
    before = old({"g": {"orders": [5]}}, {"orders": [(0, 9)]}, owners=OWNER)
    rows = a_report(a_reading({"g": contract.TIMEOUT}, {"orders": [(0, 9)]}), before).snapshot
    assert table(rows.group_partitions, "owned_at", "member_id") == [(THEN, "m1")]


def test_changes_of_an_unread_group_are_unknown() -> None:
    before = old({"g": {"orders": [5]}}, {"orders": [(0, 9)]}, owners=OWNER)
    groups = a_report(a_reading({"g": contract.TIMEOUT}, {"orders": [(0, 9)]}), before).snapshot
    assert cell(groups.groups, "owners_changed", consumer_group="g") is None


def test_an_unread_group_never_read_has_a_row_and_no_numbers() -> None:
    snapshot = a_snapshot({"g": contract.DENIED}, {"orders": [(0, 9)]}, at=NOON + HOUR)
    names = ("unread_reason", "lag", "read_at", "partitions")
    assert table(snapshot.groups, *names) == [(contract.DENIED, None, None, 0)]
