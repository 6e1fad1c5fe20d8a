# SPDX-License-Identifier: Apache-2.0
"""Names of alarms, and brokers that have alarms."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_cdk.alarms import subject_of
from kafka_lag_cdk.names import construct_id
from kafka_lag_config.alarm_rules import SLA, STATUS, Rule
from kafka_lag_config.faults import ConfigurationError
from tests.infra.alarms.conftest import alarms_of
from tests.infra.configured import cluster

GROUPS = st.text(max_size=300) | st.sampled_from(["a" * 240, "a" * 300, "ä" * 300])
ORDERS, LONG = cluster().facts, cluster(name="o" * 128).facts


def alarm_name(rule: Rule, group: str | None = None, deployment: str = "kafka-lag") -> str:
    return subject_of(ORDERS, group, deployment).name(rule)


@given(GROUPS)
def test_a_name_is_printable_ascii_that_fits(group: str) -> None:
    name = subject_of(LONG, group, "d" * 40).name(SLA)
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


def watch(count: int, **more: bool) -> None:
    groups = [f"group-{number}" for number in range(count)]
    alarms = {"groups": groups} | {key: dict.fromkeys(groups, 1) for key in more}
    cluster(alarms=alarms, sla_seconds={".*": 60}, levels={"max_metrics": 100_000})


def test_more_alarms_on_named_groups_than_a_stack_holds_are_refused() -> None:
    watch(100)
    with pytest.raises(ConfigurationError, match=r"alarms: the groups named there have 303 alarms"):
        watch(101)
    with pytest.raises(ConfigurationError, match=r"have 304 alarms"):
        watch(76, offset_lag=True)
