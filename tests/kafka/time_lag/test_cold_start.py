# SPDX-License-Identifier: Apache-2.0
"""Time lag of a reporter that knows nothing yet, and of the run after it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from dev.benchmarks.time_lag import cases
from dev.benchmarks.time_lag.cases import Random
from dev.benchmarks.time_lag.logs import Ints
from dev.kafka import KafkaCluster
from kafka_lag import contract
from tests.kafka.looking import rows
from tests.kafka.time_lag.watched import DAY, HOUR, NOW, SECOND, ago, dated, said, stated, watched

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize(
    "shape",
    [cases.steady, cases.by_chance, cases.bursty, cases.equal, cases.late],
    ids=lambda shape: shape.__name__.replace("_", "-"),
)
def test_a_cold_start_dates_commits_in_days_of_history(
    shared_cluster: KafkaCluster, shape: Callable[[Random, int], Ints]
) -> None:
    logs = [shape(np.random.default_rng(seed), NOW) for seed in range(3)]
    name = f"cold-{shape.__name__.replace('_', '-')}"
    topic = watched(shared_cluster, name, *(log.tolist() for log in logs))
    committed = [len(log) * share // 100 for log, share in zip(logs, (10, 50, 95), strict=True)]
    topic.commit(*committed)
    report = topic.first_look()
    for partition, (log, offset) in enumerate(zip(logs, committed, strict=True)):
        row, truth = topic.row(report, partition), int(log[: offset + 1].max())
        off, age = abs(dated(row) - truth), row["read_at"] - truth
        assert off <= max(2 * SECOND, 0.003 * age)
        assert off <= stated(row)
        assert row["time_lag_method"] == contract.METHOD_RECORD_TIME


def test_the_second_look_asks_for_nothing_and_says_the_same_record(
    shared_cluster: KafkaCluster,
) -> None:
    log = cases.by_chance(np.random.default_rng(1), NOW)
    topic = watched(shared_cluster, "cold-twice", log.tolist())
    topic.commit(1_500)
    with topic.looker() as eyes:
        first, second = eyes.look(), eyes.look()
    row, later = topic.row(first), topic.row(second)
    assert (first.look_ups > 0, second.look_ups) == (True, 0)
    assert later["read_at"] > row["read_at"]
    assert dated(later) == pytest.approx(dated(row), abs=1)
    assert later["time_lag_error_seconds"] == pytest.approx(row["time_lag_error_seconds"])
    assert later["time_lag_method"] == contract.METHOD_CARRIED


def test_one_unread_record_of_an_idle_topic_is_dated_exactly(shared_cluster: KafkaCluster) -> None:
    times = ago(9 * DAY, 8 * DAY, 5 * DAY + 7 * HOUR + 1_234)
    topic = watched(shared_cluster, "cold-idle", times)
    topic.commit(2)
    row = topic.row(topic.first_look())
    assert dated(row) == pytest.approx(times[2], abs=1)
    assert said(row)[1:] == (0.0, contract.METHOD_RECORD_TIME)
    assert row["next_record_time"] == times[2]


def test_without_look_ups_an_old_record_is_unknown_at_first(shared_cluster: KafkaCluster) -> None:
    topic = watched(shared_cluster, "frugal-first", ago(3 * DAY, 2 * DAY))
    topic.commit(1)
    report = topic.first_look(lookup_budget=0)
    assert said(topic.row(report)) == said(topic.group(report)) == (None, None, None)
    assert report.look_ups == 0


def test_a_group_is_not_young_because_all_else_is_read(shared_cluster: KafkaCluster) -> None:
    topic = watched(shared_cluster, "frugal-beside", ago(3 * DAY, 2 * DAY), ago(DAY))
    topic.commit(1, 1)
    report = topic.first_look(lookup_budget=0)
    assert said(topic.row(report, 1)) == (0.0, 0.0, contract.METHOD_NONE)
    assert said(topic.group(report)) == (None, None, None)
    assert 0.0 not in [row["time_lag_seconds"] for row in rows(report.group_topics)]


def test_without_look_ups_an_old_record_is_at_least_as_old_as_it_is_known(
    shared_cluster: KafkaCluster,
) -> None:
    topic = watched(shared_cluster, "frugal-later", ago(3 * DAY, 2 * DAY))
    topic.commit(1)
    with topic.looker(lookup_budget=0) as eyes:
        first, row = topic.row(eyes.look()), topic.row(eyes.look())
    # It was there when the first look ended, and nothing says since when.
    assert first["read_at"] <= dated(row) < row["read_at"]
    assert said(row)[1:] == (None, contract.METHOD_AT_LEAST)


def test_without_look_ups_a_record_between_two_looks_is_interpolated(
    shared_cluster: KafkaCluster,
) -> None:
    topic = watched(shared_cluster, "frugal-between", ago(3 * DAY, 2 * DAY))
    topic.commit(2)
    with topic.looker(lookup_budget=0) as eyes:
        eyes.look()
        # Dated days back: nothing but the looks tells when they came.
        topic.write(ago(DAY, DAY, DAY))
        came = time.time() * 1000
        row = topic.row(eyes.look())
    assert abs(dated(row) - came) <= stated(row)
    assert row["time_lag_method"] == contract.METHOD_INTERPOLATED
