# SPDX-License-Identifier: Apache-2.0
"""The package as Lambda runs it: by the runtime's own client, on real brokers."""

from __future__ import annotations

import json
import sys
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import kafka_lag_cli
from dev.aws import AwsStandIn
from dev.kafka import KafkaCluster
from dev.lambda_runtime import Answer, LambdaProcess, run, runtime_in
from kafka_lag import contract
from kafka_lag_cdk.packaging import Target, build
from kafka_lag_config.document import normalised
from tests.kafka.looking import commit, create, produce

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="Lambda's packages are Linux's"),
]

HANDLER, VIEWS = "kafka_lag.collect_lag.handler", "kafka_lag.serve_lag.handler"
BUCKET, SECRET = "snapshots", "AmazonMSK_monitor"
COLD = {"cluster": "orders", "scheduled_time": "2026-01-31T12:00:00Z"}
WARM = {"cluster": "orders", "scheduled_time": "2026-01-31T12:01:00Z"}
ASKED = {
    "rawPath": "/v3/kafka/orders/consumer/packers/lag",
    "headers": {"host": "lag.example"},
    "requestContext": {
        "stage": "$default",
        "http": {"method": "GET"},
        "authorizer": {"iam": {"userArn": "arn:aws:iam::111122223333:user/grafana"}},
    },
}
KEY = "cluster=orders/dt=2026-01-31/hour=12/20260131T12{minute}00Z-0of1.parquet"


@dataclass(frozen=True, slots=True)
class Folders:
    """The package, and what the runtime brings beside it."""

    task: Path
    runtime: Path


@dataclass(frozen=True, slots=True)
class Reported:
    """What a function answered to events one after the other, wrote to stdout and stored."""

    cold: Answer
    warm: Answer
    refused: Answer
    asked: Answer
    lines: list[dict[str, Any]]
    keys: set[str]


@pytest.fixture(name="folders", scope="module")
def _folders() -> Iterator[Folders]:
    with tempfile.TemporaryDirectory() as place:
        runtime = Path(place, "runtime")
        runtime.mkdir()
        yield Folders(build(Target.here(), Path(place)), runtime_in(runtime))


@pytest.fixture(name="reported", scope="module")
def _told(
    folders: Folders, shared_cluster: KafkaCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reported]:
    create(shared_cluster, "packed", 2)
    produce(shared_cluster, "packed", {0: 10, 1: 20})
    commit(shared_cluster, "packers", "packed", [4, 20])
    place = tmp_path_factory.mktemp("function")
    (place / "config.json").write_text(json.dumps(_document(shared_cluster)))
    with AwsStandIn() as aws:
        _store_login(aws, shared_cluster)
        environ = {
            **aws.environment(),
            contract.ENV_CONFIG: str(place / "config.json"),
            contract.ENV_BUCKET: BUCKET,
        }
        process = LambdaProcess(
            HANDLER, folders.task, folders.runtime, environ, place / "output.log"
        )
        with process:
            cold = process.invoke(COLD)
            # A function that is warm has its login and its connections.
            aws.client("secretsmanager").delete_secret(
                SecretId=SECRET, ForceDeleteWithoutRecovery=True
            )
            warm, refused = process.invoke(WARM), process.invoke({})
        views = {**environ, contract.ENV_AUTH: contract.AUTH_IAM}
        with LambdaProcess(VIEWS, folders.task, folders.runtime, views, place / "views.log") as url:
            asked = url.invoke(ASKED)
        lines = [json.loads(x) for x in process.output.read_text().splitlines() if x[:1] == "{"]
        listed = aws.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents", [])
        yield Reported(cold, warm, refused, asked, lines, {item["Key"] for item in listed})


def _document(cluster: KafkaCluster) -> Any:
    source = {
        "cluster": "orders",
        "bootstrap_servers": cluster.bootstrap("SASL_SSL").split(","),
        "cafile": str(cluster.cafile),
        "secret_id": SECRET,
        "groups": {"allow": "^packers$"},
        "topics": {"allow": "^packed$"},
        "levels": {"topics": True},
    }
    return normalised(source)


def _store_login(aws: AwsStandIn, cluster: KafkaCluster) -> None:
    monitor = cluster.users["monitor"]
    login = json.dumps({"username": monitor.username, "password": monitor.password})
    aws.client("secretsmanager").create_secret(Name=SECRET, SecretString=login)
    location = {"LocationConstraint": "eu-west-1"}
    aws.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=location)


def _keys(minute: str) -> set[str]:
    return {f"snapshots/{name}/{KEY.format(minute=minute)}" for name in contract.DATASETS}


def test_a_cold_function_collects(reported: Reported) -> None:
    assert reported.cold == Answer(value={"groups": 1, "objects_written": 3})


def test_its_metrics_are_lines_of_stdout(reported: Reported) -> None:
    lags = [
        line[contract.OFFSET_LAG]
        for line in reported.lines
        if line.get(contract.DIMENSION_TOPIC) == "packed" and contract.OFFSET_LAG in line
    ]
    assert lags == [6, 6]
    assert [line for line in reported.lines if contract.COLLECTOR_SUCCESS in line]


def test_the_snapshots_of_both_runs_are_stored(reported: Reported) -> None:
    assert reported.keys == _keys("00") | _keys("01")


def test_a_warm_function_needs_no_login_again(reported: Reported) -> None:
    assert reported.warm == Answer(value={"groups": 1, "objects_written": 3})


def test_a_refused_event_is_a_function_error_with_our_words(reported: Reported) -> None:
    assert reported.refused.error is not None
    assert reported.refused.error["errorType"] == "ConfigError"
    assert "needs two strings" in reported.refused.error["errorMessage"]


def test_the_url_answers_from_what_was_stored(reported: Reported) -> None:
    answer = reported.asked.value
    assert answer["statusCode"] == 200
    assert json.loads(b64decode(answer["body"]))["status"]["totallag"] == 6


_IMPORT_ALL = """\
import importlib, pkgutil, kafka_lag
for found in pkgutil.walk_packages(kafka_lag.__path__, "kafka_lag."):
    importlib.import_module(found.name)
# As a login by IAM would.
importlib.import_module("aws_msk_iam_sasl_signer.MSKAuthTokenProvider").__get_user_agent__()
for name in ("kafka_lag.collect_lag", "numpy", "pyarrow", "kafka", "jmespath", "typing_extensions"):
    print(importlib.import_module(name).__file__)
"""


def test_the_command_line_is_not_in_the_package(folders: Folders) -> None:
    assert (folders.task / "kafka_lag").is_dir()
    assert not (folders.task / kafka_lag_cli.__name__).exists()


def test_every_module_finds_all_that_it_imports_in_the_package(folders: Folders) -> None:
    done = run(_IMPORT_ALL, folders.task, folders.runtime)
    assert done.stderr == ""
    imported = [Path(line) for line in done.stdout.splitlines()]
    assert len(imported) == 6
    assert all(folders.task in path.parents for path in imported)
