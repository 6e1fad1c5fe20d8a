# SPDX-License-Identifier: Apache-2.0
"""The number of connections to each broker, and the end of connections to bootstrap servers."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import trustme

from kafka_lag import contract
from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource, look_up_until
from kafka_lag.lag.columns import Column, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_index import NEWEST, LookupResults
from tests.builders import NOON, a_reading
from tests.fakes import FakeSource
from tests.functions.brokers.listening import HANDSHAKE, Cluster, cluster
from tests.functions.brokers.skipped_waits import skipping_waits
from tests.functions.runs import GROUPS, TOPICS, Run


def source_of(brokers: Cluster) -> KafkaSource:
    return KafkaSource(brokers.access(broker_timeout=2.0), FixedCredentials())


def read(source: KafkaSource) -> list[tuple[str, str]]:
    problems = source.read(ReadRequest(), time.monotonic() + 60).problems
    return [(problem.scope, problem.name) for problem in problems]


def soon(holds: Callable[[], bool]) -> bool:
    """Whether it holds within minutes: brokers hear of an end a moment later."""
    end = time.time() + 240
    while not holds() and time.time() < end:
        time.sleep(0.02)
    return holds()


@pytest.mark.parametrize("slow_on", [set(), {"Metadata"}], ids=["quick", "slow"])
def test_runs_leave_one_connection_to_each_broker_and_none_to_a_bootstrap_server(
    brokers: Cluster, slow_on: set[str]
) -> None:
    for node in (2, 3):
        brokers[node].slow_on = slow_on
    source = source_of(brokers)
    for _ in range(3):
        assert read(source) == []
    assert soon(lambda: brokers.open_connections() == [1, 1, 1])
    assert [broker.connections_made for broker in brokers.brokers] == [2, 2, 2]


def test_a_server_that_hangs_at_bootstrap_is_named_once_and_left(brokers: Cluster) -> None:
    brokers[2].hangs_on = {"Metadata", "ListOffsets"}
    # The run goes on for longer than a server may take at bootstrap.
    brokers[3].hangs_on = {"OffsetFetch"}
    source = source_of(brokers)
    assert [name for scope, name in read(source) if scope == "broker"] == ["2", "3"]
    assert soon(lambda: brokers.open_connections() == [1, 0, 0])


def test_a_broker_that_hangs_in_a_handshake_costs_no_other_its_connection(tmp_path: Path) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    authority.issue_cert("127.0.0.1").configure_cert(context)
    tls = {"security_protocol": "SSL", "cafile": str(tmp_path / "ca.pem")}
    with cluster(tls=context) as brokers, skipping_waits(brokers):
        brokers[2].hangs_on = {HANDSHAKE}
        source = KafkaSource(brokers.access(broker_timeout=2.0, **tls), FixedCredentials())
        for _ in range(3):
            assert [name for scope, name in read(source) if scope == "broker"] == ["2"]
            assert soon(lambda: brokers.open_connections() == [1, 0, 1])
        assert [brokers[node].connections_made for node in (1, 3)] == [2, 2]


def test_all_that_is_gathered_has_ended_when_the_first_exception_is_raised() -> None:
    connections = Connections(Access(("127.0.0.1:1",)), None)
    ended: list[str] = []

    async def end(name: str, seconds: float, error: Exception | None = None) -> str:
        await connections.pause(seconds)
        ended.append(name)
        if error:
            raise error
        return name

    assert connections.run(connections.gather([end("a", 0.02), end("b", 0)])) == ["a", "b"]
    ended.clear()
    coroutines = [end("a", 0.02, KeyError("a")), end("b", 0, KeyError("b")), end("c", 0.1)]
    with pytest.raises(KeyError, match="a"):
        connections.run(connections.gather(coroutines))
    assert ended == ["b", "a", "c"]
    connections.close()


# A source before its first reading, and how long a run may look up times.


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
