# SPDX-License-Identifier: Apache-2.0
"""The bucket that holds snapshots, history and reports, and outlives its stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.acknowledgements import acknowledge_nag, acknowledge_strict
from kafka_lag_config.physical_names import ABANDONED_UPLOADS
from kafka_lag_config.shared import Keep

# Kept, but for an empty one of a first deploy that failed.
_RETAIN = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE

_NO_ACCESS_LOG = (
    "Its readers are the collectors, the daily job and Athena, each with a role of its own; a log "
    "of their requests would be larger than the data."
)

_OF_BUCKET = {
    "S3BucketLoggingEnabled": _NO_ACCESS_LOG,
    "S3BucketReplicationEnabled": "Collectors write on without it; a copy is the owner's choice",
    "S3BucketVersioningEnabled": "Snapshots are written once, and reports are made of them",
    "S3DefaultEncryptionKMS": "shared.kms_keys in the configuration names a key for it",
}


class DataBucket(Construct):
    """`bucket`, encrypted, over TLS only and closed to the public; kept when its stack goes,
    unless that was never made.

    It has no name of its own, so that a stack deployed again makes another beside the kept one.
    With a `key` that encrypts it, once for many objects as an S3 Bucket Key; without with S3's own.

    `existing` is taken as it is instead: its encryption, its policy and what expires in it are its
    owner's, as a lifecycle configuration is one document that would replace theirs.
    Unless `compacted`, as without a daily job, snapshots never expire.
    With `sends_events` what happens in it goes to EventBridge; in an existing bucket that is its
    owner's to switch on.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        keep: Keep,
        existing: s3.IBucket | None = None,
        key: kms.IKey | None = None,
        sends_events: bool = False,
        compacted: bool = True,
    ) -> None:
        super().__init__(scope, construct_id)
        if existing and key:
            raise ValueError(
                f"{existing.node.path} is an existing bucket with a key of its own or none: leave "
                "the bucket's key out, or import the bucket with its encryption_key"
            )
        self.bucket: s3.IBucket = existing or self._make(keep, key, sends_events, compacted)

    def _make(
        self, keep: Keep, key: kms.IKey | None, sends_events: bool, compacted: bool
    ) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key else None,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=list(_lifecycle_rules(keep, compacted)),
            removal_policy=_RETAIN,
        )
        if bucket.policy:
            # What stays must stay over TLS only.
            bucket.policy.apply_removal_policy(_RETAIN)
        acknowledge_nag(bucket, "S1", _NO_ACCESS_LOG)
        acknowledge_strict(bucket, _OF_BUCKET)
        if sends_events:
            _send_events(bucket)
        return bucket


def _send_events(bucket: s3.Bucket) -> None:
    """Sends events by the L1 property: the L2 would add a function with rights on all buckets."""
    resource = cast(s3.CfnBucket, bucket.node.default_child)
    resource.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
        event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(
            event_bridge_enabled=True
        )
    )


def _lifecycle_rules(keep: Keep, compacted: bool) -> Iterator[s3.LifecycleRule]:
    # The job deletes raw snapshots that the history holds. What it never read goes with the history
    # of its days, so that weeks in which the job fails do not cost for ever.
    for prefix, days in (
        *([(contract.SNAPSHOT_PREFIX, keep.history_days)] if compacted else ()),
        (contract.HISTORY_PREFIX, keep.history_days),
        (contract.REPORT_PREFIX, keep.report_days),
    ):
        yield s3.LifecycleRule(id=prefix, prefix=f"{prefix}/", expiration=Duration.days(days))
    # Parts of an upload that nobody completed are billed and seen in no listing.
    yield s3.LifecycleRule(
        id=ABANDONED_UPLOADS, abort_incomplete_multipart_upload_after=Duration.days(1)
    )
