# SPDX-License-Identifier: Apache-2.0
"""Values that are carried over from the previous run, and values that are not."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.group_settings import NameFilter, Rules
from kafka_lag.lag.model import ClusterReading, Snapshot
from tests.builders import (
    HOUR,
    MINUTE,
    NOON,
    Groups,
    Topics,
    a_reading,
    a_report,
    a_snapshot,
    cell,
    table,
)

# What could not be read: its row stays a day, its lag counts for a window, then it is absent.

WINDOW = Rules().window_ms
TOPICS: Topics = {"orders": [(0, 10), (0, 10)], "bills": [(0, 7)]}
GROUPS: Groups = {"g": {"orders": [5, 9], "bills": [0]}, "other": {"orders": [10, 10]}}
SOON = NOON + 5 * MINUTE
LATE = NOON + WINDOW + MINUTE


def previous_snapshot(at: int = NOON) -> Snapshot:
    return a_snapshot(GROUPS, TOPICS, at=at)


def unread_group(at: int) -> ClusterReading:
    return a_reading({**GROUPS, "g": contract.NO_COORDINATOR}, TOPICS, at=at)


def broker_not_responding(at: int) -> ClusterReading:
    return a_reading(GROUPS, {**TOPICS, "orders": [(0, 10), contract.TIMEOUT]}, at=at)


def hidden_topic(at: int) -> ClusterReading:
    groups: Groups = {"g": {"bills": [0]}, "other": {}}
    hidden = {"orders": contract.DENIED}
    return a_reading(groups, {"bills": [(0, 7)]}, at=at, hidden_topics=hidden)


SILENCES = pytest.mark.parametrize(
    "reading",
    [
        pytest.param(unread_group, id="group"),
        pytest.param(broker_not_responding, id="broker"),
        pytest.param(hidden_topic, id="hidden-topic"),
    ],
)


@SILENCES
def test_within_the_window_the_last_known_lag_counts(reading: Any) -> None:
    report = a_report(reading(SOON), previous_snapshot(), at=SOON)
    assert cell(report.snapshot.groups, "lag", consumer_group="g") == 13
    assert cell(report.group_topics, "lag", consumer_group="g", topic="orders") == 6


@SILENCES
def test_after_the_window_the_groups_and_topics_counts_are_absent(reading: Any) -> None:
    report = a_report(reading(LATE), previous_snapshot(), at=LATE)
    assert cell(report.snapshot.groups, "lag", consumer_group="g") is None
    assert cell(report.snapshot.groups, "max_lag", consumer_group="g") is None
    assert cell(report.group_topics, "lag", consumer_group="g", topic="orders") is None


@SILENCES
@pytest.mark.parametrize("at", [SOON, LATE])
def test_the_row_itself_stays_without_a_lag(reading: Any, at: int) -> None:
    rows = a_report(reading(at), previous_snapshot(), at=at).snapshot.group_partitions
    key: dict[str, Any] = {"consumer_group": "g", "topic": "orders", "partition_id": 1}
    assert cell(rows, "lag", **key) is None
    assert cell(rows, "committed_offset", **key) == 9
    assert cell(rows, "end_offset", **key) == 10
    assert cell(rows, "unread_reason", **key) is not None


@SILENCES
def test_unread_partitions_are_counted(reading: Any) -> None:
    groups = a_report(reading(SOON), previous_snapshot(), at=SOON).snapshot.groups
    unread = {unread_group: 3, broker_not_responding: 1, hidden_topic: 2}[reading]
    assert cell(groups, "partitions_unknown", consumer_group="g") == unread
    assert cell(groups, "partitions", consumer_group="g") == 3


def test_the_window_counts_from_the_last_reading_through_many_unread_runs() -> None:
    last = previous_snapshot()
    for minute in range(1, 10):
        at = NOON + minute * MINUTE
        last = a_report(broker_not_responding(at), last, at=at).snapshot
        assert cell(last.groups, "lag", consumer_group="g") == 13
    last = a_report(broker_not_responding(LATE), last, at=LATE).snapshot
    assert cell(last.groups, "lag", consumer_group="g") is None


def test_an_unread_group_keeps_what_was_known_of_it() -> None:
    groups = a_report(unread_group(SOON), previous_snapshot(), at=SOON).snapshot.groups
    key = {"consumer_group": "g"}
    assert cell(groups, "group_state", **key) == "Stable"
    assert cell(groups, "read_at", **key) == NOON + 150
    assert cell(groups, "unread_reason", **key) == contract.NO_COORDINATOR


MONTH = 30 * 24 * HOUR


@pytest.mark.parametrize(("age", "kept"), [(MONTH, True), (MONTH + MINUTE, False)])
def test_a_group_no_longer_listed_keeps_its_rows_for_30_days(age: int, kept: bool) -> None:
    reading = replace(unread_group(NOON + age), unlisted_groups=frozenset({"g"}))
    snapshot = a_report(reading, previous_snapshot(), at=NOON + age).snapshot
    unwatched = snapshot.groups.strings("status_reason").is_in([contract.UNWATCHED])
    assert (snapshot.groups.strings("consumer_group").is_in(["g"]) & ~unwatched).any() == kept
    assert unwatched.any() != kept
    assert snapshot.group_partitions.strings("consumer_group").is_in(["g"]).any() == kept


@pytest.mark.parametrize(("first", "end"), [(contract.DENIED, 10), (contract.TIMEOUT, None)])
def test_one_run_without_an_answer_does_not_end_the_time_of_what_was_denied_before_it(
    first: str, end: int | None
) -> None:
    after_a_day = NOON + 25 * HOUR
    topics: Topics = {**TOPICS, "orders": [(0, 10), first]}
    before = a_report(a_reading(GROUPS, topics, at=SOON), previous_snapshot(), at=SOON).snapshot
    snapshot = a_report(broker_not_responding(after_a_day), before, at=after_a_day).snapshot
    key: dict[str, Any] = {"topic": "orders", "partition_id": 1}
    assert cell(snapshot.topic_partitions, "end_offset", **key) == end
    assert cell(snapshot.group_partitions, "end_offset", consumer_group="g", **key) == end


def test_a_partition_without_a_leader_does_not_show_the_one_that_it_had() -> None:
    reading = a_reading(GROUPS, {**TOPICS, "orders": [(0, 10), contract.NO_LEADER]}, at=SOON)
    leader = Column.optional([0, None, 0], np.int32)
    partitions = reading.topic_partitions.with_columns(leader=leader)
    reading = replace(reading, topic_partitions=partitions)
    snapshot = a_report(reading, previous_snapshot(), at=SOON).snapshot
    rows = table(snapshot.group_partitions, "consumer_group", "topic", "partition_id", "leader")
    assert [row for row in rows if row[3] is None] == [
        ("g", "orders", 1, None),
        ("other", "orders", 1, None),
    ]


def test_a_group_still_listed_after_a_day_of_denials_keeps_a_row_without_numbers() -> None:
    at = NOON + 24 * HOUR + MINUTE
    groups = a_report(unread_group(at), previous_snapshot(), at=at).snapshot.groups
    key = {"consumer_group": "g"}
    assert cell(groups, "unread_reason", **key) == contract.NO_COORDINATOR
    assert cell(groups, "read_at", **key) is None
    assert cell(groups, "lag", **key) is None


def test_an_unread_groups_lag_does_not_follow_the_end_that_moves_on() -> None:
    topics: Topics = {**TOPICS, "orders": [(0, 10), (400, 500)]}
    groups: Groups = {**GROUPS, "g": contract.NO_COORDINATOR}
    snapshot = a_report(a_reading(groups, topics, at=SOON), previous_snapshot(), at=SOON).snapshot
    key: dict[str, Any] = {"consumer_group": "g", "topic": "orders", "partition_id": 1}
    assert cell(snapshot.groups, "lag", consumer_group="g") == 13
    assert cell(snapshot.group_partitions, "end_offset", **key) == 10
    assert cell(snapshot.group_partitions, "records_lost", **key) == 0


@pytest.mark.parametrize(("age", "kept"), [(MONTH, True), (MONTH + MINUTE, False)])
def test_a_hidden_topic_keeps_its_rows_for_30_days(age: int, kept: bool) -> None:
    snapshot = a_report(hidden_topic(NOON + age), previous_snapshot(), at=NOON + age).snapshot
    assert snapshot.topic_partitions.strings("topic").is_in(["orders"]).any() == kept
    assert snapshot.group_partitions.strings("topic").is_in(["orders"]).any() == kept


def test_a_commit_read_while_the_partition_is_unread_waits_for_its_end() -> None:
    """A consumer that goes on against an end that was not read would seem to catch up."""
    groups: Groups = {**GROUPS, "g": {"orders": [5, 10], "bills": [0]}}
    topics: Topics = {**TOPICS, "orders": [(0, 10), contract.TIMEOUT]}
    rows = a_report(a_reading(groups, topics, at=SOON), previous_snapshot(), at=SOON).snapshot
    key: dict[str, Any] = {"consumer_group": "g", "topic": "orders", "partition_id": 1}
    assert cell(rows.group_partitions, "committed_offset", **key) == 9
    assert cell(rows.groups, "lag", consumer_group="g") == 13


def test_a_first_commit_read_while_the_partition_is_unread_waits_for_its_end() -> None:
    earlier = a_snapshot({"g": {"orders": [5, None]}}, {"orders": [(0, 10), (0, 10)]})
    unread: Topics = {"orders": [(0, 10), contract.TIMEOUT]}
    report = a_report(a_reading({"g": {"orders": [5, 8]}}, unread, at=SOON), earlier, at=SOON)
    row = {"partition_id": 1}
    assert cell(report.snapshot.group_partitions, "committed_offset", **row) is None
    assert cell(report.snapshot.group_partitions, "last_lag", **row) is None
    assert cell(report.snapshot.group_partitions, "uncounted", **row) == contract.UNCOMMITTED


@pytest.mark.parametrize(
    ("then", "later"),
    [(None, None), (None, "id"), ("id", None), ("id", "id")],
    ids=["never", "upgraded", "downgraded", "always"],
)
def test_an_unread_partition_is_carried_whether_or_not_brokers_report_topic_ids(
    then: str | None, later: str | None
) -> None:
    requested: Groups = {"g": {"orders": [4]}}
    old = a_snapshot(requested, {"orders": [(0, 10)]}, topic_ids={"orders": then})
    unread: Topics = {"orders": [contract.NO_LEADER]}
    now = a_reading(requested, unread, at=SOON, topic_ids={"orders": later})
    snapshot = a_report(now, old, at=SOON).snapshot
    assert table(snapshot.topic_partitions, "end_offset", "read_at") == [(10, NOON + 200)]
    assert cell(snapshot.groups, "lag", consumer_group="g") == 6


def test_a_recreated_topic_takes_nothing_from_the_one_before() -> None:
    old = a_snapshot({"g": {"orders": [900]}}, {"orders": [(100, 1000)]})
    now = a_reading(
        {"g": {"orders": [900]}},
        {"orders": [contract.NO_LEADER]},
        at=SOON,
        topic_ids={"orders": "another"},
    )
    snapshot = a_report(now, old, at=SOON).snapshot
    assert table(snapshot.topic_partitions, "topic_id", "end_offset") == [("another", None)]
    names = ("topic_id", "start_offset", "end_offset", "lag")
    assert table(snapshot.group_partitions, *names) == [("another", None, None, None)]
    assert cell(snapshot.groups, "lag", consumer_group="g") is None


def test_a_recreated_topic_that_was_read_counts_at_once() -> None:
    old = a_snapshot({"g": {"orders": [900]}}, {"orders": [(100, 1000)]})
    ids = {"orders": "another"}
    now = a_reading({"g": {"orders": [2]}}, {"orders": [(0, 5)]}, at=SOON, topic_ids=ids)
    rows = a_report(now, old, at=SOON).snapshot.group_partitions
    assert table(rows, "topic_id", "lag", "records_lost") == [("another", 3, 0)]


def test_a_name_the_filters_no_longer_take_leaves_at_once() -> None:
    rules = Rules(groups=NameFilter(deny=re.compile("^g$")), topics=NameFilter())
    snapshot = a_report(unread_group(SOON), previous_snapshot(), rules, SOON).snapshot
    assert snapshot.groups.strings("consumer_group").to_list() == ["other"]
    assert set(snapshot.group_partitions.strings("consumer_group").to_list()) == {"other"}


def test_a_hidden_topic_the_filters_no_longer_take_leaves_at_once() -> None:
    rules = Rules(topics=NameFilter(deny=re.compile("orders")))
    snapshot = a_report(hidden_topic(SOON), previous_snapshot(), rules, SOON).snapshot
    assert set(snapshot.topic_partitions.strings("topic").to_list()) == {"bills"}
    assert set(snapshot.group_partitions.strings("topic").to_list()) == {"bills"}


def test_words_that_no_row_uses_do_not_pile_up_from_run_to_run() -> None:
    last = a_snapshot({"g": contract.DENIED}, TOPICS)
    for run in range(1, 4):
        at = NOON + run * MINUTE
        groups: Groups = {"g": contract.DENIED, f"console-consumer-{run}": {"bills": [0]}}
        last = a_report(a_reading(groups, TOPICS, at=at), last, at=at).snapshot
    assert last.groups.strings("consumer_group").categories == ("g", "console-consumer-3")
