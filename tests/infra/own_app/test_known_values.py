# SPDX-License-Identifier: Apache-2.0
"""Faults in objects and keys of a cluster are found before a synthesis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

from kafka_lag_cdk import (
    AlarmSettings,
    CollectorSettings,
    ConfigurationError,
    EcsService,
    GroupScaling,
    LagReports,
    NoLogin,
    Report,
    Scram,
    ServiceScaling,
    SharedSettings,
    Steps,
    Tasks,
    Tls,
)
from tests.infra.configured import KEY, SECRET, STEPS
from tests.infra.objects import orders
from tests.infra.own_app.network import ARN, Theirs, watch

ELSEWHERE = "is in us-east-1, but the collector is in eu-west-1 and uses its own region's alone"
SERVERLESS = "login: must be iam, as MSK Serverless takes nothing else"
NO_BROKERS = "name an MSK cluster, or bootstrap_servers where it is not MSK"
PUBLIC = "subnets: must be private: a Lambda in a public one reaches no service of AWS"
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
    return {
        "owner_topics": {"team-a": pages(theirs)},
        "alarms": AlarmSettings(groups=("billing",)),
        "settings": CollectorSettings(owner={".*": "team-a"}),
    }


def public(theirs: Theirs, chosen: str) -> dict[str, Any]:
    vpc = ec2.Vpc(theirs, "Public", nat_gateways=0, subnet_configuration=[
        ec2.SubnetConfiguration(name="public", subnet_type=ec2.SubnetType.PUBLIC)
    ])  # fmt: skip
    subnets = {
        "all": None,
        "type": ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC),
        "subnets": vpc.public_subnets,
    }
    return {"vpc": vpc, "brokers": None, "subnets": subnets[chosen]}


# What is said of a cluster with these keys, or how that begins.
IMPOSSIBLE: dict[str, tuple[Callable[[Theirs], dict[str, Any]], str]] = {
    "no ARN": (
        lambda _: {"msk": "arn:aws:kafka:orders"},
        "msk: must be an MSK cluster's ARN",
    ),
    "MSK elsewhere": (
        lambda _: {"msk": abroad(ARN)},
        "region is eu-west-1, but the arn says us-east-1",
    ),
    "no brokers": (lambda _: {**NAMED}, "name an MSK cluster, or bootstrap_servers"),
    "no servers": (
        lambda _: NAMED | {"bootstrap_servers": ()},
        "name an MSK cluster, or bootstrap_servers",
    ),
    "IAM without MSK": (
        lambda _: {"msk": None, "bootstrap_servers": "b-1:9098"},
        "a login of type iam needs an MSK cluster: rights are granted on its ARN",
    ),
    "no port": (
        lambda _: {"msk": ARN, "bootstrap_servers": ("b-1:9098", "b-2")},
        "bootstrap_servers[1]: must be host:port, not 'b-2'",
    ),
    "the port of another login": (
        lambda _: {"msk": ARN, "bootstrap_servers": "b-1.x.kafka.eu-west-1.amazonaws.com:9096"},
        "bootstrap_servers[0]: 9096 is MSK's port for scram; for iam it is 9098",
    ),
    "no authorities": (
        lambda _: {"settings": CollectorSettings(ca_file="nowhere.pem")},
        "settings.ca_file: ",
    ),
    "a group that is not read": (
        lambda _: {
            "settings": CollectorSettings.model_validate({"groups": {"deny": "^bill"}}),
            "alarms": AlarmSettings(groups=("billing",)),
        },
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
        lambda theirs: {"alarm_topic": pages(theirs)},
        f"alarm_topic: {ELSEWHERE}",
    ),
    "an owner's topic elsewhere": (of_team, f"owner_topics.team-a: {ELSEWHERE}"),
    "a secret of MSK without its key": (
        lambda theirs: {"msk": ARN, "login": Scram(a_secret(theirs, key=None))},
        "login.secret.encryption_key: is required: MSK's secrets are",
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
    "a VPC by its id": (
        lambda _: {"vpc": "vpc-1"},
        "vpc: must be a VPC of CDK, not 'vpc-1': made, or imported by ec2.Vpc.from_lookup",
    ),
    "no VPC": (
        lambda _: {"vpc": None},
        "vpc: must be a VPC of CDK, not None: made, or imported by ec2.Vpc.from_lookup",
    ),
    "no secret": (
        lambda _: {"login": Scram(cast("Any", None))},
        "login.secret: must be a secret of CDK, not None",
    ),
    "a security group by its id": (
        lambda _: {"brokers": "sg-1"},
        "brokers: must be a security group of CDK, not 'sg-1'",
    ),
    "a secret by its ARN": (
        lambda _: {"login": Scram(cast("Any", SECRET))},
        f"login.secret: must be a secret of CDK, not {SECRET!r}",
    ),
    "a topic by its ARN": (
        lambda _: {"alarm_topic": "arn:aws:sns:eu-west-1:111122223333:pages"},
        "alarm_topic: must be a topic of CDK, not 'arn:aws:sns:eu-west-1:111122223333:pages'",
    ),
    "a login in words": (lambda _: {"login": "iam"}, "login: must be Iam(), Scram(secret)"),
    "settings in words": (lambda _: {"settings": {}}, "settings: must be CollectorSettings(...)"),
    "a service by its name": (
        lambda _: {"services": ["worker"]},
        "services[0]: must be ServiceScaling with a service of CDK",
    ),
    "a scaling in words": (
        lambda _: {
            "services": [ServiceScaling(EcsService("jobs", "billing"), cast("Any", {"max": 2}))]
        },
        "services[0].scaling: must be GroupScaling(...)",
    ),
    "a name with a blank": (lambda _: {"name": "my orders"}, "name: must be letters, digits"),
}


def faults(theirs: Theirs, **changes: Any) -> list[str]:
    """What is said of each."""
    with pytest.raises(ConfigurationError) as caught:
        watch(theirs, orders(theirs, **changes))
    return list(caught.value.faults)


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_be_is_said(case: str) -> None:
    theirs, (changes, begin) = Theirs(), IMPOSSIBLE[case]
    (found,) = faults(theirs, **changes(theirs))
    assert found.startswith(begin)


def test_shared_settings_in_words_are_refused() -> None:
    settings = cast("Any", {"notify": {"email": ["ops@example.com"]}})
    with pytest.raises(ConfigurationError) as caught:
        LagReports(Theirs(), "Lag", clusters=["orders"], settings=settings)
    assert caught.value.faults == ("settings: must be SharedSettings(...)",)


def written(**keys: Any) -> dict[str, Any]:
    """Keys as an app has them that is not checked by mypy."""
    return keys


# Settings that an app writes, and what is said of each as in a configuration file.
WRITTEN: dict[str, tuple[Callable[[], Any], str]] = {
    "a misspelt key": (
        lambda: CollectorSettings(**written(sla_second={".*": 60})),
        "sla_second: unknown key, did you mean sla_seconds?",
    ),
    "a key of alarms": (
        lambda: AlarmSettings(**written(group=("billing",))),
        "group: unknown key, did you mean groups?",
    ),
    "an expression": (
        lambda: CollectorSettings(sla_seconds={"(": 1}),
        "sla_seconds.(: is not a regular expression",
    ),
    "a number": (lambda: CollectorSettings(hold=0), "hold: Input should be greater than or equal"),
    "a nested key": (
        lambda: SharedSettings(**written(report={"hours": 2})),
        "report.hours: unknown key, did you mean hour?",
    ),
    "an hour": (lambda: Report(hour=24), "hour: Input should be less than or equal to 23"),
    "too many tasks": (
        lambda: GroupScaling(group="billing", max=4, partitions=2, tasks=Tasks()),
        "max is 4, and tasks beyond the 2 partitions read nothing",
    ),
    "no rule": (
        lambda: GroupScaling(group="billing", max=2, partitions=2),
        "give tasks, steps or tracking",
    ),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_a_wrong_setting_is_reported_as_in_a_configuration(case: str) -> None:
    make, begin = WRITTEN[case]
    with pytest.raises(ConfigurationError) as caught:
        make()
    (found,) = caught.value.faults
    assert found.startswith(begin)


def test_two_services_of_one_name_have_one_master() -> None:
    steps = Steps.model_validate(STEPS)
    services = [
        ServiceScaling(
            EcsService("web", "worker"),
            GroupScaling(group=group, max=2, partitions=2, steps=steps),
        )
        for group in ("billing", "stock")
    ]
    assert faults(Theirs(), services=services) == [
        "services[1]: billing and stock both scale the service web/worker, which follows one"
    ]
