# SPDX-License-Identifier: Apache-2.0
"""Each way to log in to the local brokers, and whether they accept it."""

from __future__ import annotations

import base64
import json
import time
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from dev.kafka import ClientPair, KafkaCluster
from kafka_lag.brokers.access import IAM, Access, Login
from kafka_lag.brokers.aws_login import TokenLogin
from kafka_lag.brokers.login import (
    ClientCertificate,
    CredentialSource,
    FixedCredentials,
    client_certificate,
)
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import SourceError
from kafka_lag.lag.model import ClusterReading
from tests.kafka.looking import ANSWERED_WITHIN, access, login, only

_MINE = only("^wayfarers?$")
REQUEST = ReadRequest(groups=_MINE.groups, topics=_MINE.topics)

Way = tuple[Access, CredentialSource]


def by_password(cluster: KafkaCluster, mechanism: str) -> Way:
    return access(cluster, sasl_mechanism=mechanism), login(cluster)


def by_token(cluster: KafkaCluster, make: Callable[[], str]) -> Way:
    return access(cluster, sasl_mechanism=IAM), FixedCredentials(TokenLogin(make))


def by_certificate(cluster: KafkaCluster, login: Login | None) -> Way:
    return over_tls(cluster), FixedCredentials(login)


def over_tls(cluster: KafkaCluster) -> Access:
    servers = tuple(cluster.bootstrap("SSL").split(","))
    protocol: dict[str, Any] = {"security_protocol": "SSL", "sasl_mechanism": None}
    return access(cluster, bootstrap_servers=servers, **protocol)


def token(seconds: float = 60.0) -> str:
    """A token as the local brokers take it, signed by nobody; negative seconds are past."""
    now = time.time()
    claims = {"sub": "monitor", "iat": now - 60, "exp": now + seconds}
    return f"{_part({'alg': 'none'})}.{_part(claims)}."


def _part(content: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def certificate(pair: ClientPair, cafile: object) -> ClientCertificate:
    return client_certificate("tls", fields(pair), str(cafile))


def fields(pair: ClientPair) -> dict[str, str]:
    """What a secret holds of a pair."""
    return {"certificate": pair.certificate, "private_key": pair.private_key}


def read(source: KafkaSource) -> ClusterReading:
    """A reading that lacks nothing."""
    reading = source.read(REQUEST, time.monotonic() + ANSWERED_WITHIN)
    assert reading.problems == ()
    return reading


def refusal(way: Way) -> SourceError:
    """The error of a source that cannot get in."""
    with pytest.raises(SourceError) as caught:
        KafkaSource(*way).read(REQUEST, time.monotonic() + ANSWERED_WITHIN)
    return caught.value


def whole(error: BaseException) -> str:
    """All that a log might show of an error."""
    return "".join(traceback.format_exception(error))


def until(holds: Callable[[], bool]) -> None:
    """Tries again and again, for it is the brokers' clocks that are waited for."""
    deadline = time.monotonic() + ANSWERED_WITHIN
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
