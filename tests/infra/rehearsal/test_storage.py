# SPDX-License-Identifier: Apache-2.0
"""Storage made with boto3 in moto from its template, and described back.

moto has all of it, and reads some without a word (what a projection says, managed results);
botocore has held every request against the service's model before moto sees it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.infra.resolve import REGION, of_type
from tests.infra.storage.stack import only, resources

Clients = Callable[[str], Any]


@pytest.fixture(name="aws", scope="module")
def _aws() -> Iterator[Clients]:
    """Clients of an account in which everything of the template was made, in the deploy's order."""
    sdk: Any = boto3

    def client(service: str) -> Any:
        return sdk.client(service, region_name=REGION)

    with mock_aws():
        _make_bucket(client("s3"))
        _make_catalog(client("glue"))
        _make_queries(client("athena"))
        _make_job(client("iam"), client("glue"))
        yield client


def _make_bucket(s3: Any) -> None:
    ((bucket_id, told),) = of_type(resources(), "AWS::S3::Bucket").items()
    name = bucket_id.lower()
    s3.create_bucket(
        Bucket=name,
        CreateBucketConfiguration={"LocationConstraint": REGION},
        ObjectOwnership=told["OwnershipControls"]["Rules"][0]["ObjectOwnership"],
    )
    encryption = told["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    rules = [
        {"ApplyServerSideEncryptionByDefault": each["ServerSideEncryptionByDefault"]}
        for each in encryption
    ]
    s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": rules})
    s3.put_public_access_block(
        Bucket=name, PublicAccessBlockConfiguration=told["PublicAccessBlockConfiguration"]
    )
    rules = [_lifecycle(rule) for rule in told["LifecycleConfiguration"]["Rules"]]
    s3.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": rules})
    policy = only("AWS::S3::BucketPolicy")
    s3.put_bucket_policy(Bucket=policy["Bucket"], Policy=json.dumps(policy["PolicyDocument"]))


def _lifecycle(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule of CloudFormation in the words of S3."""
    made = {"ID": rule["Id"], "Status": rule["Status"]}
    prefix, tags = rule.get("Prefix", ""), rule.get("TagFilters", [])
    made["Filter"] = {"And": {"Prefix": prefix, "Tags": tags}} if tags else {"Prefix": prefix}
    if "ExpirationInDays" in rule:
        made["Expiration"] = {"Days": rule["ExpirationInDays"]}
    if "AbortIncompleteMultipartUpload" in rule:
        made["AbortIncompleteMultipartUpload"] = rule["AbortIncompleteMultipartUpload"]
    return made


def _make_catalog(glue: Any) -> None:
    glue.create_database(**only("AWS::Glue::Database"))
    for table in of_type(resources(), "AWS::Glue::Table").values():
        glue.create_table(**table)


def _make_queries(athena: Any) -> None:
    workgroup = dict(only("AWS::Athena::WorkGroup"))
    # What only deleting asks for, and what a new one is anyway.
    del workgroup["RecursiveDeleteOption"], workgroup["State"]
    workgroup["Configuration"] = workgroup.pop("WorkGroupConfiguration")
    athena.create_work_group(**workgroup)
    for query in of_type(resources(), "AWS::Athena::NamedQuery").values():
        athena.create_named_query(**query)


def _make_job(iam: Any, glue: Any) -> None:
    ((role_id, role),) = of_type(resources(), "AWS::IAM::Role").items()
    iam.create_role(
        RoleName=role_id.lower(),
        AssumeRolePolicyDocument=json.dumps(role["AssumeRolePolicyDocument"]),
        Description=role["Description"],
    )
    policy = only("AWS::IAM::Policy")
    for name in policy["Roles"]:
        iam.put_role_policy(
            RoleName=name,
            PolicyName=policy["PolicyName"],
            PolicyDocument=json.dumps(policy["PolicyDocument"]),
        )
    ((job_id, job),) = of_type(resources(), "AWS::Glue::Job").items()
    glue.create_job(Name=job_id.lower(), **job)
    glue.create_trigger(Name="daily", **only("AWS::Glue::Trigger"))


def test_the_bucket_is_there_with_all_that_protects_it(aws: Clients) -> None:
    s3, (name,) = aws("s3"), (each.lower() for each in of_type(resources(), "AWS::S3::Bucket"))

    rules = s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    assert [rule["ID"] for rule in rules] == [
        "history",
        "reports",
        "abandoned-uploads",
    ]
    encryption = s3.get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]
    assert "AES256" in json.dumps(encryption)
    blocked = s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"]
    assert set(blocked.values()) == {True}
    assert "aws:SecureTransport" in s3.get_bucket_policy(Bucket=name)["Policy"]


def test_every_table_is_in_the_database_with_its_projection(aws: Clients) -> None:
    tables = aws("glue").get_tables(DatabaseName="kafka_lag")["TableList"]

    assert len(tables) == len(of_type(resources(), "AWS::Glue::Table"))
    assert {table["Parameters"]["projection.enabled"] for table in tables} == {"true"}


def test_the_catalog_can_be_removed_and_made_again(aws: Clients) -> None:
    glue = aws("glue")

    glue.delete_database(Name="kafka_lag")
    _make_catalog(glue)

    assert glue.get_database(Name="kafka_lag")["Database"]["Name"] == "kafka_lag"


def test_every_query_is_saved_in_the_work_group(aws: Clients) -> None:
    athena = aws("athena")
    told = {q["Name"]: q for q in of_type(resources(), "AWS::Athena::NamedQuery").values()}

    ids = athena.list_named_queries(WorkGroup="kafka-lag")["NamedQueryIds"]

    saved = [athena.get_named_query(NamedQueryId=each)["NamedQuery"] for each in ids]
    assert {query["Name"]: query["QueryString"] for query in saved} == {
        name: query["QueryString"] for name, query in told.items()
    }


def test_the_work_group_limits_what_a_query_reads(aws: Clients) -> None:
    found = aws("athena").get_work_group(WorkGroup="kafka-lag")["WorkGroup"]

    assert found["State"] == "ENABLED"
    assert found["Configuration"]["BytesScannedCutoffPerQuery"] == 10 * 2**30


def test_the_job_is_there_and_its_trigger_starts_it(aws: Clients) -> None:
    glue = aws("glue")
    trigger = glue.get_trigger(Name="daily")["Trigger"]

    job = glue.get_job(JobName=trigger["Actions"][0]["JobName"])["Job"]

    assert (job["GlueVersion"], job["NumberOfWorkers"], job["Timeout"]) == ("6.0", 2, 30)
    assert (trigger["State"], trigger["Schedule"]) == ("ACTIVATED", "cron(0 1 * * ? *)")


def test_the_jobs_role_has_its_policy(aws: Clients) -> None:
    policy = only("AWS::IAM::Policy")

    found = aws("iam").get_role_policy(RoleName=policy["Roles"][0], PolicyName=policy["PolicyName"])

    assert found["PolicyDocument"] == policy["PolicyDocument"]
