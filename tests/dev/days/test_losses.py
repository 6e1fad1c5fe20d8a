# SPDX-License-Identifier: Apache-2.0
"""Who loses records in the scenarios, who would, and what becomes of statuses."""

import pytest

from dev.days import scenarios
from tests.dev.days.conftest import EVERY, Ask


def test_records_are_lost_from_eight_until_the_group_is_back(ask: Ask) -> None:
    ((first, last, lost),) = ask(
        "SELECT min(epoch(taken_at)) % 86400, max(epoch(taken_at)) % 86400, max(records_lost) "
        "FROM group_partitions WHERE consumer_group = 'lost' AND retention_risk = 'LOST'"
    )

    run = EVERY.total_seconds()
    assert first == pytest.approx(scenarios.LOST_FROM * 3_600, abs=run)
    assert last == scenarios.LOST_UNTIL * 3_600 - run
    assert lost > 0


def test_a_group_at_risk_has_five_hours_left_at_midnight(ask: Ask) -> None:
    ((risk, seconds),) = ask(
        "SELECT retention_risk, seconds_until_loss FROM group_partitions "
        "WHERE consumer_group = 'would-lose' AND partition_id = 0 ORDER BY taken_at DESC LIMIT 1"
    )

    assert risk == "AT_RISK"
    assert seconds == pytest.approx(5 * 3_600, abs=EVERY.total_seconds())


def test_a_safe_group_is_never_anything_else(ask: Ask) -> None:
    rows = ask(
        "SELECT DISTINCT retention_risk FROM group_partitions "
        "WHERE consumer_group = 'safe' AND retention_risk IS NOT NULL"
    )

    assert rows == [("SAFE",)]


def test_the_promise_is_broken_only_in_and_just_after_its_hours(ask: Ask) -> None:
    ((owner, first, last),) = ask(
        "SELECT any_value(owner), min(hour(taken_at)), max(hour(taken_at)) FROM groups "
        "WHERE consumer_group = 'promised' AND time_lag_seconds > sla_seconds"
    )

    assert owner == scenarios.SLA_OWNER
    assert (first, last) == (scenarios.SLA_MISSED.begin, scenarios.SLA_MISSED.end)


@pytest.mark.parametrize(
    ("group", "status"),
    [("falls-behind", "WARN"), ("stops", "STOP"), ("away", "STOP"), ("goes-back", "REWIND")],
)
def test_a_group_has_the_status_that_it_is_named_after(ask: Ask, group: str, status: str) -> None:
    rows = ask("SELECT DISTINCT status FROM group_partitions WHERE consumer_group = ?", group)

    assert (status,) in rows
