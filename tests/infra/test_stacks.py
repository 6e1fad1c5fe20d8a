# SPDX-License-Identifier: Apache-2.0
"""What a configuration says reaches the stacks, and they find each other."""

from __future__ import annotations

import re
from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.cx_api import CloudAssembly

from kafka_lag_cdk.stack_names import StackName, stack_names_for
from kafka_lag_cdk.stacks import stacks_of
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import KEY, cluster_json, deployment, moved
from tests.infra.notify.followed import topic_ids
from tests.infra.resolve import of_type, resolve

SHARED, CLUSTER, VIEWS = "other-shared", "other-orders", "other-views"
OF_ASSETS = KEY.replace("aaaa", "eeee")


@pytest.fixture(name="assembly", scope="module")
def _assembly(tmp_path_factory: pytest.TempPathFactory) -> CloudAssembly:
    app = App(outdir=str(tmp_path_factory.mktemp("stacks")))
    shared = {
        "existing_buckets": {"eu-west-1": "our-own-bucket"},
        "notify": {"recovered": False},
        "kms_keys": {"eu-west-1": {"assets": OF_ASSETS}},
        "views": {},
    }
    marks = {"tags": {"team": "streams"}, "permissions_boundary": "teams/developers"}
    whole = deployment(cluster_json(), name="other", shared=shared, **marks)
    stacks_of(app, whole, SMALL_PACKAGE)
    return app.synth()


@pytest.fixture(name="shared", scope="module")
def _shared(assembly: CloudAssembly) -> dict[str, dict[str, Any]]:
    return resolve(named(assembly, SHARED).template)


@pytest.fixture(name="least", scope="module")
def _least(tmp_path_factory: pytest.TempPathFactory) -> CloudAssembly:
    """Of a deployment with everything switched off that can be."""
    app = App(outdir=str(tmp_path_factory.mktemp("least")))
    shared = {"athena": "off", "report": {"enabled": False}}
    tags = {"Application": "lag"}
    stacks_of(
        app, deployment(cluster_json(), name="other", shared=shared, tags=tags), SMALL_PACKAGE
    )
    return app.synth()


def named(assembly: CloudAssembly, name: str) -> Any:
    (stack,) = [each for each in assembly.stacks if each.stack_name == name]
    return stack


def test_a_deployments_name_is_in_whatever_another_would_share(
    assembly: CloudAssembly, shared: dict[str, dict[str, Any]]
) -> None:
    (workgroup,) = of_type(shared, "AWS::Athena::WorkGroup").values()
    (database,) = of_type(shared, "AWS::Glue::Database").values()
    topics = [each["TopicName"] for each in of_type(shared, "AWS::SNS::Topic").values()]
    reported = [workgroup["Name"], database["DatabaseInput"]["Name"], *topics]
    own = resolve(named(assembly, CLUSTER).template)
    reported += [each["AlarmName"] for each in of_type(own, "AWS::CloudWatch::Alarm").values()]
    reported += [
        each["DashboardName"] for each in of_type(own, "AWS::CloudWatch::Dashboard").values()
    ]
    assert [name for name in reported if not name.startswith("other")] == []


def test_the_parameters_hold_the_bucket_and_the_topic(shared: dict[str, dict[str, Any]]) -> None:
    parameters = of_type(shared, "AWS::SSM::Parameter").values()
    topic = topic_ids(shared)["alarms"]
    assert {each["Name"]: each["Value"] for each in parameters} == {
        "/other/bucket": "our-own-bucket",
        "/other/alarm-topic": f"arn:aws:sns:eu-west-1:111122223333:{topic.lower()}",
    }


def test_an_existing_bucket_is_used_and_none_is_made(shared: dict[str, dict[str, Any]]) -> None:
    assert of_type(shared, "AWS::S3::Bucket") == {}
    (job,) = of_type(shared, "AWS::Glue::Job").values()
    assert job["DefaultArguments"]["--output"] == "s3://our-own-bucket"


def test_without_athena_and_report_nothing_of_glue_or_athena_is_made(least: CloudAssembly) -> None:
    template = named(least, SHARED).template
    kinds = {resource["Type"] for resource in template["Resources"].values()}
    assert {kind for kind in kinds if re.search("Glue|Athena|IAM|Events|Logs", kind)} == set()
    assert set(template["Outputs"]) == {"Bucket", "AlarmTopic"}


def test_a_dashboard_leads_to_athena_only_where_there_is_a_workgroup(
    least: CloudAssembly, assembly: CloudAssembly
) -> None:
    led = [
        "Athena, workgroup other" in str(named(each, CLUSTER).template)
        for each in (least, assembly)
    ]
    assert led == [False, True]


def test_a_clusters_stack_is_deployed_after_the_shared_one(assembly: CloudAssembly) -> None:
    cluster = named(assembly, CLUSTER)
    assert named(assembly, SHARED).id in [each.id for each in cluster.dependencies]


def test_recoveries_are_told_only_if_they_are_wanted(assembly: CloudAssembly) -> None:
    alarms = of_type(resolve(named(assembly, CLUSTER).template), "AWS::CloudWatch::Alarm")
    assert [name for name, alarm in alarms.items() if alarm.get("OKActions")] == []


def test_what_belongs_to_a_deployment_is_tagged_with_its_name(
    shared: dict[str, dict[str, Any]],
) -> None:
    for topic in of_type(shared, "AWS::SNS::Topic").values():
        assert {"Key": "application", "Value": "other"} in topic["Tags"]
        assert {"Key": "team", "Value": "streams"} in topic["Tags"]


def test_no_role_has_a_tag_twice_in_two_spellings(least: CloudAssembly) -> None:
    for stack in least.stacks:
        for role in of_type(resolve(stack.template), "AWS::IAM::Role").values():
            assert role["Tags"] == [{"Key": "Application", "Value": "lag"}]


def test_every_role_is_within_the_boundary(assembly: CloudAssembly) -> None:
    found = [
        role.get("PermissionsBoundary")
        for stack in assembly.stacks
        for role in of_type(resolve(stack.template), "AWS::IAM::Role").values()
    ]
    boundary = "arn:aws:iam::111122223333:policy/teams/developers"
    # Collector, its schedule, what finds the brokers; job, the rule on its failure; views.
    assert found == [boundary] * 6


@pytest.mark.parametrize("service", ["glue", "events", "scheduler"])
def test_roles_of_services_are_for_this_account(assembly: CloudAssembly, service: str) -> None:
    (trusted,) = [
        statement
        for stack in assembly.stacks
        for role in of_type(resolve(stack.template), "AWS::IAM::Role").values()
        for statement in role["AssumeRolePolicyDocument"]["Statement"]
        if statement["Principal"] == {"Service": f"{service}.amazonaws.com"}
    ]
    (condition,) = trusted["Condition"].values()
    assert condition == {"aws:SourceAccount": "111122223333"}


def test_the_daily_job_writes_no_other_jobs_logs(shared: dict[str, dict[str, Any]]) -> None:
    """But the two groups in which Glue begins each run's."""
    found = {
        resource.split(":log-group:")[1]
        for policy in of_type(shared, "AWS::IAM::Policy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        for resource in statement["Resource"]
        if ":log-group:" in resource
    }
    own = "/other/daily-report/*"
    assert found == {own, "/aws-glue/jobs/output:*", "/aws-glue/jobs/error:*"}


def test_the_daily_job_may_use_the_key_of_cdks_bucket(shared: dict[str, dict[str, Any]]) -> None:
    using = [
        statement
        for policy in of_type(shared, "AWS::IAM::Policy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Resource"] == OF_ASSETS
    ]
    assert [statement["Action"] for statement in using] == ["kms:Decrypt"]
    assert "cdk-hnb659fds-assets" in str(using)


def test_views_are_deployed_after_the_bucket_that_they_show(assembly: CloudAssembly) -> None:
    views = named(assembly, VIEWS)
    assert named(assembly, SHARED).id in [each.id for each in views.dependencies]
    kinds = {each["Type"] for each in views.template["Resources"].values()}
    assert {"AWS::Lambda::Function", "AWS::Lambda::Url"} <= kinds
    read = [each["Default"] for each in views.template["Parameters"].values()]
    assert "/other/bucket" in read


def test_the_stacks_that_are_made_are_those_that_are_looked_for() -> None:
    groups = [f"group-{number}" for number in range(301)]
    scaling = {
        "group": "a",
        "ecs_cluster": "e",
        "service": "s",
        "account": "444455556666",
        "partitions": 4,
        "max": 4,
        "tasks": {},
    }
    chat = {"name": "lag", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}
    whole = deployment(
        moved(cluster_json(name="users"), "us-east-1"),
        cluster_json(alarms={"groups": groups}, levels={"max_metrics": 10_000}, scaling=[scaling]),
        shared={"views": {}, "notify": {"slack": [chat]}},
    )
    made = {
        StackName(each.stack_name, each.account, each.region)
        for each in stacks_of(App(), whole, SMALL_PACKAGE)
    }
    looked_for = [stack_names_for(whole, cluster) for cluster in whole.clusters]
    assert made == {each for names in looked_for for each in names}
    assert {each.name for each in made} >= {
        *("kafka-lag-chat", "kafka-lag-orders-groups-1", "kafka-lag-orders-scaling"),
    }
