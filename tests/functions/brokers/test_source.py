# SPDX-License-Identifier: Apache-2.0
"""A source before its first reading."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_lag import contract
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.brokers.wire.access import Access, Credentials
from kafka_lag.brokers.wire.credentials import FixedCredentials
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_index import TimeQuestions


class Forbidden(FixedCredentials):
    """A login that nobody may ask for."""

    def candidates(self) -> Iterator[Credentials | None]:
        raise AssertionError("somebody connects")


def test_without_a_reading_nobody_is_asked_for_times() -> None:
    source = KafkaSource(Access(("localhost:1",)), Forbidden())
    row = Frame.empty(contract.TOPIC_PARTITIONS).take(np.array([-1]))
    answers = source.look_up(TimeQuestions(row, np.zeros(1, np.int64)), deadline=float("inf"))
    assert not (answers.found | answers.none).any()
