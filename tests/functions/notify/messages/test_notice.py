# SPDX-License-Identifier: Apache-2.0
"""What people read of one group's change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.notify.messages.notice import notice
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_change

DOCUMENT = Path(__file__).parents[4] / "docs" / "notifications.md"
WORST = {
    "worst_topic": "orders",
    "worst_partition": 7,
    "worst_leader": 3,
    "worst_member": "consumer-1-5f2c",
}
BEHIND = {"lag": 12_345, "time_lag_seconds": 860.0, "owner": "team-payments"}


def lines(**more: Any) -> list[str]:
    return notice(a_change(**more)).text.splitlines()


def test_a_group_that_fell_ill_is_told_with_its_worst_partition_and_owner() -> None:
    change = a_change(row={**BEHIND, **WORST, "seconds_until_loss": 18_720.0})
    told = notice(change)

    assert told.subject == "Kafka lag ERR: payments on shop (opened)"
    assert told.text.splitlines() == [
        "payments on shop is ERR since 2026-01-31 12:00 UTC, after OK.",
        "Now: 12,345 records behind, the oldest unread for 14 min.",
        "Worst: orders partition 7, led by broker 3, read by consumer-1-5f2c.",
        "At risk: retention may delete unread records in 5.2 h.",
        "Owner: team-payments.",
        f"Incident {change.id} began 2026-01-31 12:00 UTC, read at 2026-01-31 12:02 UTC.",
    ]


def test_the_documented_message_is_what_is_sent() -> None:
    told = notice(a_change(row={**BEHIND, **WORST, "seconds_until_loss": 18_720.0}))

    assert f"```text\n{told.subject}\n\n{told.text}\n```" in DOCUMENT.read_text()


def test_a_group_that_is_well_again_blames_nobody() -> None:
    change = a_change(
        kind=contract.RESOLVED,
        status=contract.OK,
        before=contract.ERR,
        since=NOON + MINUTE,
        row={"lag": 0, "time_lag_seconds": 0.0, **WORST},
    )

    assert notice(change).subject == "Kafka lag OK: payments on shop (resolved)"
    assert notice(change).text.splitlines() == [
        "payments on shop is OK since 2026-01-31 12:01 UTC, after ERR.",
        "Now: 0 records behind.",
        f"Incident {change.id} began 2026-01-31 12:00 UTC, read at 2026-01-31 12:02 UTC.",
    ]


def test_a_group_that_is_gone_is_not_said_to_have_recovered() -> None:
    change = a_change(
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        before=contract.WARN,
        row={"lag": 1, "status_reason": contract.GONE},
    )

    assert notice(change).subject == "Kafka lag GONE: payments on shop (gone)"
    assert notice(change).text.splitlines() == [
        "payments on shop is gone: somebody deleted it, or its offsets expired. This is no "
        "recovery. It was WARN.",
        "When last seen: 1 record behind.",
        f"Incident {change.id} read at 2026-01-31 12:02 UTC.",
    ]


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ({"records_lost": 3}, "Lost: 3 records deleted by retention before they were read."),
        (
            {"status_reason": contract.BEYOND_END},
            "Its committed offset lies beyond the end of the log: was the topic made anew?",
        ),
        ({"status_reason": contract.NO_MEMBER}, "Why: no member of the group reads it."),
        ({"status_reason": contract.FALLING_BEHIND}, "Why: the backlog does not shrink."),
        (
            {"status_reason": contract.SLOW},
            "Why: the backlog shrinks, but would take more than ten times its age.",
        ),
        ({"partitions_unknown": 1}, "Not read: 1 partition, counted as last seen."),
        (
            {"max_lag": 1},
            "Hint: if the topic is written in transactions, set its allowed_lag to 1.",
        ),
        (
            {"time_lag_seconds": 7_200.0, "time_lag_method": contract.METHOD_AT_LEAST},
            "Now: the oldest unread for at least 2 h.",
        ),
        ({"lag": 1}, "Now: 1 record behind."),
        (
            {"worst_topic": "t", "worst_partition": 0},
            "Worst: t partition 0, no leader known, no member known.",
        ),
        ({"seconds_until_loss": 0.0}, "At risk: retention may delete unread records in 0 s."),
    ],
)
def test_what_matters_is_said(row: dict[str, Any], line: str) -> None:
    assert line in lines(row=row)


def test_what_is_unknown_is_not_mentioned() -> None:
    assert len(lines(row=dict.fromkeys(contract.COLUMNS[contract.GROUPS]))) == 2


def test_no_loss_in_sight_is_not_mentioned() -> None:
    assert len(lines(row={"seconds_until_loss": contract.NO_LOSS_SECONDS})) == 2


def test_subscribers_filter_by_cluster_group_status_owner_and_kind() -> None:
    assert notice(a_change(row=BEHIND)).attributes == {
        "cluster": "shop",
        "group": "payments",
        "status": "ERR",
        "owner": "team-payments",
        "kind": "opened",
    }


def test_a_group_that_nobody_owns_has_no_owner() -> None:
    assert "owner" not in notice(a_change(row={"owner": None})).attributes


def test_a_strangers_name_is_a_filter_value_as_it_is_a_dimension() -> None:
    attributes = notice(a_change("zahlung\u20ac\n")).attributes

    assert attributes["group"] == "zahlung%E2%82%AC%0A"


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=300))
def test_no_name_breaks_subject_or_text(group: str, topic: str, member: str) -> None:
    row = {**WORST, "worst_topic": topic, "worst_member": member}
    told = notice(a_change(group, row=row))

    assert told.subject.isascii()
    assert told.subject.isprintable()
    assert len(told.subject) < 100
    assert told.subject.endswith("on shop (opened)")
    assert len(told.text.splitlines()) == 3
    assert all(line.isprintable() for line in told.text.splitlines())


def test_a_cluster_with_a_long_name_leaves_room_for_the_group() -> None:
    told = notice(replace(a_change("g" * 300), cluster="c" * 128))

    assert len(told.subject) == 99
    assert "g" * 30 in told.subject
