# SPDX-License-Identifier: Apache-2.0
"""Finer levels carry the names and labels that dashboards of kafka_exporter read."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import AnyColumn
from kafka_lag.lag.model import Snapshot
from tests.builders import NOON, a_snapshot
from tests.fakes import MemoryStore
from tests.functions.views.prometheus.scrapes import names, scrape, stored, value

TOPICS = {"orders": [(2, 10), (0, 10)], "audit": [(0, 3)]}
SHOP = a_snapshot({"billing": {"orders": [5, 9], "audit": [3]}}, TOPICS)
BILLING = {"consumergroup": "billing"}


def test_a_topic_has_the_sums_of_its_partitions() -> None:
    series = scrape(stored(SHOP), level="topic")
    of = {**BILLING, "topic": "orders"}
    assert value(series, "kafka_consumergroup_lag_sum", **of) == 6
    assert value(series, "kafka_consumergroup_current_offset_sum", **of) == 14
    assert value(series, "kafka_topic_partitions", topic="orders") == 2


def test_each_topic_is_summed_apart() -> None:
    series = scrape(stored(SHOP), level="topic")
    assert value(series, "kafka_consumergroup_lag_sum", **BILLING, topic="audit") == 0


def test_a_partition_has_its_own_numbers() -> None:
    series = scrape(stored(SHOP), level="partition")
    of = {"topic": "orders", "partition": "0"}
    assert value(series, "kafka_consumergroup_lag", **BILLING, **of) == 5
    assert value(series, "kafka_consumergroup_current_offset", **BILLING, **of) == 5
    assert value(series, "kafka_topic_partition_current_offset", **of) == 10
    assert value(series, "kafka_topic_partition_oldest_offset", **of) == 2
    assert value(series, "kafka_topic_partition_leader", **of) == 0


@pytest.mark.parametrize(("in_sync", "under"), [((1, 2, 3), 0), ((1, 3), 1), (None, None)])
def test_a_replica_out_of_sync_is_reported(
    in_sync: tuple[int, ...] | None, under: int | None
) -> None:
    topics = SHOP.topic_partitions.with_columns(
        replicas=Strings.of([(1, 2, 3)] * 3), in_sync_replicas=Strings.of([in_sync] * 3)
    )
    series = scrape(
        stored(Snapshot(NOON, topics, SHOP.group_partitions, SHOP.groups)), level="partition"
    )
    of, name = {"topic": "audit", "partition": "0"}, "kafka_topic_partition_"
    assert value(series, f"{name}under_replicated_partition", **of) == under
    assert value(series, f"{name}in_sync_replica", **of) == (in_sync and len(in_sync))
    assert value(series, f"{name}replicas", **of) == 3


def test_levels_hold_what_is_above_them() -> None:
    group, topic, partition = (
        names(scrape(stored(SHOP), level=level)) for level in ("group", "topic", "partition")
    )
    assert group < topic < partition
    assert "kafka_consumergroup_lag" not in topic
    assert "kafka_consumergroup_lag_sum" not in group


def test_members_have_the_other_exporters_name_too() -> None:
    groups = {"billing": {"orders": [5, 9]}}
    series = scrape(stored(a_snapshot(groups, TOPICS)), level="topic")
    ours = value(series, "kafka_lag_group_members", **BILLING)
    assert ours is not None
    assert value(series, "kafka_consumergroup_members", **BILLING) == ours


def judged(**columns: AnyColumn) -> MemoryStore:
    """A snapshot whose three group-partitions have these columns."""
    rows = SHOP.group_partitions.with_columns(**columns)
    return stored(Snapshot(NOON, SHOP.topic_partitions, rows, SHOP.groups))


STATUS, FIRST = "kafka_lag_partition_status", {**BILLING, "topic": "orders", "partition": "0"}


@pytest.mark.parametrize(
    ("word", "number"),
    [("OK", 0), ("WARN", 1), ("ERR", 2), ("STOP", 3), ("STALL", 4), ("REWIND", 5), (None, None)],
)
def test_a_partitions_status_is_its_number_and_absent_where_it_is_unknown(
    word: str | None, number: int | None
) -> None:
    series = scrape(judged(status=Strings.of([word, "OK", None])), level="partition")
    assert value(series, STATUS, **FIRST, leader="0") == number
    assert sum(name == STATUS for name, _ in series) == 1 + (word is not None)


def test_the_help_of_partitions_statuses_says_the_number_of_each() -> None:
    ((_, text),) = exposition.PARTITION_STATUS_GAUGES.values()
    answer = [f"{number} {word}" for word, number in contract.PARTITION_STATUS_VALUES.items()]
    assert text == f"Status of the partition: {', '.join(answer)}."


def test_a_partition_that_was_not_read_has_no_status() -> None:
    snapshot = a_snapshot({"billing": {"orders": [10, contract.TIMEOUT]}}, TOPICS)
    series = scrape(stored(snapshot), level="partition")
    assert value(series, STATUS, **FIRST, leader="0") == 0
    assert [dict(labels)["partition"] for name, labels in series if name == STATUS] == ["0"]


def test_a_partition_whose_leader_is_unknown_has_its_status_and_an_empty_label() -> None:
    words, leaders = Strings.constant("STOP", 3), Column.optional([None, 2, 1], np.int32)
    series = scrape(judged(status=words, leader=leaders), level="partition")
    answer = {labels for name, labels in series if name == STATUS}
    assert value(series, STATUS, **FIRST, leader="") == 3
    assert {dict(labels)["leader"] for labels in answer} == {"", "1", "2"}


@pytest.mark.parametrize("level", ["group", "topic"])
def test_coarser_levels_have_no_statuses_of_partitions(level: str) -> None:
    series = scrape(judged(status=Strings.constant("OK", 3)), level=level)
    assert STATUS not in names(series)


def test_a_sum_that_lacks_a_part_is_absent() -> None:
    snapshot = a_snapshot({"billing": {"orders": [5, contract.TIMEOUT], "audit": [1]}}, TOPICS)
    series = scrape(stored(snapshot), level="topic")
    assert value(series, "kafka_consumergroup_lag_sum", **BILLING, topic="orders") is None
    assert (
        value(series, "kafka_consumergroup_current_offset_sum", **BILLING, topic="orders") is None
    )
    assert value(series, "kafka_consumergroup_lag_sum", **BILLING, topic="audit") == 2


def test_a_partition_without_a_commit_counts_in_no_sum() -> None:
    snapshot = a_snapshot({"billing": {"orders": [5, None]}}, TOPICS)
    series = scrape(stored(snapshot), level="partition")
    assert value(series, "kafka_consumergroup_lag_sum", **BILLING, topic="orders") == 5
    other = {"topic": "orders", "partition": "1"}
    assert value(series, "kafka_consumergroup_lag", **BILLING, **other) is None
    assert value(series, "kafka_consumergroup_current_offset", **BILLING, **other) is None


@pytest.mark.parametrize(
    ("commits", "age"),
    [([10, 10], 0), ([10, contract.TIMEOUT], None), ([10, None], 0)],
)
def test_an_age_of_nothing_is_published_only_where_all_is_read(
    commits: list[int | str | None], age: int | None
) -> None:
    snapshot = a_snapshot({"billing": {"orders": commits}}, TOPICS)
    series = scrape(stored(snapshot), level="topic")
    assert value(series, "kafka_lag_topic_time_lag_seconds", **BILLING, topic="orders") == age


@pytest.mark.parametrize(
    ("commits", "total"),
    [([2**63 - 1, 2**63 - 1], None), ([5, 2**63 - 1], 5), ([10, 10], 20), ([11, 10], 10)],
)
def test_a_commit_beyond_the_end_counts_in_no_sum(commits: list[int], total: int | None) -> None:
    series = scrape(stored(a_snapshot({"billing": {"orders": commits}}, TOPICS)), level="topic")
    of = {**BILLING, "topic": "orders"}
    assert value(series, "kafka_consumergroup_current_offset_sum", **of) == total


MEMBER, AGE = exposition.PARTITION_MEMBER_INFO, exposition.PARTITION_COMMIT_AGE


def test_a_partition_that_a_member_owns_has_a_series_to_join_by() -> None:
    series = scrape(
        judged(
            member_id=Strings.of(["m-1", None, "m-2"]),
            client_id=Strings.of(["app", None, None]),
            client_host=Strings.of(["/10.0.0.1", None, "/10.0.0.2"]),
        ),
        level="partition",
    )
    rows = SHOP.group_partitions
    places = list(
        zip(rows.strings("topic").to_list(), rows.numbers("partition_id").to_list(), strict=True)
    )
    (topic, partition), _, (other, last) = places
    who = {"client_id": "app", "client_host": "/10.0.0.1", "member_id": "m-1"}
    second = {"client_id": "", "client_host": "/10.0.0.2", "member_id": "m-2"}
    assert value(series, MEMBER, **BILLING, topic=topic, partition=str(partition), **who) == 1
    assert value(series, MEMBER, **BILLING, topic=other, partition=str(last), **second) == 1
    assert sum(name == MEMBER for name, _ in series) == 2


def test_the_time_since_a_commit_moved_ends_at_the_reading() -> None:
    since = Column.optional([NOON - 90_000, NOON, None], np.int64)
    read = Column.of(np.full(3, NOON, np.int64))
    series = scrape(judged(commit_changed_at=since, read_at=read), level="partition")
    assert sorted(found for (name, _), found in series.items() if name == AGE) == [0, 90]


@pytest.mark.parametrize("family", [MEMBER, AGE])
def test_a_partition_that_was_not_read_has_neither_member_nor_age(family: str) -> None:
    snapshot = a_snapshot({"billing": {"orders": [10, contract.TIMEOUT]}}, TOPICS)
    rows = snapshot.group_partitions.with_columns(
        member_id=Strings.constant("m", 2),
        commit_changed_at=Column.of(np.full(2, NOON, np.int64)),
        read_at=Column.of(np.full(2, NOON, np.int64)),
    )
    store = stored(Snapshot(NOON, snapshot.topic_partitions, rows, snapshot.groups))
    found = [
        dict(labels)["partition"]
        for name, labels in scrape(store, level="partition")
        if name == family
    ]
    assert found == ["0"]
