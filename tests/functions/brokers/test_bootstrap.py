# SPDX-License-Identifier: Apache-2.0
"""Addresses without a usable broker: one sentence each, in bounded time, without a leak."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from kafka_lag.brokers.access import Access, ProbeLimits
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import SourceError
from tests.functions.brokers.listening import cluster
from tests.functions.brokers.strangers import patient_http_server

TIMEOUT = 0.3
# More than any test may take: reached by what hangs alone.
NEVER = 3000.0
# An HTTP server answers however busy the machine is.
UNHURRIED = ProbeLimits(total=NEVER, http_answer=NEVER)


@pytest.fixture(name="mute")
def _mute() -> Iterator[str]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def _refused(*servers: str, protocol: str = "PLAINTEXT") -> str:
    access = Access(servers, protocol, None, broker_timeout=TIMEOUT)
    source = KafkaSource(access, FixedCredentials())
    with pytest.raises(SourceError) as caught:
        source.read(ReadRequest(), time.monotonic() + NEVER)
    return str(caught.value)


@pytest.mark.parametrize(
    "server",
    ["b-1..example:9092", f"{'x' * 64}.example:9092", "localhost:1", "no-such-host.invalid:9092"],
    ids=["two dots", "a label too long", "nobody listens", "no such host"],
)
def test_an_address_that_cannot_work_is_named(server: str) -> None:
    assert server in _refused(server, server)
    assert ".example:9092" in _refused(".example:9092", protocol="SSL")


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_a_server_that_never_answers_is_given_up_after_its_time(mute: str, protocol: str) -> None:
    message = _refused(mute, protocol=protocol)
    assert mute in message
    assert protocol in message


@pytest.mark.timeout(240)
def test_a_server_that_waits_for_the_end_of_a_line_is_not_waited_for() -> None:
    with patient_http_server() as server:
        access = Access((server,), "PLAINTEXT", None, broker_timeout=NEVER)
        source = KafkaSource(access, FixedCredentials(), limits=UNHURRIED)
        with pytest.raises(SourceError, match="HTTP is spoken there, not Kafka"):
            source.read(ReadRequest(), time.monotonic() + 10 * NEVER)


def test_a_broker_has_its_whole_time_beside_a_server_of_another_kind() -> None:
    with patient_http_server() as server, cluster(1) as brokers:
        brokers[1].hangs_on = {"ApiVersions"}
        access = Access((server, brokers[1].address), "PLAINTEXT", None, broker_timeout=3.0)
        began = time.monotonic()
        with pytest.raises(SourceError) as caught:
            KafkaSource(access, FixedCredentials()).read(ReadRequest(), began + NEVER)
        # The server is known after some two seconds, which is what would end it earlier.
        assert time.monotonic() - began >= 3.0
    assert f"{brokers[1].address}: the port takes connections and says nothing" in str(caught.value)


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_runs_that_fail_leave_no_open_file_behind(mute: str, protocol: str) -> None:
    threads = threading.enumerate()

    def count_open_files() -> int:
        # A look at a port that is given up ends by itself, later.
        for thread in threading.enumerate():
            if thread not in threads:
                thread.join(NEVER)
        return len(os.listdir("/dev/fd"))

    _refused(mute, protocol=protocol)
    before = count_open_files()
    for _ in range(3):
        _refused(mute, protocol=protocol)
    assert count_open_files() <= before
