# SPDX-License-Identifier: Apache-2.0
"""Which stack has the alarms on a named group, where one cannot hold those of all."""

from __future__ import annotations

import pytest

from kafka_lag_cdk.alarm_rules import alarm_shares
from tests.infra.configured import cluster


def named(count: int) -> list[str]:
    return [f"group-{number}" for number in range(count)]


def shares(count: int) -> tuple[frozenset[str], ...]:
    """Of so many groups with three alarms each."""
    watched = cluster(
        alarms={"groups": named(count)}, sla_seconds={".*": 60}, levels={"max_metrics": 100_000}
    )
    return alarm_shares(watched)


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
    assert len(alarm_shares(watched)) == 2


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
