# SPDX-License-Identifier: Apache-2.0
"""Templates for `aws cloudformation deploy`: the CDK stacks with parameters, no bootstrap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from kafka_lag_cdk.template import BUCKET, PREFIX, write
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import cluster_json, deployment
from tests.infra.conftest import lint

Templates = dict[str, dict[str, Any]]


@pytest.fixture(name="out", scope="module")
def _out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("templates")
    write(deployment(), out, SMALL_PACKAGE)
    return out


@pytest.fixture(name="templates", scope="module")
def _templates(out: Path) -> Templates:
    return {
        path.name.removesuffix(".template.json"): json.loads(path.read_text())
        for path in out.glob("*.json")
    }


def test_there_is_one_for_what_is_shared_and_one_a_cluster(templates: Templates) -> None:
    assert sorted(templates) == ["Shared-111122223333-eu-west-1", "kafka-lag-orders"]


def test_nothing_of_a_bootstrap_is_left(out: Path) -> None:
    text = "".join(path.read_text() for path in out.glob("*.json"))
    assert [word for word in ("cdk-hnb659fds", "BootstrapVersion") if word in text] == []


def test_every_asset_is_written_and_read_below_the_prefix(out: Path, templates: Templates) -> None:
    keys = {path.name for path in (out / "assets").iterdir()}
    assert len(keys) == 5
    for template in templates.values():
        text = json.dumps(template["Resources"])
        named = {key for key in keys if key in text}
        assert named
        assert [key for key in named if text.count(key) != text.count(f"${{{PREFIX}}}{key}")] == []
    named_by_any = json.dumps(templates)
    assert [key for key in keys if key not in named_by_any] == []


def test_a_function_has_its_code_from_the_bucket(out: Path, templates: Templates) -> None:
    resources = templates["kafka-lag-orders"]["Resources"].values()
    (code,) = [
        each["Properties"]["Code"]
        for each in resources
        if each["Properties"].get("Handler") == "kafka_lag.collect_lag.handler"
    ]
    assert code["S3Bucket"] == {"Fn::Sub": f"${{{BUCKET}}}"}
    key = code["S3Key"]["Fn::Sub"].removeprefix(f"${{{PREFIX}}}")
    with ZipFile(out / "assets" / key) as archive:
        assert "index.py" in archive.namelist()


def test_the_network_of_a_cluster_is_given_by_parameters(templates: Templates) -> None:
    template, vpc = templates["kafka-lag-orders"], cluster_json()["vpc"]
    parameters = template["Parameters"]
    assert parameters["VpcId"]["Default"] == vpc["id"]
    assert parameters["SubnetIds"]["Default"] == ",".join(vpc["subnets"])
    text = json.dumps(template["Resources"])
    ids = (vpc["id"], *vpc["subnets"], vpc["brokers_security_group"])
    assert [each for each in ids if each in text] == []


def test_clusters_of_one_name_have_each_its_own_network(tmp_path: Path) -> None:
    here = cluster_json(dashboard=False, auth={"type": "none"})
    vpc = here["vpc"] | {"id": "vpc-ffffffff"}
    there = here | {"arn": here["arn"].replace("111122223333", "444455556666"), "vpc": vpc}
    off = {"report": {"enabled": False}, "athena": "off"}
    write(deployment(here, there, shared=off), tmp_path, SMALL_PACKAGE)
    of_clusters = [json.loads(path.read_text()) for path in tmp_path.glob("*orders*.json")]
    known = {each["Parameters"]["VpcId"]["Default"] for each in of_clusters}
    assert known == {here["vpc"]["id"], vpc["id"]}
    text = json.dumps([each["Resources"] for each in of_clusters])
    assert [name for name in known if name in text] == []


def test_the_same_configuration_is_the_same_files(out: Path, tmp_path: Path) -> None:
    write(deployment(), tmp_path, SMALL_PACKAGE)
    for path in (path for path in out.rglob("*") if path.is_file()):
        assert (tmp_path / path.relative_to(out)).read_bytes() == path.read_bytes()


@pytest.mark.thorough
def test_cfn_lint_finds_no_error(out: Path) -> None:
    assert lint(*out.glob("*.json"), ignored="W3005") == ""
