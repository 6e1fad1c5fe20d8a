# SPDX-License-Identifier: Apache-2.0
"""What the daily job may do: read the bucket's data, replace what it writes, mark, log, tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from functions import contract
from infra.findings import open_ended
from infra.notify.topic import AlarmTopic

_SNAPSHOTS, _HISTORY, _REPORTS = (
    contract.SNAPSHOT_PREFIX,
    contract.HISTORY_PREFIX,
    contract.REPORT_PREFIX,
)
_FOLDERS = (_SNAPSHOTS, _HISTORY, _REPORTS)
_LOGS = "/aws-glue/jobs/*"

_MANY_OBJECTS = "Objects under this prefix have names that a day or a run gives them."
_MANY_LOGS = "Glue names its log groups and streams itself, under this prefix."


def daily_report_role(
    scope: Construct,
    *,
    bucket: s3.IBucket,
    code: Sequence[assets.Asset],
    told: AlarmTopic | None,
) -> iam.Role:
    """The role of the job whose script and modules are `code`; it tells `told`, if any."""
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("glue.amazonaws.com"),
        description="Daily report of consumer lag",
    )
    for statement in (*_statements(scope, bucket, code), *_telling(told)):
        role.add_to_policy(statement)
    for folder in _FOLDERS:
        open_ended(role, bucket.arn_for_objects(f"{folder}/*"), _MANY_OBJECTS)
    open_ended(role, _log_groups(scope), _MANY_LOGS)
    return role


def _statements(
    scope: Construct, bucket: s3.IBucket, code: Sequence[assets.Asset]
) -> Iterator[iam.PolicyStatement]:
    yield _allow(
        ["s3:GetObject"], [each.bucket.arn_for_objects(each.s3_object_key) for each in code]
    )
    yield from _on_bucket(bucket)
    yield _allow(
        ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"], [_log_groups(scope)]
    )


def _on_bucket(bucket: s3.IBucket) -> Iterator[iam.PolicyStatement]:
    yield iam.PolicyStatement(
        actions=["s3:ListBucket"],
        resources=[bucket.bucket_arn],
        conditions={"StringLike": {"s3:prefix": [*_FOLDERS, *(f"{each}/*" for each in _FOLDERS)]}},
    )
    # S3A asks whether a folder is an object by its bare name. Where there is none, S3 says so only
    # to who may list that name as a prefix, and refuses everybody else, which would end the run.
    yield _allow(
        ["s3:GetObject"],
        [bucket.arn_for_objects(key) for each in _FOLDERS for key in (each, f"{each}/*")],
    )
    yield _allow(
        ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
        [bucket.arn_for_objects(f"{each}/*") for each in (_HISTORY, _REPORTS)],
    )
    # A compacted snapshot is marked as one, so that it may expire.
    yield _allow(
        ["s3:GetObjectTagging", "s3:PutObjectTagging"],
        [bucket.arn_for_objects(f"{_SNAPSHOTS}/*")],
    )


def _telling(told: AlarmTopic | None) -> Iterator[iam.PolicyStatement]:
    if told is None:
        return
    yield _allow(["sns:Publish"], [told.topic.topic_arn])
    # The key's policy leaves it to its account who may use it. CDK's own grant would be on every
    # action that begins with GenerateDataKey.
    yield _allow(["kms:Decrypt", "kms:GenerateDataKey"], [told.key.key_arn])


def _log_groups(scope: Construct) -> str:
    return Stack.of(scope).format_arn(
        service="logs",
        resource="log-group",
        resource_name=_LOGS,
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )


def _allow(actions: Iterable[str], resources: Iterable[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=list(resources))
