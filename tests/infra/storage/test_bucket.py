# SPDX-License-Identifier: Apache-2.0
"""What keeps the data: nothing expires unseen, and the bucket outlives its stack over TLS alone.

The whole of its properties is in `tests/golden/templates`.
"""

from __future__ import annotations

import pytest
from aws_cdk import Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from kafka_lag_cdk.bucket import DataBucket
from tests.infra.storage.stack import KEEP, only, synthesised, template


def test_history_and_reports_expire_after_their_days_and_no_snapshot_does() -> None:
    rules = only("AWS::S3::Bucket")["LifecycleConfiguration"]["Rules"]
    found = {rule.get("Prefix"): rule.get("ExpirationInDays") for rule in rules}
    assert (found["history/"], found["reports/"]) == (KEEP.history_days, KEEP.report_days)
    over_snapshots = [prefix for prefix in found if "snapshots/".startswith(prefix or "")]
    assert [found[prefix] for prefix in over_snapshots if found[prefix]] == []


def test_what_is_not_over_tls_is_refused() -> None:
    (statement,) = only("AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", {"AWS": "*"})
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_it_is_closed_to_the_public() -> None:
    assert set(only("AWS::S3::Bucket")["PublicAccessBlockConfiguration"].values()) == {True}


@pytest.mark.parametrize("kind", ["AWS::S3::Bucket", "AWS::S3::BucketPolicy"])
def test_it_outlives_its_stack_but_for_a_first_deploy_that_fails(kind: str) -> None:
    (kept,) = (r for r in template()["Resources"].values() if r["Type"] == kind)
    assert kept["DeletionPolicy"] == "RetainExceptOnCreate"
    assert kept["UpdateReplacePolicy"] == "Retain"


def test_it_is_encrypted_with_its_key_or_that_of_s3() -> None:
    def build(stack: Stack) -> None:
        DataBucket(stack, "Data", keep=KEEP, key=kms.Key(stack, "Key"))

    made = synthesised(build)["Resources"].values()
    (with_key,) = (r["Properties"] for r in made if r["Type"] == "AWS::S3::Bucket")
    found = {}
    for each in (only("AWS::S3::Bucket"), with_key):
        (rule,) = each["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        default = rule["ServerSideEncryptionByDefault"]
        found[default["SSEAlgorithm"]] = "KMSMasterKeyID" in default
    assert found == {"AES256": False, "aws:kms": True}


def test_it_has_no_name_that_a_second_deploy_would_want() -> None:
    assert "BucketName" not in only("AWS::S3::Bucket")


def test_a_bucket_that_exists_is_left_as_it_is() -> None:
    def build(stack: Stack) -> None:
        ours = s3.Bucket.from_bucket_name(stack, "Ours", "ours-already")
        assert DataBucket(stack, "Data", keep=KEEP, existing=ours).bucket is ours

    assert "Resources" not in synthesised(build)
