# SPDX-License-Identifier: Apache-2.0
"""Keys of the user's: which is whose, and those that could not encrypt what they are for."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.config.shared import KmsKeys
from tests.infra.config.refused import refused
from tests.infra.configured import KEY, cluster_json, deployment

ACCOUNT, REGION = "111122223333", "eu-west-1"
OTHER = KEY.replace("aaaa", "bbbb")
ELSEWHERE = KEY.replace(REGION, "us-east-1")


def keys_of(**shared: Any) -> KmsKeys:
    return deployment(shared=shared).kms_keys(ACCOUNT, REGION)


@pytest.mark.parametrize("place", [REGION, f"{ACCOUNT}/{REGION}"])
def test_keys_are_of_an_account_and_region(place: str) -> None:
    found = keys_of(kms_keys={place: {"bucket": KEY, "logs": OTHER, "topic": KEY}})
    assert found == KmsKeys(bucket=KEY, logs=OTHER, topic=KEY)


def test_unless_they_are_named_there_are_none() -> None:
    assert keys_of() == KmsKeys()


def test_an_existing_bucket_may_come_with_its_key() -> None:
    buckets = {REGION: {"name": "ours", "kms_key_arn": KEY}}
    found = deployment(shared={"existing_buckets": buckets, "kms_keys": {REGION: {"logs": OTHER}}})
    bucket = found.existing_bucket(ACCOUNT, REGION)
    assert bucket
    assert bucket.name == "ours"
    assert found.kms_keys(ACCOUNT, REGION) == KmsKeys(bucket=KEY, logs=OTHER)


def test_an_existing_bucket_has_its_key_in_one_place() -> None:
    shared = {"existing_buckets": {REGION: "ours"}, "kms_keys": {REGION: {"bucket": KEY}}}
    assert refused(cluster_json(), shared=shared) == (
        "shared.kms_keys: bucket is for one that is made, and eu-west-1 has one in "
        "existing_buckets: write its key there, as kms_key_arn",
    )


@pytest.mark.parametrize("what", ["bucket", "logs", "topic"])
def test_a_key_is_in_the_region_of_what_it_encrypts(what: str) -> None:
    assert refused(cluster_json(), shared={"kms_keys": {REGION: {what: ELSEWHERE}}}) == (
        f"shared.kms_keys.eu-west-1.{what}: is in us-east-1, and a key encrypts in its own region "
        "alone, not eu-west-1",
    )


def test_so_is_the_key_of_an_existing_bucket() -> None:
    buckets = {REGION: {"name": "ours", "kms_key_arn": ELSEWHERE}}
    (fault,) = refused(cluster_json(), shared={"existing_buckets": buckets})
    assert fault.startswith("shared.existing_buckets.eu-west-1.kms_key_arn: is in us-east-1")


@pytest.mark.parametrize("arn", ["alias/ours", KEY.replace(":key/", ":alias/")])
def test_a_key_is_named_by_its_arn(arn: str) -> None:
    (fault,) = refused(cluster_json(), shared={"kms_keys": {REGION: {"logs": arn}}})
    assert fault.startswith("shared.kms_keys.eu-west-1.logs: must be a KMS key's ARN")


def test_a_topic_without_encryption_has_no_key() -> None:
    shared = {"notify": {"encrypted": False}, "kms_keys": {REGION: {"topic": KEY}}}
    assert refused(cluster_json(), shared=shared) == (
        "shared.kms_keys.eu-west-1.topic: must be left out where notify.encrypted is false",
    )


def test_keys_of_a_region_without_clusters_are_a_slip() -> None:
    assert refused(cluster_json(), shared={"kms_keys": {"us-east-1": {"logs": ELSEWHERE}}}) == (
        "shared.kms_keys.us-east-1: no cluster is in this region; there are some in eu-west-1",
    )


def test_a_bucket_that_is_no_name_is_refused_at_its_name() -> None:
    for bucket in ("Our_Bucket", {"name": "Our_Bucket"}):
        assert refused(cluster_json(), shared={"existing_buckets": {REGION: bucket}}) == (
            "shared.existing_buckets.eu-west-1.name: must be a bucket's name",
        )
