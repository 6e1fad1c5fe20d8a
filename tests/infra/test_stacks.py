# SPDX-License-Identifier: Apache-2.0
"""What a configuration says reaches the stacks, and they find each other."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.cx_api import CloudAssembly

from kafka_lag_cdk.stack_names import StackName, stack_names_for
from kafka_lag_cdk.stacks import stacks_of
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import KEY, cluster_json, deployment, moved
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


def named(assembly: CloudAssembly, name: str) -> Any:
    (stack,) = [each for each in assembly.stacks if each.stack_name == name]
    return stack


def test_a_clusters_stack_is_deployed_after_the_shared_one(assembly: CloudAssembly) -> None:
    cluster = named(assembly, CLUSTER)
    assert named(assembly, SHARED).id in [each.id for each in cluster.dependencies]


def test_every_role_is_within_the_boundary(assembly: CloudAssembly) -> None:
    found = [
        role.get("PermissionsBoundary")
        for stack in assembly.stacks
        for role in of_type(resolve(stack.template), "AWS::IAM::Role").values()
    ]
    boundary = "arn:aws:iam::111122223333:policy/teams/developers"
    # Collector, its schedule, what finds the brokers; job, the rule on its failure; views.
    assert found == [boundary] * 6


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
