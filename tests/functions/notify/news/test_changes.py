# SPDX-License-Identifier: Apache-2.0
"""What is news, and what only looks like it."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.memory.cursor import Cursor
from kafka_lag.notify.news.change import Change, Row
from kafka_lag.notify.news.changes import News, news
from kafka_lag.notify.news.incident import Incident, Standing
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_farewell, a_row, a_set

WARNED = {"g": Incident(contract.WARN, NOON - MINUTE)}
FAILED = {"g": Incident(contract.ERR, NOON - MINUTE)}


def told(standing: Standing, *rows: Row, before: Frame | None = None) -> News:
    cursor = Cursor("shop", NOON, standing, "tag")
    return news(cursor, NOON + MINUTE, a_set(*rows), {NOON: before}.get)


def only(found: News) -> Change:
    (change,) = found.changes
    return change


@pytest.mark.parametrize(
    ("standing", "held", "kind"),
    [
        ({}, contract.WARN, contract.OPENED),
        ({}, contract.ERR, contract.OPENED),
        (WARNED, contract.ERR, contract.WORSE),
        (FAILED, contract.WARN, contract.BETTER),
        (WARNED, contract.OK, contract.RESOLVED),
        (FAILED, contract.OK, contract.RESOLVED),
    ],
)
def test_a_held_status_other_than_the_one_told_is_news(
    standing: Standing, held: str, kind: str
) -> None:
    change = only(told(standing, a_row("g", held)))

    assert (change.kind, change.status) == (kind, held)
    assert change.before == (standing["g"].status if standing else contract.OK)


@pytest.mark.parametrize(
    ("standing", "held"), [({}, contract.OK), (WARNED, contract.WARN), (FAILED, contract.ERR)]
)
def test_a_held_status_that_was_told_is_no_news(standing: Standing, held: str) -> None:
    assert told(standing, a_row("g", held)) == News((), standing, 1)


def test_what_was_told_is_what_the_next_set_is_compared_with() -> None:
    after = told(WARNED, a_row("g", contract.ERR), a_row("h", contract.WARN), a_row("i"))

    assert after.standing == {
        "g": Incident(contract.ERR, NOON - MINUTE),
        "h": Incident(contract.WARN, NOON),
    }


@pytest.mark.parametrize(
    "row",
    [
        a_row("g", None),
        a_row("g", contract.OK, unread_reason=contract.TIMEOUT, status=None),
        a_row("g", contract.OK, status=None),
        a_row("g", contract.WARN, unread_reason=contract.DENIED),
        a_row("g", "SOMETHING"),
    ],
    ids=["not held yet", "unread", "status unknown", "denied", "a newer word"],
)
def test_data_that_went_missing_is_no_recovery(row: Row) -> None:
    assert told(FAILED, row) == News((), FAILED, 1)


def test_what_was_known_before_it_went_unread_is_still_told() -> None:
    row = a_row("g", contract.ERR, unread_reason=contract.NO_COORDINATOR, status=None)

    assert only(told(WARNED, row)).kind == contract.WORSE


def test_all_messages_of_an_incident_have_its_name() -> None:
    opened = only(told({}, a_row("g", contract.WARN)))
    standing = {"g": Incident(contract.WARN, opened.incident_since)}
    later = {"held_since": NOON + MINUTE, "incident_since": NOON}
    worse = only(told(standing, a_row("g", contract.ERR, **later)))
    resolved = only(told(standing, a_row("g", contract.OK, **later)))

    assert opened.id == worse.id == resolved.id
    assert len({opened.name, worse.name, resolved.name}) == 3


def test_a_group_that_falls_ill_again_soon_opens_the_same_incident() -> None:
    opened = only(told({}, a_row("g", contract.ERR)))
    again = only(told({}, a_row("g", contract.ERR, held_since=NOON + MINUTE)))

    assert (again.kind, again.id) == (contract.OPENED, opened.id)
    assert again.name != opened.name


def test_an_incident_keeps_its_name_when_the_collector_forgot_its_beginning() -> None:
    resolved = only(told(FAILED, a_row("g", contract.OK, incident_since=None)))

    assert resolved.incident_since == FAILED["g"].since


def test_names_of_clusters_groups_and_incidents_do_not_run_together() -> None:
    found = told({}, a_row("g", contract.ERR), a_row("h", contract.ERR)).changes
    other = news(
        Cursor("pop", NOON, {}, "tag"),
        NOON + MINUTE,
        a_set(a_row("g", contract.ERR)),
        {NOON: None}.get,
    ).changes
    later = told({}, a_row("g", contract.ERR, incident_since=NOON - 1)).changes

    assert len({change.id for change in (*found, *other, *later)}) == 4


def test_a_group_deleted_while_it_had_lag_is_gone_and_not_recovered() -> None:
    before = a_set(a_row("g", contract.OK, lag=12, worst_topic="orders", worst_partition=3))
    found = told({}, a_farewell("g", held_status=contract.OK), before=before)

    change = only(found)
    assert (change.kind, change.status) == ("gone", contract.STATUS_GONE)
    assert (change.row["lag"], change.row["worst_topic"]) == (12, "orders")
    assert found.standing == {}


def test_a_group_deleted_in_an_incident_ends_it() -> None:
    before = a_set(a_row("g", contract.ERR, lag=0))
    found = told(FAILED, a_farewell("g", held_status=contract.ERR), before=before)

    assert only(found).kind == "gone"
    assert only(found).incident_since == FAILED["g"].since
    assert found.standing == {}


@pytest.mark.parametrize("lag", [0, None])
def test_a_group_deleted_when_all_was_well_is_no_news(lag: int | None) -> None:
    before = a_set(a_row("g", contract.OK, lag=lag))

    assert told({}, a_farewell("g", held_status=contract.OK), before=before).changes == ()


def test_a_group_made_anew_begins_well() -> None:
    found = told({}, a_row("g", None), a_row("h"))

    assert found == News((), {}, 2)


@pytest.mark.parametrize("rows", [[], [a_row("other")]], ids=["an empty set", "another group"])
def test_a_set_without_the_group_is_no_recovery(rows: list[Row]) -> None:
    found = told(FAILED, *rows)

    assert found.changes == ()
    assert found.standing["g"].status == contract.ERR
