# SPDX-License-Identifier: Apache-2.0
"""A function as it is deployed: brokers from its environment, its secret or its role to log in."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dev.aws import AwsStandIn
from dev.kafka import KafkaCluster
from kafka_lag import contract
from kafka_lag.collect_lag import build_collector
from kafka_lag.collector import Collector
from kafka_lag.errors import LoginError
from kafka_lag_cdk.config.document import normalised
from tests.kafka.logins.ways import fields

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

BUCKET, MINUTE = "deployed", 1_769_860_800_000


@pytest.fixture(name="aws", scope="module")
def _aws() -> Iterator[AwsStandIn]:
    with AwsStandIn() as stand_in:
        location: Any = {"LocationConstraint": stand_in.environment()["AWS_REGION"]}
        stand_in.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=location)
        yield stand_in


def deployed(
    aws: AwsStandIn, folder: Path, servers: str, monkeypatch: pytest.MonkeyPatch, **document: Any
) -> Collector:
    """A collector that its environment alone describes."""
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    source = {"cluster": "orders", "bootstrap_servers": ["replaced:1"], **document}
    (folder / "config.json").write_text(json.dumps(normalised(source)))
    environ = {
        **aws.environment(),
        contract.ENV_CONFIG: str(folder / "config.json"),
        contract.ENV_BUCKET: BUCKET,
        contract.ENV_BOOTSTRAP_SERVERS: servers,
    }
    return build_collector(environ, logging.getLogger(__name__))[1]


@pytest.fixture(name="folder")
def _folder(shared_cluster: KafkaCluster, tmp_path: Path) -> Path:
    """The layer of a deployment: the authority beside the document."""
    (tmp_path / "ca.pem").write_bytes(shared_cluster.cafile.read_bytes())
    return tmp_path


def test_a_function_logs_in_with_the_certificate_of_its_secret(
    shared_cluster: KafkaCluster, aws: AwsStandIn, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = shared_cluster.client_pair("monitor")
    secrets = aws.client("secretsmanager")
    secrets.create_secret(Name="AmazonMSK_tls", SecretString=json.dumps(fields(pair)))
    collector = deployed(
        aws,
        folder,
        shared_cluster.bootstrap("SSL"),
        monkeypatch,
        security_protocol="SSL",
        secret_id="AmazonMSK_tls",
        cafile="ca.pem",
    )
    assert collector.run(MINUTE).report.problems == ()


def test_a_function_logs_in_as_its_role_and_is_refused_where_no_aws_checks_it(
    shared_cluster: KafkaCluster, aws: AwsStandIn, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = deployed(
        aws,
        folder,
        shared_cluster.bootstrap(),
        monkeypatch,
        sasl_mechanism="OAUTHBEARER",
        cafile="ca.pem",
    )
    with pytest.raises(LoginError, match=r"rejected the token \(AWS_MSK_IAM\).*kafka-cluster:Conn"):
        collector.run(MINUTE)
