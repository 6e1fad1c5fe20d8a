# SPDX-License-Identifier: Apache-2.0
"""A bucket, a topic and keys that the app has, in place of those that would be made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk import LagReports
from tests.infra.configured import KEY
from tests.infra.own_app.network import Theirs, synthesised
from tests.infra.resolve import of_type

ALARMS = "cloudwatch.amazonaws.com"


def services_of(key: dict[str, Any]) -> list[str | None]:
    """Whom a key's policy lets in, a statement each."""
    return [each["Principal"].get("Service") for each in key["KeyPolicy"]["Statement"]]


@pytest.mark.parametrize("named", [False, True], ids=["not-named", "named"])
def test_two_keys_let_alarms_in_where_topic_and_reports_have_one_each(named: bool) -> None:
    theirs = Theirs()
    topic = sns.Topic(theirs, "Pages", master_key=theirs.key)
    other = kms.Key(theirs, "Other") if named else None
    LagReports(theirs, "Lag", clusters=["orders"], topic=topic, topic_key=other)
    keys = of_type(synthesised(theirs), "AWS::KMS::Key").values()
    assert [services_of(key).count(ALARMS) for key in keys] == [1, 1]


IMPORTED = {
    "by-arn": lambda scope: kms.Key.from_key_arn(scope, "OfPages", KEY),
    "aws-managed": lambda scope: kms.Alias.from_alias_name(scope, "OfPages", "alias/aws/sns"),
}


@pytest.mark.parametrize("imported", IMPORTED.values(), ids=IMPORTED)
def test_a_topic_whose_key_cannot_be_changed_is_refused(
    imported: Callable[[Construct], kms.IKey],
) -> None:
    theirs = Theirs()
    topic = sns.Topic(theirs, "Pages", master_key=imported(theirs))
    sentence = r"Theirs/Pages is encrypted with Theirs/OfPages, whose .* lost, .* as topic_key"
    with pytest.raises(ValueError, match=sentence):
        LagReports(theirs, "Lag", clusters=["orders"], topic=topic)


def test_its_key_is_named_where_its_policy_is_known_to_let_alarms_in() -> None:
    theirs = Theirs()
    key = kms.Key.from_key_arn(theirs, "OfPages", KEY)
    topic = sns.Topic(theirs, "Pages", master_key=key)
    again = kms.Key.from_key_arn(theirs, "Again", KEY)
    LagReports(theirs, "Lag", clusters=["orders"], topic=topic, topic_key=again)
    topics = of_type(synthesised(theirs), "AWS::SNS::Topic").values()
    assert [each["KmsMasterKeyId"] for each in topics] == [KEY, KEY]


def test_a_bucket_that_is_an_object_is_given_no_second_key() -> None:
    theirs = Theirs()
    bucket = s3.Bucket.from_bucket_name(theirs, "Data", "ours")
    with pytest.raises(ValueError, match=r"Theirs/Data is an existing bucket .* encryption_key"):
        LagReports(
            theirs, "Lag", clusters=["orders"], existing_bucket=bucket, bucket_key=theirs.key
        )
