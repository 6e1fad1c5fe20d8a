# SPDX-License-Identifier: Apache-2.0
"""The collecting function of one deployment, on real brokers, with AWS by moto."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dev.aws import AwsStandIn
from dev.kafka import KafkaCluster
from kafka_lag import collect_lag, contract
from kafka_lag_config.document import normalised
from tests.kafka.looking import commit, create, produce

BUCKET, SECRET = "snapshots", "AmazonMSK_monitor"
EVENT = {"cluster": "orders", "scheduled_time": "2026-01-31T12:00:00Z"}
KEY = "cluster=orders/dt=2026-01-31/hour=12/20260131T120000Z-0of1.parquet"


class Deployed:
    """The function as one deployment has it: its document, its secret, its bucket."""

    def __init__(self, cluster: KafkaCluster, aws: AwsStandIn, folder: Path) -> None:
        self.aws = aws
        self.path = folder / "config.json"
        self.password = cluster.users["monitor"].password
        self.document: dict[str, Any] = {
            "cluster": "orders",
            "bootstrap_servers": cluster.bootstrap("SASL_SSL").split(","),
            "cafile": str(cluster.cafile),
            "secret_id": SECRET,
            "groups": {"allow": "^handlers$"},
            "topics": {"allow": "^handled$"},
            "levels": {"topics": True},
            "broker_timeout_seconds": 50,
        }

    def secret(self, text: str) -> None:
        client = self.aws.client("secretsmanager")
        client.create_secret(Name=SECRET, SecretString=text)

    def login(self, password: str | None = None) -> str:
        return json.dumps({"username": "monitor", "password": password or self.password})

    def invoke(self, event: Any = None) -> Any:
        self.path.write_text(json.dumps(normalised(self.document)))
        return collect_lag.handler(EVENT if event is None else event, None)


def write_traffic(cluster: KafkaCluster) -> None:
    """What the function is to find: one group, six records behind."""
    create(cluster, "handled", 2)
    produce(cluster, "handled", {0: 10, 1: 20})
    commit(cluster, "handlers", "handled", [4, 20])


@contextmanager
def deployed_for(
    cluster: KafkaCluster, aws: AwsStandIn, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployed]:
    """The function in this process with an empty bucket, and nothing kept from another one."""
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    function = Deployed(cluster, aws, folder)
    monkeypatch.setenv(contract.ENV_CONFIG, str(function.path))
    monkeypatch.setenv(contract.ENV_BUCKET, BUCKET)
    location = {"LocationConstraint": "eu-west-1"}
    aws.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=location)
    forget()
    yield function
    forget()
    aws.reset()


def forget() -> None:
    """As a new container starts."""
    collect_lag._collector.cache_clear()
    collect_lag._logger.cache_clear()


def emf_lines(out: str) -> list[dict[str, Any]]:
    """The metrics among what a function has printed."""
    return [json.loads(line) for line in out.splitlines() if '"_aws"' in line]
