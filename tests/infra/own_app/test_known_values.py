# SPDX-License-Identifier: Apache-2.0
"""What is wrong with objects and keys of a cluster is found before a synthesis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from pydantic import ValidationError

from kafka_lag_cdk import (
    Alarms,
    EcsService,
    Network,
    NoLogin,
    Scram,
    ServiceScaling,
    Steps,
    Tasks,
    Tls,
)
from tests.infra.configured import KEY, SECRET, STEPS
from tests.infra.objects import orders
from tests.infra.own_app.network import ARN, Theirs

ELSEWHERE = "is in us-east-1, but the network's stack in eu-west-1"
SERVERLESS = "login: must be Iam(), as MSK Serverless takes nothing else"
PUBLIC = "network.subnets: must be private: a Lambda in a public one reaches no service of AWS"
# Brokers that are named, in place of an MSK cluster.
NAMED: dict[str, Any] = {"msk": None, "login": NoLogin()}


def abroad(arn: str) -> str:
    return arn.replace("eu-west-1", "us-east-1")


def a_secret(theirs: Theirs, key: str | None = KEY, arn: str = SECRET) -> Any:
    known = kms.Key.from_key_arn(theirs, "Imported", key) if key else None
    return secretsmanager.Secret.from_secret_attributes(
        theirs, "Known", secret_complete_arn=arn, encryption_key=known
    )


def pages(theirs: Theirs) -> sns.ITopic:
    return sns.Topic.from_topic_arn(theirs, "Pages", "arn:aws:sns:us-east-1:111122223333:pages")


def of_team(theirs: Theirs) -> dict[str, Any]:
    alarms = Alarms(groups=("billing",), owner_topics={"team-a": pages(theirs)})
    return {"owner": {".*": "team-a"}, "alarms": alarms}


def public(theirs: Theirs, chosen: str) -> dict[str, Any]:
    vpc = ec2.Vpc(theirs, "Public", nat_gateways=0, subnet_configuration=[
        ec2.SubnetConfiguration(name="public", subnet_type=ec2.SubnetType.PUBLIC)
    ])  # fmt: skip
    subnets = {
        "all": None,
        "type": ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC),
        "subnets": vpc.public_subnets,
    }
    return {"network": Network(vpc=vpc, subnets=subnets[chosen])}


# What is said of a cluster with these keys, or how that begins.
IMPOSSIBLE: dict[str, tuple[Callable[[Theirs], dict[str, Any]], str]] = {
    "no ARN": (
        lambda _: {"msk": "arn:aws:kafka:orders"},
        "msk: must be an MSK cluster's ARN",
    ),
    "MSK elsewhere": (lambda _: {"msk": abroad(ARN)}, f"msk: {ELSEWHERE}"),
    "no brokers": (lambda _: {**NAMED}, "give msk, or bootstrap_servers"),
    "no servers": (lambda _: NAMED | {"bootstrap_servers": ()}, "give msk, or bootstrap_servers"),
    "IAM without MSK": (
        lambda _: {"msk": None, "bootstrap_servers": "b-1:9098"},
        "Iam() needs msk: rights are granted on its ARN",
    ),
    "no port": (
        lambda _: {"msk": ARN, "bootstrap_servers": ("b-1:9098", "b-2")},
        "bootstrap_servers[1]: must be host:port, not 'b-2'",
    ),
    "the port of another login": (
        lambda _: {"msk": ARN, "bootstrap_servers": "b-1.x.kafka.eu-west-1.amazonaws.com:9096"},
        "bootstrap_servers[0]: 9096 is MSK's port for scram; for iam it is 9098",
    ),
    "no authorities": (lambda _: {"ca_file": "nowhere.pem"}, "ca_file: "),
    "a group that is not read": (
        lambda _: {"groups": {"deny": "^bill"}, "alarms": Alarms(groups=("billing",))},
        "alarms.groups[0]: the group billing is not read: groups.deny matches it",
    ),
    "a secret elsewhere": (
        lambda theirs: {"login": Tls(a_secret(theirs, arn=abroad(SECRET)))},
        f"login.secret: {ELSEWHERE}",
    ),
    "a key elsewhere": (
        lambda theirs: {"login": Tls(a_secret(theirs, abroad(KEY)))},
        f"login.secret.encryption_key: {ELSEWHERE}",
    ),
    "a topic elsewhere": (
        lambda theirs: {"alarms": Alarms(topic=pages(theirs))},
        f"alarms.topic: {ELSEWHERE}",
    ),
    "an owner's topic elsewhere": (of_team, f"alarms.owner_topics.team-a: {ELSEWHERE}"),
    "a secret of MSK without its key": (
        lambda theirs: {"msk": ARN, "login": Scram(a_secret(theirs, key=None))},
        "login.secret: must have its encryption_key: MSK's secrets are",
    ),
    "a password for serverless": (
        lambda theirs: {"msk": theirs.serverless(), "login": Scram(theirs.secret())},
        SERVERLESS,
    ),
    "a password for serverless by its ARN": (
        lambda theirs: {"msk": f"{ARN[:-1]}s2", "login": Scram(theirs.secret())},
        SERVERLESS,
    ),
    "a public VPC": (lambda theirs: public(theirs, "all"), PUBLIC),
    "public subnets by their type": (lambda theirs: public(theirs, "type"), PUBLIC),
    "public subnets": (lambda theirs: public(theirs, "subnets"), PUBLIC),
    "no network": (lambda _: {"network": "ours"}, "network: Input should be an instance of"),
    "no login": (lambda _: {"login": "ours"}, "login: Input should be an instance of"),
}


def faults(theirs: Theirs, **changes: Any) -> list[str]:
    """What pydantic says of each."""
    with pytest.raises(ValidationError) as caught:
        orders(theirs, **changes)
    return [
        ": ".join([".".join(map(str, each["loc"])), each["msg"]]).removeprefix(": Value error, ")
        for each in caught.value.errors()
    ]


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_be_is_said(case: str) -> None:
    theirs, (changes, begin) = Theirs(), IMPOSSIBLE[case]
    (found,) = faults(theirs, **changes(theirs))
    assert found.startswith(begin)


def test_keys_have_the_checks_of_a_document() -> None:
    found = faults(Theirs(), hold=0, alarm={}, sla_seconds={"(": 1})
    assert [each.split(":")[0] for each in found] == ["sla_seconds.(.[key]", "hold", "alarm"]


def test_a_service_is_scaled_within_its_partitions_by_one_rule() -> None:
    service = EcsService("web", "worker")
    with pytest.raises(ValidationError, match="tasks beyond the 2 partitions read nothing"):
        ServiceScaling(service=service, group="billing", max=4, partitions=2, tasks=Tasks())
    with pytest.raises(ValidationError, match="give tasks, steps or tracking"):
        ServiceScaling(service=service, group="billing", max=2, partitions=2)
    steps = Steps.model_validate(STEPS)
    assert ServiceScaling(service=service, group="billing", max=2, partitions=2, steps=steps)
