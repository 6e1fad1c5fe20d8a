# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the way in, made for real: each error is a sentence that leads to the repair.

`pytest -s` prints each sentence, and how long it took.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dev.kafka import KafkaCluster
from dev.kafka.access import Credentials as User
from dev.kafka.node.certificates import Authority
from dev.kafka.node.settings import Protocol
from kafka_lag.brokers.access import IAM, PROBE_LIMITS, Access, Credentials, Login, ProbeLimits
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import LoginError, SourceError
from tests.functions.brokers.strangers import (
    BAD_REQUEST,
    answers,
    greets,
    patient_http_server,
    port,
    stays_silent,
)
from tests.kafka.logins.ways import certificate
from tests.kafka.looking import ANSWERED_WITHIN

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

SCRAM = "SCRAM-SHA-512"
WRONG = "not-the-password-of-anybody"

# Brokers answer however busy the machine is.
UNHURRIED = ProbeLimits(total=ANSWERED_WITHIN, answer=ANSWERED_WITHIN, http_answer=ANSWERED_WITHIN)


@pytest.fixture(name="lapsed", scope="module")
def _lapsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate that has expired, as brokers keep it, and its authority."""
    folder, authority = tmp_path_factory.mktemp("lapsed"), Authority()
    pair = authority.client("127.0.0.1", datetime(2026, 1, 31, tzinfo=UTC))
    (folder / "keystore.pem").write_text(pair.private_key + pair.certificate)
    authority.write(folder / "ca.pem", [])
    return folder


@pytest.fixture(name="odd", scope="module")
def _odd(lapsed: Path) -> Iterator[KafkaCluster]:
    """Two brokers with an expired certificate at SSL, and addresses that lead nowhere at SASL."""
    settings = {
        "listener.name.ssl.ssl.keystore.location": str(lapsed / "keystore.pem"),
        "listener.name.ssl.ssl.client.auth": "none",
    }
    cluster = KafkaCluster(brokers=2, settings=settings)
    cluster.advertise(1, "SASL_PLAINTEXT", "b-1.orders.invalid:9096")
    cluster.advertise(2, "SASL_PLAINTEXT", "127.0.0.1:1")
    with cluster:
        yield cluster


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
        broker_timeout: float = ANSWERED_WITHIN,
        limits: ProbeLimits = UNHURRIED,
    ) -> SourceError:
        """What a client of these settings hears, with the server's address as SERVER."""
        if protocol.startswith("SASL"):
            login, mechanism = login or _login(self.cluster.users["monitor"]), mechanism or SCRAM
        access = Access(
            (server,), protocol, mechanism, str(cafile or self.cluster.cafile), broker_timeout
        )
        source = KafkaSource(access, FixedCredentials(login), limits=limits)
        began = time.monotonic()
        with pytest.raises(SourceError) as caught:
            source.read(ReadRequest(), began + 3 * ANSWERED_WITHIN)
        seconds = time.monotonic() - began
        text = str(caught.value).replace(server, "SERVER")
        print(f"\n[{seconds:.2f} s] {text}")
        assert WRONG not in text
        return type(caught.value)(text)


def _login(user: User) -> Credentials:
    return Credentials(user.username, user.password)


@pytest.fixture(name="client")
def _client(shared_cluster: KafkaCluster) -> Mistaken:
    return Mistaken(shared_cluster)


ALL = "OAUTHBEARER, SCRAM-SHA-256 or SCRAM-SHA-512"
BOTH = "SCRAM-SHA-256 or SCRAM-SHA-512"
NAME_TLS = "Name the brokers' port for TLS, or set security_protocol to"


@pytest.mark.parametrize(
    ("listener", "protocol", "sentence"),
    [
        (
            "SASL_PLAINTEXT",
            "PLAINTEXT",
            f"SASL is wanted there, with {BOTH}. Set security_protocol to SASL_PLAINTEXT and "
            "sasl_mechanism to one of these.",
        ),
        (
            "SASL_SSL",
            "PLAINTEXT",
            f"TLS is spoken there, and SASL with {ALL}. Set security_protocol to SASL_SSL and "
            "sasl_mechanism to one of these.",
        ),
        (
            "SSL",
            "PLAINTEXT",
            "TLS is spoken there, and a client certificate is wanted. Set security_protocol to "
            "SSL, and give a client certificate.",
        ),
        (
            "SASL_SSL",
            "SASL_PLAINTEXT",
            f"TLS is spoken there, and SASL with {ALL}. Set security_protocol to SASL_SSL.",
        ),
        (
            "PLAINTEXT",
            "SASL_PLAINTEXT",
            "no SASL is spoken there. Set security_protocol to PLAINTEXT, or name the brokers' "
            "port for SASL.",
        ),
        (
            "SASL_PLAINTEXT",
            "SASL_SSL",
            f"Kafka is spoken there without TLS, and SASL with {BOTH}. {NAME_TLS} SASL_PLAINTEXT.",
        ),
        (
            "PLAINTEXT",
            "SSL",
            f"Kafka is spoken there without TLS and without SASL. {NAME_TLS} PLAINTEXT.",
        ),
        (
            "SASL_SSL",
            "SSL",
            f"SASL is wanted there, with {ALL}. Set security_protocol to SASL_SSL and "
            "sasl_mechanism to one of these.",
        ),
        (
            "SSL",
            "SASL_SSL",
            "a client certificate is wanted there. Set security_protocol to SSL and give a client "
            "certificate, or name another port.",
        ),
    ],
)
def test_a_protocol_at_the_port_of_another(
    client: Mistaken, listener: Protocol, protocol: str, sentence: str
) -> None:
    error = client.at(listener, protocol)
    assert str(error) == f"No broker could be reached over {protocol}: SERVER: {sentence}"
    assert not isinstance(error, LoginError)


def test_a_mechanism_that_is_not_enabled(client: Mistaken) -> None:
    error = client.at("SASL_SSL", "SASL_SSL", mechanism="PLAIN")
    assert isinstance(error, LoginError)
    assert str(error) == (
        "The brokers do not offer the mechanism PLAIN: SERVER: OAUTHBEARER, SCRAM-SHA-256 and "
        "SCRAM-SHA-512 are enabled there. Set sasl_mechanism to one of these."
    )


def test_iam_at_a_port_of_scram(client: Mistaken) -> None:
    login = Credentials("none", WRONG)
    error = client.at("SASL_PLAINTEXT", "SASL_PLAINTEXT", login, mechanism=IAM)
    assert isinstance(error, LoginError)
    assert str(error) == (
        "The brokers do not offer the mechanism OAUTHBEARER, which AWS_MSK_IAM needs here: SERVER: "
        "SCRAM-SHA-256 and SCRAM-SHA-512 are enabled there. Set sasl_mechanism to one of these."
    )


@pytest.mark.parametrize("user", ["monitor", "nobody"])
def test_a_wrong_user_or_password(client: Mistaken, user: str) -> None:
    error = client.at("SASL_SSL", "SASL_SSL", Credentials(user, WRONG))
    assert isinstance(error, LoginError)
    # Some answer, and some hang up.
    assert str(error).startswith("The brokers rejected the login (SCRAM-SHA-512): SERVER")
    assert "hung up" not in str(error)
    assert str(error).endswith(
        " The brokers enable this mechanism, so check user name and password. They also enable "
        "SCRAM-SHA-256, and keep a password for each apart: if the user has only that one, set "
        "sasl_mechanism to SCRAM-SHA-256."
    )


REFUSED = "The brokers rejected the client certificate, or that there is none: SERVER: "
CHECK_CERTIFICATE = (
    "Check that the secret of secret_id, or the file, holds one that has not expired, of an "
    "authority that the brokers trust."
)


def test_no_client_certificate_where_one_is_required(client: Mistaken) -> None:
    error = client.at("SSL", "SSL")
    assert isinstance(error, LoginError)
    assert str(error) == (
        f"{REFUSED}a client certificate is wanted there, and none is given. {CHECK_CERTIFICATE}"
    )


def test_a_client_certificate_that_the_brokers_do_not_trust(client: Mistaken) -> None:
    login = certificate(Authority().client("monitor"), client.cluster.cafile)
    error = client.at("SSL", "SSL", login)
    assert isinstance(error, LoginError)
    assert str(error).startswith(REFUSED)
    assert str(error).endswith(CHECK_CERTIFICATE)
    assert "none is given" not in str(error)


def test_an_authority_that_is_not_the_brokers(client: Mistaken, tmp_path: Path) -> None:
    Authority().write(tmp_path / "ca.pem", [])
    error = client.at("SASL_SSL", "SASL_SSL", cafile=tmp_path / "ca.pem")
    assert "signed by msk-lag-reporter local cluster, which is not in cafile. " in str(error)
    assert str(error).endswith(
        "Check cafile: it must hold the authority that signed the brokers' certificates."
    )


def test_a_name_that_the_certificate_does_not_hold(client: Mistaken) -> None:
    server = client.cluster.broker_address(1, "SASL_SSL").replace("127.0.0.1", "127.1")
    assert str(client.of(server, "SASL_SSL")) == (
        "No broker could be reached over SASL_SSL: SERVER: the broker's certificate is for "
        "localhost, 127.0.0.1, not for this name. Name the brokers in bootstrap_servers as their "
        "certificates do."
    )


def test_a_certificate_of_the_brokers_that_has_expired(odd: KafkaCluster, lapsed: Path) -> None:
    server = odd.broker_address(1, "SSL")
    assert str(Mistaken(odd).of(server, "SSL", cafile=lapsed / "ca.pem")) == (
        "No broker could be reached over SSL: SERVER: the broker's certificate (127.0.0.1) expired "
        "on Jan 31 00:00:00 2026 GMT. Renew it at the brokers."
    )


def test_addresses_that_the_brokers_advertise_and_that_lead_nowhere(odd: KafkaCluster) -> None:
    error = Mistaken(odd).at("SASL_PLAINTEXT", "SASL_PLAINTEXT")
    assert str(error) == (
        "A bootstrap server answered, but no broker can be reached at the address that it "
        "advertises (advertised.listeners): 127.0.0.1:1: nothing listens on this port (connection "
        "refused); b-1.orders.invalid:9096: the name does not resolve. Check the port, and that "
        "the broker runs. Check the name, and that DNS knows it here: a private name is known "
        "inside its VPC alone."
    )


STRANGER = "Name a port of the brokers in bootstrap_servers."


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL", "SASL_SSL"])
def test_an_http_server(client: Mistaken, protocol: str) -> None:
    for server in (port(answers(BAD_REQUEST)), patient_http_server()):
        with server as address:
            # The second waits for the end of what is no line of its own.
            limits = replace(UNHURRIED, answer=PROBE_LIMITS.answer)
            assert str(client.of(address, protocol, limits=limits)) == (
                f"No broker could be reached over {protocol}: SERVER: HTTP is spoken there, not "
                f"Kafka. {STRANGER}"
            )


@pytest.mark.parametrize(
    ("serve", "seconds", "sentence"),
    [
        (
            greets(b"SSH-2.0-OpenSSH_9.2\r\n"),
            ANSWERED_WITHIN,
            f"SSH is spoken there, not Kafka. {STRANGER}",
        ),
        (
            greets(b"220 mail ESMTP\r\n"),
            ANSWERED_WITHIN,
            f'"220 mail ESMTP" is said there, not Kafka. {STRANGER}',
        ),
        (
            stays_silent,
            1.0,
            "the port takes connections and says nothing. Check that it is one of Kafka's, and "
            "whether the broker hangs.",
        ),
    ],
    ids=["SSH", "SMTP", "silence"],
)
def test_a_port_of_something_else(
    client: Mistaken, serve: Any, seconds: float, sentence: str
) -> None:
    with port(serve) as server:
        limits = PROBE_LIMITS if serve is stays_silent else UNHURRIED
        error = client.of(server, broker_timeout=seconds, limits=limits)
    assert str(error) == f"No broker could be reached over PLAINTEXT: SERVER: {sentence}"


@pytest.mark.parametrize(
    ("server", "sentence"),
    [
        (
            "localhost:1",
            "nothing listens on this port (connection refused). Check the port, and that the "
            "broker runs.",
        ),
        (
            "b-1.orders.invalid:9096",
            "the name does not resolve. Check the name, and that DNS knows it here: a private name "
            "is known inside its VPC alone.",
        ),
    ],
    ids=["a closed port", "an unknown name"],
)
def test_an_address_that_leads_nowhere(client: Mistaken, server: str, sentence: str) -> None:
    text = str(client.of(server))
    assert text == f"No broker could be reached over PLAINTEXT: SERVER: {sentence}"
