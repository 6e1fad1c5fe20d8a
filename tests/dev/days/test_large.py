# SPDX-License-Identifier: Apache-2.0
"""The cluster of the benchmarks is as large and as uneven as it says."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from dev.days.cluster import Logs
from dev.days.describe import Span
from dev.days.large import large, uniform
from dev.days.runs import runs


@pytest.mark.parametrize("partitions", [1, 100, 7_777, 10_000])
def test_a_large_day_has_exactly_the_group_partitions_asked_for(partitions: int) -> None:
    day = large(partitions)
    sizes = {topic.name: len(topic.partitions) for topic in day.topics}

    assert sum(sizes[name] for group in day.groups for name in group.topics) == partitions
    assert len(sizes) == len(day.topics)


def test_ten_thousand_are_about_250_groups_on_4_000_partitions_of_shared_topics() -> None:
    day = large(10_000)
    read = [name for group in day.groups for name in group.topics]

    assert 200 <= len(day.groups) <= 300
    assert 3_300 <= len(Logs(day)) <= 5_000
    assert len(set(read)) < len(read) / 2
    assert min(len(m.member_id) for group in day.groups for m in group.members) > 50


def test_a_few_topics_have_most_of_the_records() -> None:
    day = large(10_000)
    rates = np.array(sorted(sum(p.rate for p in topic.partitions) for topic in day.topics))

    assert rates[-len(rates) // 10 :].sum() > rates.sum() / 2


def test_the_same_seed_is_the_same_day() -> None:
    assert large(500, seed=3) == large(500, seed=3)
    assert large(500, seed=3) != large(500, seed=4)


def test_its_first_run_knows_rates_and_ages_of_the_hours_before() -> None:
    midnight = datetime(2026, 1, 31, tzinfo=UTC)
    (first,) = runs(large(200), midnight, timedelta(minutes=10), Span(0, 1 / 6))

    rows = first.group_partitions
    assert len(rows) == 200
    assert rows.numbers("consume_rate").known.all()
    assert rows.numbers("time_lag_seconds").known.all()
    assert rows.strings("status").known.all()


def test_groups_of_a_uniform_cluster_read_as_much_each_and_every_tenth_is_slow() -> None:
    day = uniform()
    sizes = {topic.name: len(topic.partitions) for topic in day.topics}
    read = {group.name: sum(sizes[name] for name in group.topics) for group in day.groups}

    assert len(day.groups) == 1_000
    assert set(read.values()) == {60}
    assert len(day.events) == 100
