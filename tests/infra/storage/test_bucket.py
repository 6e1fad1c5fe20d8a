# SPDX-License-Identifier: Apache-2.0
"""The bucket: no object expires unnoticed, and it outlives its stack and needs TLS.

All of its properties are in `tests/golden/templates`.
"""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_s3 as s3

from kafka_lag_cdk.bucket import DataBucket
from tests.infra.storage.stack import KEEP, only, synthesised


def test_reports_and_history_expire_after_their_days_and_no_snapshot_sooner() -> None:
    rules = only("AWS::S3::Bucket")["LifecycleConfiguration"]["Rules"]
    found = {rule.get("Prefix"): rule.get("ExpirationInDays") for rule in rules}
    assert (found["history/"], found["reports/"]) == (KEEP.history_days, KEEP.report_days)
    over_snapshots = [prefix for prefix in found if "snapshots/".startswith(prefix or "")]
    assert {found[each] for each in over_snapshots if found[each]} == {KEEP.history_days}


def test_snapshots_that_no_job_compacts_never_expire() -> None:
    def build(stack: Stack) -> None:
        DataBucket(stack, "Data", keep=KEEP, compacted=False)

    found = synthesised(build)["Resources"].values()
    (bucket,) = [each for each in found if each["Type"] == "AWS::S3::Bucket"]
    rules = bucket["Properties"]["LifecycleConfiguration"]["Rules"]
    assert "snapshots/" not in {rule.get("Prefix") for rule in rules}


def test_a_bucket_that_exists_is_left_as_it_is() -> None:
    def build(stack: Stack) -> None:
        ours = s3.Bucket.from_bucket_name(stack, "Ours", "ours-already")
        assert DataBucket(stack, "Data", keep=KEEP, existing=ours).bucket is ours

    assert "Resources" not in synthesised(build)
