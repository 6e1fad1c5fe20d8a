# SPDX-License-Identifier: Apache-2.0
"""Half of all groups at once are one message, with an event each."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.notify.messages.telling import Telling
from kafka_lag.notify.messages.tellings import tellings
from kafka_lag.notify.news.change import Change
from tests.functions.notify.builders import a_change


def changes(count: int, **more: Any) -> list[Change]:
    return [a_change(f"group-{number:05}", **more) for number in range(count)]


def the_storm(news: list[Change], groups: int | None = None) -> Telling:
    (one,) = tellings(news, len(news) if groups is None else groups)
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
def test_half_of_all_groups_and_ten_at_least_or_a_hundred_are_a_storm(
    changed: int, groups: int, messages: int
) -> None:
    assert len(tellings(changes(changed), groups)) == messages


def test_a_storm_says_how_many_and_names_the_worst_first() -> None:
    leader = {"worst_topic": "t", "worst_partition": 1, "worst_leader": 4}
    row = {"lag": 9, "owner": "team-a", **leader}
    warned = [a_change("z", status=contract.WARN, row={"lag": 10**6})]
    told = the_storm(warned + changes(11, row=row), groups=20).notice

    assert told.subject == "Kafka lag storm on shop: 12 of 20 groups (11 ERR, 1 WARN)"
    lines = told.text.splitlines()
    assert lines[0] == (
        "12 of 20 groups on shop changed in the run of 2026-01-31 12:02 UTC: 12 opened."
    )
    assert lines[1] == "Broker 4 leads the worst partition of 11 of them."
    assert lines[2] == (
        "- group-00000 opened, ERR after OK; 9 records behind; t partition 1, led by broker 4, "
        f"no member known; owner team-a; incident {changes(1, row=row)[0].id}"
    )
    assert lines[-1].startswith("- z opened, WARN after OK; 1,000,000 records")


def test_a_broker_that_leads_the_worst_of_few_is_not_named() -> None:
    rows = [{"worst_topic": "t", "worst_partition": 1, "worst_leader": at // 6} for at in range(12)]
    news = [a_change(f"g{at}", row=row) for at, row in enumerate(rows)]

    assert "leads the worst partition of" not in the_storm(news).notice.text


def test_groups_that_are_well_again_blame_no_broker() -> None:
    row = {"worst_topic": "t", "worst_partition": 1, "worst_leader": 4}
    news = changes(12, kind=contract.RESOLVED, status=contract.OK, before=contract.ERR, row=row)

    assert "roker 4" not in the_storm(news).notice.text


def test_a_storm_of_thousands_stays_readable_and_within_what_sns_takes() -> None:
    news = [a_change(f"{at:05}-{'n' * 200}", row={"owner": f"owner {at}"}) for at in range(10_000)]
    told = the_storm(news).notice

    lines = told.text.splitlines()
    assert len(lines) == 22
    assert lines[-1] == "and 9,980 more groups"
    assert len(told.subject) < 100
    size = len(told.text) + sum(len(json.dumps(each)) for each in told.attributes.values())
    assert size < 200_000


def test_whoever_filters_by_group_or_owner_hears_of_a_storm() -> None:
    news = [a_change(f"g{at}", row={"owner": "ab"[at % 2]}) for at in range(12)]
    attributes = the_storm(news).notice.attributes

    assert attributes["owner"] == ("a", "b")
    assert len(attributes["group"]) == 12
    assert (attributes["kind"], attributes["status"]) == (("opened",), ("ERR",))


def test_whoever_filters_by_status_or_kind_hears_of_a_storm() -> None:
    warned = [replace(change, status=contract.WARN) for change in changes(6)]
    news = warned + [replace(change, kind=contract.WORSE) for change in changes(6)]

    attributes = the_storm(news).notice.attributes

    assert set(attributes["status"]) == {contract.WARN, contract.ERR}
    assert set(attributes["kind"]) == {contract.OPENED, contract.WORSE}


def test_each_line_of_a_storm_has_its_incident() -> None:
    news = changes(12)

    text = the_storm(news).notice.text

    assert [change.id for change in news if f"incident {change.id}" not in text] == []


def test_a_storm_of_groups_that_nobody_owns_has_no_owner() -> None:
    assert "owner" not in the_storm(changes(12)).notice.attributes


def test_each_group_of_a_storm_has_its_event() -> None:
    news = changes(12)
    told = the_storm(news)
    details = [json.loads(event.detail) for event in told.events]

    assert [each["incident_id"] for each in details] == [change.id for change in news]
    assert {each["storm_id"] for each in details} == {told.name}


def test_a_storm_told_again_has_the_same_name() -> None:
    assert the_storm(changes(12)).name == the_storm(changes(12)[::-1]).name


def test_messages_come_worst_first() -> None:
    news = [
        a_change("a", kind=contract.RESOLVED, status=contract.OK, before=contract.ERR),
        a_change("b", status=contract.WARN),
        a_change("c", row={"lag": 1}),
        a_change("d", row={"lag": 5}),
        a_change("e", kind=contract.GONE, status=contract.STATUS_GONE),
    ]
    told = [telling.notice.attributes["group"] for telling in tellings(news, 100)]

    assert told == ["d", "c", "b", "e", "a"]
