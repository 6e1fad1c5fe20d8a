# SPDX-License-Identifier: Apache-2.0
"""The handler with the event its schedule sends: real brokers, S3 and Secrets Manager by moto."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.aws import AwsStandIn
from dev.kafka import KafkaCluster
from kafka_lag import contract
from kafka_lag.errors import LoginError, SourceError, StoreError
from tests.contract.deployed import (
    BUCKET,
    SECRET,
    Deployed,
    deployed_for,
    emf_lines,
    forget,
    write_traffic,
)

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


@pytest.fixture(scope="module")
def aws() -> Iterator[AwsStandIn]:
    with AwsStandIn() as stand_in:
        yield stand_in


@pytest.fixture(scope="module", autouse=True)
def _traffic(shared_cluster: KafkaCluster) -> None:
    write_traffic(shared_cluster)


@pytest.fixture
def deployed(
    shared_cluster: KafkaCluster,
    aws: AwsStandIn,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Deployed]:
    with deployed_for(shared_cluster, aws, tmp_path, monkeypatch) as function:
        yield function


def test_a_repeated_event_changes_nothing(deployed: Deployed) -> None:
    deployed.secret(deployed.login())
    deployed.invoke()
    forget()
    assert deployed.invoke() == {"groups": 1, "objects_written": 0}


def test_a_rotated_secret_that_brokers_have_not_learnt_falls_back_to_the_previous(
    deployed: Deployed,
) -> None:
    deployed.secret(deployed.login())
    deployed.aws.client("secretsmanager").put_secret_value(
        SecretId=SECRET, SecretString=deployed.login("tomorrows-password")
    )
    assert deployed.invoke()["groups"] == 1


def test_a_wrong_password_fails_the_run_and_appears_nowhere(
    deployed: Deployed, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed.secret(deployed.login("hunter2"))
    with pytest.raises(LoginError, match="rejected the login"):
        deployed.invoke()
    captured = capsys.readouterr()
    assert "hunter2" not in captured.out + captured.err
    assert emf_lines(captured.out) == []


def test_an_unreachable_broker_fails_the_run_and_writes_nothing(deployed: Deployed) -> None:
    deployed.secret(deployed.login())
    deployed.document["bootstrap_servers"] = ["localhost:1"]
    with pytest.raises(SourceError, match="localhost:1"):
        deployed.invoke()
    assert "Contents" not in deployed.aws.client("s3").list_objects_v2(Bucket=BUCKET)


def test_a_missing_bucket_fails_the_run_after_the_metrics_went_out(
    deployed: Deployed, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed.secret(deployed.login())
    monkeypatch.setenv(contract.ENV_BUCKET, "no-such-bucket")
    with pytest.raises(StoreError, match="no-such-bucket"):
        deployed.invoke()
    lines = emf_lines(capsys.readouterr().out)
    assert any("OffsetLag" in line for line in lines)
    assert not any("CollectorSuccess" in line for line in lines)
