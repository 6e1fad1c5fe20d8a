# SPDX-License-Identifier: Apache-2.0
"""What people and machines read of a change, and of many at once."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.notify.changes import StatusChange
from kafka_lag.notify.messages import Notice, StatusMessage, build_event, build_messages
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_change, a_row

DOCUMENT = Path(__file__).parents[3] / "docs" / "notifications.md"
WORST = {
    "worst_topic": "orders",
    "worst_partition": 7,
    "worst_leader": 3,
    "worst_member": "consumer-1-5f2c",
}
BEHIND = {"lag": 12_345, "time_lag_seconds": 860.0, "owner": "team-payments"}
ROW = a_row(
    "payments",
    contract.ERR,
    owner="team-payments",
    lag=12_345,
    max_lag=9_800,
    time_lag_seconds=860.0,
    time_lag_error_seconds=1.0,
    time_lag_method=contract.METHOD_RECORD_TIME,
    drain_seconds=None,
    seconds_until_loss=18_720.0,
    records_lost=0,
    members=4,
    partitions=12,
    partitions_unknown=0,
    complete=1.0,
    status_reason=None,
    worst_topic="orders",
    worst_partition=7,
    worst_leader=3,
    worst_member="consumer-1-5f2c",
)


def notice(change: StatusChange) -> Notice:
    (message,) = build_messages([change], 100)
    return message.notice


def lines(**more: Any) -> list[str]:
    return notice(a_change(**more)).text.splitlines()


def test_a_group_that_fails_is_reported_with_its_worst_partition_and_owner() -> None:
    change = a_change(row={**BEHIND, **WORST, "seconds_until_loss": 18_720.0})
    sent = notice(change)

    assert sent.subject == "Kafka lag ERR: payments on shop (opened)"
    assert sent.text.splitlines() == [
        "payments on shop is ERR since 2026-01-31 12:00 UTC, after OK.",
        "Now: 12,345 records behind, the oldest unread for 14 min.",
        "Worst: orders partition 7, led by broker 3, read by consumer-1-5f2c.",
        "At risk: retention may delete unread records in 5.2 h.",
        "Owner: team-payments.",
        f"Incident {change.incident_id} began 2026-01-31 12:00 UTC, read at 2026-01-31 12:02 UTC.",
    ]


def test_the_documented_message_is_what_is_sent() -> None:
    sent = notice(a_change(row={**BEHIND, **WORST, "seconds_until_loss": 18_720.0}))

    assert f"```text\n{sent.subject}\n\n{sent.text}\n```" in DOCUMENT.read_text()


def test_a_group_that_is_well_again_blames_nobody() -> None:
    change = a_change(
        kind=contract.RESOLVED,
        status=contract.OK,
        previous_status=contract.ERR,
        since=NOON + MINUTE,
        row={"lag": 0, "time_lag_seconds": 0.0, **WORST},
    )

    assert notice(change).subject == "Kafka lag OK: payments on shop (resolved)"
    assert notice(change).text.splitlines() == [
        "payments on shop is OK since 2026-01-31 12:01 UTC, after ERR.",
        "Now: 0 records behind.",
        f"Incident {change.incident_id} began 2026-01-31 12:00 UTC, read at 2026-01-31 12:02 UTC.",
    ]


def test_a_group_that_is_gone_is_not_said_to_have_recovered() -> None:
    change = a_change(
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        previous_status=contract.WARN,
        row={"lag": 1, "status_reason": contract.GONE},
    )

    assert notice(change).subject == "Kafka lag GONE: payments on shop (gone)"
    assert notice(change).text.splitlines() == [
        "payments on shop is gone: somebody deleted it, or its offsets expired. This is no "
        "recovery. It was WARN.",
        "When last seen: 1 record behind.",
        f"Incident {change.incident_id} read at 2026-01-31 12:02 UTC.",
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
            {"unusual": True},
            "Unusual: this is not what the group is like at this hour of this weekday.",
        ),
        (
            {"rebalancing_share": 0.6},
            "Rebalancing: the group does so all the time; do its members crash, or time out?",
        ),
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
    sent = notice(a_change(group, row=row))

    assert sent.subject.isascii()
    assert sent.subject.isprintable()
    assert len(sent.subject) < 100
    assert sent.subject.endswith("on shop (opened)")
    assert len(sent.text.splitlines()) == 3
    assert all(line.isprintable() for line in sent.text.splitlines())


def test_a_cluster_with_a_long_name_leaves_room_for_the_group() -> None:
    sent = notice(replace(a_change("g" * 300), cluster="c" * 128))

    assert len(sent.subject) == 99
    assert "g" * 30 in sent.subject


def test_the_documented_example_is_what_is_sent() -> None:
    (example,) = re.findall(r"```json\n(\{.*?\})\n```", DOCUMENT.read_text(), re.DOTALL)
    documented = json.loads(example)

    assert documented["detail"] == json.loads(build_event(a_change(row=ROW)).detail)
    assert documented["source"] == contract.EVENT_SOURCE
    assert documented["detail-type"] == contract.EVENT_DETAIL_TYPE


def test_every_field_is_documented() -> None:
    text = DOCUMENT.read_text()
    detail = json.loads(build_event(a_change(row=ROW)).detail)

    assert [name for name in detail if f"`{name}`" not in text] == []


def test_what_is_unknown_is_null() -> None:
    detail = json.loads(build_event(a_change(row={})).detail)

    assert detail["lag"] is None
    assert detail["worst"] == dict.fromkeys(("topic", "partition", "leader", "member"))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_has_no_word_for_is_null(value: float) -> None:
    detail = json.loads(build_event(a_change(row={"time_lag_seconds": value})).detail)

    assert detail["time_lag_seconds"] is None


def test_the_longest_names_that_kafka_takes_fit_into_an_event() -> None:
    longest = "\0" * 32_767
    row = {**ROW, "worst_member": longest, "worst_topic": longest, "owner": longest}

    assert len(build_event(a_change(longest, row=row)).detail.encode()) < 256_000


def changes(count: int, **more: Any) -> list[StatusChange]:
    return [a_change(f"group-{number:05}", **more) for number in range(count)]


def bulk_message(found: list[StatusChange], groups: int | None = None) -> StatusMessage:
    (one,) = build_messages(found, len(found) if groups is None else groups)
    return one


@pytest.mark.parametrize(
    ("changed", "groups", "messages"),
    [
        (10, 20, 1),
        (10, 21, 10),
        (9, 9, 9),
        (11, 22, 1),
        (99, 1_000, 99),
        (100, 1_000, 1),
        (0, 0, 0),
    ],
)
def test_half_of_all_groups_and_ten_at_least_or_a_hundred_are_a_bulk_change(
    changed: int, groups: int, messages: int
) -> None:
    assert len(build_messages(changes(changed), groups)) == messages


def test_a_bulk_change_says_how_many_and_names_the_worst_first() -> None:
    leader = {"worst_topic": "t", "worst_partition": 1, "worst_leader": 4}
    row = {"lag": 9, "owner": "team-a", **leader}
    warned = [a_change("z", status=contract.WARN, row={"lag": 10**6})]
    sent = bulk_message(warned + changes(11, row=row), groups=20).notice

    assert sent.subject == "Kafka lag storm on shop: 12 of 20 groups (11 ERR, 1 WARN)"
    lines = sent.text.splitlines()
    assert lines[0] == (
        "12 of 20 groups on shop changed in the run of 2026-01-31 12:02 UTC: 12 opened."
    )
    assert lines[1] == "Broker 4 leads the worst partition of 11 of them."
    assert lines[2] == (
        "- group-00000 opened, ERR after OK; 9 records behind; t partition 1, led by broker 4, "
        f"no member known; owner team-a; incident {changes(1, row=row)[0].incident_id}"
    )
    assert lines[-1].startswith("- z opened, WARN after OK; 1,000,000 records")


def test_a_broker_that_leads_the_worst_of_few_is_not_named() -> None:
    rows = [{"worst_topic": "t", "worst_partition": 1, "worst_leader": at // 6} for at in range(12)]
    found = [a_change(f"g{at}", row=row) for at, row in enumerate(rows)]

    assert "leads the worst partition of" not in bulk_message(found).notice.text


def test_groups_that_are_well_again_name_no_broker() -> None:
    row = {"worst_topic": "t", "worst_partition": 1, "worst_leader": 4}
    found = changes(
        12, kind=contract.RESOLVED, status=contract.OK, previous_status=contract.ERR, row=row
    )

    assert "roker 4" not in bulk_message(found).notice.text


def test_a_bulk_change_of_thousands_stays_readable_and_within_what_sns_takes() -> None:
    found = [a_change(f"{at:05}-{'n' * 200}", row={"owner": f"owner {at}"}) for at in range(10_000)]
    sent = bulk_message(found).notice

    lines = sent.text.splitlines()
    assert len(lines) == 22
    assert lines[-1] == "and 9,980 more groups"
    assert len(sent.subject) < 100
    size = len(sent.text) + sum(len(json.dumps(each)) for each in sent.attributes.values())
    assert size < 200_000


def test_whoever_filters_by_group_or_owner_hears_of_a_bulk_change() -> None:
    found = [a_change(f"g{at}", row={"owner": "ab"[at % 2]}) for at in range(12)]
    attributes = bulk_message(found).notice.attributes

    assert attributes["owner"] == ("a", "b")
    assert len(attributes["group"]) == 12
    assert (attributes["kind"], attributes["status"]) == (("opened",), ("ERR",))


def test_whoever_filters_by_status_or_kind_hears_of_a_bulk_change() -> None:
    warned = [replace(change, status=contract.WARN) for change in changes(6)]
    found = warned + [replace(change, kind=contract.WORSE) for change in changes(6)]

    attributes = bulk_message(found).notice.attributes

    assert set(attributes["status"]) == {contract.WARN, contract.ERR}
    assert set(attributes["kind"]) == {contract.OPENED, contract.WORSE}


def test_each_line_of_a_bulk_change_has_its_incident() -> None:
    found = changes(12)

    text = bulk_message(found).notice.text

    assert [
        change.incident_id for change in found if f"incident {change.incident_id}" not in text
    ] == []


def test_a_bulk_change_of_groups_that_nobody_owns_has_no_owner() -> None:
    assert "owner" not in bulk_message(changes(12)).notice.attributes


def test_each_group_of_a_bulk_change_has_its_event() -> None:
    found = changes(12)
    message = bulk_message(found)
    details = [json.loads(each.detail) for each in message.events]

    assert [each["incident_id"] for each in details] == [change.incident_id for change in found]
    assert {each["storm_id"] for each in details} == {message.id}


def test_a_bulk_change_sent_again_has_the_same_id() -> None:
    assert bulk_message(changes(12)).id == bulk_message(changes(12)[::-1]).id


def test_messages_come_worst_first() -> None:
    found = [
        a_change("a", kind=contract.RESOLVED, status=contract.OK, previous_status=contract.ERR),
        a_change("b", status=contract.WARN),
        a_change("c", row={"lag": 1}),
        a_change("d", row={"lag": 5}),
        a_change("e", kind=contract.GONE, status=contract.STATUS_GONE),
    ]
    groups = [message.notice.attributes["group"] for message in build_messages(found, 100)]

    assert groups == ["d", "c", "b", "e", "a"]
