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
