# SPDX-License-Identifier: Apache-2.0
"""Alarms of groups with any name: legal, readable, never two alike."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from infra.alarms.names import alarm_name, construct_id
from infra.alarms.rules import SLA, STATUS

GROUPS = st.text(max_size=300) | st.sampled_from(["a" * 240, "a" * 300, "ä" * 300])


def test_a_name_is_read_from_left_to_right() -> None:
    assert alarm_name("orders", STATUS, "billing") == "kafka-lag/orders/status/billing"
    assert alarm_name("orders", STATUS) == "kafka-lag/orders/status"


@given(GROUPS)
def test_a_name_is_printable_ascii_that_fits(group: str) -> None:
    name = alarm_name("o" * 40, SLA, group)
    assert len(name) <= 255
    assert name.isascii()
    assert name.isprintable()


@given(GROUPS, GROUPS)
def test_two_groups_never_share_a_name_or_a_construct(one: str, other: str) -> None:
    same = one == other
    assert (alarm_name("c", STATUS, one) == alarm_name("c", STATUS, other)) is same
    assert (construct_id("Status", one) == construct_id("Status", other)) is same


def test_a_long_name_ends_in_what_no_short_one_can() -> None:
    shortened = alarm_name("c", STATUS, "a" * 300)
    assert re.search(r"%~[0-9a-f]{12}\Z", shortened)
    assert alarm_name("c", STATUS, shortened.removeprefix("kafka-lag/c/status/")) != shortened


@given(GROUPS)
def test_a_construct_is_of_letters_digits_and_dashes(group: str) -> None:
    assert re.fullmatch(r"Status(-[A-Za-z0-9]{1,20})?-[0-9a-f]{12}", construct_id("Status", group))
