# SPDX-License-Identifier: Apache-2.0
"""Client certificates that brokers refuse, and one that is rotated in time."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from dev.kafka import ClientPair, KafkaCluster
from dev.kafka.node.certificates import Authority
from kafka_lag.brokers.aws_login import SecretCredentials
from kafka_lag.brokers.login import client_certificate
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import LoginError
from tests.kafka.logins.ways import (
    by_certificate,
    certificate,
    fields,
    over_tls,
    read,
    refusal,
    whole,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


def test_a_certificate_of_a_strange_authority_is_refused_in_a_sentence_without_its_key(
    shared_cluster: KafkaCluster,
) -> None:
    stranger = Authority().client("monitor")
    known = certificate(stranger, shared_cluster.cafile)
    error = refusal(by_certificate(shared_cluster, known))
    assert isinstance(error, LoginError)
    assert str(error).startswith("The brokers rejected the client certificate")
    assert "of an authority that the brokers trust" in str(error)
    assert stranger.private_key.splitlines()[1] not in whole(error)


def test_a_client_without_a_certificate_is_told_where_one_comes_from(
    shared_cluster: KafkaCluster,
) -> None:
    error = refusal(by_certificate(shared_cluster, None))
    assert isinstance(error, LoginError)
    assert "or that there is none" in str(error)
    assert "the secret of secret_id, or the file" in str(error)


def test_brokers_of_a_strange_authority_are_no_refusal_of_ours(
    shared_cluster: KafkaCluster, tmp_path: Path
) -> None:
    Authority().write(tmp_path / "ca.pem", [])
    known = certificate(shared_cluster.client_pair("monitor"), tmp_path / "ca.pem")
    error = refusal(by_certificate(shared_cluster, known))
    assert not isinstance(error, LoginError)
    assert "Check cafile: it must hold the authority" in str(error)


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
