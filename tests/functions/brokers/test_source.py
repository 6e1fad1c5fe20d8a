# SPDX-License-Identifier: Apache-2.0
"""A source before its first reading, and how long a run may look up times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, look_up_until
from kafka_lag.lag.columns import Column, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_index import NEWEST, LookupResults
from tests.builders import NOON, a_reading
from tests.fakes import FakeSource
from tests.functions.runs import GROUPS, TOPICS, Run


class Forbidden(FixedCredentials):
    """A login that must not be needed."""

    def candidates(self) -> Iterator[Credentials | None]:
        raise AssertionError("somebody connects")


def test_without_a_reading_no_look_up_is_sent() -> None:
    source = KafkaSource(Access(("localhost:1",)), Forbidden())
    row = Frame.empty(contract.TOPIC_PARTITIONS).take(np.array([-1]))
    answers = source.look_up(row, np.zeros(1, np.int64), deadline=float("inf"))
    assert not (answers.found | answers.none).any()


LOOK_UPS = (
    Frame.of(
        {
            "topic": Strings.of(["orders", "orders"]),
            "partition_id": Column.of(np.array([0, 1], np.int32)),
            "leader": Column.of(np.array([0, 1], np.int32)),
        }
    ),
    np.array([NOON, NEWEST]),
)


def found(_: Frame, times: Rows) -> LookupResults:
    yes, ones = np.ones(len(times), bool), np.ones(len(times), np.int64)
    return LookupResults(yes, ~yes, ones, ones * NOON)


@pytest.mark.parametrize(("now", "sent"), [(26.9, True), (27.0, False), (30.0, False)])
def test_look_ups_are_sent_before_the_deadline_alone(now: float, sent: bool) -> None:
    source = FakeSource(a_reading(), answers=found)
    answers = look_up_until(source, 27.0, lambda: now)(*LOOK_UPS)
    assert answers.found.tolist() == [sent, sent]
    assert not answers.none.any()
    assert (source.look_ups, source.time_deadlines) == (([LOOK_UPS], [27.0]) if sent else ([], []))


@pytest.mark.parametrize(
    ("seconds_left", "deadline"), [(None, 127.0), (20.0, 112.0), (300.0, 127.0)]
)
def test_a_run_looks_up_times_in_the_first_three_fifths_of_its_own(
    seconds_left: float | None, deadline: float
) -> None:
    run = Run(a_reading(GROUPS, TOPICS), clock=lambda: 100.0)
    run(seconds_left=seconds_left)
    assert set(run.source.time_deadlines) == {deadline}
    late = Run(a_reading(GROUPS, TOPICS), clock=lambda: 100.0)
    late(seconds_left=0.0)
    assert late.source.look_ups == []
    assert late.sink.published != []
