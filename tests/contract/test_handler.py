# SPDX-License-Identifier: Apache-2.0
"""The handler with the event its schedule sends: real brokers, S3 and Secrets Manager by moto."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from dev.aws import AwsStandIn
from dev.kafka import KafkaCluster
from kafka_lag import collect_lag, contract
from kafka_lag.errors import ConfigError, LoginError, SourceError, StoreError
from kafka_lag_cdk.config.document import normalised
from tests.kafka.looking import commit, create, produce

pytestmark = pytest.mark.kafka

BUCKET, SECRET = "snapshots", "AmazonMSK_monitor"
EVENT = {"cluster": "orders", "scheduled_time": "2026-01-31T12:00:00Z"}
KEY = "cluster=orders/dt=2026-01-31/hour=12/20260131T120000Z-0of1.parquet"


@pytest.fixture(scope="module")
def aws() -> Iterator[AwsStandIn]:
    with AwsStandIn() as stand_in:
        yield stand_in


@pytest.fixture(scope="module", autouse=True)
def _traffic(shared_cluster: KafkaCluster) -> None:
    create(shared_cluster, "handled", 2)
    produce(shared_cluster, "handled", {0: 10, 1: 20})
    commit(shared_cluster, "handlers", "handled", [4, 20])


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
            "broker_timeout_seconds": 5,
        }

    def secret(self, text: str) -> None:
        client = self.aws.client("secretsmanager")
        client.create_secret(Name=SECRET, SecretString=text)

    def login(self, password: str | None = None) -> str:
        return json.dumps({"username": "monitor", "password": password or self.password})

    def invoke(self, event: Any = None) -> Any:
        self.path.write_text(json.dumps(normalised(self.document)))
        return collect_lag.handler(EVENT if event is None else event, None)


@pytest.fixture
def deployed(
    shared_cluster: KafkaCluster,
    aws: AwsStandIn,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Deployed]:
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    function = Deployed(shared_cluster, aws, tmp_path)
    monkeypatch.setenv(contract.ENV_CONFIG, str(function.path))
    monkeypatch.setenv(contract.ENV_BUCKET, BUCKET)
    location = {"LocationConstraint": "eu-west-1"}
    aws.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=location)
    _forget()
    yield function
    _forget()
    aws.reset()


def _forget() -> None:
    """As a new container starts."""
    collect_lag._collector.cache_clear()
    collect_lag._logger.cache_clear()


def _emf(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines() if '"_aws"' in line]


def test_metrics_go_to_stdout_stamped_with_the_scheduled_minute(
    deployed: Deployed, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed.secret(deployed.login())
    deployed.invoke()
    lines = _emf(capsys.readouterr().out)
    said = {tuple(v for k, v in line.items() if k in _DIMENSIONS): line for line in lines}
    assert said["orders", "handlers"]["OffsetLag"] == 6
    assert said["orders", "handlers", "handled"]["OffsetLag"] == 6
    assert {line["_aws"]["Timestamp"] for line in lines} == {1769860800000}
    assert "CollectorSuccess" in lines[-1]


_DIMENSIONS = ("Cluster Name", "Consumer Group", "Topic")


def test_three_datasets_are_written_under_the_scheduled_times_key(deployed: Deployed) -> None:
    deployed.secret(deployed.login())
    assert deployed.invoke() == {"groups": 1, "objects_written": 3}
    listed = deployed.aws.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]
    keys = {item["Key"] for item in listed}
    assert keys == {f"snapshots/{dataset}/{KEY}" for dataset in contract.DATASETS}


def test_a_repeated_event_changes_nothing(deployed: Deployed) -> None:
    deployed.secret(deployed.login())
    deployed.invoke()
    _forget()
    assert deployed.invoke() == {"groups": 1, "objects_written": 0}


def test_the_snapshot_holds_the_lag_of_each_partition(deployed: Deployed, tmp_path: Path) -> None:
    deployed.secret(deployed.login())
    deployed.invoke()
    path = tmp_path / "rows.parquet"
    client = deployed.aws.client("s3")
    client.download_file(BUCKET, f"snapshots/group_partitions/{KEY}", str(path))
    table = pq.read_table(path).select(["partition_id", "lag", "committed_offset"])
    assert table.to_pylist() == [
        {"partition_id": 0, "lag": 6, "committed_offset": 4},
        {"partition_id": 1, "lag": 0, "committed_offset": 20},
    ]


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
    assert _emf(captured.out) == []


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
    lines = _emf(capsys.readouterr().out)
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
