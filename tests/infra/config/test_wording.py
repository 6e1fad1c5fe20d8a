# SPDX-License-Identifier: Apache-2.0
"""Whatever is wrong with whichever key is a fault at its place, and nothing else."""

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
# What pydantic puts into places, and before sentences of checks of ours.
NOT_SHOWN = re.compile(r"\[key\]|Value error")


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
def test_whatever_stands_there_is_refused(place: tuple[int | str, ...]) -> None:
    faults = [fault for value in WRONG for fault in message(changed(place, value))]
    assert faults
    assert [fault for fault in faults if NOT_SHOWN.search(fault)] == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"alarms": {"groups": "settlement"}}, "alarms.groups: must be a list"),
        ({"sla_seconds": 300}, "sla_seconds: must be an object of regular expressions and their "
            'values, as in {"^billing$": 300}'),
        ({"sla_seconds": True}, "sla_seconds: must be an object of regular expressions and their "
            "values"),
        ({"auth": {"secret_arn": SECRET}},
            "auth: Unable to extract tag using discriminator 'type'"),
    ],
)  # fmt: skip
def test_a_fault_has_its_place_and_what_was_expected(changes: dict[str, Any], fault: str) -> None:
    assert refused_cluster(**changes) == (fault,)


def test_a_bucket_is_told_by_a_region() -> None:
    assert refused(shared={"existing_buckets": {"Ireland": "my-bucket"}}) == (
        "shared.existing_buckets: the key Ireland: must be a region, such as eu-west-1, "
        "or ACCOUNT/REGION",
    )
