# SPDX-License-Identifier: Apache-2.0
"""What the bucket's template promises: nothing expires unseen, nobody reads it in the clear."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3

from kafka_lag_cdk.bucket import DataBucket
from tests.infra.storage.stack import KEEP, only, synthesised, template


def _rules() -> dict[str, dict[str, Any]]:
    rules = only("AWS::S3::Bucket")["LifecycleConfiguration"]["Rules"]
    return {rule["Id"]: rule for rule in rules}


def test_no_rule_lets_a_snapshot_expire() -> None:
    expiring = [
        rule["Id"]
        for rule in _rules().values()
        if "ExpirationInDays" in rule and "snapshots/".startswith(rule.get("Prefix", ""))
    ]

    assert expiring == []


def test_history_and_reports_expire_after_their_days() -> None:
    rules = _rules()

    found = {
        name: (rules[name]["Prefix"], rules[name]["ExpirationInDays"])
        for name in rules
        if name in {"history", "reports"}
    }

    assert found == {
        "history": ("history/", KEEP.history_days),
        "reports": ("reports/", KEEP.report_days),
    }


def test_an_abandoned_upload_is_gone_after_a_day() -> None:
    found = [rule.get("AbortIncompleteMultipartUpload") for rule in _rules().values()]

    assert {"DaysAfterInitiation": 1} in found


def test_what_is_not_over_tls_is_refused() -> None:
    (statement,) = only("AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"]

    assert statement["Effect"] == "Deny"
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert statement["Principal"] == {"AWS": "*"}


def test_it_is_encrypted_and_closed_to_the_public() -> None:
    bucket = only("AWS::S3::Bucket")

    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]


@pytest.mark.parametrize("kind", ["AWS::S3::Bucket", "AWS::S3::BucketPolicy"])
def test_a_first_deploy_that_fails_leaves_no_empty_bucket(kind: str) -> None:
    (kept,) = (r for r in template()["Resources"].values() if r["Type"] == kind)

    assert kept["DeletionPolicy"] == "RetainExceptOnCreate"


def test_it_outlives_its_stack_and_has_no_name_that_a_second_deploy_would_want() -> None:
    (bucket,) = (r for r in template()["Resources"].values() if r["Type"] == "AWS::S3::Bucket")

    assert bucket["DeletionPolicy"].startswith("Retain")
    assert bucket["UpdateReplacePolicy"] == "Retain"
    assert "BucketName" not in bucket["Properties"]


def test_what_outlives_its_stack_stays_over_tls_only() -> None:
    (policy,) = (
        r for r in template()["Resources"].values() if r["Type"] == "AWS::S3::BucketPolicy"
    )

    assert policy["DeletionPolicy"].startswith("Retain")
    assert "aws:SecureTransport" in str(policy["Properties"])


def test_a_bucket_that_exists_is_left_as_it_is() -> None:
    def build(stack: Stack) -> None:
        data = DataBucket(
            stack,
            "Data",
            keep=KEEP,
            existing=s3.Bucket.from_bucket_name(stack, "Ours", "ours-already"),
        )
        assert data.bucket.bucket_name == "ours-already"

    assert "Resources" not in synthesised(build)
