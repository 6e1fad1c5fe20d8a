# SPDX-License-Identifier: Apache-2.0
"""A fault of `defaults` is reported once and there, a cluster's own with the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.config.refused import refused
from tests.infra.configured import SECRET, SERVICE, STEPS, cluster_json

TWO = (cluster_json(), cluster_json(name="audit"))
SCALING = {**SERVICE, "max": 8, "steps": STEPS}
INTERVALS = (
    "must be whole minutes that divide an hour: 60, 120, 180, 240, 300, 360, 600, 720, 900, 1200, "
    "1800 or 3600"
)


@pytest.mark.parametrize(
    ("defaults", "fault"),
    [
        ({"pasued": True}, "pasued: unknown key, did you mean paused?"),
        ({"paused": "yes"}, "paused: Input should be a valid boolean"),
        ({"hold": 0}, "hold: Input should be greater than or equal to 1"),
        ({"groups": {"denny": "x"}}, "groups.denny: unknown key, did you mean deny?"),
        ({"sla_seconds": {"a.b: c": 0}}, "sla_seconds.a.b: c: Input should be greater than 0"),
        ({"interval_seconds": 90}, f"interval_seconds: {INTERVALS}"),
        ({"interval_seconds": 3600, "window": "25h"}, "window: must be at most 24h, and is 25h"),
        ({"ca_file": "no.pem"}, "ca_file: there is no file no.pem"),
        ({"secret_id": "x"}, "secret_id: follows from auth; leave it out"),
        ({"collector": {}}, "collector: unknown key"),
        ({"function": {"memory_mb": 1}},
            "function.memory_mb: Input should be greater than or equal to 256"),
        ({"alarms": {"groups": ["ok", 7]}}, "alarms.groups[1]: Input should be a valid string"),
        ({"scaling": [{k: v for k, v in SCALING.items() if k != "max"}]},
            "scaling[0].max: Field required"),
        ({"scaling": [SCALING | {"min": 9}]}, "scaling[0]: min is 9 and above max, 8"),
    ],
)  # fmt: skip
def test_what_only_defaults_say_is_told_there(defaults: dict[str, Any], fault: str) -> None:
    assert refused(*TWO, defaults=defaults) == (f"defaults.{fault}",)


def test_a_login_of_all_is_told_once() -> None:
    clusters = [{key: each[key] for key in ("name", "arn", "vpc")} for each in TWO]
    auth = {"type": "scram", "secret_arn": SECRET[:-7]}
    assert refused(*clusters, defaults={"auth": auth}) == (
        "defaults.auth.secret_arn: must be a secret's whole ARN, with the six characters that "
        "AWS puts at its end",
    )


def test_what_a_cluster_says_itself_is_told_with_it() -> None:
    clusters = (cluster_json(hold=0), cluster_json(name="audit", levels={"max_metric": 1}))
    defaults = {"hold": -1, "levels": {"max_metric": 2}}
    assert [fault.partition(":")[0] for fault in refused(*clusters, defaults=defaults)] == [
        "defaults.levels.max_metric",
        "defaults.hold",
        "clusters[0].hold",
        "clusters[1].levels.max_metric",
    ]


def test_an_expression_is_told_apart_from_one_that_it_begins_with() -> None:
    given = cluster_json(sla_seconds={"a": 1, "a.b": 1})
    (message,) = refused(given, defaults={"sla_seconds": {"a.b: c": 0}})
    assert message.startswith("defaults.sla_seconds.a.b: c: Input should be greater than 0")


def test_what_is_missing_everywhere_is_missing_in_the_clusters() -> None:
    given = {key: value for key, value in cluster_json().items() if key != "vpc"}
    found = refused(given, defaults={"vpc": {"id": "vpc-0a1b2c3d4e5f60718"}})
    assert found == ("clusters[0].vpc.subnets: Field required",)


@pytest.mark.parametrize(
    ("own", "defaults", "place"),
    [
        pytest.param(
            {"groups": {"deny": "X"}}, {"alarms": {"groups": ["X"]}}, "alarms.groups[0]", id="names"
        ),
        pytest.param({"interval_seconds": 300}, {"window": "10m"}, "window", id="window"),
    ],
)
def test_what_goes_wrong_with_a_clusters_own_keys_only_is_told_with_it(
    own: dict[str, Any], defaults: dict[str, Any], place: str
) -> None:
    found = refused(cluster_json(), cluster_json(name="audit", **own), defaults=defaults)
    assert [fault.partition(":")[0] for fault in found] == [f"clusters[1].{place}"]


def test_a_login_that_one_cluster_cannot_use_is_told_with_it() -> None:
    arn = cluster_json()["arn"].replace("eu-west-1", "us-east-1")
    given = {"name": "us", "arn": arn, "vpc": cluster_json()["vpc"]}
    (message,) = refused(given, defaults={"auth": {"type": "tls", "secret_arn": SECRET}})
    assert message.startswith("clusters[0].auth.secret_arn: is in eu-west-1")


@pytest.mark.parametrize("defaults", [None, [], 7])
def test_defaults_that_are_no_object_are_refused(defaults: Any) -> None:
    assert refused(cluster_json(), defaults=defaults) == ("defaults: must be an object",)
