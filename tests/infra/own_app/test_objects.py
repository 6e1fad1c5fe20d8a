# SPDX-License-Identifier: Apache-2.0
"""A cluster that is described by objects of CDK, most of which the same app makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from aws_cdk.assertions import Annotations, Match
from constructs import Construct

from kafka_lag_cdk import (
    Alarms,
    EcsService,
    Iam,
    KafkaCluster,
    LagCollector,
    LevelsSection,
    NamedGroupAlarms,
    Network,
    NoLogin,
    OtlpSection,
    OtlpSink,
    Recipients,
    Scram,
    ServiceScaling,
    SharedNames,
    Tasks,
    Tls,
    alarm_shares,
)
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import KEY
from tests.infra.own_app.network import (
    ARN,
    HERE,
    Resources,
    Theirs,
    collected,
    document,
    environment,
    rights,
    the_function,
    watch,
)
from tests.infra.resolve import ACCOUNT, REGION, of_type

SERVERS, SECRET = "KAFKA_LAG_BOOTSTRAP_SERVERS", "KAFKA_LAG_SECRET_ID"
ENDPOINT = "AWS::EC2::VPCEndpoint"
UUID = "0a1b2c3d-1111-2222-3333-444455556666-7"


def test_the_collector_is_in_the_private_subnets_of_the_vpc() -> None:
    theirs = Theirs()
    orders = KafkaCluster(
        name="orders", network=theirs.network, login=Iam(), msk=theirs.provisioned()
    )
    private = [theirs.resolve(each.subnet_id)["Ref"] for each in theirs.vpc.private_subnets]
    resources = collected(theirs, orders)
    assert the_function(resources)["VpcConfig"]["SubnetIds"] == [each.lower() for each in private]


@pytest.mark.parametrize("chosen", ["selection", "subnets"])
def test_subnets_may_be_chosen(chosen: str) -> None:
    theirs = Theirs()
    one = theirs.vpc.private_subnets[0]
    subnets = [one] if chosen == "subnets" else ec2.SubnetSelection(one_per_az=True, subnets=[one])
    network = replace(theirs.network, subnets=subnets)
    orders = KafkaCluster(name="orders", network=network, login=Iam(), msk=theirs.provisioned())
    assert orders.ways_out.subnets == (one.subnet_id,)


def test_brokers_and_endpoints_are_opened_for_the_collector() -> None:
    theirs = Theirs()
    endpoint = ec2.SecurityGroup(theirs, "Endpoint", vpc=theirs.vpc)
    network = replace(theirs.network, endpoints=[endpoint])
    orders = KafkaCluster(
        name="orders", network=network, login=Scram(theirs.secret()), msk=theirs.provisioned()
    )
    opened = of_type(collected(theirs, orders), "AWS::EC2::SecurityGroupIngress").values()
    assert {(each["GroupId"].partition("-")[0][:7], each["FromPort"]) for each in opened} == {
        ("brokers", 9096),
        ("endpoin", 443),
    }
    assert all(each["SourceSecurityGroupId"].startswith("lagcollector") for each in opened)


def test_a_secret_of_the_app_is_named_by_the_environment_and_may_be_decrypted() -> None:
    theirs = Theirs()
    secret = theirs.secret()
    orders = KafkaCluster(
        name="orders", network=theirs.network, login=Scram(secret), msk=theirs.provisioned()
    )
    resources = collected(theirs, orders)
    (name,) = of_type(resources, "AWS::SecretsManager::Secret")
    may = rights(resources)
    assert environment(resources)[SECRET] == name.lower()
    assert may["secretsmanager:GetSecretValue"] == [name.lower()]
    assert may["kms:Decrypt"] == [KEY]
    reported = document(theirs, resources)
    assert (reported["secret_id"], reported["sasl_mechanism"]) == (None, "SCRAM-SHA-512")


def test_a_secret_that_is_known_stays_in_the_document() -> None:
    theirs = Theirs()
    arn = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:monitor-a1B2c3"
    known = secretsmanager.Secret.from_secret_complete_arn(theirs, "Known", arn)
    orders = KafkaCluster(name="orders", network=theirs.network, login=Tls(known), msk=ARN)
    resources = collected(theirs, orders)
    assert SECRET not in environment(resources)
    assert document(theirs, resources)["secret_id"] == arn
    assert "kms:Decrypt" not in rights(resources)


def test_msk_is_asked_for_the_brokers_of_a_cluster_of_the_app() -> None:
    theirs = Theirs()
    orders = KafkaCluster(
        name="orders",
        network=theirs.network,
        login=NoLogin(plaintext=True),
        msk=theirs.provisioned(),
    )
    resources = collected(theirs, orders)
    (asked,) = of_type(resources, "AWS::CloudFormation::CustomResource").values()
    assert asked["ClusterArn"] == f"arn:aws:kafka:{REGION}:{ACCOUNT}:cluster/msk/{UUID}"
    assert asked["Way"] == "plaintext"
    assert SERVERS in environment(resources)


def test_with_iam_rights_are_on_the_cluster_of_the_app_and_what_is_in_it() -> None:
    theirs = Theirs()
    orders = KafkaCluster(
        name="orders", network=theirs.network, login=Iam(), msk=theirs.provisioned()
    )
    may = rights(collected(theirs, orders))
    begin = f"arn:aws:kafka:{REGION}:{ACCOUNT}"
    assert may["kafka-cluster:Connect"] == [f"{begin}:cluster/msk/{UUID}"]
    assert may["kafka-cluster:DescribeTopic"] == [f"{begin}:topic/msk/{UUID}/*"]
    assert may["kafka-cluster:DescribeGroup"] == [f"{begin}:group/msk/{UUID}/*"]


def test_the_dashboard_shows_the_brokers_of_a_cluster_of_the_app_by_its_own_name() -> None:
    theirs = Theirs()
    orders = KafkaCluster(
        name="orders", network=theirs.network, login=Iam(), msk=theirs.provisioned()
    )
    (page,) = of_type(collected(theirs, orders), "AWS::CloudWatch::Dashboard").values()
    assert '\\"Cluster Name\\"=\\"shop\\"' in page["DashboardBody"]


def test_serverless_has_no_brokers_to_show() -> None:
    theirs = Theirs()
    orders = KafkaCluster(
        name="orders", network=theirs.network, login=Iam(), msk=theirs.serverless()
    )
    assert orders.is_serverless
    (page,) = of_type(collected(theirs, orders), "AWS::CloudWatch::Dashboard").values()
    assert "AWS/Kafka" not in page["DashboardBody"]


@dataclass
class Elsewhere:
    """A cluster as a construct of another library has it."""

    cluster_arn: str
    cluster_name: str


def test_a_cluster_may_be_another_librarys_construct_or_an_arn_alone() -> None:
    theirs = Theirs()
    arn = theirs.provisioned().attr_arn
    of_library = KafkaCluster(
        name="orders", network=theirs.network, login=Iam(), msk=Elsewhere(arn, "shop")
    )
    by_arn = KafkaCluster(name="orders", network=theirs.network, login=Iam(), msk=arn)
    known = KafkaCluster(name="orders", network=theirs.network, login=Iam(), msk=ARN)
    assert (of_library.arn, of_library.msk_name) == (arn, "shop")
    assert theirs.resolve(by_arn.msk_name)["Fn::Select"][0] == 1
    assert (known.arn, known.msk_name) == (ARN, "orders")


def test_brokers_that_are_not_msk_may_be_hosts_of_the_app() -> None:
    theirs = Theirs()
    host = ec2.CfnNetworkInterface(
        theirs, "Host", subnet_id=theirs.vpc.private_subnets[0].subnet_id
    )
    orders = KafkaCluster(
        name="orders",
        network=theirs.network,
        login=NoLogin(),
        bootstrap_servers=(f"{host.attr_primary_private_ip_address}:9194", "known:9195"),
    )
    resources = collected(theirs, orders)
    assert environment(resources)[SERVERS].endswith("-primaryprivateipaddress:9194,known:9195")
    assert document(theirs, resources)["bootstrap_servers"] is None
    assert of_type(resources, "AWS::CloudFormation::CustomResource") == {}
    opened = of_type(resources, "AWS::EC2::SecurityGroupIngress").values()
    assert {each["FromPort"] for each in opened} == {9194, 9195}


def test_a_cluster_may_be_watched_in_another_stack_than_its_own() -> None:
    app = App()
    theirs, ours = Theirs(app), Stack(app, "Ours", env=HERE)
    login = Scram(theirs.secret())
    orders = KafkaCluster(
        name="orders", network=theirs.network, login=login, msk=theirs.provisioned()
    )
    watch(ours, orders)
    assembly = app.synth()
    made = assembly.get_stack_by_name("Theirs").template["Resources"]
    rules = [r for r in made.values() if r["Type"] == "AWS::EC2::SecurityGroupIngress"]
    assert rules == []
    template = assembly.get_stack_by_name("Ours").template
    (function,) = [
        r["Properties"]
        for r in template["Resources"].values()
        if r["Properties"].get("Handler") == "kafka_lag.collect_lag.handler"
    ]
    assert "Fn::ImportValue" in function["Environment"]["Variables"][SECRET]


def test_a_vpc_that_is_looked_up_may_be_unknown_at_the_first_synthesis() -> None:
    stack = Stack(App(), "Theirs", env=HERE)
    vpc = ec2.Vpc.from_lookup(stack, "Vpc", vpc_id="vpc-0a1b2c3d4e5f60718")
    orders = KafkaCluster(name="orders", network=Network(vpc=vpc), login=Iam(), msk=ARN)
    found = the_function(collected(stack, orders))["VpcConfig"]["SubnetIds"]
    assert found == [each.subnet_id for each in vpc.private_subnets]


def test_what_is_written_into_a_file_must_be_known_now() -> None:
    theirs = Theirs()
    otlp = OtlpSection(
        endpoint="https://otlp.example.com/v1", headers_secret=theirs.secret().secret_arn
    )
    orders = KafkaCluster(
        name="orders",
        network=theirs.network,
        login=Iam(),
        msk=theirs.provisioned(),
        sinks=(OtlpSink(otlp=otlp),),
    )
    with pytest.raises(ValueError, match=r"^sinks of orders must be known now"):
        collected(theirs, orders)


@pytest.mark.parametrize("known", ["ports", "login"])
def test_brokers_may_be_one_token_and_their_ports_are_those_of_msk_unless_given(
    known: str,
) -> None:
    theirs = Theirs()
    orders = KafkaCluster(
        name="orders",
        network=theirs.network,
        login=Scram(theirs.secret()),
        bootstrap_servers=ssm.StringParameter.value_for_string_parameter(theirs, "/brokers"),
        broker_ports=(9196, 9197) if known == "ports" else (),
    )
    resources = collected(theirs, orders)
    opened = of_type(resources, "AWS::EC2::SecurityGroupIngress").values()
    ports = {9196, 9197} if known == "ports" else {9096}
    assert {each["FromPort"] for each in opened} == ports
    assert SERVERS in environment(resources)
    assert document(theirs, resources)["bootstrap_servers"] is None


def a_service(theirs: Theirs) -> ecs.FargateService:
    task = ecs.FargateTaskDefinition(theirs, "Task")
    task.add_container("Worker", image=ecs.ContainerImage.from_registry("worker"))
    cluster = ecs.Cluster(theirs, "Ecs", vpc=theirs.vpc)
    return ecs.FargateService(theirs, "Service", cluster=cluster, task_definition=task)


def follows(service: ecs.IBaseService | EcsService, **changes: Any) -> ServiceScaling:
    keys: dict[str, Any] = {"group": "billing", "max": 4, "partitions": 12, "tasks": Tasks()}
    return ServiceScaling(service=service, **keys | changes)


def scaled(theirs: Theirs, service: ecs.IBaseService | EcsService) -> Resources:
    orders = KafkaCluster(
        name="orders",
        network=theirs.network,
        login=Iam(),
        msk=theirs.provisioned(),
        scaling=(follows(service),),
    )
    return collected(theirs, orders)


def test_a_service_of_the_app_is_scaled_by_the_names_that_a_deploy_gives() -> None:
    theirs = Theirs()
    resources = scaled(theirs, a_service(theirs))
    (target,) = of_type(resources, "AWS::ApplicationAutoScaling::ScalableTarget").values()
    (cluster,) = of_type(resources, "AWS::ECS::Cluster")
    (service,) = of_type(resources, "AWS::ECS::Service")
    kind, at, name = target["ResourceId"].split("/")
    assert (kind, at) == ("service", cluster.lower())
    assert name.startswith(service.lower())
    (page,) = of_type(resources, "AWS::CloudWatch::Dashboard").values()
    assert cluster.lower() in page["DashboardBody"]
    alarms = of_type(resources, "AWS::CloudWatch::Alarm").values()
    assert [each for each in alarms if f"tasks-needed/{at}/{name}" in each["AlarmName"]]


def test_the_ids_of_what_scales_a_service_are_the_same_in_each_synthesis() -> None:
    """A token's number, which is another whenever something is made before, is in none."""
    found = []
    for earlier in range(2):
        theirs = Theirs()
        for number in range(earlier):
            theirs.secret(f"Other{number}")
        found.append({k for k in scaled(theirs, a_service(theirs)) if "Scaling" in k})
    assert found[0] == found[1]
    assert found[0]


def test_a_service_may_be_known_by_its_names() -> None:
    theirs = Theirs()
    resources = scaled(theirs, EcsService("web", "worker"))
    (target,) = of_type(resources, "AWS::ApplicationAutoScaling::ScalableTarget").values()
    assert target["ResourceId"] == "service/web/worker"


def test_the_information_on_a_service_has_no_token() -> None:
    theirs = Theirs()
    scaled(theirs, a_service(theirs))
    (found,) = Annotations.from_stack(theirs).find_info(
        "*", Match.string_like_regexp("^This stack sets the number of tasks")
    )
    assert "tasks of Theirs/Service. " in str(found.entry.data)


def test_alarms_go_to_topics_of_the_app_and_cloudwatch_is_let_in() -> None:
    theirs = Theirs()
    pages = sns.Topic(theirs, "Pages", master_key=theirs.key)
    of_team = sns.Topic(theirs, "OfTeam")
    orders = KafkaCluster(
        name="orders",
        network=theirs.network,
        login=Iam(),
        msk=theirs.provisioned(),
        owner={"^billing$": "team-a"},
        alarms=Alarms(groups=("billing", "stock"), topic=pages, owner_topics={"team-a": of_team}),
    )
    resources = collected(theirs, orders)
    alarms = of_type(resources, "AWS::CloudWatch::Alarm").values()
    reported = {each["AlarmName"]: each["AlarmActions"][0] for each in alarms}
    pages_arn, team_arn = (f":{name}".lower() for name in of_type(resources, "AWS::SNS::Topic"))
    theirs_alone = {arn for name, arn in reported.items() if name.endswith("/billing")}
    assert [arn.endswith(team_arn) for arn in theirs_alone] == [True]
    others = {arn for name, arn in reported.items() if not name.endswith("/billing")}
    assert [arn for arn in others if not arn.endswith(pages_arn)] == []
    policies = of_type(resources, "AWS::SNS::TopicPolicy").values()
    principal = {"Service": "cloudwatch.amazonaws.com"}
    for policy in (*(each["PolicyDocument"] for each in policies), the_key(resources)):
        assert [each for each in policy["Statement"] if each["Principal"] == principal]
    assert len(policies) == 2


def the_key(resources: Resources) -> dict[str, Any]:
    (key,) = of_type(resources, "AWS::KMS::Key").values()
    return dict(key["KeyPolicy"])


def test_a_topic_whose_key_cannot_let_alarms_in_is_refused() -> None:
    theirs = Theirs()
    pages = sns.Topic(theirs, "Pages", master_key=kms.Key.from_key_arn(theirs, "Imported", KEY))
    orders = KafkaCluster(
        name="orders",
        network=theirs.network,
        login=Iam(),
        msk=theirs.provisioned(),
        alarms=Alarms(topic=pages),
    )
    with pytest.raises(ValueError, match="Theirs/Pages is encrypted with Theirs/Imported"):
        collected(theirs, orders)


@pytest.mark.parametrize(
    ("groups", "shares"), [(1, 0), pytest.param(160, 2, marks=pytest.mark.thorough)]
)
def test_alarms_on_many_named_groups_are_in_stacks_of_their_own(groups: int, shares: int) -> None:
    app = App()
    theirs, apart = Theirs(app), Stack(app, "Apart", env=HERE)
    names = tuple(f"group-{number:03}" for number in range(groups))
    orders = KafkaCluster(
        name="orders",
        network=theirs.network,
        login=Iam(),
        msk=theirs.provisioned(),
        alarms=Alarms(groups=names, any_group=False),
        levels=LevelsSection(max_metrics=10_000),
        dashboard=False,
    )
    reports = SharedNames(bucket="b", topic_arn=f"arn:aws:sns:{REGION}:{ACCOUNT}:t")
    LagCollector(
        theirs, "Lag", cluster=orders, reports=reports, package=SMALL_PACKAGE, groups_apart=True
    )
    recipients = Recipients(sns.Topic(apart, "Pages"), recovered=True)
    found = alarm_shares(orders)
    assert len(found) == shares
    for share in found:
        NamedGroupAlarms(
            Construct(apart, min(share)), orders, recipients, reports.name, share
        ).make()
    assembly = app.synth()
    made = {
        stack: {
            each["AlarmName"].partition("/status/")[2]
            for each in of_type(
                assembly.get_stack_by_name(stack).template["Resources"], "AWS::CloudWatch::Alarm"
            ).values()
        }
        - {""}
        for stack in ("Theirs", "Apart")
    }
    assert made == {"Theirs": set() if shares else {*names}, "Apart": {*names} if shares else set()}
