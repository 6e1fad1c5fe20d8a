# SPDX-License-Identifier: Apache-2.0
"""Collectors of three kinds of cluster, synthesised once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk.cx_api import CloudAssembly

from kafka_lag_cdk.collector_function import CollectorFunction, CollectorSchedule
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.from_document import import_cluster
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import SECRET, cluster, cluster_json
from tests.infra.resolve import ACCOUNT, REGION, resolve

Resources = dict[str, dict[str, Any]]

_VPC = cluster_json()["vpc"]
_KINDS = {
    "scram": cluster(allowed_lag={"^z-": 1, ".*": 0}),
    "iam": cluster(auth={"type": "iam"}, paused=True, interval_seconds=300),
    "endpoints": cluster(
        arn=None,
        region=REGION,
        bootstrap_servers=["b-1:9196", "b-2:9197"],
        auth={"type": "tls", "secret_arn": SECRET},
        ca_file="authority.pem",
        function={"alone": True, "python": "3.14", "architecture": "x86_64", "log_days": 30},
        vpc={
            "id": _VPC["id"],
            "subnets": _VPC["subnets"],
            "route_tables": ["rtb-0a1b2c3d4e5f60718"],
            "endpoint_security_groups": ["sg-ffffffff"],
            "endpoints": {"s3": True, "secrets_manager": True, "monitoring": True},
            "cidr": "10.0.0.0/16",
        },
    ),
}


@pytest.fixture(name="assembly", scope="session")
def _assembly(tmp_path_factory: pytest.TempPathFactory) -> CloudAssembly:
    app = App(outdir=str(tmp_path_factory.mktemp("collectors")))
    for kind, each in _KINDS.items():
        _stack(app, kind, each)
    return app.synth()


@pytest.fixture(name="templates", scope="session")
def _templates(assembly: CloudAssembly) -> dict[str, Resources]:
    return {kind: resolve(assembly.get_stack_by_name(kind).template) for kind in _KINDS}


@pytest.fixture(name="layers", scope="session")
def _layers(assembly: CloudAssembly) -> dict[str, Path]:
    """Where the configuration's layer of each kind was staged."""
    found = {}
    for kind in _KINDS:
        template = assembly.get_stack_by_name(kind).template["Resources"].values()
        (layer,) = (each for each in template if each["Type"] == "AWS::Lambda::LayerVersion")
        asset = layer["Properties"]["Content"]["S3Key"].removesuffix(".zip")
        found[kind] = Path(assembly.directory, f"asset.{asset}")
    return found


@pytest.fixture(name="documents", scope="session")
def _documents(layers: dict[str, Path]) -> dict[str, dict[str, Any]]:
    return {
        kind: json.loads((folder / "kafka-lag" / "config.json").read_text())
        for kind, folder in layers.items()
    }


@pytest.fixture(name="of")
def _of(templates: dict[str, Resources]) -> Callable[[str, str], list[dict[str, Any]]]:
    """Properties of all resources of a CloudFormation type in one kind's template."""

    def properties(kind: str, type_name: str) -> list[dict[str, Any]]:
        found = templates[kind].values()
        return [each["Properties"] for each in found if each["Type"] == f"AWS::{type_name}"]

    return properties


def _stack(app: App, kind: str, each: Cluster) -> None:
    stack = Stack(app, kind, env=Environment(account=ACCOUNT, region=REGION))
    collector = CollectorFunction(
        stack,
        "Collector",
        cluster=import_cluster(stack, each),
        bucket="the-bucket",
        code=lambda_.Code.from_asset(str(SMALL_PACKAGE)),
    )
    CollectorSchedule(stack, "Schedule", cluster=each, function=collector.function)
