# SPDX-License-Identifier: Apache-2.0
"""Objects whose ids are known are checked as a document is, and those that no login could use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager

from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.in_app import Iam, Network, NoLogin, Scram, Tls, app_cluster
from tests.infra.configured import KEY, SECRET
from tests.infra.in_app.network import ARN, HERE, Theirs
from tests.infra.resolve import ACCOUNT

VPC, SUBNET, GROUP = "vpc-0a1b2c3d4e5f60718", "subnet-0a1b2c3d4e5f60718", "sg-0a1b2c3d4e5f60718"


def network(stack: Stack, vpc: str = VPC, subnet: str = SUBNET, group: str = GROUP) -> Network:
    known = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id=vpc, availability_zones=["a"], private_subnet_ids=[subnet]
    )
    brokers = ec2.SecurityGroup.from_security_group_id(stack, "Brokers", group)
    return Network(vpc=known, brokers=brokers)


def secret(stack: Stack, arn: str = SECRET, key: str | None = KEY) -> secretsmanager.ISecret:
    known = kms.Key.from_key_arn(stack, "Key", key) if key else None
    return secretsmanager.Secret.from_secret_attributes(
        stack, "Login", secret_complete_arn=arn, encryption_key=known
    )


def faults(
    there: Network,
    login: Iam | Scram | Tls | NoLogin | None = None,
    settings: Mapping[str, Any] | None = None,
    arn: str = ARN,
) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError, match="The configuration in the cluster o") as caught:
        app_cluster(
            "orders", network=there, login=login or Iam(), msk_cluster=arn, settings=settings
        )
    return caught.value.faults


def a_stack() -> Stack:
    return Stack(App(), "Theirs", env=HERE)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({"vpc": "vpc-of-ours"}, "vpc.id: must be a VPC's id"),
        ({"subnet": "subnet-of-ours"}, "vpc.subnets[0]: must be a subnet's id"),
        ({"group": "ours"}, "vpc.brokers_security_group: must be a security group's id"),
    ],
)
def test_ids_that_are_known_are_ids(ids: dict[str, str], expected: str) -> None:
    (fault,) = faults(network(a_stack(), **ids))
    assert fault.startswith(expected)


def test_an_arn_that_is_known_is_one() -> None:
    (fault,) = faults(network(a_stack()), arn="arn:aws:kafka:orders")
    assert fault.startswith("arn: must be an MSK cluster's ARN")


def test_a_cluster_of_another_region_than_its_network_is_refused() -> None:
    assert faults(network(a_stack()), arn=ARN.replace("eu-west-1", "us-east-1")) == (
        "region is eu-west-1, but the arn says us-east-1",
    )


def test_a_secret_of_msk_needs_its_key() -> None:
    stack = a_stack()
    (fault,) = faults(network(stack), Scram(secret(stack, key=None)))
    assert fault.startswith("auth.kms_key_arn: is required: MSK's secrets are encrypted")


def test_a_secret_is_in_the_collectors_region() -> None:
    stack = a_stack()
    other = secret(stack, SECRET.replace("eu-west-1", "us-east-1"))
    (fault,) = faults(network(stack), Scram(other))
    assert fault.startswith("auth.secret_arn: is in us-east-1, but the collector is in eu-west-1")


def test_a_secret_of_msk_is_in_the_clusters_account() -> None:
    stack = a_stack()
    other = secret(stack, SECRET.replace(ACCOUNT, "444455556666"))
    (fault,) = faults(network(stack), Scram(other))
    assert fault.startswith("auth.secret_arn: is of the account 444455556666")


def test_msk_has_one_mechanism_of_scram() -> None:
    theirs = Theirs()
    with pytest.raises(ConfigurationError, match=r"auth\.mechanism: must be SCRAM-SHA-512"):
        app_cluster(
            "orders",
            network=theirs.network,
            login=Scram(theirs.secret(), "SCRAM-SHA-256"),
            msk_cluster=theirs.provisioned(),
        )


def test_serverless_takes_iam_alone_whoever_makes_it() -> None:
    theirs = Theirs()
    for serverless in (theirs.serverless(), ARN[:-1] + "s2"):
        with pytest.raises(ConfigurationError, match=r"auth\.type: must be iam, as MSK Serverless"):
            app_cluster(
                "orders",
                network=theirs.network,
                login=Scram(theirs.secret(f"Of{len(theirs.node.children)}")),
                msk_cluster=serverless,
            )


def test_a_secret_is_known_by_its_whole_arn() -> None:
    stack = a_stack()
    partly = secretsmanager.Secret.from_secret_name_v2(stack, "Login", "AmazonMSK_monitor")
    assert faults(network(stack), Scram(partly)) == (
        "auth.secret_arn: must be whole, as rights are granted on it: import the secret by its "
        "complete ARN",
    )


@pytest.mark.parametrize("chosen", ["all", "type", "subnets"])
def test_a_public_subnet_is_refused(chosen: str) -> None:
    stack = a_stack()
    vpc = ec2.Vpc(stack, "Vpc", nat_gateways=0, subnet_configuration=[
        ec2.SubnetConfiguration(name="public", subnet_type=ec2.SubnetType.PUBLIC)
    ])  # fmt: skip
    subnets = {
        "all": None,
        "type": ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC),
        "subnets": vpc.public_subnets,
    }
    assert faults(Network(vpc=vpc, subnets=subnets[chosen])) == (
        "vpc.subnets: must be private: a Lambda in a public one reaches no service of AWS",
    )


def test_settings_have_the_checks_of_a_document() -> None:
    settings = {"hold": 0, "alarm": {}, "sla_seconds": {"(": 1}}
    found = faults(network(a_stack()), settings=settings)
    assert [fault.partition(":")[0] for fault in found] == ["sla_seconds.(", "hold", "alarm"]
    assert "unknown key, did you mean alarms?" in found[-1]


@pytest.mark.parametrize("key", ["name", "arn", "vpc", "auth", "region", "msk", "serverless"])
def test_what_an_object_says_is_no_setting(key: str) -> None:
    assert faults(network(a_stack()), settings={key: "ours"}) == (
        f"{key}: is no setting: it is what an object says",
    )


def test_without_msk_there_must_be_servers() -> None:
    with pytest.raises(ConfigurationError, match="give arn, or bootstrap_servers"):
        app_cluster("orders", network=network(a_stack()), login=NoLogin())


def test_a_deployment_that_is_written_as_json_takes_no_part_of_a_token() -> None:
    assert faults(network(a_stack(), vpc="${Token[vpc}"))[0].startswith("vpc.id: must be")
