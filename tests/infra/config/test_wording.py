# SPDX-License-Identifier: Apache-2.0
"""No sentence of pydantic's own is shown, whatever is wrong with whichever key."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.reading import check
from tests.infra.config.refused import refused, refused_cluster
from tests.infra.configured import KEY, SECRET, SERVICE, STEPS, cluster_json
from tests.infra.notify.notified import NOTIFY

TRACKED = {**SERVICE, "group": "b", "service": "b", "max": 2, "tracking": {"lag_per_member": 10}}
FULL: dict[str, Any] = {
    "name": "kafka-lag",
    "account": "111122223333",
    "shared": {
        "existing_buckets": {"eu-west-1": "my-bucket"},
        "keep": {"snapshot_days": 35},
        "report": {"enabled": True, "hour": 1, "glue_version": "6.0", "workers": 2},
        "athena": {"scan_limit_gb": 10},
        "notify": NOTIFY.model_dump(mode="json"),
    },
    "clusters": [
        cluster_json(
            auth={"type": "scram", "secret_arn": SECRET, "kms_key_arn": KEY},
            bootstrap_servers=["b:9096"],
            function={"memory_mb": 512, "python": "3.13", "alone": False},
            alarms={"groups": ["billing"], "any_group": True},
            scaling=[{**SERVICE, "max": 8, "steps": STEPS}, TRACKED],
            expected={"groups": 20},
        )
    ],
}
WRONG: tuple[Any, ...] = (
    None, True, 7, -1, 10**9, 1.5, math.nan, "", "x", [], ["x"] * 20, {}, {"x": 1}, {"type": "x"}
)  # fmt: skip
NOT_OURS = re.compile(r"Input|validat|Field |Value |Tuple|Dictionary|\[key\]|instance|items? after")


def places(given: Any, place: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    if place:
        yield place
    listed = enumerate(given) if isinstance(given, list) else ()
    for key, value in given.items() if isinstance(given, dict) else listed:
        yield from places(value, (*place, key))


def changed(place: tuple[int | str, ...], value: Any) -> dict[str, Any]:
    whole = deepcopy(FULL)
    inner: Any = whole
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    return whole


def message(given: dict[str, Any]) -> tuple[str, ...]:
    try:
        check(given, "the test", Path())
    except ConfigurationError as error:
        return error.faults
    return ()


def test_the_whole_is_right_to_begin_with() -> None:
    assert message(FULL) == ()


@pytest.mark.parametrize("place", list(places(FULL)), ids=lambda place: ".".join(map(str, place)))
def test_whatever_stands_there_is_refused_in_our_words(place: tuple[int | str, ...]) -> None:
    faults = [fault for value in WRONG for fault in message(changed(place, value))]
    assert faults
    assert [fault for fault in faults if NOT_OURS.search(fault)] == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"bootstrap_servers": []}, "bootstrap_servers: must have at least one"),
        ({"vpc": cluster_json()["vpc"] | {"subnets": [f"subnet-{n:08}" for n in range(17)]}},
            "vpc.subnets: must have at most 16"),
        ({"function": {"memory_mb": 1}}, "function.memory_mb: must be at least 256"),
        ({"function": {"memory_mb": 10**6}}, "function.memory_mb: must be at most 10240"),
        ({"scaling": [SERVICE | {"max": 8, "tracking": {"lag_per_member": 0}}]},
            "scaling[0].tracking.lag_per_member: must be above 0"),
        ({"scaling": [SERVICE | {"max": 8, "tracking": {"lag_per_member": math.inf}}]},
            "scaling[0].tracking.lag_per_member: must be a number"),
        ({"scaling": [SERVICE | {"max": 8, "steps": STEPS | {"metric": "Lag"}}]},
            "scaling[0].steps.metric: must be 'ScalingLag' or 'EstimatedTimeLag'"),
        ({"auth": {"secret_arn": SECRET}},
            "auth: type is required, one of 'scram', 'iam', 'tls', 'none'"),
        ({"auth": "iam"}, "auth: must be an object"),
    ],
)  # fmt: skip
def test_a_limit_is_told_as_it_is(changes: dict[str, Any], fault: str) -> None:
    assert refused_cluster(**changes) == (fault,)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"alarms": {"groups": "settlement"}},
            'alarms.groups: must be a list, as in ["settlement"]'),
        ({"bootstrap_servers": "b:9096"}, 'bootstrap_servers: must be a list, as in ["b:9096"]'),
        ({"alarms": {"groups": {"a": 1}}}, "alarms.groups: must be a list"),
        ({"scaling": "settlement"}, "scaling: must be a list"),
        ({"sla_seconds": 300}, 'sla_seconds: must be an object of regular expressions and their '
            'values, as in {"^billing$": 300}'),
        ({"owner": "Zoë"}, 'owner: must be an object of regular expressions and their values, as '
            'in {"^billing$": "Zoë"}'),
        ({"sla_seconds": True}, "sla_seconds: must be an object of regular expressions and their "
            "values"),
    ],
)  # fmt: skip
def test_a_value_that_lacks_its_brackets_is_shown_with_them(
    changes: dict[str, Any], fault: str
) -> None:
    assert refused_cluster(**changes) == (fault,)


def test_a_network_without_subnets_is_told_which() -> None:
    assert refused_cluster(vpc={"id": "vpc-0a1b2c3d4e5f60718"}) == (
        "vpc.subnets: is required: the ids of one or more private subnets, best in two zones",
    )


def test_a_configuration_has_a_cluster() -> None:
    assert refused(clusters=[]) == ("clusters: must have at least one",)


def test_a_bucket_is_told_by_a_region() -> None:
    assert refused(shared={"existing_buckets": {"Ireland": "my-bucket"}}) == (
        "shared.existing_buckets: the key Ireland must be a region, such as eu-west-1, "
        "or ACCOUNT/REGION",
    )


def test_a_cluster_is_an_object() -> None:
    assert refused("orders", 7) == (
        "clusters[0]: must be an object",
        "clusters[1]: must be an object",
    )
