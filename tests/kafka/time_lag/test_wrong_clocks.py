# SPDX-License-Identifier: Apache-2.0
"""Records whose producers had no clock or a wrong one, and records dated by the broker."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

import pytest

from dev.kafka import KafkaCluster
from kafka_lag import contract
from kafka_lag.lag.group_settings import Tolerance
from tests.kafka.time_lag.watched import (
    DAY,
    MINUTE,
    ago,
    dated,
    every,
    said,
    stated,
    times_told,
    watched,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

Clock: TypeAlias = Callable[[int], int]

# What brokers take only if configured to; before 4.0 they took any time.
_ANY_TIME = {"message.timestamp.after.max.ms": str(10**15)}
# So exact that the index is asked even about records of this moment.
TIGHT = Tolerance(floor_ms=1, share=0.0)
_YEAR_2100 = 4_102_444_800_000

# What a producer's clock says at a time, both in ms. -1 is Kafka's word for no timestamp.
CLOCKS: dict[str, Clock] = {
    "none": lambda _: -1,
    "seconds-for-ms": lambda now: now // 1000,
    "year-2100": lambda _: _YEAR_2100,
    "half-an-hour-ahead": lambda now: now + 30 * MINUTE,
}
# Of a clock that is behind only what earlier looks saw can tell.
SEEN_CLOCKS: dict[str, Clock] = {**CLOCKS, "day-behind": lambda now: now - DAY}


def now() -> int:
    return int(time.time() * 1000)


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_wrong_clock_makes_the_age_unknown_and_no_other_partitions(
    shared_cluster: KafkaCluster, clock: str
) -> None:
    right, wrong = every(MINUTE, 100), [CLOCKS[clock](now())] * 3
    topic = watched(shared_cluster, f"clock-{clock}", wrong, right, config=_ANY_TIME)
    topic.commit(1, 40)
    report = topic.first_look()
    assert said(topic.row(report)) == (None, None, None)
    assert dated(topic.row(report, 1)) == pytest.approx(right[40], abs=1)
    group = topic.group(report)
    assert dated(group) == pytest.approx(right[40], abs=1)
    assert said(group)[1:] == (None, contract.METHOD_AT_LEAST)


@pytest.mark.parametrize("clock", SEEN_CLOCKS)
def test_a_wrong_clock_cannot_leave_what_two_looks_saw(
    shared_cluster: KafkaCluster, clock: str
) -> None:
    topic = watched(shared_cluster, f"clock-seen-{clock}", [], config=_ANY_TIME)
    topic.commit(0)
    with topic.looker(tolerance=TIGHT) as eyes:
        first = topic.row(eyes.look_until(lambda report: topic.row(report)["lag"] == 0))
        topic.write([SEEN_CLOCKS[clock](now())] * 3)
        came = now()
        report = eyes.look()
        ended = now()
    row = topic.row(report)
    assert report.look_ups > 0
    assert abs(dated(row) - came) <= stated(row) <= ended - first["read_at"]
    assert row["time_lag_method"] in (contract.METHOD_INTERPOLATED, contract.METHOD_RECORD_TIME)
    assert min(times_told(report)) >= 0


def test_a_broker_that_dates_records_itself_is_believed(shared_cluster: KafkaCluster) -> None:
    config = {"message.timestamp.type": "LogAppendTime"}
    topic = watched(shared_cluster, "clock-brokers", ago(5 * DAY), config=config)
    began = now()
    topic.write(ago(4 * DAY))
    ended = now()
    topic.write(ago(3 * DAY))
    topic.commit(1)
    row = topic.row(topic.first_look(tolerance=TIGHT))
    assert began <= row["next_record_time"] <= ended <= row["read_at"]
    assert dated(row) == pytest.approx(row["next_record_time"], abs=1)
