# SPDX-License-Identifier: Apache-2.0
"""The handler with the event its schedule sends: real brokers, S3 and Secrets Manager by moto."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dev.aws import AwsStandIn
from dev.kafka import KafkaCluster
from kafka_lag import contract
from kafka_lag.errors import ConfigError, LoginError, SourceError, StoreError
from kafka_lag_cdk.config.document import normalised
from tests.contract.deployed import (
    BUCKET,
    EVENT,
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


def test_a_warm_function_uses_its_connections_again(deployed: Deployed) -> None:
    deployed.secret(deployed.login())
    deployed.invoke()
    deployed.aws.client("secretsmanager").delete_secret(
        SecretId=SECRET, ForceDeleteWithoutRecovery=True
    )
    again = {**EVENT, "scheduled_time": "2026-01-31T12:01:00Z"}
    assert deployed.invoke(again) == {"groups": 1, "objects_written": 3}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({}, "needs two strings"),
        ([], "must be a JSON object"),
        ({**EVENT, "cluster": "payments"}, "'payments'"),
        ({**EVENT, "scheduled_time": "yesterday"}, "'yesterday'"),
    ],
    ids=["empty", "no object", "another cluster", "no time"],
)
def test_an_event_of_another_form_is_rejected_by_name(
    deployed: Deployed, event: Any, expected: str
) -> None:
    deployed.secret(deployed.login())
    with pytest.raises(ConfigError, match=expected):
        deployed.invoke(event)


@pytest.mark.parametrize(
    ("secret", "expected"),
    [
        (None, "cannot be read"),
        ("hunter2", "must be a JSON object"),
        ('{"username": "monitor", "passwort": "hunter2"}', "must be a JSON object"),
    ],
    ids=["missing", "not JSON", "other keys"],
)
def test_a_secret_that_cannot_serve_is_reported_without_its_content(
    deployed: Deployed, capsys: pytest.CaptureFixture[str], secret: str | None, expected: str
) -> None:
    if secret is not None:
        deployed.secret(secret)
    with pytest.raises(ConfigError, match=expected) as caught:
        deployed.invoke()
    assert "hunter2" not in capsys.readouterr().out + str(caught.value)


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


def test_a_document_of_another_version_is_one_sentence(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = deployed.path.with_name("other.json")
    other.write_text(json.dumps({**normalised(deployed.document), "version": 2}))
    monkeypatch.setenv(contract.ENV_CONFIG, str(other))
    with pytest.raises(ConfigError, match=r"is of version 2, and this collector reads version 1"):
        deployed.invoke()
