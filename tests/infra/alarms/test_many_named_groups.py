# SPDX-License-Identifier: Apache-2.0
"""Three hundred named groups: more alarms than a stack can hold."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import pytest
from aws_cdk import App
from aws_cdk.cx_api import CloudAssembly

from kafka_lag_cdk.stacks import stacks_of
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import cluster_json, deployment
from tests.infra.resolve import of_type, resolve
from tests.infra.test_examples import MOST_BYTES, MOST_RESOURCES

pytestmark = pytest.mark.thorough

GROUPS = [f"orders-consumer-of-a-team-{number:03}" for number in range(300)]
OWN = "kafka-lag-orders"


@pytest.fixture(name="assembly", scope="module")
def _assembly(tmp_path_factory: pytest.TempPathFactory) -> CloudAssembly:
    app = App(outdir=str(tmp_path_factory.mktemp("many")))
    watched = cluster_json(
        alarms={"groups": GROUPS}, sla_seconds={".*": 60}, levels={"max_metrics": 100_000}
    )
    stacks_of(app, deployment(watched), SMALL_PACKAGE)
    return app.synth()


def test_every_group_has_its_alarms_once(assembly: CloudAssembly) -> None:
    names = Counter(
        alarm["AlarmName"]
        for stack in assembly.stacks
        for alarm in of_type(resolve(stack.template), "AWS::CloudWatch::Alarm").values()
    )
    assert set(names.values()) == {1}
    for rule in ("status", "sla", "data-loss"):
        assert {f"{OWN.replace('-o', '/o', 1)}/{rule}/{group}" for group in GROUPS} <= set(names)


def test_no_stack_is_too_large(assembly: CloudAssembly) -> None:
    for stack in assembly.stacks:
        assert len(stack.template["Resources"]) <= MOST_RESOURCES, stack.stack_name
        assert len(json.dumps(stack.template)) < MOST_BYTES, stack.stack_name


def test_they_are_deployed_one_after_another_behind_the_clusters_own(
    assembly: CloudAssembly,
) -> None:
    own = [each.stack_name for each in assembly.stacks if each.stack_name.startswith(OWN)]
    assert own == [OWN, *(f"{OWN}-groups-{number}" for number in range(1, 5))]
    by_name = {each.stack_name: each for each in assembly.stacks}
    for before, after in pairwise(own):
        assert by_name[before].id in [each.id for each in by_name[after].dependencies]


def test_the_dashboard_shows_them_all_the_same(assembly: CloudAssembly) -> None:
    (own,) = [each for each in assembly.stacks if each.stack_name == OWN]
    (dashboard,) = of_type(own.template["Resources"], "AWS::CloudWatch::Dashboard").values()
    body = json.dumps(dashboard)
    assert all(f"/status/{group}" in body for group in GROUPS)
