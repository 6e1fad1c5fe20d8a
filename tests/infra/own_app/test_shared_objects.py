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

from kafka_lag_cdk import LagReports, Notify, SharedSettings, StatusMessages
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import KEY
from tests.infra.own_app.network import Resources, Theirs, synthesised
from tests.infra.resolve import of_type

ALARMS = "cloudwatch.amazonaws.com"
TOPIC = "arn:aws:sns:eu-west-1:111122223333:pages"
MESSAGES = SharedSettings(
    status_messages=StatusMessages(), notify=Notify(email=("me@example.com",))
)


def actions(resources: Resources, service: str) -> dict[str, set[str]]:
    """What the roles of reports may do with a service, by resource."""
    found: dict[str, set[str]] = {}
    for policy in of_type(resources, "AWS::IAM::Policy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            action = statement["Action"]
            for each in [action] if isinstance(action, str) else action:
                if each.startswith(f"{service}:"):
                    found.setdefault(str(statement["Resource"]), set()).add(each)
    return found


def services_of(key: dict[str, Any]) -> list[str | None]:
    """Whom a key's policy lets in, a statement each."""
    return [each["Principal"].get("Service") for each in key["KeyPolicy"]["Statement"]]


def test_a_topic_that_is_imported_is_published_to_and_left_as_it_is() -> None:
    theirs = Theirs()
    topic = sns.Topic.from_topic_arn(theirs, "Pages", TOPIC)
    LagReports(
        theirs, "Lag", clusters=["orders"], settings=MESSAGES, topic=topic, package=SMALL_PACKAGE
    )
    resources = synthesised(theirs)
    (reports,) = of_type(resources, "AWS::SNS::Topic").values()
    assert reports["TopicName"] == "kafka-lag-reports"
    policies = of_type(resources, "AWS::SNS::TopicPolicy").values()
    assert [TOPIC for each in policies if TOPIC in each["Topics"]] == []
    # Alarms publish without a role, and all that have one send reports.
    assert TOPIC not in actions(resources, "sns")
    subscribed = [e["TopicArn"] for e in of_type(resources, "AWS::SNS::Subscription").values()]
    assert TOPIC in subscribed


def test_whoever_publishes_to_an_imported_topic_may_use_its_key() -> None:
    theirs = Theirs()
    LagReports(
        theirs,
        "Lag",
        clusters=["orders"],
        settings=MESSAGES,
        topic=sns.Topic.from_topic_arn(theirs, "Pages", TOPIC),
        topic_key=kms.Key.from_key_arn(theirs, "OfPages", KEY),
        package=SMALL_PACKAGE,
    )
    assert actions(synthesised(theirs), "kms") == {KEY: {"kms:Decrypt", "kms:GenerateDataKey"}}


def test_the_key_of_a_topic_of_the_app_lets_alarms_in() -> None:
    theirs = Theirs()
    topic = sns.Topic(theirs, "Pages", master_key=theirs.key)
    LagReports(theirs, "Lag", clusters=["orders"], topic=topic)
    resources = synthesised(theirs)
    (key,) = (
        key for key in of_type(resources, "AWS::KMS::Key").values() if "Description" not in key
    )
    assert services_of(key).count(ALARMS) == 1


@pytest.mark.parametrize("named", [False, True], ids=["not-named", "named"])
def test_two_keys_let_alarms_in_where_topic_and_reports_have_one_each(named: bool) -> None:
    theirs = Theirs()
    topic = sns.Topic(theirs, "Pages", master_key=theirs.key)
    other = kms.Key(theirs, "Other") if named else None
    LagReports(theirs, "Lag", clusters=["orders"], topic=topic, topic_key=other)
    keys = of_type(synthesised(theirs), "AWS::KMS::Key").values()
    assert [services_of(key).count(ALARMS) for key in keys] == [1, 1]


def test_one_key_of_both_lets_alarms_in_once() -> None:
    theirs = Theirs()
    topic = sns.Topic(theirs, "Pages", master_key=theirs.key)
    LagReports(theirs, "Lag", clusters=["orders"], topic=topic, topic_key=theirs.key)
    (key,) = of_type(synthesised(theirs), "AWS::KMS::Key").values()
    assert services_of(key).count(ALARMS) == 1


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


def test_a_key_for_the_topic_that_is_made_lets_its_publishers_in() -> None:
    theirs = Theirs()
    LagReports(theirs, "Lag", clusters=["orders"], topic_key=theirs.key)
    resources = synthesised(theirs)
    (key,) = of_type(resources, "AWS::KMS::Key").values()
    assert ALARMS in services_of(key)


def test_a_bucket_that_is_an_object_knows_its_own_key() -> None:
    theirs = Theirs()
    bucket = s3.Bucket.from_bucket_attributes(
        theirs, "Data", bucket_name="ours", encryption_key=theirs.key
    )
    names = LagReports(theirs, "Lag", clusters=["orders"], existing_bucket=bucket).names
    assert (names.bucket, names.bucket_key_arn) == ("ours", theirs.key.key_arn)
    assert of_type(synthesised(theirs), "AWS::S3::Bucket") == {}


def test_a_bucket_that_is_an_object_is_given_no_second_key() -> None:
    theirs = Theirs()
    bucket = s3.Bucket.from_bucket_name(theirs, "Data", "ours")
    with pytest.raises(ValueError, match=r"Theirs/Data is an existing bucket .* encryption_key"):
        LagReports(
            theirs, "Lag", clusters=["orders"], existing_bucket=bucket, bucket_key=theirs.key
        )


def test_a_key_of_the_app_encrypts_the_bucket_that_is_made() -> None:
    theirs = Theirs()
    reports = LagReports(theirs, "Lag", clusters=["orders"], bucket_key=theirs.key)
    assert reports.names.bucket_key_arn == theirs.key.key_arn
    (bucket,) = of_type(synthesised(theirs), "AWS::S3::Bucket").values()
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"] == KEY
