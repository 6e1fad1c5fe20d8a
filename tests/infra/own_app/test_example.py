# SPDX-License-Identifier: Apache-2.0
"""examples/own_app.py: an app with a network, a cluster, a bucket, a topic and a key of its own."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.cx_api import CloudFormationStackArtifact

from tests.infra.code import SMALL_PACKAGE
from tests.infra.own_app.network import Resources, environment, rights
from tests.infra.resolve import ACCOUNT, of_type, resolve

EXAMPLE = Path(__file__).parents[3] / "examples" / "own_app.py"

# Kinds that take tags and are sure to be made.
TAGGED = (
    "AWS::EC2::SecurityGroup",
    "AWS::Glue::Job",
    "AWS::IAM::Role",
    "AWS::Lambda::Function",
    "AWS::Logs::LogGroup",
    "AWS::SQS::Queue",
)


@pytest.fixture(name="stack", scope="module")
def _stack(tmp_path_factory: pytest.TempPathFactory) -> CloudFormationStackArtifact:
    app = App(outdir=str(tmp_path_factory.mktemp("own")))
    runpy.run_path(str(EXAMPLE))["build"](app, SMALL_PACKAGE)
    return app.synth().get_stack_by_name("Watched")


@pytest.fixture(name="resources", scope="module")
def _resources(stack: CloudFormationStackArtifact) -> Resources:
    return resolve(stack.template)


def the(resources: Resources, kind: str) -> tuple[str, dict[str, Any]]:
    (found,) = of_type(resources, kind).items()
    return found


def test_every_role_is_within_the_boundary(resources: Resources) -> None:
    roles = of_type(resources, "AWS::IAM::Role").values()
    boundary = f"arn:aws:iam::{ACCOUNT}:policy/developers"
    assert {each.get("PermissionsBoundary") for each in roles} == {boundary}
    # Two collectors, their schedules, what finds the brokers of one; job, the rule on its failure,
    # views, messages; the bucket's own, and the service's tasks.
    assert len(roles) == 11


@pytest.mark.parametrize("kind", TAGGED)
def test_whatever_takes_tags_has_the_apps(kind: str, resources: Resources) -> None:
    found = of_type(resources, kind).values()
    tags = [each["Tags"] for each in found]
    assert tags
    for each in tags:
        named = each if isinstance(each, dict) else {tag["Key"]: tag["Value"] for tag in each}
        assert named["team"] == "streams"


def test_nothing_is_made_that_the_app_has(resources: Resources) -> None:
    for kind in ("S3::Bucket", "KMS::Key", "EC2::VPC", "SecretsManager::Secret"):
        the(resources, f"AWS::{kind}")
    # The app's is for alarms; that of reports is made.
    topics = [each.get("TopicName") for each in of_type(resources, "AWS::SNS::Topic").values()]
    assert sorted(topics, key=str) == [None, None, "kafka-lag-reports"]


def test_collector_and_job_write_to_the_apps_bucket(resources: Resources) -> None:
    name, _ = the(resources, "AWS::S3::Bucket")
    assert environment(resources)["KAFKA_LAG_BUCKET"] == name.lower()
    _, job = the(resources, "AWS::Glue::Job")
    assert job["DefaultArguments"]["--output"] == f"s3://{name.lower()}"


def test_the_bucket_brings_its_key(resources: Resources) -> None:
    may = rights(resources)
    topics = of_type(resources, "AWS::SNS::Topic").values()
    assert may["kms:GenerateDataKey"] == [each["KmsMasterKeyId"] for each in topics][:1]


def test_alarms_may_publish_to_the_apps_topic_and_use_its_key(resources: Resources) -> None:
    topics = of_type(resources, "AWS::SNS::Topic").items()
    own = {f":{name}".lower() for name, each in topics if "TopicName" not in each}
    policies = of_type(resources, "AWS::SNS::TopicPolicy").values()
    of_own = [e["PolicyDocument"] for e in policies if f":{e['Topics'][0].split(':')[-1]}" in own]
    assert len(own) == len(of_own) == 2
    _, key = the(resources, "AWS::KMS::Key")
    principal = {"Service": "cloudwatch.amazonaws.com"}
    for document in (*of_own, key["KeyPolicy"]):
        assert [s for s in document["Statement"] if s["Principal"] == principal]
    alarms = of_type(resources, "AWS::CloudWatch::Alarm").values()
    reported = {each["AlarmName"]: each["AlarmActions"] for each in alarms}
    sent = {f":{to.split(':')[-1]}" for each in reported.values() for to in each if ":sns:" in to}
    assert sent == own


def test_the_service_follows_its_group(resources: Resources) -> None:
    _, target = the(resources, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert (target["MinCapacity"], target["MaxCapacity"]) == (1, 12)
    name, service = the(resources, "AWS::ECS::Service")
    assert name.lower() in target["ResourceId"]
    assert "DesiredCount" not in service


def test_every_log_group_has_the_apps_key(resources: Resources) -> None:
    groups = of_type(resources, "AWS::Logs::LogGroup").values()
    assert all("KmsKeyId" in each for each in groups)
    assert len(groups) == 7


def test_nothing_is_looked_up_in_aws(stack: CloudFormationStackArtifact) -> None:
    """Which would take credentials."""
    manifest = json.loads(Path(stack.assembly.directory, "manifest.json").read_text())
    assert manifest.get("missing", []) == []


@pytest.mark.thorough
def test_cfn_lint_finds_no_error(stack: CloudFormationStackArtifact) -> None:
    lint = str(Path(sys.executable).with_name("cfn-lint"))
    command = [lint, "--non-zero-exit-code", "error", stack.template_full_path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
