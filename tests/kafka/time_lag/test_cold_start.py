# SPDX-License-Identifier: Apache-2.0
"""Time lag of a reporter that knows nothing yet, and of the run after it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dev.benchmarks.time_lag import cases
from dev.benchmarks.time_lag.cases import Random
from dev.benchmarks.time_lag.logs import Ints
from dev.kafka import KafkaCluster
from kafka_lag import contract
from tests.kafka.looking import rows
from tests.kafka.time_lag.watched import DAY, NOW, SECOND, ago, dated, said, stated, watched

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


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
