# SPDX-License-Identifier: Apache-2.0
"""CDK objects that an app has, most of which it makes itself: cluster, bucket, topic, keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from aws_cdk import App, NestedStack, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from cdk_nag import AwsSolutionsChecks

from kafka_lag_cdk import (
    AlarmSettings,
    CollectorSettings,
    GroupScaling,
    Iam,
    LagCollector,
    LagReports,
    OtlpSection,
    OtlpSink,
    ServiceScaling,
    SharedSettings,
    StatusMessages,
    Tasks,
    Views,
)
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import KEY
from tests.infra.objects import a_service, follows, orders
from tests.infra.own_app.network import (
    ARN,
    HERE,
    Theirs,
    collected,
    synthesised,
    the_function,
    watch,
)
from tests.infra.resolve import of_type

ALARM = "AWS::CloudWatch::Alarm"


def test_subnets_may_be_chosen() -> None:
    theirs = Theirs()
    one = theirs.vpc.private_subnets[0]
    chosen = ec2.SubnetSelection(one_per_az=True, subnets=[one])
    made = watch(theirs, orders(theirs, subnets=chosen))
    assert made.facts.reach.ways_out.subnets == (one.subnet_id,)


@dataclass
class Elsewhere:
    """A cluster as a construct of another library has it."""

    cluster_arn: str
    cluster_name: str


def test_a_cluster_may_be_another_librarys_construct_or_an_arn_alone() -> None:
    theirs = Theirs()
    arn = theirs.provisioned().attr_arn
    of_library, by_arn, known = (
        watch(Stack(theirs, name), orders(theirs, msk=given)).facts.reach
        for name, given in (("A", Elsewhere(arn, "shop")), ("B", arn), ("C", ARN))
    )
    assert (of_library.arn, of_library.msk_name) == (arn, "shop")
    assert theirs.resolve(by_arn.msk_name)["Fn::Select"][0] == 1
    assert (known.arn, known.msk_name) == (ARN, "orders")


def test_a_vpc_that_is_looked_up_may_be_unknown_at_the_first_synthesis() -> None:
    stack = Stack(App(), "Theirs", env=HERE)
    vpc = ec2.Vpc.from_lookup(stack, "Vpc", vpc_id="vpc-0a1b2c3d4e5f60718")
    watched = {"name": "orders", "vpc": vpc, "login": Iam(), "msk": ARN}
    found = the_function(collected(stack, watched))["VpcConfig"]["SubnetIds"]
    assert found == [each.subnet_id for each in vpc.private_subnets]


def test_what_is_written_into_a_file_must_be_known_now() -> None:
    theirs = Theirs()
    otlp = OtlpSection(
        endpoint="https://otlp.example.com/v1", headers_secret=theirs.secret().secret_arn
    )
    with pytest.raises(ValueError, match=r"^sinks of orders must be known now"):
        collected(theirs, orders(theirs, settings=CollectorSettings(sinks=(OtlpSink(otlp=otlp),))))


def test_the_ids_of_what_scales_a_service_are_the_same_in_each_synthesis() -> None:
    """A token's number, which is another whenever something is made before, is in none."""
    found = []
    for earlier in range(2):
        theirs = Theirs()
        for number in range(earlier):
            theirs.secret(f"Other{number}")
        made = collected(theirs, orders(theirs, services=(follows(a_service(theirs, theirs.vpc)),)))
        found.append({name for name in made if "Scaling" in name})
    assert found[0] == found[1]
    assert found[0]


def test_releases_of_services_are_rolled_back_by_the_alarm_on_their_group() -> None:
    app = App()
    theirs, apart = Theirs(app), Stack(app, "Apart", env=HERE)
    service, alarms = a_service(theirs, theirs.vpc), AlarmSettings(deployments=("billing", "stock"))
    made = watch(theirs, orders(theirs, services=(follows(service),), alarms=alarms))
    subnets: dict[str, Any] = {"availability_zones": ["a"], "private_subnet_ids": ["s"]}
    vpc = ec2.Vpc.from_vpc_attributes(apart, "Vpc", vpc_id="v", **subnets)
    made.roll_back(a_service(apart, vpc), "stock")

    for stack, group in ((theirs, "billing"), (apart, "stock")):
        (found,) = of_type(synthesised(stack), "AWS::ECS::Service").values()
        name = f"kafka-lag/orders/none/release-risk/{group}"
        wanted = {"AlarmNames": [name], "Enable": True, "Rollback": True}
        assert found["DeploymentConfiguration"]["Alarms"] == wanted
    names = [each["AlarmName"] for each in of_type(synthesised(theirs), ALARM).values()]
    assert {f"kafka-lag/orders/none/release-risk/{g}" for g in ("billing", "stock")} <= {*names}


def release_alarms(*groups: str) -> list[str]:
    """The names of the deployment alarms on these groups."""
    return [f"kafka-lag/orders/none/release-risk/{group}" for group in groups]


def test_a_service_names_the_alarms_of_all_its_groups_beside_its_own() -> None:
    theirs = Theirs()
    service = a_service(theirs, theirs.vpc)
    service.enable_deployment_alarms(["own"], behavior=ecs.AlarmBehavior.ROLLBACK_ON_ALARM)
    groups = ("stock", "billing", "audit")
    tasks = Tasks(groups=groups[1:])
    scaling = GroupScaling(group=groups[0], max=4, partitions=12, tasks=tasks)
    alarms = AlarmSettings(deployments=("audit", "billing", "stock"))
    watch(theirs, orders(theirs, services=(ServiceScaling(service, scaling),), alarms=alarms))

    (found,) = of_type(synthesised(theirs), "AWS::ECS::Service").values()
    wanted = {
        "AlarmNames": ["own", *release_alarms(*groups)],
        "Enable": True,
        "Rollback": True,
    }
    assert found["DeploymentConfiguration"]["Alarms"] == wanted


def test_a_service_whose_own_alarms_roll_nothing_back_is_refused() -> None:
    theirs = Theirs()
    service, alarms = a_service(theirs, theirs.vpc), AlarmSettings(deployments=("billing",))
    service.enable_deployment_alarms(["own"], behavior=ecs.AlarmBehavior.FAIL_ON_ALARM)
    with pytest.raises(ValueError, match=r"Theirs/Service .*ROLLBACK_ON_ALARM"):
        watch(theirs, orders(theirs, services=(follows(service),), alarms=alarms))


@pytest.mark.parametrize("controller", ["CODE_DEPLOY", "EXTERNAL"])
def test_a_service_that_ecs_does_not_deploy_is_left_alone(controller: str) -> None:
    theirs = Theirs()
    service, alarms = a_service(theirs, theirs.vpc), AlarmSettings(deployments=("billing",))
    resource = service.node.default_child
    assert isinstance(resource, ecs.CfnService)
    resource.deployment_controller = ecs.CfnService.DeploymentControllerProperty(type=controller)
    made = watch(theirs, orders(theirs, services=(follows(service),), alarms=alarms))

    with pytest.raises(ValueError, match="Theirs/Service is not deployed by ECS"):
        made.roll_back(service, "billing")
    (found,) = of_type(synthesised(theirs), "AWS::ECS::Service").values()
    assert not found["DeploymentConfiguration"].get("Alarms", {}).get("AlarmNames")


def test_a_topic_whose_key_cannot_let_alarms_in_is_refused() -> None:
    theirs = Theirs()
    pages = sns.Topic(theirs, "Pages", master_key=kms.Key.from_key_arn(theirs, "Imported", KEY))
    with pytest.raises(ValueError, match="Theirs/Pages is encrypted with Theirs/Imported"):
        collected(theirs, orders(theirs, alarm_topic=pages))


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


@pytest.mark.parametrize("aws_managed", [False, True], ids=["by-arn", "aws-managed"])
def test_a_topic_whose_key_cannot_be_changed_is_refused(aws_managed: bool) -> None:
    theirs = Theirs()
    by_alias, by_arn = kms.Alias.from_alias_name, kms.Key.from_key_arn
    key = (
        by_alias(theirs, "OfPages", "alias/aws/sns")
        if aws_managed
        else by_arn(theirs, "OfPages", KEY)
    )
    topic = sns.Topic(theirs, "Pages", master_key=key)
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
    # Of the app, of notices and of reports.
    assert [each["KmsMasterKeyId"] for each in topics] == [KEY, KEY, KEY]


def test_a_bucket_that_is_an_object_is_given_no_second_key() -> None:
    theirs = Theirs()
    bucket = s3.Bucket.from_bucket_name(theirs, "Data", "ours")
    with pytest.raises(ValueError, match=r"Theirs/Data is an existing bucket .* encryption_key"):
        LagReports(
            theirs, "Lag", clusters=["orders"], existing_bucket=bucket, bucket_key=theirs.key
        )


SETTINGS = SharedSettings(views=Views(), status_messages=StatusMessages())

# The stacks of the cluster, bucket and key; of LagReports; of LagCollector.
Places = tuple[Stack, Stack, Stack]
PLACES: dict[str, Callable[[Theirs], Places]] = {
    "beside": lambda theirs: (theirs, beside(theirs, "Shared"), beside(theirs, "Ours")),
    "from-nested-stacks": lambda theirs: (
        theirs,
        NestedStack(theirs, "Shared"),
        NestedStack(theirs, "Ours"),
    ),
}


def beside(theirs: Stack, name: str) -> Stack:
    app = theirs.node.root
    assert isinstance(app, App)
    return Stack(app, name, env=HERE)


@pytest.mark.parametrize(
    "places",
    [pytest.param(PLACES["beside"], marks=pytest.mark.thorough), PLACES["from-nested-stacks"]],
    ids=PLACES,
)
def test_no_wildcard_of_ours_is_a_finding(places: Callable[[Theirs], Places]) -> None:
    app = App()
    theirs = Theirs(app)
    of_cluster, of_reports, ours = places(theirs)
    key = kms.Key(of_cluster, "OfBucket")
    bucket = s3.Bucket(of_cluster, "Data", encryption_key=key, event_bridge_enabled=True)
    cluster = orders(theirs, msk=theirs.provisioned(of_cluster))
    for name, existing in (("made", None), ("given", bucket)):
        reports = LagReports(
            of_reports,
            f"Lag-{name}",
            name=name,
            clusters=["orders"],
            settings=SETTINGS,
            existing_bucket=existing,
            bucket_key=None if existing else key,
            package=SMALL_PACKAGE,
        )
        LagCollector(
            ours, f"Lag-collector-{name}", **cluster, reports=reports, package=SMALL_PACKAGE
        )
    app.synth()
    found = AwsSolutionsChecks(app).validate_scope(app).violations
    assert [
        (each.rule_name, resource.construct_path)
        for each in found
        for resource in each.violating_resources
        if "/Lag-" in str(resource.construct_path)
    ] == []
