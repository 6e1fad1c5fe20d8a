# SPDX-License-Identifier: Apache-2.0
"""What a deployment knows better than the document: the brokers, the region, where files are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag.settings import from_environment
from tests.documents import document
from tests.functions.test_settings import AUTHORITY, config_error, deployed, environment

HERE = {contract.ENV_REGION: "eu-west-1"}
ROLE = {"sasl_mechanism": "OAUTHBEARER", "secret_id": None}


def test_servers_in_the_environment_count_and_need_not_be_in_the_document(tmp_path: Path) -> None:
    environ = environment(tmp_path, json.dumps(document() | {"bootstrap_servers": None}))
    assert "shop.json: bootstrap_servers: is required" in config_error(environ)
    for without in (environ, deployed(tmp_path)):
        without[contract.ENV_BOOTSTRAP_SERVERS] = " b-1.found:9098, b-2.found:9098 "
        found = from_environment(without).access.bootstrap_servers
        assert found == ("b-1.found:9098", "b-2.found:9098")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("", ""), ("b-1:9098,", ""), ("b-1:9098, ,b-2:9098", ""), ("b-1:9098,b-2", "b-2")],
    ids=["empty", "comma at the end", "nothing between commas", "no port"],
)
def test_wrong_servers_in_the_environment_are_a_fault_of_the_variable_alone(
    tmp_path: Path, text: str, wrong: str
) -> None:
    environ = environment(tmp_path, json.dumps(document() | {"bootstrap_servers": None}))
    environ[contract.ENV_BOOTSTRAP_SERVERS] = text
    result = config_error(environ)
    assert re.search(
        rf" KAFKA_LAG_BOOTSTRAP_SERVERS\.\d: must be host:port, not '{wrong}'\.$", result
    )
    assert "shop.json" not in result


def test_a_secret_in_the_environment_replaces_that_of_the_document(tmp_path: Path) -> None:
    environ = deployed(tmp_path)
    assert from_environment(environ).secret_id == document()["secret_id"]
    environ[contract.ENV_SECRET_ID] = "arn:aws:secretsmanager:made-by-the-deploy"
    assert from_environment(environ).secret_id == "arn:aws:secretsmanager:made-by-the-deploy"


def test_a_role_signs_for_the_region_of_the_environment(tmp_path: Path) -> None:
    settings = from_environment({**deployed(tmp_path, **ROLE), **HERE})
    assert settings.region == "eu-west-1"
    assert settings.access.sasl_mechanism == "OAUTHBEARER"


def test_a_role_without_a_region_is_reported_with_the_other_faults(tmp_path: Path) -> None:
    result = config_error(deployed(tmp_path, **ROLE, cafile="nowhere.pem"))
    assert "AWS_REGION is not set in the environment" in result
    assert "shop.json: cafile:" in result


def test_a_relative_cafile_lies_beside_the_document_and_an_absolute_one_where_it_is(
    tmp_path: Path,
) -> None:
    (tmp_path / "ca.pem").write_bytes(Path(AUTHORITY).read_bytes())
    environ = deployed(tmp_path, cafile="ca.pem")
    assert from_environment(environ).access.cafile == str(tmp_path / "ca.pem")
    absolute = deployed(tmp_path, cafile=AUTHORITY)
    assert from_environment(absolute).access.cafile == AUTHORITY
    absent = deployed(tmp_path, cafile="other.pem")
    assert f"cafile: there is no file {tmp_path / 'other.pem'}" in config_error(absent)
