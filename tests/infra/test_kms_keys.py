# SPDX-License-Identifier: Apache-2.0
"""Keys of the user's: what they encrypt, and which role gets which right on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from kafka_lag_cdk.stacks import stacks_of
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import KEY, cluster_json, deployment
from tests.infra.resolve import REGION, of_type, resolve

OF_BUCKET, OF_LOGS, OF_TOPIC = (KEY.replace("aaaa", each) for each in ("bbbb", "cccc", "dddd"))
THEIRS = "our-own-bucket"
READS, WRITES = {"kms:Decrypt"}, {"kms:Decrypt", "kms:GenerateDataKey"}

# Whoever touches the bucket, by a part of the role's logical id.
OF_ROLES = {
    "LagCollector": WRITES,
    "ReportsDailyReport": WRITES,
    "ViewsReader": READS,
    "ReportsStatusMessages": WRITES,
}

KINDS: dict[str, dict[str, Any]] = {
    "none": {},
    "made": {"kms_keys": {REGION: {"bucket": OF_BUCKET, "logs": OF_LOGS, "topic": OF_TOPIC}}},
    "existing": {"existing_buckets": {REGION: {"name": THEIRS, "kms_key_arn": OF_BUCKET}}},
    "known": {"existing_buckets": {REGION: THEIRS}},
    "open": {"notify": {"encrypted": False}},
}

Resources = dict[str, dict[str, Any]]
Of = Callable[[str], Resources]


@pytest.fixture(name="of", scope="module")
def _of(tmp_path_factory: pytest.TempPathFactory) -> Of:
    """All resources of a deployment; synthesis fails where cdk-nag finds what is not explained."""
    found: dict[str, Resources] = {}
    for kind, keys in KINDS.items():
        app = App(outdir=str(tmp_path_factory.mktemp(kind)))
        shared = {"views": {}, "status_messages": {}} | keys
        whole = deployment(cluster_json(auth={"type": "iam"}), shared=shared)
        stacks_of(app, whole, SMALL_PACKAGE)
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        stacks = app.synth().stacks
        found[kind] = {n: each for s in stacks for n, each in resolve(s.template).items()}
    return found.__getitem__


def statements(resources: Resources, role: str) -> list[dict[str, Any]]:
    """What the policies of roles whose logical ids begin so allow with a key."""
    return [
        statement
        for name, policy in of_type(resources, "AWS::IAM::Policy").items()
        if name.startswith(role)
        for statement in policy["PolicyDocument"]["Statement"]
        if "kms:" in str(statement["Action"])
    ]


def actions(resources: Resources, role: str, key: str) -> set[str]:
    found: set[str] = set()
    for each in statements(resources, role):
        if each["Resource"] == key:
            found |= {each["Action"]} if isinstance(each["Action"], str) else set(each["Action"])
    return found


@pytest.mark.parametrize("kind", ["made", "existing"])
@pytest.mark.parametrize("role", OF_ROLES)
def test_whoever_reads_may_decrypt_and_whoever_writes_may_encrypt_too(
    role: str, kind: str, of: Of
) -> None:
    assert actions(of(kind), role, OF_BUCKET) == OF_ROLES[role]


@pytest.mark.parametrize("kind", ["made", "existing"])
@pytest.mark.parametrize("role", OF_ROLES)
def test_the_right_is_for_objects_of_this_bucket_alone(role: str, kind: str, of: Of) -> None:
    (one,) = [each for each in statements(of(kind), role) if each["Resource"] == OF_BUCKET]
    (condition,) = one["Condition"].items()
    assert condition[0] == "StringLike"
    bucket, objects = condition[1]["kms:EncryptionContext:aws:s3:arn"]
    assert bucket.startswith("arn:aws:s3:::")
    assert objects == f"{bucket}/*"
    # Collectors and views learn the bucket's name from a parameter when they are deployed.
    if kind == "existing" and role.startswith("Reports"):
        assert bucket == f"arn:aws:s3:::{THEIRS}"


@pytest.mark.parametrize("kind", ["none", "known", "open"])
def test_without_a_key_of_the_bucket_nobody_gets_a_right_on_one(kind: str, of: Of) -> None:
    topics = of_type(of(kind), "AWS::SNS::Topic").values()
    used = {each["Resource"] for role in OF_ROLES for each in statements(of(kind), role)}
    assert used == {topic["KmsMasterKeyId"] for topic in topics if kind != "open"}


def test_no_other_role_gets_a_right_on_the_buckets_key(of: Of) -> None:
    names = of_type(of("made"), "AWS::IAM::Policy")
    using = [name for name in names if OF_BUCKET in str(names[name])]
    assert [name for name in using if not name.startswith(tuple(OF_ROLES))] == []
    assert len(using) == len(OF_ROLES)


def test_a_bucket_that_is_made_is_encrypted_with_its_key_once_for_many_objects(of: Of) -> None:
    (bucket,) = of_type(of("made"), "AWS::S3::Bucket").values()
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule == {
        "BucketKeyEnabled": True,
        "ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": OF_BUCKET},
    }


def test_every_log_group_is_encrypted_with_the_key_of_logs(of: Of) -> None:
    groups = of_type(of("made"), "AWS::Logs::LogGroup").values()
    # Collector, what finds the brokers, views, messages, and the job's two.
    assert [each["KmsKeyId"] for each in groups] == [OF_LOGS] * 6
    without = of_type(of("none"), "AWS::Logs::LogGroup").values()
    assert [each.get("KmsKeyId") for each in without] == [None] * 6


def test_nobody_who_writes_a_log_needs_a_right_on_its_key(of: Of) -> None:
    policies = of_type(of("made"), "AWS::IAM::Policy").values()
    assert [each for each in policies if OF_LOGS in str(each)] == []


def test_a_topic_with_a_key_of_the_users_gets_none_of_its_own(of: Of) -> None:
    topics = of_type(of("made"), "AWS::SNS::Topic").values()
    assert [topic["KmsMasterKeyId"] for topic in topics] == [OF_TOPIC] * 2
    assert of_type(of("made"), "AWS::KMS::Key") == {}
    for role in ("ReportsDailyReport", "ReportsStatusMessages"):
        assert actions(of("made"), role, OF_TOPIC) == WRITES


def test_a_topic_without_encryption_has_no_key_and_its_writers_no_right_on_one(of: Of) -> None:
    topics = of_type(of("open"), "AWS::SNS::Topic").values()
    assert not any("KmsMasterKeyId" in topic for topic in topics)
    assert of_type(of("open"), "AWS::KMS::Key") == {}
    assert statements(of("open"), "Reports") == []
    policies = of_type(of("open"), "AWS::SNS::TopicPolicy").values()
    assert "cloudwatch.amazonaws.com" in str(list(policies))


def test_unless_it_is_said_otherwise_the_topics_key_is_made(of: Of) -> None:
    assert len(of_type(of("none"), "AWS::KMS::Key")) == 1
    topics = of_type(of("none"), "AWS::SNS::Topic").values()
    assert all(topic["KmsMasterKeyId"] for topic in topics)
