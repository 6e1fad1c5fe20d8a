# SPDX-License-Identifier: Apache-2.0
"""The stacks of the examples: within AWS's limits, without findings, and without excess rights."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.infra.conftest import EXAMPLES, Synthesised, lint

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


@pytest.mark.thorough
def test_cfn_lint_finds_no_error(examples: Examples) -> None:
    files = [examples[name].files[stack] for name, stacks in LINTED.items() for stack in stacks]
    assert lint(*files) == ""


def test_views_that_are_refused_roll_back_nothing_else(examples: Examples) -> None:
    """A new account has no concurrency to reserve."""
    for stack, template in examples["twenty-clusters"].templates.items():
        kinds = {resource["Type"] for resource in template["Resources"].values()}
        reserved = "ReservedConcurrentExecutions" in json.dumps(template)
        assert reserved == stack.startswith("kafka-lag-views@"), stack
        assert not (reserved and kinds & {"AWS::S3::Bucket", "AWS::SNS::Topic"}), stack


def test_every_stack_is_within_cloudformations_limits(examples: Examples) -> None:
    within = {"Resources": MOST_RESOURCES, "Outputs": MOST_OUTPUTS, "Parameters": MOST_PARAMETERS}
    for example in examples.values():
        for stack, template in example.templates.items():
            assert all(len(template.get(key, {})) <= most for key, most in within.items()), stack
            assert example.files[stack].stat().st_size < MOST_BYTES, stack


def test_no_stack_exports_or_imports(examples: Examples) -> None:
    for example in examples.values():
        for template in example.templates.values():
            assert "Fn::ImportValue" not in json.dumps(template)
            outputs = template.get("Outputs", {}).values()
            assert [each for each in outputs if "Export" in each] == []


def test_no_value_changes_from_one_synth_to_the_next(examples: Examples) -> None:
    for example in examples.values():
        assert "object at 0x" not in json.dumps(example.templates)
        assert "objectat0x" not in json.dumps(example.templates)
