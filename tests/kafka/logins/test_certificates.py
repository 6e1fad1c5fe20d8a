# SPDX-License-Identifier: Apache-2.0
"""Client certificates that brokers refuse, and one that is rotated in time."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from dev.kafka import ClientPair, KafkaCluster
from dev.kafka.node import Authority
from kafka_lag.brokers.aws_login import SecretCredentials
from kafka_lag.brokers.login import client_certificate
from kafka_lag.brokers.source import KafkaSource
from tests.kafka.logins.ways import (
    certificate,
    fields,
    over_tls,
    read,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


class Secret:
    """A Secrets Manager with one secret, whose last version is the current one."""

    def __init__(self, *versions: ClientPair) -> None:
        self.versions = list(versions)
        self.read: list[str] = []

    def get_secret_value(self, SecretId: str, VersionStage: str) -> dict[str, str]:  # noqa: N803
        self.read.append(VersionStage)
        pair = self.versions[-1 if VersionStage == "AWSCURRENT" else -2]
        return {"SecretString": json.dumps(fields(pair))}


def logins(cluster: KafkaCluster, secret: Secret) -> SecretCredentials:
    shape = partial(client_certificate, cafile=str(cluster.cafile))
    return SecretCredentials(secret, "tls", shape)


def test_brokers_that_do_not_know_a_new_certificate_yet_are_shown_the_previous(
    shared_cluster: KafkaCluster,
) -> None:
    new = Authority().client("monitor")
    secret = Secret(shared_cluster.client_pair("monitor"), new)
    source = KafkaSource(over_tls(shared_cluster), logins(shared_cluster, secret))
    read(source)
    source.close()


def test_a_certificate_that_expired_is_replaced_by_the_one_in_the_secret_by_then(
    shared_cluster: KafkaCluster,
) -> None:
    expired = shared_cluster.client_pair("monitor", datetime.now(UTC) - timedelta(hours=1))
    secret = Secret(shared_cluster.client_pair("monitor"))
    known = logins(shared_cluster, secret)
    known.remember(certificate(expired, shared_cluster.cafile))
    source = KafkaSource(over_tls(shared_cluster), known)
    read(source)
    source.close()
    assert secret.read == ["AWSCURRENT"]
