# SPDX-License-Identifier: Apache-2.0
"""What the daily job may do: read the data, replace what it writes, delete old, log, notify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.notifications import Topics
from kafka_lag_cdk.rights import Right, allow, listing, role_with, using_key_of

_SNAPSHOTS, _HISTORY, _REPORTS = (
    contract.SNAPSHOT_PREFIX,
    contract.HISTORY_PREFIX,
    contract.REPORT_PREFIX,
)
_USUAL = contract.USUAL_PREFIX
_FOLDERS = (_SNAPSHOTS, _HISTORY, _REPORTS, _USUAL)
# Where Glue writes of a job whose groups are not its own: what it says before it knows of these.
_GLUES_LOGS = "/aws-glue/jobs/*"

_MANY_OBJECTS = "Objects under this prefix have names that a day or a run gives them."
_MANY_LOGS = "Glue names its log groups and streams itself, under these prefixes."


def daily_report_role(
    scope: Construct,
    *,
    bucket: s3.IBucket,
    code: Sequence[assets.Asset],
    topics: Topics | None,
    logs: str,
) -> iam.Role:
    """The role of the job whose script and modules are `code`; it publishes to `topics`, if any,
    and writes its log under the prefix `logs`."""
    return role_with(
        scope,
        (*_rights(scope, bucket, code, logs), *(topics.publishing_reports() if topics else ())),
        service="glue.amazonaws.com",
        description="Daily report of consumer lag",
    )


def _rights(
    scope: Construct, bucket: s3.IBucket, code: Sequence[assets.Asset], logs: str
) -> Iterator[Right]:
    yield allow(
        "s3:GetObject", on=[each.bucket.arn_for_objects(each.s3_object_key) for each in code]
    )
    yield from _on_bucket(bucket)
    yield _metric()
    yield allow(
        "logs:CreateLogGroup",
        "logs:CreateLogStream",
        "logs:PutLogEvents",
        on=[_log_groups(scope, prefix) for prefix in (f"{logs}/*", _GLUES_LOGS)],
        because=_MANY_LOGS,
    )


def _metric() -> Right:
    """CloudWatch knows no resource for publishing, only the namespace as a condition."""
    return allow(
        "cloudwatch:PutMetricData",
        on="*",
        because="publishing a metric has no finer resource; its namespace is a condition",
        conditions={"StringEquals": {"cloudwatch:namespace": contract.NAMESPACE}},
    )


def _on_bucket(bucket: s3.IBucket) -> Iterator[Right]:
    yield listing(bucket.bucket_arn, *_FOLDERS, *(f"{each}/*" for each in _FOLDERS))
    # S3A asks whether a folder is an object by its bare name. Where there is none, S3 says so only
    # to who may list that name as a prefix, and refuses everybody else, which would end the run.
    yield allow(
        "s3:GetObject",
        on=[bucket.arn_for_objects(key) for each in _FOLDERS for key in (each, f"{each}/*")],
        because=_MANY_OBJECTS,
    )
    yield allow(
        "s3:PutObject",
        "s3:DeleteObject",
        "s3:AbortMultipartUpload",
        on=[bucket.arn_for_objects(f"{each}/*") for each in (_HISTORY, _REPORTS, _USUAL)],
        because=_MANY_OBJECTS,
    )
    # Old snapshots that the history holds are deleted.
    yield allow(
        "s3:DeleteObject",
        on=bucket.arn_for_objects(f"{_SNAPSHOTS}/*"),
        because=_MANY_OBJECTS,
    )
    yield from using_key_of(bucket, writes=True)


def _log_groups(scope: Construct, prefix: str) -> str:
    return Stack.of(scope).format_arn(
        service="logs",
        resource="log-group",
        resource_name=prefix,
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
