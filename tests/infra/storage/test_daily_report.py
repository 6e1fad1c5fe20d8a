# SPDX-License-Identifier: Apache-2.0
"""The job as Glue gets it, its rights, and that its trigger fires."""

from __future__ import annotations

from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from typing import Any

import pytest
from aws_cdk import Stack

from kafka_lag_cdk.bucket import DataBucket
from kafka_lag_report.options import parse
from tests.infra.resolve import of_type, resolve
from tests.infra.storage.stack import KEEP, only, report, resources, synthesised

BUCKET = "arn:aws:s3:::databuckete6b0faa8"
ASSETS = "arn:aws:s3:::cdk-hnb659fds-assets-111122223333-eu-west-1"

# Arguments that are Glue's, and that the job names on stderr and leaves alone.
GLUES_OWN = {
    "--custom-logGroup-prefix",
    "--job-language",
    "--extra-py-files",
    "--enable-continuous-cloudwatch-log",
}


def _statements() -> list[dict[str, Any]]:
    policies = of_type(resources(), "AWS::IAM::Policy").values()
    return [line for policy in policies for line in policy["PolicyDocument"]["Statement"]]


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _services(statement: dict[str, Any]) -> set[str]:
    return {action.partition(":")[0] for action in _listed(statement["Action"])}


def _may(action: str, resource: str) -> bool:
    return any(
        action in _listed(line["Action"])
        and any(fnmatchcase(resource, pattern) for pattern in _listed(line["Resource"]))
        for line in _statements()
    )


def test_it_is_small_and_ends() -> None:
    job = only("AWS::Glue::Job")

    settings = {
        key: job[key] for key in ("GlueVersion", "WorkerType", "NumberOfWorkers", "Timeout")
    }
    assert settings == {
        "GlueVersion": "6.0",
        "WorkerType": "G.1X",
        "NumberOfWorkers": 2,
        "Timeout": 30,
    }


def test_a_run_waits_for_the_one_before_and_is_not_tried_again() -> None:
    job = only("AWS::Glue::Job")

    assert job["JobRunQueuingEnabled"] is True
    assert job["MaxRetries"] == 0
    assert job.get("ExecutionProperty", {"MaxConcurrentRuns": 1}) == {"MaxConcurrentRuns": 1}


def test_the_job_takes_the_arguments_that_it_is_given() -> None:
    arguments = only("AWS::Glue::Job")["DefaultArguments"]
    words = [word for pair in arguments.items() for word in pair]

    options = parse(words, lambda: datetime(2026, 2, 1, 1, tzinfo=UTC))

    assert options.input == options.output == "s3://databuckete6b0faa8"
    assert options.dates == (date(2026, 1, 31),)
    assert options.topic_arn == arguments["--topic-arn"]
    assert set(options.ignored) <= GLUES_OWN


def test_script_and_modules_are_two_assets() -> None:
    job = only("AWS::Glue::Job")

    assert job["Command"]["ScriptLocation"].endswith(".py")
    assert job["DefaultArguments"]["--extra-py-files"].endswith(".zip")


def test_it_starts_every_day_at_its_hour_and_is_active() -> None:
    trigger = only("AWS::Glue::Trigger")

    assert (trigger["Type"], trigger["Schedule"]) == ("SCHEDULED", "cron(0 1 * * ? *)")
    assert trigger["StartOnCreation"] is True
    (job_id,) = of_type(resources(), "AWS::Glue::Job")
    assert trigger["Actions"] == [{"JobName": job_id.lower()}]


def test_an_older_glue_may_run_it() -> None:
    def build(stack: Stack) -> None:
        report(stack, DataBucket(stack, "Data", keep=KEEP), glue_version="5.1")

    made = synthesised(build)["Resources"].values()

    (job,) = (r["Properties"] for r in made if r["Type"] == "AWS::Glue::Job")
    assert job["GlueVersion"] == "5.1"


def test_its_summary_goes_to_the_topic_of_reports() -> None:
    arguments = only("AWS::Glue::Job")["DefaultArguments"]
    topic = next(name for name in of_type(resources(), "AWS::SNS::Topic") if "Reports" in name)

    assert arguments["--topic-arn"].endswith(f":{topic.lower()}")
    assert arguments["--summary"] == "changes"
    assert _may("sns:Publish", arguments["--topic-arn"])


def test_it_may_use_the_key_of_the_topic_and_publish_nowhere_else() -> None:
    (key,) = {e["KmsMasterKeyId"] for e in of_type(resources(), "AWS::SNS::Topic").values()}
    lines = [line for line in _statements() if _services(line) & {"sns", "kms"}]

    assert [(line["Action"], line["Resource"]) for line in lines] == [
        ("sns:Publish", only("AWS::Glue::Job")["DefaultArguments"]["--topic-arn"]),
        (["kms:Decrypt", "kms:GenerateDataKey"], key),
    ]


def test_a_report_without_a_summary_has_neither_the_topic_nor_a_right_on_it() -> None:
    def build(stack: Stack) -> None:
        report(stack, DataBucket(stack, "Data", keep=KEEP), summary="never")

    made = resolve(synthesised(build))

    (job,) = of_type(made, "AWS::Glue::Job").values()
    assert {"--topic-arn", "--summary"} & set(job["DefaultArguments"]) == set()
    (policy,) = of_type(made, "AWS::IAM::Policy").values()
    lines = policy["PolicyDocument"]["Statement"]
    assert set().union(*map(_services, lines)) == {"s3", "logs", "cloudwatch"}


@pytest.mark.parametrize(
    ("action", "key"),
    [
        ("s3:GetObject", "snapshots/groups/cluster=c/dt=2026-01-31/hour=12/x.parquet"),
        ("s3:GetObject", "snapshots"),
        ("s3:GetObject", "reports"),
        ("s3:PutObject", "reports/_staging-1/partition_skew/x.parquet"),
        ("s3:PutObject", "reports/"),
        ("s3:DeleteObject", "reports/partition_skew/cluster=c/dt=2026-01-31/x.parquet"),
        ("s3:GetObject", "reports/lag_hourly/cluster=c/dt=2026-01-17/x.parquet"),
        ("s3:PutObject", "reports/page/cluster=c/dt=2026-01-31/report.html"),
        ("s3:GetObject", "history"),
        ("s3:GetObject", "history/groups/cluster=c/dt=2026-01-31/x.parquet"),
        ("s3:PutObject", "history/groups/cluster=c/dt=2026-01-31/x.parquet"),
        ("s3:DeleteObject", "history/groups/cluster=c/dt=2026-01-31/x.parquet"),
        ("s3:AbortMultipartUpload", "history/groups/cluster=c/dt=2026-01-31/x.parquet"),
        ("s3:GetObject", "usual"),
        ("s3:GetObject", "usual/cluster=c/usual.parquet"),
        ("s3:PutObject", "usual/cluster=c/usual.parquet"),
        ("s3:DeleteObject", "snapshots/groups/cluster=c/dt=2026-01-31/hour=12/x.parquet"),
    ],
)
def test_its_role_may_do_what_the_job_does(action: str, key: str) -> None:
    assert _may(action, f"{BUCKET}/{key}")


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("s3:PutObject", f"{BUCKET}/snapshots/groups/x.parquet"),
        ("s3:PutObjectTagging", f"{BUCKET}/snapshots/groups/x.parquet"),
        ("s3:GetObject", f"{BUCKET}/notified/cursors/orders/sns"),
        ("s3:GetObject", f"{ASSETS}/another-asset.zip"),
        ("s3:PutObject", f"{ASSETS}/another-asset.zip"),
        ("s3:DeleteObject", f"{BUCKET}/notified/cursors/orders/sns"),
        ("sns:Publish", "arn:aws:sns:eu-west-1:111122223333:another"),
        ("logs:PutLogEvents", "arn:aws:logs:eu-west-1:111122223333:log-group:/aws/lambda/f"),
    ],
)
def test_its_role_may_do_nothing_else(action: str, resource: str) -> None:
    assert not _may(action, resource)


def test_it_reads_its_own_code() -> None:
    job = only("AWS::Glue::Job")

    for place in (job["Command"]["ScriptLocation"], job["DefaultArguments"]["--extra-py-files"]):
        assert _may("s3:GetObject", place.replace("s3://", "arn:aws:s3:::"))


def test_it_lists_the_folders_of_data_alone() -> None:
    (line,) = (line for line in _statements() if line["Action"] == "s3:ListBucket")

    assert line["Resource"] == BUCKET
    assert sorted(line["Condition"]["StringLike"]["s3:prefix"]) == [
        "history",
        "history/*",
        "reports",
        "reports/*",
        "snapshots",
        "snapshots/*",
        "usual",
        "usual/*",
    ]


def test_no_right_is_on_all_actions_or_all_resources() -> None:
    for line in _statements():
        assert [action for action in _listed(line["Action"]) if "*" in action] == []
        if "*" in _listed(line["Resource"]):
            assert line["Action"] == "cloudwatch:PutMetricData"
            assert line["Condition"] == {"StringEquals": {"cloudwatch:namespace": "KafkaLag"}}
