# SPDX-License-Identifier: Apache-2.0
"""Apps that give the constructs objects of their own, each as a stack beside its objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm

from kafka_lag_cdk import (
    AlarmSettings,
    CollectorSettings,
    EcsService,
    GroupScaling,
    Iam,
    Keep,
    LagCollector,
    LagReports,
    NoLogin,
    Notify,
    OwnerReceivers,
    Report,
    Scram,
    ServiceScaling,
    SharedSettings,
    StatusMessages,
    Tasks,
    Tls,
)
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import KEY, SECRET
from tests.infra.own_app.network import ARN, HERE, Theirs, watch
from tests.infra.resolve import ACCOUNT, REGION

TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:pages"
# Without the catalog and the daily job, which have no objects of the app's.
_MESSAGES = SharedSettings(
    athena=None,
    report=Report(enabled=False),
    status_messages=StatusMessages(),
    notify=Notify(email=("me@example.com",)),
)


def orders(theirs: Theirs, **changes: Any) -> dict[str, Any]:
    """What LagCollector is given of a cluster of the app, with these changes."""
    plain = {"name": "orders", "vpc": theirs.vpc, "brokers": theirs.brokers, "login": Iam()}
    if not changes.keys() & {"msk", "bootstrap_servers"}:
        plain["msk"] = theirs.provisioned()
    return plain | changes


def a_service(stack: Stack, vpc: ec2.IVpc) -> ecs.FargateService:
    """A service of the app."""
    task = ecs.FargateTaskDefinition(stack, "Task")
    task.add_container("Worker", image=ecs.ContainerImage.from_registry("worker"))
    cluster = ecs.Cluster(stack, "Ecs", vpc=vpc)
    return ecs.FargateService(stack, "Service", cluster=cluster, task_definition=task)


def follows(service: ecs.IBaseService | EcsService) -> ServiceScaling:
    """The service is scaled by the tasks that billing needs."""
    scaling = GroupScaling(group="billing", max=4, partitions=12, tasks=Tasks())
    return ServiceScaling(service, scaling)


def _scram_and_endpoint(theirs: Theirs) -> None:
    endpoint = ec2.SecurityGroup(theirs, "Endpoint", vpc=theirs.vpc)
    subnets = theirs.vpc.private_subnets[:1]
    login = Scram(theirs.secret())
    watch(theirs, orders(theirs, endpoint_groups=[endpoint], subnets=subnets, login=login))


def _known_secret(theirs: Theirs) -> None:
    known = secretsmanager.Secret.from_secret_complete_arn(
        theirs, "Known", SECRET.replace("AmazonMSK_", "")
    )
    watch(theirs, orders(theirs, login=Tls(known), msk=ARN))


def _hosts(theirs: Theirs) -> None:
    subnet = theirs.vpc.private_subnets[0].subnet_id
    host = ec2.CfnNetworkInterface(theirs, "Host", subnet_id=subnet)
    servers = (f"{host.attr_primary_private_ip_address}:9194", "known:9195")
    watch(theirs, orders(theirs, login=NoLogin(plaintext=True), bootstrap_servers=servers))


def _parameter(theirs: Theirs) -> None:
    servers = ssm.StringParameter.value_for_string_parameter(theirs, "/brokers")
    watch(theirs, orders(theirs, login=Scram(theirs.secret()), bootstrap_servers=servers))


def _parameter_with_ports(theirs: Theirs) -> None:
    servers = ssm.StringParameter.value_for_string_parameter(theirs, "/brokers")
    login = Scram(theirs.secret())
    changes: dict[str, Any] = {"bootstrap_servers": servers, "broker_ports": (9196, 9197)}
    watch(theirs, orders(theirs, login=login, **changes))


def _another_stack(theirs: Theirs) -> None:
    app = theirs.node.root
    assert isinstance(app, App)
    watch(Stack(app, "Ours", env=HERE), orders(theirs, login=Scram(theirs.secret())))


def _topics(theirs: Theirs) -> None:
    pages = sns.Topic(theirs, "Pages", master_key=theirs.key)
    of_team = {"team-a": sns.Topic(theirs, "OfTeam")}
    settings = CollectorSettings(owner={"^billing$": "team-a"})
    alarms = AlarmSettings(groups=("billing", "stock"))
    topics: dict[str, Any] = {"alarm_topic": pages, "owner_topics": of_team}
    watch(theirs, orders(theirs, settings=settings, alarms=alarms, **topics))


def _reports(theirs: Theirs, **given: Any) -> None:
    LagReports(
        theirs, "Lag", clusters=["orders"], settings=_MESSAGES, package=SMALL_PACKAGE, **given
    )


def _imported_topic(theirs: Theirs) -> None:
    topic = sns.Topic.from_topic_arn(theirs, "Pages", TOPIC)
    _reports(theirs, topic=topic, topic_key=kms.Key.from_key_arn(theirs, "OfPages", KEY))


def _topic_and_reports_with_one_key(theirs: Theirs) -> None:
    _reports(
        theirs,
        topic=sns.Topic(theirs, "Pages", master_key=theirs.key),
        topic_key=theirs.key,
        bucket_key=theirs.key,
        log_key=theirs.key,
    )


def _bucket_with_key(theirs: Theirs) -> None:
    bucket = s3.Bucket.from_bucket_attributes(
        theirs, "Data", bucket_name="ours", encryption_key=theirs.key
    )
    _reports(theirs, existing_bucket=bucket)


def _doubts(theirs: Theirs) -> None:
    """Names that nobody has, days in a bucket of the app's, and what is learned by no job."""
    mail = OwnerReceivers(email=("money@example.com",))
    settings = SharedSettings(
        athena=None,
        keep=Keep(history_days=100),
        report=Report(enabled=False),
        status_messages=StatusMessages(),
        notify=Notify(email=("me@example.com",), owners={"team-mony": mail}),
    )
    reports = LagReports(
        theirs,
        "Lag",
        clusters=["order"],
        settings=settings,
        existing_bucket=s3.Bucket.from_bucket_name(theirs, "Ours", "ours"),
        package=SMALL_PACKAGE,
    )
    owned = CollectorSettings(owner={".*": "team-a"})
    doubted = orders(theirs, alarms=AlarmSettings(any_unusual=True), settings=owned)
    LagCollector(theirs, "Doubted", **doubted, reports=reports, package=SMALL_PACKAGE)


def _nobody(theirs: Theirs) -> None:
    settings = SharedSettings(athena=None, report=Report(enabled=False))
    LagReports(theirs, "Lag", clusters=["orders"], settings=settings)


BUILDS: dict[str, Callable[[Theirs], object]] = {
    "a cluster of the app": lambda theirs: watch(theirs, orders(theirs)),
    "a login and an endpoint of the app": _scram_and_endpoint,
    "a login that is known": _known_secret,
    "serverless": lambda theirs: watch(theirs, orders(theirs, msk=theirs.serverless())),
    "hosts of the app": _hosts,
    "brokers in a parameter": _parameter,
    "brokers in a parameter, and their ports": _parameter_with_ports,
    "watched in another stack": _another_stack,
    "a service of the app": lambda theirs: watch(
        theirs, orders(theirs, services=(follows(a_service(theirs, theirs.vpc)),))
    ),
    "alarms to topics of the app": _topics,
    "reports: a topic that is imported": _imported_topic,
    "reports: a topic with a key": lambda theirs: _reports(
        theirs, topic=sns.Topic(theirs, "Pages", master_key=theirs.key)
    ),
    "reports: one key for all": _topic_and_reports_with_one_key,
    "reports: a bucket with a key": _bucket_with_key,
    "reports: names that nobody has": _doubts,
    "reports: nobody gets alarms": _nobody,
}
