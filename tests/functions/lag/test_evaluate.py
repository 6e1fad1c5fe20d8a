# SPDX-License-Identifier: Apache-2.0
"""From a reading to the three datasets: what counts, what is apart, what is named worst."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.lag.group_settings import EARLIEST, ByName, Rules
from kafka_lag.lag.model import ClusterReading, LagReport, Snapshot
from kafka_lag.snapshots.parquet import from_parquet, to_parquet
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
    datasets,
    same,
    table,
)


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


def test_the_worst_partition_is_named_with_its_member_and_leader() -> None:
    reading = a_reading(
        {"g": {"orders": [9, 2, 2]}},
        {"orders": [(0, 10)] * 3},
        owners={("g", "orders", 1): "m1", ("g", "orders", 2): "m2"},
    )
    names = ("worst_topic", "worst_partition", "worst_member", "worst_leader")
    assert of_group(a_report(reading), *names) == ("orders", 1, "m1", 1)


def test_a_group_without_lag_has_no_worst_partition() -> None:
    report = a_report(a_reading({"g": {"orders": [10]}}, {"orders": [(0, 10)]}))
    assert of_group(report, "lag", "worst_topic", "worst_partition") == (0, None, None)


def test_uncommitted_partitions_are_counted_apart_and_not_in_the_sum() -> None:
    report = a_report(a_reading({"g": {"orders": [5, None]}}, {"orders": [(0, 10), (0, 10)]}))
    names = ("lag", "partitions_uncommitted", "partitions_unknown")
    assert of_group(report, *names) == (5, 1, 0)


def test_a_group_with_nothing_but_uncommitted_partitions_has_no_lag() -> None:
    report = a_report(a_reading({"g": {"orders": [None]}}, {"orders": [(0, 10)]}))
    assert of_group(report, "lag", "max_lag", "partitions_uncommitted") == (None, None, 1)


def test_a_group_told_to_start_at_the_earliest_counts_from_the_log_start() -> None:
    reading = a_reading(
        {"late": {"orders": [None]}, "g": {"orders": [None]}}, {"orders": [(3, 10)]}
    )
    report = a_report(reading, rules=Rules(uncommitted=ByName.of([("^la", EARLIEST)])))
    assert table(report.snapshot.groups, "consumer_group", "lag") == [("late", 7), ("g", None)]


def test_a_partition_never_heard_of_makes_its_sums_unknown() -> None:
    topics: Topics = {"orders": [(0, 10), contract.NO_LEADER], "bills": [(0, 7)]}
    report = a_report(a_reading({"g": {"orders": [5, 5], "bills": [0]}}, topics))
    assert of_group(report, "lag", "max_lag", "partitions_unknown") == (None, None, 1)
    assert sorted(table(report.group_topics, "topic", "lag")) == [("bills", 7), ("orders", None)]


def test_a_refused_commit_is_unknown_and_not_uncommitted() -> None:
    reading = a_reading({"g": {"orders": [5, contract.DENIED]}}, {"orders": [(0, 10), (0, 10)]})
    names = ("lag", "partitions_unknown", "partitions_uncommitted")
    assert of_group(a_report(reading), *names) == (None, 1, 0)


def test_a_refused_commit_on_an_empty_partition_is_unknown_too() -> None:
    reading = a_reading({"g": {"orders": [5, contract.DENIED]}}, {"orders": [(0, 10), (4, 4)]})
    assert of_group(a_report(reading), "lag", "partitions_unknown") == (None, 1)


def test_records_lost_are_summed_and_lag_counts_from_the_start() -> None:
    report = a_report(a_reading({"g": {"orders": [2, 2]}}, {"orders": [(5, 10), (4, 10)]}))
    assert of_group(report, "lag", "records_lost") == (11, 5)


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


def test_every_dataset_has_the_contracts_columns() -> None:
    snapshot = a_snapshot({"g": {"orders": [5]}}, {"orders": [(0, 10)]})
    for name, frame in datasets(snapshot).items():
        assert tuple(frame.columns) == tuple(contract.COLUMNS[name])


def test_an_empty_cluster_gives_empty_datasets() -> None:
    report = a_report(a_reading())
    assert [len(frame) for frame in datasets(report.snapshot).values()] == [0, 0, 0]
    assert len(report.group_topics) == report.lags_clamped == 0


def test_a_group_without_commits_has_a_row_and_no_lag() -> None:
    report = a_report(a_reading({"g": {}}, {"orders": [(0, 10)]}))
    assert of_group(report, "partitions", "lag", "max_lag") == (0, None, None)


def eventful() -> tuple[ClusterReading, Snapshot]:
    topics: Topics = {"orders": [(0, 10), (0, 10), contract.TIMEOUT], "bills": [(0, 7)]}
    old: Groups = {"g": {"orders": [1, 2, 3]}, "h": {"bills": [None]}, "i": {"bills": [4]}}
    before = a_snapshot(old, {"orders": [(0, 9)] * 3, "bills": [(0, 7)]}, at=NOON - MINUTE)
    now: Groups = {"g": {"orders": [5, contract.DENIED, 9]}, "h": contract.TIMEOUT}
    return a_reading(now, topics, gone_groups=["i"]), before


def test_the_same_reading_and_snapshot_always_say_the_same() -> None:
    one, other = (a_report(*eventful()).snapshot for _ in range(2))
    assert all(same(one.dataset(name), other.dataset(name)) for name in contract.DATASETS)


def test_a_cold_run_says_what_a_warm_one_does() -> None:
    reading, before = eventful()
    stored = {n: from_parquet(to_parquet(f, n), n) for n, f in datasets(before).items()}
    loaded = Snapshot(before.taken_at, *stored.values())
    warm, cold = a_report(reading, before), a_report(reading, loaded)
    assert all(
        same(warm.snapshot.dataset(name), cold.snapshot.dataset(name)) for name in contract.DATASETS
    )
