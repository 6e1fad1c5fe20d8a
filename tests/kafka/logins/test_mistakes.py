# SPDX-License-Identifier: Apache-2.0
"""Mistakes in logins, made on real brokers: each error leads to the repair."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dev.kafka import KafkaCluster
from dev.kafka.access import Credentials as User
from dev.kafka.node import Authority, Protocol
from kafka_lag.brokers.access import Access, Credentials, Login, ProbeLimits
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import LoginError, SourceError
from tests.kafka.logins.ways import certificate, whole
from tests.kafka.looking import ANSWERED_WITHIN

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

SCRAM = "SCRAM-SHA-512"
WRONG = "not-the-password-of-anybody"

# Brokers answer however busy the machine is.
UNHURRIED = ProbeLimits(total=ANSWERED_WITHIN, answer=ANSWERED_WITHIN, http_answer=ANSWERED_WITHIN)


class Mistaken:
    """A client that gets in nowhere: the error, and what is common to all of its kind."""

    def __init__(self, cluster: KafkaCluster) -> None:
        self.cluster = cluster

    def at(
        self,
        listener: Protocol,
        protocol: str,
        login: Login | None = None,
        *,
        mechanism: str | None = None,
        cafile: Path | None = None,
    ) -> SourceError:
        """What a client hears that speaks this protocol at that listener of broker 1."""
        server = self.cluster.broker_address(1, listener)
        # Where certificates are wanted, that is the first word.
        first_word = ANSWERED_WITHIN if listener == "SSL" else UNHURRIED.first_word
        limits = replace(UNHURRIED, first_word=first_word)
        return self.of(server, protocol, login, mechanism=mechanism, cafile=cafile, limits=limits)

    def of(
        self,
        server: str,
        protocol: str = "PLAINTEXT",
        login: Login | None = None,
        *,
        mechanism: str | None = None,
        cafile: Path | None = None,
        limits: ProbeLimits = UNHURRIED,
    ) -> SourceError:
        """What a client of these settings hears, with the server's address as SERVER."""
        if protocol.startswith("SASL"):
            login, mechanism = login or _login(self.cluster.users["monitor"]), mechanism or SCRAM
        authority = str(cafile or self.cluster.cafile)
        access = Access((server,), protocol, mechanism, authority, ANSWERED_WITHIN)
        source = KafkaSource(access, FixedCredentials(login), limits=limits)
        with pytest.raises(SourceError) as caught:
            source.read(ReadRequest(), time.monotonic() + 3 * ANSWERED_WITHIN)
        assert WRONG not in whole(caught.value)
        found = type(caught.value)(str(caught.value).replace(server, "SERVER"))
        found.__cause__ = caught.value
        return found


def _login(user: User) -> Credentials:
    return Credentials(user.username, user.password)


@pytest.fixture(name="client")
def _client(shared_cluster: KafkaCluster) -> Mistaken:
    return Mistaken(shared_cluster)


SASL_THERE = ("SCRAM-SHA-256", "SCRAM-SHA-512", "sasl_mechanism")


@pytest.mark.parametrize(
    ("listener", "protocol", "repair", "more"),
    [
        ("SASL_PLAINTEXT", "PLAINTEXT", "SASL_PLAINTEXT", SASL_THERE),
        ("SASL_SSL", "PLAINTEXT", "SASL_SSL", SASL_THERE),
        ("SSL", "PLAINTEXT", "SSL", ("client certificate",)),
        ("SASL_SSL", "SASL_PLAINTEXT", "SASL_SSL", ()),
        ("PLAINTEXT", "SASL_PLAINTEXT", "PLAINTEXT", ()),
        ("SASL_PLAINTEXT", "SASL_SSL", "SASL_PLAINTEXT", ("without TLS",)),
        ("PLAINTEXT", "SSL", "PLAINTEXT", ("without TLS",)),
        ("SASL_SSL", "SSL", "SASL_SSL", SASL_THERE),
        ("SSL", "SASL_SSL", "SSL", ("client certificate",)),
    ],
)
def test_at_the_port_of_another_protocol_the_right_one_is_named(
    client: Mistaken, listener: Protocol, protocol: str, repair: str, more: tuple[str, ...]
) -> None:
    error = client.at(listener, protocol)
    assert re.findall(r"security_protocol to (\w+)", str(error)) == [repair]
    assert all(word in str(error) for word in ("SERVER", *more))
    assert not isinstance(error, LoginError)


def test_a_mechanism_that_is_not_enabled_is_named_with_those_that_are(client: Mistaken) -> None:
    error = client.at("SASL_SSL", "SASL_SSL", mechanism="PLAIN")
    assert isinstance(error, LoginError)
    assert all(name in str(error) for name in ("PLAIN", "OAUTHBEARER", *SASL_THERE))


@pytest.mark.parametrize("user", ["monitor", "nobody"])
def test_a_wrong_user_or_password_is_a_refused_login(client: Mistaken, user: str) -> None:
    error = client.at("SASL_SSL", "SASL_SSL", Credentials(user, WRONG))
    assert isinstance(error, LoginError)
    # Some answer, and some hang up.
    assert "hung up" not in str(error)
    # The user may have a password for the other mechanism alone.
    assert "sasl_mechanism to SCRAM-SHA-256" in str(error)


def test_no_client_certificate_where_one_is_required_is_a_refused_login(client: Mistaken) -> None:
    error = client.at("SSL", "SSL")
    assert isinstance(error, LoginError)
    assert "none is given" in str(error)


def test_a_client_certificate_that_the_brokers_do_not_trust_is_a_refused_login(
    client: Mistaken,
) -> None:
    stranger = Authority().client("monitor")
    error = client.at("SSL", "SSL", certificate(stranger, client.cluster.cafile))
    assert isinstance(error, LoginError)
    assert "none is given" not in str(error)
    assert stranger.private_key.splitlines()[1] not in whole(error)


def test_an_authority_that_is_not_the_brokers_is_a_mistake_in_cafile(
    client: Mistaken, tmp_path: Path
) -> None:
    Authority().write(tmp_path / "ca.pem", [])
    error = client.at("SASL_SSL", "SASL_SSL", cafile=tmp_path / "ca.pem")
    assert not isinstance(error, LoginError)
    assert all(word in str(error) for word in ("msk-lag-reporter local cluster", "cafile"))


def test_a_name_that_the_certificate_does_not_hold_is_answered_with_those_it_does(
    client: Mistaken,
) -> None:
    server = client.cluster.broker_address(1, "SASL_SSL").replace("127.0.0.1", "127.1")
    text = str(client.of(server, "SASL_SSL"))
    assert all(word in text for word in ("localhost, 127.0.0.1", "bootstrap_servers"))


@pytest.mark.parametrize(
    ("server", "reason"),
    [("localhost:1", "connection refused"), ("b-1.orders.invalid:9096", "does not resolve")],
    ids=["a closed port", "an unknown name"],
)
def test_an_address_that_leads_nowhere_is_named_with_the_reason(
    client: Mistaken, server: str, reason: str
) -> None:
    assert "SERVER: " in (text := str(client.of(server)))
    assert reason in text
