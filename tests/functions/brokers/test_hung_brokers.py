# SPDX-License-Identifier: Apache-2.0
"""Brokers that take requests and never answer: each costs only its own rows, and little time."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import SourceError
from kafka_lag.lag.model import ClusterReading
from tests.functions.brokers.listening import ALL, LOOK_UPS, Cluster, cluster
from tests.functions.brokers.skipped_waits import skipping_waits

KNOWN = frozenset({"group-1", "group-2", "group-3"})


RUN = 5.0


class Reader:
    """A source, whose runs have so many seconds, of which they `took` some."""

    def __init__(self, brokers: Cluster, broker_timeout: float = 10.0, seconds: float = RUN):
        self.source = KafkaSource(brokers.access(broker_timeout=broker_timeout), FixedCredentials())
        self.seconds, self.took = seconds, 0.0

    def __call__(self) -> ClusterReading:
        began = time.monotonic()
        try:
            return self.source.read(ReadRequest(known_groups=KNOWN), began + self.seconds)
        finally:
            self.took = time.monotonic() - began

    def look_up(self, reading: ClusterReading, seconds: float = 4.0) -> list[bool]:
        """Which of the three partitions were answered."""
        times, deadline = np.full(3, 1000, np.int64), time.monotonic() + seconds
        answers = self.source.look_up(reading.topic_partitions, times, deadline)
        answered: list[bool] = (answers.found | answers.none).tolist()
        return answered


def unread(reading: ClusterReading) -> list[int]:
    """The brokers whose partition's ends, or whose group's commits, were not read."""
    ends = reading.topic_partitions.strings("unread_reason").to_list()
    groups = zip(
        reading.groups.strings("consumer_group").to_list(),
        reading.groups.strings("unread_reason").to_list(),
        strict=True,
    )
    of_groups = {int(str(name)[-1]) for name, why in groups if why is not None}
    return sorted({at + 1 for at, why in enumerate(ends) if why is not None} | of_groups)


def named(problems: Any) -> list[str]:
    return sorted(p.name for p in problems if p.scope == "broker")


@pytest.mark.parametrize("node", [1, 2])
@pytest.mark.parametrize("state", ["cold", "warm"])
def test_one_hung_broker_costs_its_own_rows_however_long_it_may_take(
    brokers: Cluster, node: int, state: str
) -> None:
    read = Reader(brokers, broker_timeout=10.0)
    if state == "warm":
        assert unread(read()) == []
    brokers[node].hangs_on = {ALL}
    reading = read()
    assert unread(reading) == [node]
    assert named(reading.problems) == [str(node)]
    assert read.took < 0.8 * RUN


@pytest.mark.parametrize("count", [3, 12])
def test_brokers_that_all_hang_end_a_run_in_its_time_with_what_they_did(count: int) -> None:
    with cluster(count) as brokers, skipping_waits(brokers):
        read = Reader(brokers)
        read()
        for broker in brokers.brokers[: count // 2]:
            broker.hangs_on = {ALL}
        reading = read()
        assert named(reading.problems) == sorted(str(node + 1) for node in range(count // 2))
        assert reading.topic_partitions.strings("unread_reason").known.sum() == count // 2
        for broker in brokers.brokers:
            broker.hangs_on = {ALL}
        why = r"(.*no answer within|Request timed out after)"
        with pytest.raises(SourceError, match=rf"No broker answers: broker \d+: {why}"):
            read()
    assert read.took < RUN


def test_brokers_that_hang_after_the_metadata_leave_a_reading_of_unread_rows(
    brokers: Cluster,
) -> None:
    read = Reader(brokers)
    read()
    for broker in brokers.brokers:
        broker.hangs_on = {"ListOffsets", "ListGroups", "FindCoordinator", "DescribeConfigs"}
    reading = read()
    assert unread(reading) == [1, 2, 3]
    assert named(reading.problems) == ["1", "2", "3"]
    assert read.took < 0.75 * RUN
    # A warm run that fails tells first why it connected again.
    for broker in brokers.brokers:
        broker.hangs_on = {"Metadata"}
    with pytest.raises(SourceError) as caught:
        read()
    first, second = str(caught.value).split(" With new connections: ")
    assert first.startswith("No broker answers: broker")
    assert second.startswith("No broker could be reached over PLAINTEXT")


def test_a_broker_that_hangs_on_look_ups_alone_is_named(brokers: Cluster) -> None:
    patient = Reader(brokers, seconds=20.0)
    reading = patient()
    brokers[2].hangs_on = {LOOK_UPS}
    # A look-up that the end of its time cuts off accuses nobody.
    assert patient.look_up(reading, seconds=0.5) == [True, False, True]
    assert patient.source.not_responding() == ()
    brokers[2].hangs_on = set()
    read = Reader(brokers, broker_timeout=1.0)
    reading = read()
    brokers[2].hangs_on = {LOOK_UPS}
    assert read.look_up(reading) == [True, False, True]
    requests = list(brokers[2].requests)
    assert read.look_up(reading) == [True, False, True]
    # Nor is it waited for a second time.
    assert brokers[2].requests == requests
    (problem,) = read.source.not_responding()
    assert (problem.scope, problem.name, problem.reason) == ("broker", "2", contract.TIMEOUT)
    read()
    assert read.source.not_responding() == ()


def test_a_broker_named_by_the_reading_is_not_named_twice(brokers: Cluster) -> None:
    read = Reader(brokers, broker_timeout=1.0)
    brokers[2].hangs_on = {ALL}
    reading = read()
    requests = list(brokers[2].requests)
    assert read.look_up(reading) == [True, False, True]
    assert brokers[2].requests == requests
    assert read.source.not_responding() == ()
