# SPDX-License-Identifier: Apache-2.0
"""The environment and its configuration become one object, or one error with every fault."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.brokers.access import Access
from kafka_lag.contract.mute_windows import MuteWindow
from kafka_lag.errors import ConfigError
from kafka_lag.lag.group_settings import (
    ByName,
    NameFilter,
    Objective,
    Rules,
    TaskSettings,
    Tolerance,
)
from kafka_lag.settings import Settings, from_environment, settings_of
from kafka_lag.sinks.config import Levels, OtlpConfig
from kafka_lag_config.document import Document, LevelsSection, normalised
from tests.documents import GOOD, document

AUTHORITY = str(Path(__file__).parents[1] / "infra" / "authority.pem")

SWITCHES: dict[str, Any] = dict.fromkeys(contract.CHOSEN_METRICS, True)
FULL: dict[str, Any] = {
    **GOOD,
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "PLAIN",
    "cafile": AUTHORITY,
    "groups": {"allow": "g", "deny": "h"},
    "topics": {"allow": "t", "deny": None},
    "uncommitted": {"late": "earliest", ".*": "apart"},
    "allowed_lag": {"^tx": 1, "o": 0},
    "owner": {"g": "payments"},
    "runbook_url": {"g": "https://wiki.example.com/g"},
    "sla_seconds": {"g": 1.5},
    "delay_seconds": {"^retry": 300},
    "slo": {"g": {"age_seconds": 2.5, "target": 99.5, "days": 7}},
    "mute": [{"at": "2026-01-31T12:00", "duration": "2h", "groups": "g", "losses": True}],
    "hold": 5,
    "tolerance": {"seconds": 2.5, "share": 0.01},
    "lookup_budget": 7,
    "risk_horizon_hours": 1.5,
    "ignore_inactive": True,
    "tasks": {
        "g": {
            "capacity": 250.5,
            "catch_up_seconds": 120,
            "members_per_task": 2,
            "prefer_even": False,
        }
    },
    "sinks": [
        "cloudwatch",
        {"otlp": {"endpoint": "https://c:4318/v1/metrics", "levels": {"topics": False}}},
    ],
    "namespace": "Own",
    "interval_seconds": 30,
    "window": "120s",
    "deadline_seconds": 20,
    "broker_timeout_seconds": 2.5,
    "levels": {
        "max_metrics": 50,
        "topics": False,
        "max_offset_lag": True,
        "named": ["a"],
        "named_only": True,
        "partitions": {"groups": {"allow": "p"}},
        "scaling": {"deny": "q"},
        "releases": ["billing"],
        **SWITCHES,
    },
}

WHOLE = Settings(
    cluster="shop",
    access=Access(("b-1.shop:9096",), "SASL_PLAINTEXT", "PLAIN", AUTHORITY, 2.5),
    rules=Rules(
        groups=NameFilter(re.compile("g"), re.compile("h")),
        topics=NameFilter(re.compile("t")),
        interval_ms=30_000,
        window_ms=120_000,
        uncommitted=ByName.of([("late", "earliest"), (".*", "apart")]),
        allowed_lag=ByName.of([("^tx", 1), ("o", 0)]),
        owners=ByName.of([("g", "payments")]),
        runbooks=ByName.of([("g", "https://wiki.example.com/g")]),
        sla_seconds=ByName.of([("g", 1.5)]),
        delay_seconds=ByName.of([("^retry", 300)]),
        objectives=ByName.of([("g", Objective(2.5, 99.5, 7))]),
        mutes=(MuteWindow(7_200_000, at_ms=1_769_860_800_000, groups="g", losses=True),),
        hold=5,
        tolerance=Tolerance(2500, 0.01),
        lookup_budget=7,
        risk_horizon_ms=5_400_000,
        ignore_inactive=True,
        tasks=ByName.of([("g", TaskSettings(250.5, 120, 2, prefer_even=False))]),
    ),
    levels=Levels(
        max_metrics=50,
        topics=False,
        max_offset_lag=True,
        partition_groups=NameFilter(re.compile("p")),
        named=frozenset("a"),
        named_only=True,
        scaling=NameFilter(deny=re.compile("q")),
        releases=frozenset({"billing"}),
        **SWITCHES,
    ),
    sinks=("cloudwatch", OtlpConfig("https://c:4318/v1/metrics", levels=Levels(topics=False))),
    namespace="Own",
    secret_id="AmazonMSK_reporter",
    bucket="kept",
    interval_ms=30_000,
    deadline=20,
)


def environment(tmp_path: Path, text: str) -> dict[str, str]:
    path = tmp_path / "shop.json"
    path.write_text(text)
    return {contract.ENV_CONFIG: str(path), contract.ENV_BUCKET: "kept"}


def deployed(tmp_path: Path, **changes: Any) -> dict[str, str]:
    """An environment with the least document and these changes, as it is deployed."""
    return environment(tmp_path, json.dumps(document(**changes)))


def config_error(environ: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as raised:
        from_environment(environ)
    return str(raised.value)


def test_the_least_document_has_these_defaults(tmp_path: Path) -> None:
    settings = from_environment(deployed(tmp_path))
    internal = settings.rules.topics
    assert settings == Settings(
        cluster="shop",
        access=Access(("b-1.shop:9096",), "SASL_SSL", "SCRAM-SHA-512", None, 10.0),
        rules=Rules(topics=internal, interval_ms=60_000, window_ms=600_000),
        levels=Levels(max_metrics=1000, topics=False),
        namespace="KafkaLag",
        secret_id="AmazonMSK_reporter",
        bucket="kept",
        interval_ms=60_000,
        deadline=45.0,
        sinks=("emf",),
    )


def test_every_key_of_the_document_arrives() -> None:
    assert settings_of(normalised(FULL), "kept") == WHOLE
    assert set(FULL) == set(Document.model_fields)
    assert set(FULL["levels"]) == set(LevelsSection.model_fields)


def test_without_sasl_there_is_no_mechanism() -> None:
    settings = settings_of(document(security_protocol="SSL", secret_id=None))
    assert settings.access.sasl_mechanism is None
    assert settings.secret_id is None


@pytest.mark.parametrize("empty", [{}, {contract.ENV_CONFIG: "", contract.ENV_BUCKET: ""}])
def test_every_missing_variable_is_named(empty: dict[str, str]) -> None:
    result = config_error(empty)
    assert "KAFKA_LAG_CONFIG is not set" in result
    assert "KAFKA_LAG_BUCKET is not set" in result


def test_faults_of_environment_and_document_are_reported_together(tmp_path: Path) -> None:
    environ = deployed(tmp_path, cafile="nowhere.pem", sinks=["cloudwatch"])
    result = config_error({contract.ENV_CONFIG: environ[contract.ENV_CONFIG]})
    parts = (
        "KAFKA_LAG_BUCKET is not set",
        "shop.json: cafile: there is no file",
        "AWS_REGION is not",
    )
    for part in parts:
        assert part in result


def test_a_document_in_place_of_its_path_is_reported_and_not_repeated(tmp_path: Path) -> None:
    environ = environment(tmp_path, "{}")
    environ[contract.ENV_CONFIG] = json.dumps({"cluster": "shop", "secret_id": "x" * 300})
    result = config_error(environ)
    assert f"{contract.ENV_CONFIG} must be the path of a JSON file" in result
    assert "x" * 100 not in result


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (None, r"cannot be read (No such file or directory)"),
        (b"", "shop.json is not JSON (Expecting"),
        (b"cluster: shop", "shop.json is not JSON (Expecting"),
        (b"\xff\xfe", "shop.json is not JSON ('utf-8' codec"),
        (b"[]", "the configuration must be a JSON object"),
        (json.dumps(GOOD).encode(), "has no version"),
    ],
    ids=["absent", "empty", "no JSON", "no text", "a list", "as a person writes it"],
)
def test_a_document_that_cannot_be_read_is_named(
    tmp_path: Path, data: bytes | None, fault: str
) -> None:
    environ = environment(tmp_path, "{}")
    path = tmp_path / "shop.json"
    path.unlink() if data is None else path.write_bytes(data)
    assert fault in config_error(environ)


@pytest.mark.parametrize(
    ("version", "found"),
    [(None, "has no version"), (2, "is of version 2"), ("1", "is of version '1'"), (True, "is of")],
)
def test_a_document_of_another_version_is_one_fault(
    tmp_path: Path, version: Any, found: str
) -> None:
    written = {**document(cafile="nowhere.pem"), "version": version, "hold": "no longer a number"}
    if version is None:
        del written["version"]
    result = config_error(environment(tmp_path, json.dumps(written)))
    assert f"shop.json: the configuration {found}" in result
    assert "this collector reads version 1: deploy both together" in result
    assert ";" not in result
    with pytest.raises(ConfigError, match=f"the configuration {found}"):
        settings_of(written)


def test_a_document_that_lacks_a_key_is_to_be_deployed_with_its_collector() -> None:
    written = document()
    del written["levels"]["rates"]
    sentence = "The configuration lacks rates, which this collector reads: deploy both together, or"
    with pytest.raises(ConfigError, match=sentence):
        settings_of(written)


def test_a_cafile_that_does_not_exist_is_reported_with_the_other_faults() -> None:
    written = document(cafile="nowhere.pem") | {"bootstrap_servers": ["b-1"]}
    with pytest.raises(ConfigError, match=r"there is no file nowhere\.pem") as caught:
        settings_of(written)
    assert "bootstrap_servers.0: must be host:port, not 'b-1'; " in str(caught.value)


def test_a_cafile_with_junk_in_its_frame_is_a_fault_of_the_document(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text("-----BEGIN CERTIFICATE-----\njunk\n-----END CERTIFICATE-----\n")
    with pytest.raises(ConfigError, match=r"cafile: .*ca\.pem holds no certificates in PEM"):
        settings_of(document(cafile=str(path)))


# What a deployment knows better than the document: the brokers, the region, where files are.

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
