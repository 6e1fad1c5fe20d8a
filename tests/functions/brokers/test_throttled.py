# SPDX-License-Identifier: Apache-2.0
"""A client quota on the monitor's login: brokers mute its connection after each answer."""

from __future__ import annotations

import time

import pytest

from kafka_lag import contract
from kafka_lag.brokers.access import Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.brokers.throttling import describe_throttling
from tests.functions.brokers.listening import ALL, Cluster

LOGIN = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}


def test_a_broker_that_mutes_for_longer_than_its_time_is_waited_for_and_reported(
    brokers: Cluster,
) -> None:
    brokers[2].mutes = 2.0
    for broker in brokers.brokers:
        broker.passwords = {"secret"}
    credentials = FixedCredentials(Credentials("monitor", "secret"))
    source = KafkaSource(brokers.access(broker_timeout=1.0, **LOGIN), credentials)
    began = time.monotonic()
    reading = source.read(ReadRequest(), began + 60)
    took = time.monotonic() - began
    assert reading.problems == ()
    assert not reading.groups.strings("unread_reason").known.any()
    throttled = source.throttled()
    assert throttled is not None
    assert throttled.user == "monitor"
    assert throttled.seconds == pytest.approx(took, abs=2.1)
    line = describe_throttling(throttled)
    assert "by the client quota request_percentage: " in line
    assert "of the user 'monitor', of the client id 'msk-lag-reporter', of both" in line
    assert "secret" not in line
    brokers[2].mutes = 0.0
    source.read(ReadRequest(), time.monotonic() + 60)
    assert source.throttled() is None


def test_what_a_quota_keeps_from_a_run_is_given_up_in_time_and_named_throttled(
    brokers: Cluster,
) -> None:
    brokers[2].mutes = 3.0
    brokers[3].hangs_on = {ALL}
    source = KafkaSource(brokers.access(), FixedCredentials())
    began = time.monotonic()
    reading = source.read(ReadRequest(), began + 8)
    assert time.monotonic() - began < 8
    named = {p.name: p.reason for p in reading.problems if p.scope == "broker"}
    assert named == {"2": contract.THROTTLED, "3": contract.TIMEOUT}
    (detail,) = [p.detail for p in reading.problems if (p.scope, p.name) == ("broker", "2")]
    assert detail.startswith("a client quota (request_percentage) mutes the connection")
    reasons = reading.topic_partitions.strings("unread_reason").to_list()
    assert reasons == [None, contract.THROTTLED, contract.TIMEOUT]
