# SPDX-License-Identifier: Apache-2.0
"""Logins that MSK or the collector's role could not go through with."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.config.refused import refused_cluster
from tests.infra.configured import KEY, SECRET, cluster, cluster_json

SCRAM = {"type": "scram", "secret_arn": SECRET, "kms_key_arn": KEY}
SERVERLESS = cluster_json()["arn"][:-1] + "s2"
OUTSIDE = {"arn": None, "region": "eu-west-1", "bootstrap_servers": ["b:9096"]}


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in SCRAM.items() if name != key}


def test_a_secret_of_msk_needs_its_key() -> None:
    assert refused_cluster(auth=without("kms_key_arn")) == (
        "auth.kms_key_arn: is required: MSK's secrets are encrypted with a key of yours, and the "
        "collector cannot read one without a right on it",
    )


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(OUTSIDE | {"auth": without("kms_key_arn")}, id="not-MSK"),
        pytest.param({"auth": {"type": "tls", "secret_arn": SECRET}}, id="a-certificate"),
        pytest.param(
            {"auth": without("kms_key_arn") | {"secret_arn": SECRET.replace("AmazonMSK_", "")}},
            id="a-copy-of-ones-own",
        ),
    ],
)
def test_another_secret_may_have_aws_own_key(changes: dict[str, Any]) -> None:
    assert cluster(**changes).auth.type in ("scram", "tls")


ELSEWHERE = "is in us-east-1, but the collector is in eu-west-1 and uses its own region's alone"


@pytest.mark.parametrize("kind", ["scram", "tls"])
@pytest.mark.parametrize(("key", "arn"), [("secret_arn", SECRET), ("kms_key_arn", KEY)])
def test_a_secret_and_its_key_are_in_the_collectors_region(kind: str, key: str, arn: str) -> None:
    auth = SCRAM | {"type": kind, key: arn.replace("eu-west-1", "us-east-1")}
    assert refused_cluster(auth=auth) == (f"auth.{key}: {ELSEWHERE}",)


def test_the_region_of_other_kafka_is_the_one_it_was_given() -> None:
    auth = {"type": "scram", "secret_arn": SECRET.replace("eu-west-1", "us-east-1")}
    assert refused_cluster(**OUTSIDE | {"auth": auth}) == (f"auth.secret_arn: {ELSEWHERE}",)


def test_a_secret_of_msk_is_in_the_clusters_account() -> None:
    auth = SCRAM | {"secret_arn": SECRET.replace("111122223333", "444455556666")}
    assert refused_cluster(auth=auth) == (
        "auth.secret_arn: is of the account 444455556666, but MSK takes secrets of the cluster's "
        "own, 111122223333",
    )


@pytest.mark.parametrize(
    "auth",
    [
        pytest.param(SCRAM, id="scram"),
        pytest.param({"type": "tls", "secret_arn": SECRET}, id="tls"),
        pytest.param({"type": "none"}, id="none"),
    ],
)
def test_msk_serverless_takes_iam_alone(auth: dict[str, Any]) -> None:
    assert refused_cluster(arn=SERVERLESS, auth=auth) == (
        "auth.type: must be iam, as MSK Serverless takes nothing else",
    )


def test_a_clusters_name_does_not_make_it_serverless() -> None:
    assert cluster(name="to-s3").auth.type == "scram"
    assert not cluster(name="to-s3").is_serverless


def test_without_a_region_nothing_is_said_to_be_elsewhere() -> None:
    assert refused_cluster(**OUTSIDE | {"region": None}) == (
        ": give region, as there is no arn that has it",
    )


def test_msk_serverless_with_iam_is_taken() -> None:
    taken = cluster(arn=SERVERLESS, auth={"type": "iam"})
    assert (taken.ports, taken.is_serverless) == (((9098, 9098),), True)


def test_kafka_without_an_arn_is_not_msk_serverless() -> None:
    assert not cluster(**OUTSIDE).is_serverless


def test_all_that_keeps_a_cluster_out_of_reach_is_told_together() -> None:
    message = refused_cluster(arn=None, auth={"type": "iam"})
    assert message == (
        ": give arn, or bootstrap_servers where it is not MSK",
        ": auth of type iam needs arn: rights are granted on it",
        ": give region, as there is no arn that has it",
    )


@pytest.mark.parametrize("key", ["secret_arn", "kms_key_arn"])
@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("iam", "iam takes no secret: remove it, or set type to scram"),
        ("none", "none takes no secret: remove it, or set type to scram or tls"),
    ],
)
def test_a_secret_of_a_login_without_one_is_told_what_to_do(
    kind: str, advice: str, key: str
) -> None:
    assert refused_cluster(auth={"type": kind, key: SCRAM[key]}) == (f"auth.{key}: {advice}",)


BROKER = "b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com"
LOGINS: dict[str, dict[str, Any]] = {
    "scram": SCRAM,
    "iam": {"type": "iam"},
    "tls": {"type": "tls", "secret_arn": SECRET},
    "none": {"type": "none"},
    "plaintext": {"type": "none", "plaintext": True},
}


def on_ports(login: str, *ports: int, host: str = BROKER) -> dict[str, Any]:
    return {"auth": LOGINS[login], "bootstrap_servers": [f"{host}:{port}" for port in ports]}


@pytest.mark.parametrize(
    ("login", "port", "sentence"),
    [
        ("scram", 9098, "9098 is MSK's port for iam; for scram it is 9096"),
        ("scram", 9198, "9198 is MSK's port for iam; for scram it is 9196"),
        ("iam", 9096, "9096 is MSK's port for scram; for iam it is 9098"),
        ("iam", 9194, "9194 is MSK's port for tls and none; for iam it is 9198"),
        ("tls", 9092, "9092 is MSK's port for plaintext; for tls it is 9094"),
        ("none", 9096, "9096 is MSK's port for scram; for none it is 9094"),
        ("plaintext", 9094, "9094 is MSK's port for tls and none; for plaintext it is 9092"),
        ("plaintext", 9196, "9196 is MSK's port for scram; for plaintext it is 9092"),
    ],
)
def test_a_port_on_which_msk_expects_another_login_is_told(
    login: str, port: int, sentence: str
) -> None:
    assert refused_cluster(**on_ports(login, port)) == (f"bootstrap_servers[0]: {sentence}",)


def test_the_server_that_has_it_is_named() -> None:
    (fault,) = refused_cluster(**on_ports("scram", 9096, 9098))
    assert fault.startswith("bootstrap_servers[1]: 9098 is")


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(on_ports("scram", 9096, 9196), id="its own"),
        pytest.param(on_ports("iam", 9098, 9198), id="iam's own"),
        pytest.param(on_ports("plaintext", 9092), id="without TLS"),
        pytest.param(on_ports("scram", 14001, 14100), id="private connectivity"),
        pytest.param(on_ports("scram", 443, 9192, 19098), id="ports of ones own"),
        pytest.param(on_ports("scram", 9098, host="kafka.example.com"), id="not MSK"),
        pytest.param(
            on_ports("scram", 9098, host="lag-1.elb.eu-west-1.amazonaws.com"), id="a balancer"
        ),
    ],
)
def test_any_other_port_is_taken(given: dict[str, Any]) -> None:
    assert cluster(**given).bootstrap_servers


def test_a_serverless_brokers_port_is_known_too() -> None:
    host = "boot-a1b2c3.c1.kafka-serverless.us-east-1.amazonaws.com"
    (fault,) = refused_cluster(arn=SERVERLESS, **on_ports("iam", 9096, host=host))
    assert "for iam it is 9098" in fault
