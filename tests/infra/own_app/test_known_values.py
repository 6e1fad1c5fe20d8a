# SPDX-License-Identifier: Apache-2.0
"""What is wrong with objects and keys of a cluster is found before a synthesis."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from pydantic import ValidationError

from kafka_lag_cdk import (
    Alarms,
    EcsService,
    Iam,
    KafkaCluster,
    Network,
    NoLogin,
    Scram,
    ServiceScaling,
    Steps,
    Tasks,
    Tls,
)
from tests.infra.configured import KEY, SECRET, STEPS
from tests.infra.own_app.network import ARN, HERE, Theirs


def network(stack: Stack) -> Network:
    known = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0a1b2c3d4e5f60718",
        availability_zones=["a"],
        private_subnet_ids=["subnet-0a1b2c3d4e5f60718"],
    )
    return Network(vpc=known)


def secret(stack: Stack, key: str | None = KEY, arn: str = SECRET) -> secretsmanager.ISecret:
    name = f"Key{len(stack.node.children)}"
    known = kms.Key.from_key_arn(stack, name, key) if key else None
    return secretsmanager.Secret.from_secret_attributes(
        stack, f"Login-{name}", secret_complete_arn=arn, encryption_key=known
    )


def a_stack() -> Stack:
    return Stack(App(), "Theirs", env=HERE)


def faults(stack: Stack, **changes: Any) -> list[str]:
    """What pydantic says of each."""
    keys: dict[str, Any] = {"name": "orders", "login": Iam(), "msk": ARN} | changes
    if "network" not in keys:
        keys["network"] = network(stack)
    with pytest.raises(ValidationError) as caught:
        KafkaCluster(**keys)
    return [
        ": ".join([".".join(map(str, each["loc"])), each["msg"]]) for each in caught.value.errors()
    ]


def fault(stack: Stack, **changes: Any) -> str:
    (found,) = faults(stack, **changes)
    return found.removeprefix(": Value error, ")


def follows(group: str) -> ServiceScaling:
    service = EcsService("web", "worker")
    return ServiceScaling(service=service, group=group, max=2, partitions=2, tasks=Tasks())


IMPOSSIBLE = {
    "no-arn": ({"msk": "arn:aws:kafka:orders"}, "msk: must be an MSK cluster's ARN"),
    "elsewhere": (
        {"msk": ARN.replace("eu-west-1", "us-east-1")},
        "msk: is in us-east-1, but the network's stack in eu-west-1",
    ),
    "no-brokers": ({"msk": None, "login": NoLogin()}, "give msk, or bootstrap_servers"),
    "iam-without-msk": (
        {"msk": None, "bootstrap_servers": "b-1:9098"},
        "Iam() needs msk: rights are granted on its ARN",
    ),
    "no-server": ({"msk": None, "login": NoLogin(), "bootstrap_servers": ()}, "give msk, or boot"),
    "port-of-another-login": (
        {"bootstrap_servers": "b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com:9096"},
        "bootstrap_servers[0]: 9096 is MSK's port for scram; for iam it is 9098",
    ),
    "two-masters": (
        {"scaling": (follows("billing"), follows("stock"))},
        "scaling[1]: billing and stock both scale the service web/worker, which follows one",
    ),
    "no-port": (
        {"bootstrap_servers": ("b-1:9098", "b-2")},
        "bootstrap_servers[1]: must be host:port, not 'b-2'",
    ),
    "no-authorities": ({"ca_file": "nowhere.pem"}, "ca_file: "),
    "not-read": (
        {"groups": {"deny": "^bill"}, "alarms": Alarms(groups=("billing",))},
        "alarms.groups[0]: the group billing is not read: groups.deny matches it",
    ),
}


@pytest.mark.parametrize(("changes", "begin"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_cannot_be_is_said(changes: dict[str, Any], begin: str) -> None:
    assert fault(a_stack(), **changes).startswith(begin)


def topic(stack: Stack, region: str) -> sns.ITopic:
    return sns.Topic.from_topic_arn(stack, "Topic", f"arn:aws:sns:{region}:111122223333:pages")


@pytest.mark.parametrize(
    ("used", "place"),
    [
        ("secret", "login.secret"),
        ("key", "login.secret.encryption_key"),
        ("topic", "alarms.topic"),
        ("owner", "alarms.owner_topics.team-a"),
    ],
)
def test_what_is_of_another_region_is_refused(used: str, place: str) -> None:
    stack = a_stack()
    pages = topic(stack, "us-east-1")
    changes: dict[str, Any] = {
        "secret": {"login": Tls(secret(stack, arn=SECRET.replace("eu-west-1", "us-east-1")))},
        "key": {"login": Tls(secret(stack, KEY.replace("eu-west-1", "us-east-1")))},
        "topic": {"alarms": Alarms(topic=pages)},
        "owner": {
            "owner": {".*": "team-a"},
            "alarms": Alarms(groups=("billing",), owner_topics={"team-a": pages}),
        },
    }
    expected = f"{place}: is in us-east-1, but the network's stack in eu-west-1"
    assert fault(stack, **changes[used]) == expected


def test_a_secret_of_msk_needs_its_key() -> None:
    stack = a_stack()
    found = fault(stack, login=Scram(secret(stack, key=None)))
    assert found.startswith("login.secret: must have its encryption_key: MSK's secrets are")


@pytest.mark.parametrize("known", ["construct", "arn"])
def test_serverless_takes_iam_alone_whoever_makes_it(known: str) -> None:
    theirs = Theirs()
    serverless = theirs.serverless() if known == "construct" else ARN[:-1] + "s2"
    login = Scram(theirs.secret())
    found = fault(theirs, network=theirs.network, login=login, msk=serverless)
    assert found == "login: must be Iam(), as MSK Serverless takes nothing else"


@pytest.mark.parametrize("chosen", ["all", "type", "subnets"])
def test_a_public_subnet_is_refused(chosen: str) -> None:
    stack = a_stack()
    vpc = ec2.Vpc(stack, "Public", nat_gateways=0, subnet_configuration=[
        ec2.SubnetConfiguration(name="public", subnet_type=ec2.SubnetType.PUBLIC)
    ])  # fmt: skip
    subnets = {
        "all": None,
        "type": ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC),
        "subnets": vpc.public_subnets,
    }
    assert fault(stack, network=Network(vpc=vpc, subnets=subnets[chosen])) == (
        "network.subnets: must be private: a Lambda in a public one reaches no service of AWS"
    )


def test_keys_have_the_checks_of_a_document() -> None:
    found = faults(a_stack(), hold=0, alarm={}, sla_seconds={"(": 1})
    assert [each.split(":")[0] for each in found] == ["sla_seconds.(.[key]", "hold", "alarm"]


@pytest.mark.parametrize("wrong", ["network", "login"])
def test_what_is_no_object_is_refused(wrong: str) -> None:
    (found,) = faults(a_stack(), **{wrong: "ours"})
    assert found.startswith(f"{wrong}: Input should be an instance of")


def test_a_service_is_scaled_within_its_partitions_by_one_rule() -> None:
    service = EcsService("web", "worker")
    with pytest.raises(ValidationError, match="tasks beyond the 2 partitions read nothing"):
        ServiceScaling(service=service, group="billing", max=4, partitions=2, tasks=Tasks())
    with pytest.raises(ValidationError, match="give tasks, steps or tracking"):
        ServiceScaling(service=service, group="billing", max=2, partitions=2)
    steps = Steps.model_validate(STEPS)
    assert ServiceScaling(service=service, group="billing", max=2, partitions=2, steps=steps)
