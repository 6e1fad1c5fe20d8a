# SPDX-License-Identifier: Apache-2.0
"""The job as Glue gets it, its rights, and that its trigger fires."""

from __future__ import annotations

from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from typing import Any

from kafka_lag_report.options import parse
from tests.infra.resolve import of_type
from tests.infra.storage.stack import only, resources

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


def _may(action: str, resource: str) -> bool:
    return any(
        action in _listed(line["Action"])
        and any(fnmatchcase(resource, pattern) for pattern in _listed(line["Resource"]))
        for line in _statements()
    )


def test_the_job_takes_the_arguments_that_it_is_given() -> None:
    arguments = only("AWS::Glue::Job")["DefaultArguments"]
    words = [word for pair in arguments.items() for word in pair]

    options = parse(words, lambda: datetime(2026, 2, 1, 1, tzinfo=UTC))

    assert options.input == options.output == "s3://databuckete6b0faa8"
    assert options.dates == (date(2026, 1, 31),)
    assert options.topic_arn == arguments["--topic-arn"]
    assert set(options.ignored) <= GLUES_OWN


# What the job does, by action and the keys of the bucket.
DONE = {
    "s3:GetObject": (
        "snapshots/groups/cluster=c/dt=2026-01-31/hour=12/x.parquet",
        "reports/lag_hourly/cluster=c/dt=2026-01-17/x.parquet",
        "history/groups/cluster=c/dt=2026-01-31/x.parquet",
        "usual/cluster=c/usual.parquet",
        *("snapshots", "reports", "history", "usual"),
    ),
    "s3:PutObject": (
        "reports/_staging-1/partition_skew/x.parquet",
        "reports/",
        "reports/page/cluster=c/dt=2026-01-31/report.html",
        "history/groups/cluster=c/dt=2026-01-31/x.parquet",
        "usual/cluster=c/usual.parquet",
    ),
    "s3:DeleteObject": (
        "reports/partition_skew/cluster=c/dt=2026-01-31/x.parquet",
        "history/groups/cluster=c/dt=2026-01-31/x.parquet",
        "snapshots/groups/cluster=c/dt=2026-01-31/hour=12/x.parquet",
    ),
    "s3:AbortMultipartUpload": ("history/groups/cluster=c/dt=2026-01-31/x.parquet",),
}
FORBIDDEN = (
    ("s3:PutObject", f"{BUCKET}/snapshots/groups/x.parquet"),
    ("s3:PutObjectTagging", f"{BUCKET}/snapshots/groups/x.parquet"),
    ("s3:GetObject", f"{BUCKET}/notified/orders/sns"),
    ("s3:GetObject", f"{ASSETS}/another-asset.zip"),
    ("s3:PutObject", f"{ASSETS}/another-asset.zip"),
    ("s3:DeleteObject", f"{BUCKET}/notified/orders/sns"),
    ("sns:Publish", "arn:aws:sns:eu-west-1:111122223333:another"),
    ("logs:PutLogEvents", "arn:aws:logs:eu-west-1:111122223333:log-group:/aws/lambda/f"),
)


def test_its_role_may_do_what_the_job_does_and_nothing_else() -> None:
    done = [(action, f"{BUCKET}/{key}") for action, keys in DONE.items() for key in keys]
    assert [each for each in done if not _may(*each)] == []
    assert [each for each in FORBIDDEN if _may(*each)] == []


def test_it_reads_its_own_code() -> None:
    job = only("AWS::Glue::Job")

    for place in (job["Command"]["ScriptLocation"], job["DefaultArguments"]["--extra-py-files"]):
        assert _may("s3:GetObject", place.replace("s3://", "arn:aws:s3:::"))
