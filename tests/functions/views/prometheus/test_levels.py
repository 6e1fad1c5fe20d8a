# SPDX-License-Identifier: Apache-2.0
"""Finer levels carry the names and labels that dashboards of kafka_exporter read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import AnyColumn
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.keys import object_key
from tests.builders import HOUR, MINUTE, NOON, a_snapshot
from tests.fakes import MemoryStore
from tests.functions.views.prometheus.scrapes import (
    ask,
    names,
    scrape,
    stored,
    value,
    with_groups,
)

TOPICS = {"orders": [(2, 10), (0, 10)], "audit": [(0, 3)]}
SHOP = a_snapshot({"billing": {"orders": [5, 9], "audit": [3]}}, TOPICS)
BILLING = {"consumergroup": "billing"}
STATUS = "kafka_lag_partition_status"
MEMBER, AGE = exposition.PARTITION_MEMBER_INFO, exposition.PARTITION_COMMIT_AGE


def test_each_level_has_its_own_numbers_and_what_is_above_it() -> None:
    group, topic, partition = (
        scrape(stored(SHOP), level=level) for level in ("group", "topic", "partition")
    )
    of = {"topic": "orders"}
    sums = {
        name: value(topic, f"kafka_consumergroup_{name}", **BILLING, **of)
        for name in ("lag_sum", "current_offset_sum")
    }
    assert sums == {"lag_sum": 6, "current_offset_sum": 14}
    assert value(topic, "kafka_consumergroup_lag_sum", **BILLING, topic="audit") == 0
    assert value(topic, "kafka_topic_partitions", **of) == 2
    members = value(topic, "kafka_consumergroup_members", **BILLING)
    assert members == value(group, "kafka_lag_group_members", **BILLING) == 1

    of["partition"] = "0"
    for name, number in (("lag", 5), ("current_offset", 5)):
        assert value(partition, f"kafka_consumergroup_{name}", **BILLING, **of) == number
    for name, number in (("current_offset", 10), ("oldest_offset", 2), ("leader", 0)):
        assert value(partition, f"kafka_topic_partition_{name}", **of) == number

    assert names(group) < names(topic) < names(partition)
    assert "kafka_consumergroup_lag_sum" not in names(group)
    assert not {"kafka_consumergroup_lag", STATUS} & names(topic)


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


def judged(**columns: AnyColumn) -> MemoryStore:
    """A snapshot whose three group-partitions have these columns."""
    rows = SHOP.group_partitions.with_columns(**columns)
    return stored(Snapshot(NOON, SHOP.topic_partitions, rows, SHOP.groups))


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


def test_a_partitions_status_is_its_number_whoever_leads_it_and_absent_where_it_is_unknown() -> (
    None
):
    words = [*contract.PARTITION_STATUS_VALUES, None]
    groups = {"billing": {"orders": [0] * len(words)}}
    snapshot = a_snapshot(groups, {"orders": [(0, 10)] * len(words)})
    leaders = Column.optional([None, *range(1, len(words))], np.int32)
    rows = snapshot.group_partitions.with_columns(status=Strings.of(words), leader=leaders)
    series = scrape(
        stored(Snapshot(NOON, snapshot.topic_partitions, rows, snapshot.groups)), level="partition"
    )
    found = {
        (int(dict(labels)["partition"]), dict(labels)["leader"]): number
        for (name, labels), number in series.items()
        if name == STATUS
    }
    expected = {"OK": 0, "WARN": 1, "ERR": 2, "STOP": 3, "STALL": 4, "REWIND": 5}
    assert found == {
        (at, str(at) if at else ""): expected[word] for at, word in enumerate(words) if word
    }


@pytest.mark.parametrize(
    ("commits", "lag", "offset", "age"),
    [
        ([10, 10], 0, 20, 0),
        ([11, 10], 0, 10, 0),
        ([5, None], 5, 5, None),
        ([10, None], 0, 10, 0),
        ([10, contract.TIMEOUT], None, None, None),
        ([2**63 - 1, 2**63 - 1], 0, None, 0),
        ([5, 2**63 - 1], 5, 5, None),
    ],
    ids=str,
)
def test_what_is_unread_makes_a_sum_unknown_and_what_is_no_position_counts_in_none(
    commits: list[int | str | None], lag: int | None, offset: int | None, age: int | None
) -> None:
    snapshot = a_snapshot({"billing": {"orders": commits, "audit": [1]}}, TOPICS)
    series = scrape(stored(snapshot), level="topic")
    of = {**BILLING, "topic": "orders"}
    families = (
        *("kafka_consumergroup_lag_sum", "kafka_consumergroup_current_offset_sum"),
        "kafka_lag_topic_time_lag_seconds",
    )
    assert [value(series, family, **of) for family in families] == [lag, offset, age]
    assert value(series, "kafka_consumergroup_lag_sum", **BILLING, topic="audit") == 2


def test_a_partition_that_was_not_read_has_no_status_no_member_and_no_age_of_its_commit() -> None:
    snapshot = a_snapshot({"billing": {"orders": [10, contract.TIMEOUT]}}, TOPICS)
    rows = snapshot.group_partitions.with_columns(
        member_id=Strings.constant("m", 2),
        commit_changed_at=Column.of(np.full(2, NOON - 90_000, np.int64)),
        read_at=Column.of(np.full(2, NOON, np.int64)),
    )
    store = stored(Snapshot(NOON, snapshot.topic_partitions, rows, snapshot.groups))
    series = scrape(store, level="partition")
    for family, number in ((STATUS, 0), (MEMBER, 1), (AGE, 90)):
        found = {
            dict(labels)["partition"]: one
            for (name, labels), one in series.items()
            if name == family
        }
        assert found == {"0": number}, family


# /metrics tells what the groups dataset holds, and nothing that is not known.

ORDERS = {"orders": [(0, 10), (0, 10)]}
SMALL_SHOP = a_snapshot({"billing": {"orders": [5, 9]}}, ORDERS)


def a_store(**columns: Column | Strings) -> MemoryStore:
    """A snapshot of one group with these columns."""
    return stored(with_groups(SMALL_SHOP, SMALL_SHOP.groups.with_columns(**columns)))


def number(*values: float | None) -> Column:
    return Column.optional(values, np.float64)


def test_each_family_shows_its_column_and_is_absent_where_that_is_not_known() -> None:
    numbers = {
        column: Column.of(np.full(1, place, SMALL_SHOP.groups.numbers(column).values.dtype))
        for place, (column, _) in enumerate(exposition.GROUP_GAUGES.values(), 3)
    }
    unknown = {column: Column.unknown(1, known.values.dtype) for column, known in numbers.items()}
    series, without = scrape(a_store(**numbers)), scrape(a_store(**unknown))
    for family, (column, _) in exposition.GROUP_GAUGES.items():
        expected = float(numbers[column].values[0])
        assert value(series, family, consumergroup="billing") == expected, family
        assert value(without, family, consumergroup="billing") is None, family
    assert "kafka_lag_group_info" in names(without)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1.0])
def test_a_value_that_cannot_be_is_absent(wrong: float) -> None:
    series = scrape(a_store(drain_seconds=number(wrong)))
    assert value(series, "kafka_lag_group_drain_seconds", consumergroup="billing") is None


@pytest.mark.parametrize(
    ("status", "expected", "worst"),
    [("OK", 0, None), ("WARN", 1, "falling_behind"), ("ERR", 2, "stopped"), (None, None, None)],
)
def test_a_status_is_a_number_and_what_a_consumer_does_a_label(
    status: str | None, expected: int | None, worst: str | None
) -> None:
    word, does = Strings.of([status]), Strings.of([worst])
    series = scrape(a_store(status=word, held_status=word, worst_status=does))
    for column in ("status", "held_status"):
        assert value(series, f"kafka_lag_group_{column}", consumergroup="billing") == expected
    shown = [
        (dict(labels)["worst_status"], one)
        for (name, labels), one in series.items()
        if name == "kafka_lag_group_worst_status"
    ]
    assert shown == ([] if worst is None else [(worst, 1)])


def test_what_is_said_of_a_group_is_in_the_labels_of_its_info() -> None:
    series = scrape(a_store(owner=Strings.of(["the shop's team"]), protocol=Strings.of(["range"])))
    labels = {
        "owner": "the shop's team",
        "state": "Stable",
        "type": "classic",
        "protocol": "range",
    }
    assert value(series, "kafka_lag_group_info", consumergroup="billing", **labels) == 1


def test_a_group_that_is_gone_is_left_out() -> None:
    series = scrape(a_store(status_reason=Strings.of([contract.GONE])))
    assert names(series) == {"kafka_lag_snapshot_age_seconds", "kafka_lag_snapshot_readable"}


def test_a_broken_snapshot_hides_no_other_cluster() -> None:
    store = stored(SMALL_SHOP, "bank", stored(SMALL_SHOP))
    store.objects[object_key(contract.GROUPS, "shop", NOON)] = b"no Parquet"
    series = scrape(store)
    readable = [value(series, "kafka_lag_snapshot_readable", cluster=c) for c in ("shop", "bank")]
    assert readable == [0, 1]
    assert value(series, "kafka_lag_snapshot_age_seconds") == 30
    assert value(series, "kafka_lag_group_lag", cluster="bank", consumergroup="billing") == 6


def test_without_any_snapshot_there_are_families_and_no_samples() -> None:
    assert scrape(MemoryStore()) == {}
    assert b"# TYPE kafka_lag_group_lag gauge" in ask(MemoryStore()).body


def test_clusters_are_distinguished_and_one_can_be_requested() -> None:
    store = stored(SMALL_SHOP)
    stored(a_snapshot({"billing": {"orders": [9, 10]}}, ORDERS), "bank", store)
    series = scrape(store)
    lags = [
        value(series, "kafka_lag_group_lag", cluster=cluster, consumergroup="billing")
        for cluster in ("shop", "bank")
    ]
    assert lags == [6, 1]
    assert value(series, "kafka_lag_group_max_lag", consumergroup="billing") == 5
    assert {dict(labels)["cluster"] for _, labels in scrape(store, cluster="bank")} == {"bank"}
    assert ask(store).content_type == "text/plain; version=0.0.4; charset=utf-8"


@pytest.mark.parametrize(
    ("later", "age"), [(MINUTE, 0), (365 * 24 * HOUR, 30)], ids=["a little ahead", "next year"]
)
def test_a_snapshot_dated_ahead_is_not_shown_as_fresh_and_has_no_negative_age(
    later: int, age: int
) -> None:
    store = stored(SMALL_SHOP)
    ahead = a_snapshot({"billing": {"orders": [0, 0]}}, ORDERS, at=NOON + later)
    series = scrape(stored(ahead, store=store))

    assert value(series, "kafka_lag_snapshot_age_seconds") == age
    assert value(series, "kafka_lag_group_lag", consumergroup="billing") == (6 if age else 20)


# What UTF-8 can carry, with what the format itself is made of in between.
NAMES = st.text(
    st.one_of(st.sampled_from('\\"\n\r{},= #'), st.characters(exclude_categories=["Cs"])),
    max_size=12,
)
LAGS = st.dictionaries(NAMES, st.none() | st.integers(0, 2**53), min_size=1, max_size=4)


@settings(max_examples=15, deadline=None)
@given(lags=LAGS, topic=NAMES, number=st.floats(0, allow_nan=False, allow_infinity=False))
@example(lags={'"': 1, 'a",b="': 2, "\\n\n": 3}, topic='"} 5\n', number=0.5)
def test_every_name_and_number_comes_back(
    lags: dict[str, int | None], topic: str, number: float
) -> None:
    snapshot = a_snapshot({name: {topic: [1]} for name in lags}, {topic: [(0, 1)]})
    known = snapshot.groups.strings("consumer_group").to_list()
    groups = snapshot.groups.with_columns(
        lag=Column.optional([lags[name] for name in known]),
        time_lag_seconds=Column.of(np.full(len(known), number)),
    )
    series = scrape(stored(with_groups(snapshot, groups)), level="partition")
    for name, lag in lags.items():
        assert value(series, "kafka_lag_group_lag", consumergroup=name) == lag
        assert value(series, "kafka_lag_group_time_lag_seconds", consumergroup=name) == number
        labels = {"consumergroup": name, "topic": topic, "partition": "0", "leader": "0"}
        assert value(series, "kafka_lag_partition_status", **labels) == 0
