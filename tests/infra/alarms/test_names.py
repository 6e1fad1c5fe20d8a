# SPDX-License-Identifier: Apache-2.0
"""Alarms of groups with any name: legal, readable, never two alike."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_cdk.alarm_rules import SLA, STATUS, Rule
from kafka_lag_cdk.alarms import ClusterSubject
from kafka_lag_cdk.names import construct_id
from tests.infra.configured import cluster

GROUPS = st.text(max_size=300) | st.sampled_from(["a" * 240, "a" * 300, "ä" * 300])
ORDERS, LONG = cluster(), cluster(name="o" * 128)


def alarm_name(rule: Rule, group: str | None = None, deployment: str = "kafka-lag") -> str:
    return ClusterSubject(ORDERS, group, deployment).name(rule)


def test_a_name_is_read_from_left_to_right() -> None:
    assert alarm_name(STATUS, "billing") == "kafka-lag/orders/status/billing"
    assert alarm_name(STATUS) == "kafka-lag/orders/status"


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
