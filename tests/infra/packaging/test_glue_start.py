# SPDX-License-Identifier: Apache-2.0
"""The daily job as it is shipped, started as Glue starts it, over one small day."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dev.aws import AwsStandIn
from kafka_lag import contract
from kafka_lag.contract.reports import REPORT_COLUMNS
from kafka_lag_cdk.packaging import glue_package
from kafka_lag_cdk.report_job import SCRIPT
from tests.glue_jobs.days import NOON, group_row, topic_row, write_run
from tests.infra.packaging.glue import Glue
from tests.infra.storage.stack import only

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

DAY = "cluster=demo/dt=2026-01-31"


@dataclass(frozen=True, slots=True)
class Run:
    """What a run printed and wrote, and to whom it sent."""

    done: subprocess.CompletedProcess[str]
    output: Path
    heard: list[Any]

    def files(self, prefix: str, name: str) -> list[Path]:
        """What a query sees under a report's or a dataset's day."""
        found = (self.output / prefix / name / DAY).iterdir()
        return sorted(path for path in found if not path.name.startswith((".", "_")))


@pytest.fixture(name="glue", scope="module")
def _glue(tmp_path_factory: pytest.TempPathFactory) -> Glue:
    return Glue.made(tmp_path_factory.mktemp("glue"))


@pytest.fixture(name="run", scope="module")
def _run(glue: Glue, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """The arguments are those of the template, with folders for the bucket, and a date."""
    root, package = (
        tmp_path_factory.mktemp("data"),
        glue_package(tmp_path_factory.mktemp("modules")),
    )
    _write_day(root)
    with AwsStandIn() as aws:
        topic, messages = _topic(aws)
        arguments = {
            **only("AWS::Glue::Job")["DefaultArguments"],
            "--input": str(root),
            "--output": str(root),
            "--topic-arn": topic,
            "--summary": "always",
            "--date": "2026-01-31",
        }
        done = glue.run(SCRIPT, package, arguments, aws.environment())
        heard = aws.client("sqs").receive_message(QueueUrl=messages).get("Messages", [])
        yield Run(done, root, heard)


def _write_day(root: Path) -> None:
    """Three runs of a group that reads a topic of two partitions, one of them slowly."""
    for minute in range(3):
        at = NOON + timedelta(minutes=minute)
        end, owner = 1000 + 60 * minute, {"leader": 1, "client_id": "c", "member_id": "m"}
        topics = [topic_row(number, end, leader=1) for number in range(2)]
        rows = [group_row(n, commit, 0, end, **owner) for n, commit in enumerate((end, 500))]
        behind = {"lag": end - 500, "time_lag_seconds": 60.0 * minute, "status": "OK"}
        write_run(root, "topic_partitions", topics, at=at)
        write_run(root, "group_partitions", rows, at=at)
        write_run(root, "groups", [{"consumer_group": "billing", **behind}], at=at)


def _topic(aws: AwsStandIn) -> tuple[str, str]:
    """A topic, and a queue that gets what it publishes."""
    topic: str = aws.client("sns").create_topic(Name="kafka-lag-alarms")["TopicArn"]
    queues = aws.client("sqs")
    queue: str = queues.create_queue(QueueName="heard")["QueueUrl"]
    attributes = queues.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    arn = attributes["Attributes"]["QueueArn"]
    aws.client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    return topic, queue


def test_only_what_glue_has_can_be_imported_beside_the_zip(glue: Glue) -> None:
    names = ("boto3", "kafka_lag", "kafka_lag_report", "jinja2", "markupsafe", "pyspark", "pytest")

    assert [name for name in names if glue.has(name)] == ["boto3", "pyspark"]


def test_it_ends_well(run: Run) -> None:
    assert run.done.returncode == 0, run.done.stderr[-3000:]


@pytest.mark.parametrize("name", contract.DATASETS)
def test_it_compacts_each_dataset(run: Run, name: str) -> None:
    assert [path.suffix for path in run.files(contract.HISTORY_PREFIX, name)] == [".parquet"]


# On this day nothing is known to be usual, and no group has a capacity or an objective.
SILENT = {"anomalies", "slo", "tasks_needed"}


@pytest.mark.parametrize("name", sorted(set(REPORT_COLUMNS) - SILENT))
def test_it_writes_each_report_that_has_something_to_say(run: Run, name: str) -> None:
    assert {path.suffix for path in run.files(contract.REPORT_PREFIX, name)} == {".parquet"}


def test_it_writes_what_is_usual_for_the_collector(run: Run) -> None:
    assert (run.output / contract.usual_key("cluster=demo")).is_file()


def test_it_writes_the_page(run: Run) -> None:
    (page,) = run.files(contract.REPORT_PREFIX, "page")

    assert page.name == "report.html"
    assert "billing" in page.read_text()


def test_it_tells_the_topic(run: Run) -> None:
    (message,) = run.heard

    assert "2026-01-31" in message["Body"]


def test_it_leaves_nothing_of_its_own_beside_its_output(glue: Glue, run: Run) -> None:
    assert run.done.returncode == 0
    assert list((glue.folder / "elsewhere").iterdir()) == []
