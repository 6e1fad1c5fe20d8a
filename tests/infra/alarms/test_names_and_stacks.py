# SPDX-License-Identifier: Apache-2.0
"""Names of alarms, which brokers have some, and which stack has those on a named group."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_cdk.alarms import ClusterSubject
from kafka_lag_cdk.names import construct_id
from kafka_lag_config.alarm_rules import SLA, STATUS, Rule, alarm_shares
from tests.infra.alarms.conftest import alarms_of
from tests.infra.configured import cluster

GROUPS = st.text(max_size=300) | st.sampled_from(["a" * 240, "a" * 300, "ä" * 300])
ORDERS, LONG = cluster().facts, cluster(name="o" * 128).facts


def alarm_name(rule: Rule, group: str | None = None, deployment: str = "kafka-lag") -> str:
    return ClusterSubject(ORDERS, group, deployment).name(rule)


@given(GROUPS)
def test_a_name_is_printable_ascii_that_fits(group: str) -> None:
    name = ClusterSubject(LONG, group, "d" * 40).name(SLA)
    assert len(name) <= 255
    assert name.isascii()
    assert name.isprintable()


@given(GROUPS, GROUPS)
def test_two_groups_never_share_a_name_or_a_construct(one: str, other: str) -> None:
    same = one == other
    assert (alarm_name(STATUS, one) == alarm_name(STATUS, other)) is same
    assert (construct_id("Status", one) == construct_id("Status", other)) is same


@pytest.mark.parametrize("group", ["billing", "a" * 300])
def test_two_deployments_never_share_a_name(group: str) -> None:
    assert alarm_name(STATUS, group, "one") != alarm_name(STATUS, group, "two")


def test_a_long_name_ends_in_what_no_short_one_can() -> None:
    shortened = alarm_name(STATUS, "a" * 300)
    assert re.search(r"%~[0-9a-f]{12}\Z", shortened)
    assert alarm_name(STATUS, shortened.removeprefix("kafka-lag/orders/status/")) != shortened


@given(GROUPS)
def test_a_construct_is_of_letters_digits_and_dashes(group: str) -> None:
    assert re.fullmatch(r"Status(-[A-Za-z0-9]{1,20})?-[0-9a-f]{12}", construct_id("Status", group))


BOTH = {"broker-disk", "broker-cpu"}
SERVERLESS = "arn:aws:kafka:eu-west-1:111122223333:cluster/orders/0a1b2c3d-1111-2222-3333-s2"
OTHER = {"arn": None, "bootstrap_servers": ["b:9096"], "region": "eu-west-1"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, BOTH),
        ({"broker_type": "express"}, {"broker-cpu"}),
        ({"alarms": {"brokers": False}}, set()),
        ({"paused": True}, set()),
        ({"arn": SERVERLESS, "auth": {"type": "iam"}}, set()),
        (OTHER, set()),
    ],
)
def test_brokers_are_watched_where_there_are_metrics_of_them(
    changes: dict[str, Any], expected: set[str]
) -> None:
    assert BOTH & set(alarms_of(**changes)) == expected


def named(count: int) -> list[str]:
    return [f"group-{number}" for number in range(count)]


def shares(count: int) -> tuple[frozenset[str], ...]:
    """Of so many groups with three alarms each."""
    watched = cluster(
        alarms={"groups": named(count)}, sla_seconds={".*": 60}, levels={"max_metrics": 100_000}
    )
    return alarm_shares(watched.facts)


@pytest.mark.parametrize(("count", "stacks"), [(0, 0), (100, 0), (101, 2), (300, 4)])
def test_beyond_three_hundred_alarms_they_are_shared_out(count: int, stacks: int) -> None:
    found = shares(count)
    assert len(found) == stacks
    assert all(3 * len(share) <= 300 for share in found)
    if found:
        assert sorted(group for share in found for group in share) == sorted(named(count))


def test_offset_lag_and_anomalies_count_too() -> None:
    groups = named(61)
    watched = cluster(
        alarms={
            "groups": groups,
            "anomalies": groups,
            "offset_lag": dict.fromkeys(groups, 1000),
        },
        levels={"max_metrics": 100_000},
    )
    assert len(alarm_shares(watched.facts)) == 2


def test_a_group_keeps_its_stack_while_there_are_as_many() -> None:
    before, after = shares(150), shares(151)
    assert len(before) == len(after)
    assert all(old <= new for old, new in zip(before, after, strict=True))


def test_where_stacks_double_a_group_stays_or_goes_to_a_later_one() -> None:
    """Deployed in order, an alarm is gone from a stack before another makes it."""
    before, after = shares(150), shares(450)
    assert len(before) < len(after)
    for group in named(150):
        (old,) = (number for number, share in enumerate(before) if group in share)
        (new,) = (number for number, share in enumerate(after) if group in share)
        assert new >= old
