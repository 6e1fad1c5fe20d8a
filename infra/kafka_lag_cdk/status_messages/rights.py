# SPDX-License-Identifier: Apache-2.0
"""What telling takes: to read snapshots, to remember what was told, to publish, and no more."""

from __future__ import annotations

from collections.abc import Iterator

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.config.shared import StatusMessages
from kafka_lag_cdk.notifications import Topics
from kafka_lag_cdk.rights import Right, allow, listing, using_key_of

_GROUPS = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/*"
_NOTIFIED = f"{contract.NOTIFIED_PREFIX}/*"


def rights(
    scope: Construct, settings: StatusMessages, bucket: s3.IBucket, topics: Topics | None
) -> Iterator[Right]:
    """On the bucket, on the reports' topic and its key, and on the bus, if it has any."""
    yield listing(bucket.bucket_arn, _GROUPS, _NOTIFIED)
    yield allow(
        "s3:GetObject",
        on=bucket.arn_for_objects(_GROUPS),
        because="a key a minute and cluster; all clusters of the bucket are told of",
    )
    yield allow(
        "s3:GetObject",
        "s3:PutObject",
        on=bucket.arn_for_objects(_NOTIFIED),
        because="a cursor a cluster and a claim a message, of each channel, named by runs",
    )
    yield from using_key_of(bucket, writes=True)
    if topics:
        yield from topics.publishing_reports()
    if settings.event_bus:
        yield allow("events:PutEvents", on=bus_arn(scope, settings.event_bus))


def bus_arn(scope: Construct, name: str) -> str:
    """The ARN of an event bus of the scope's account and region."""
    return Stack.of(scope).format_arn(
        service="events",
        resource="event-bus",
        resource_name=name,
        arn_format=ArnFormat.SLASH_RESOURCE_NAME,
    )
