# SPDX-License-Identifier: Apache-2.0
"""What lags in the scenarios of skew, and what those partitions have in common."""

import pytest

from dev.days import scenarios
from tests.dev.days.conftest import Ask

MUCH = 1_000
LAGGING = ("topic", "partition_id", "leader", "member_id")


def lagging(ask: Ask, group: str, column: str) -> set[object]:
    """What the partitions with much lag on average have in this column."""
    rows = ask(
        "SELECT topic, partition_id, leader, member_id FROM group_partitions "
        "WHERE consumer_group = ? GROUP BY ALL HAVING avg(lag) > ?",
        group,
        MUCH,
    )
    return {row[LAGGING.index(column)] for row in rows}


def test_the_keyed_topic_is_written_667_to_166_to_167(ask: Ask) -> None:
    rows = ask(
        "SELECT max(end_offset) - min(end_offset) FROM topic_partitions WHERE topic = 'keys' "
        "GROUP BY partition_id ORDER BY partition_id"
    )

    total = sum(rise for (rise,) in rows)
    assert [rise / total for (rise,) in rows] == pytest.approx([0.667, 0.166, 0.167], abs=1e-4)


def test_the_lag_of_the_keyed_topic_is_spread_as_its_production(ask: Ask) -> None:
    rows = ask(
        "SELECT avg(lag) FROM group_partitions WHERE consumer_group = 'keyed' "
        "GROUP BY partition_id ORDER BY partition_id"
    )

    total = sum(mean for (mean,) in rows)
    assert [mean / total for (mean,) in rows] == pytest.approx([0.667, 0.166, 0.167], abs=0.005)
    assert total > MUCH


def test_only_what_the_slow_broker_leads_lags_and_all_members_own_some(ask: Ask) -> None:
    assert lagging(ask, "slow-broker", "leader") == {scenarios.SLOW_BROKER}
    assert len(lagging(ask, "slow-broker", "member_id")) == 4
    assert lagging(ask, "slow-broker", "topic") == {"led-a", "led-b"}


def test_only_what_the_slow_member_owns_lags_and_all_brokers_lead_some(ask: Ask) -> None:
    assert lagging(ask, "slow-member", "member_id") == {scenarios.SLOW_MEMBER.member_id}
    assert lagging(ask, "slow-member", "leader") == {1, 2, 3}


def test_no_broker_and_no_member_explains_the_odd_lag(ask: Ask) -> None:
    assert lagging(ask, "odd-lag", "partition_id") == set(scenarios.UNEXPLAINED)
    assert len(lagging(ask, "odd-lag", "leader")) == 3
    assert len(lagging(ask, "odd-lag", "member_id")) == 3
