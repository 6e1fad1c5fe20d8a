# SPDX-License-Identifier: Apache-2.0
"""What the examples become: within AWS's limits, without findings, and no right too many."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.infra.conftest import EXAMPLES, Synthesised

# CloudFormation's quotas: resources and outputs of a stack, bytes of a template from S3, and
# parameters of a stack [CloudFormation user guide, understand quotas].
MOST_RESOURCES, MOST_OUTPUTS, MOST_BYTES, MOST_PARAMETERS = 500, 200, 1_048_576, 200

FLAG_REPORT = "cdk:feature-flag-report"

Examples = dict[str, Synthesised]


def one_of(resources: dict[Any, dict[str, Any]], kind: str) -> tuple[Any, dict[str, Any]]:
    """The one resource of a kind, and where it is."""
    (found,) = [(key, each) for key, each in resources.items() if each["Type"] == kind]
    return found


def test_the_examples_are_the_three_that_the_docs_name() -> None:
    assert EXAMPLES == ["one-scram-cluster", "scaling-ecs", "twenty-clusters"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_is_found_that_is_not_explained(examples: Examples, name: str) -> None:
    assert examples[name].findings() == []


@pytest.mark.parametrize(("name", "scales"), [(name, name == "scaling-ecs") for name in EXAMPLES])
def test_without_services_to_scale_there_is_no_part_of_it(
    examples: Examples, name: str, scales: bool
) -> None:
    # Dashboards are JSON in JSON.
    templates = json.dumps(list(examples[name].templates.values())).replace("\\", "")
    of_it = ("AWS::ApplicationAutoScaling::", '"TasksNeeded"', '"ScalingLag"')
    assert [part in templates for part in of_it] == [scales, scales, scales]


def test_cdk_json_sets_every_flag_whose_default_is_not_recommended(examples: Examples) -> None:
    """Of others the command line complains at each synthesis."""
    folder = next(iter(examples.values())).folder
    artifacts = json.loads((folder / "manifest.json").read_text())["artifacts"]
    _, report = one_of({k: {"Type": v["type"], **v} for k, v in artifacts.items()}, FLAG_REPORT)

    assert [
        name
        for name, flag in report["properties"]["flags"].items()
        if "userValue" not in flag
        and flag["recommendedValue"] != flag.get("unconfiguredBehavesLike", {}).get("v2", False)
    ] == []


# One of each kind: clusters that differ by name alone have one template but for that.
LINTED = {
    "one-scram-cluster": ("kafka-lag-shared@us-east-1", "kafka-lag-orders@us-east-1"),
    "scaling-ecs": ("kafka-lag-orders@us-east-1",),
    "twenty-clusters": (
        "kafka-lag-shared@us-east-1",
        "kafka-lag-views@us-east-1",
        "kafka-lag-payments-us@us-east-1",
    ),
}


def test_cfn_lint_finds_no_error(examples: Examples) -> None:
    files = [examples[name].files[stack] for name, stacks in LINTED.items() for stack in stacks]
    lint = str(Path(sys.executable).with_name("cfn-lint"))
    command = [lint, "--non-zero-exit-code", "error", *map(str, files)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_region_has_one_shared_stack_and_each_cluster_its_own(examples: Examples) -> None:
    names = list(examples["twenty-clusters"].templates)
    assert len(names) == 25
    assert {name for name in names if "shared" in name} == {
        "kafka-lag-shared@eu-west-1",
        "kafka-lag-shared@us-east-1",
    }


def test_an_accounts_chat_is_configured_once_and_hears_every_region(examples: Examples) -> None:
    resources = {
        (stack, name): resource
        for stack, template in examples["twenty-clusters"].templates.items()
        for name, resource in template["Resources"].items()
    }
    (stack, _), channel = one_of(resources, "AWS::Chatbot::SlackChannelConfiguration")
    assert stack == "kafka-lag-chat@eu-west-1"
    assert channel["Properties"]["SnsTopicArns"] == [
        f"arn:aws:sns:{region}:111122223333:kafka-lag-{kind}"
        for region in ("eu-west-1", "us-east-1")
        for kind in ("alarms", "reports")
    ]
    one_of(resources, "AWS::IAM::ManagedPolicy")


def test_the_topics_that_a_chat_hears_are_there_before_it(examples: Examples) -> None:
    manifest = json.loads((examples["twenty-clusters"].folder / "manifest.json").read_text())
    stacks = {
        name: {each for each in artifact["dependencies"] if not each.endswith(".assets")}
        for name, artifact in manifest["artifacts"].items()
        if artifact["type"] == "aws:cloudformation:stack" and name.startswith(("Shared-", "Chat-"))
    }
    shared = {"Shared-111122223333-eu-west-1", "Shared-111122223333-us-east-1"}
    assert stacks == {name: set() for name in shared} | {"Chat-111122223333": shared}


def test_a_chat_that_is_refused_rolls_back_nothing_else(examples: Examples) -> None:
    template = examples["twenty-clusters"].templates["kafka-lag-chat@eu-west-1"]
    kinds = {resource["Type"] for resource in template["Resources"].values()}
    assert kinds == {
        "AWS::Chatbot::SlackChannelConfiguration",
        "AWS::IAM::ManagedPolicy",
        "AWS::IAM::Role",
    }


def test_views_that_are_refused_roll_back_nothing_else(examples: Examples) -> None:
    """A new account has no concurrency to reserve."""
    for stack, template in examples["twenty-clusters"].templates.items():
        kinds = {resource["Type"] for resource in template["Resources"].values()}
        reserved = "ReservedConcurrentExecutions" in json.dumps(template)
        assert reserved == stack.startswith("kafka-lag-views@"), stack
        assert not (reserved and kinds & {"AWS::S3::Bucket", "AWS::SNS::Topic"}), stack


def test_topics_have_the_names_by_which_chats_of_other_regions_know_them(
    examples: Examples,
) -> None:
    for stack, template in examples["twenty-clusters"].templates.items():
        if "shared" in stack:
            kind = "AWS::SNS::Topic"
            topics = [r for r in template["Resources"].values() if r["Type"] == kind]
            names = {topic["Properties"]["TopicName"] for topic in topics}
            assert names == {"kafka-lag-alarms", "kafka-lag-reports"}


def test_a_dashboard_shows_what_the_alarms_that_scale_say(examples: Examples) -> None:
    resources = examples["scaling-ecs"].templates["kafka-lag-orders@us-east-1"]["Resources"]
    _, dashboard = one_of(resources, "AWS::CloudWatch::Dashboard")
    assert "In ALARM is how they act" in json.dumps(dashboard["Properties"]["DashboardBody"])


@pytest.mark.parametrize("name", EXAMPLES)
def test_outputs_name_what_people_look_for(examples: Examples, name: str) -> None:
    outputs = {
        "kafka-lag-shared": {"Bucket", "AlarmTopic", "ReportTopic", "Workgroup", "DailyReportJob"},
        "kafka-lag-views": {"ViewsUrl", "ViewsFunction", "ViewsToken"},
        "kafka-lag-chat": set(),
    }
    for stack, template in examples[name].templates.items():
        own = outputs.get(stack.split("@")[0], {"Function", "LogGroup", "Dashboard"})
        assert set(template.get("Outputs", {})) == own, stack


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_stack_is_within_cloudformations_limits(examples: Examples, name: str) -> None:
    for stack, template in examples[name].templates.items():
        counts = [len(template.get(key, {})) for key in ("Resources", "Outputs", "Parameters")]
        within = [MOST_RESOURCES, MOST_OUTPUTS, MOST_PARAMETERS]
        assert all(c <= most for c, most in zip(counts, within, strict=True)), stack
        assert examples[name].files[stack].stat().st_size < MOST_BYTES, stack


def test_no_stack_exports_or_imports(examples: Examples) -> None:
    for example in examples.values():
        for template in example.templates.values():
            assert "Fn::ImportValue" not in json.dumps(template)
            outputs = template.get("Outputs", {}).values()
            assert [each for each in outputs if "Export" in each] == []


def test_cluster_stacks_learn_the_shared_names_from_parameters(examples: Examples) -> None:
    templates = examples["one-scram-cluster"].templates
    written = {
        each["Properties"]["Name"]
        for each in templates["kafka-lag-shared@us-east-1"]["Resources"].values()
        if each["Type"] == "AWS::SSM::Parameter"
    }
    parameters = templates["kafka-lag-orders@us-east-1"]["Parameters"].values()
    kind = "AWS::SSM::Parameter::Value<String>"
    read = {
        p["Default"] for p in parameters if p["Type"] == kind and "bootstrap" not in p["Default"]
    }
    assert read == written == {"/kafka-lag/bucket", "/kafka-lag/alarm-topic"}


def test_no_value_changes_from_one_synth_to_the_next(examples: Examples) -> None:
    for example in examples.values():
        assert "object at 0x" not in json.dumps(example.templates)
        assert "objectat0x" not in json.dumps(example.templates)
