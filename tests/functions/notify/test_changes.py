# SPDX-License-Identifier: Apache-2.0
"""What is a change of status, and what only seems to be one; groups that are deleted."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.changes import (
    Incident,
    OpenIncidents,
    Reported,
    Row,
    RunChanges,
    StatusChange,
    find_changes,
)
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_deleted_group, a_row, a_set
from tests.functions.notify.fakes import Bench

WARNED = {"g": Incident(contract.WARN, NOON - MINUTE)}
FAILED = {"g": Incident(contract.ERR, NOON - MINUTE)}
FAILING, OTHER = a_row("g", contract.ERR, owner="team-a", lag=7), a_row("other")
# Half an hour of runs without the group.
LONG = 30


def changes_of(incidents: OpenIncidents, *rows: Row, previous: Frame | None = None) -> RunChanges:
    reported = Reported("shop", NOON, incidents)
    return find_changes(reported, NOON + MINUTE, a_set(*rows), {NOON: previous}.get)


def only(found: RunChanges) -> StatusChange:
    (change,) = found.changes
    return change


@pytest.mark.parametrize(
    ("incidents", "held", "kind"),
    [
        ({}, contract.WARN, contract.OPENED),
        ({}, contract.ERR, contract.OPENED),
        (WARNED, contract.ERR, contract.WORSE),
        (FAILED, contract.WARN, contract.BETTER),
        (WARNED, contract.OK, contract.RESOLVED),
        (FAILED, contract.OK, contract.RESOLVED),
    ],
)
def test_a_held_status_other_than_the_one_reported_is_a_change(
    incidents: OpenIncidents, held: str, kind: str
) -> None:
    change = only(changes_of(incidents, a_row("g", held)))

    assert (change.kind, change.status) == (kind, held)
    assert change.previous_status == (incidents["g"].status if incidents else contract.OK)


@pytest.mark.parametrize(
    ("incidents", "held"), [({}, contract.OK), (WARNED, contract.WARN), (FAILED, contract.ERR)]
)
def test_a_held_status_that_was_reported_is_no_change(incidents: OpenIncidents, held: str) -> None:
    assert changes_of(incidents, a_row("g", held)) == RunChanges((), incidents, 1)


def test_what_is_reported_is_what_the_next_run_is_compared_with() -> None:
    after = changes_of(WARNED, a_row("g", contract.ERR), a_row("h", contract.WARN), a_row("i"))

    assert after.incidents == {
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
    assert changes_of(FAILED, row) == RunChanges((), FAILED, 1)


def test_what_was_known_before_it_went_unread_is_still_a_change() -> None:
    row = a_row("g", contract.ERR, unread_reason=contract.NO_COORDINATOR, status=None)

    assert only(changes_of(WARNED, row)).kind == contract.WORSE


def test_all_messages_of_an_incident_have_its_id() -> None:
    opened = only(changes_of({}, a_row("g", contract.WARN)))
    incidents = {"g": Incident(contract.WARN, opened.incident_since)}
    later = {"held_since": NOON + MINUTE, "incident_since": NOON}
    worse = only(changes_of(incidents, a_row("g", contract.ERR, **later)))
    resolved = only(changes_of(incidents, a_row("g", contract.OK, **later)))

    assert opened.incident_id == worse.incident_id == resolved.incident_id
    assert len({opened.message_id, worse.message_id, resolved.message_id}) == 3


def test_a_group_that_fails_again_soon_opens_the_same_incident() -> None:
    opened = only(changes_of({}, a_row("g", contract.ERR)))
    again = only(changes_of({}, a_row("g", contract.ERR, held_since=NOON + MINUTE)))

    assert (again.kind, again.incident_id) == (contract.OPENED, opened.incident_id)
    assert again.message_id != opened.message_id


def test_an_incident_keeps_its_id_when_the_collector_forgot_its_beginning() -> None:
    resolved = only(changes_of(FAILED, a_row("g", contract.OK, incident_since=None)))

    assert resolved.incident_since == FAILED["g"].since


def test_ids_of_clusters_groups_and_incidents_do_not_run_together() -> None:
    found = changes_of({}, a_row("g", contract.ERR), a_row("h", contract.ERR)).changes
    other = find_changes(
        Reported("pop", NOON, {}),
        NOON + MINUTE,
        a_set(a_row("g", contract.ERR)),
        {NOON: None}.get,
    ).changes
    later = changes_of({}, a_row("g", contract.ERR, incident_since=NOON - 1)).changes

    assert len({change.incident_id for change in (*found, *other, *later)}) == 4


def test_a_group_deleted_while_it_had_lag_is_gone_and_not_recovered() -> None:
    previous = a_set(a_row("g", contract.OK, lag=12, worst_topic="orders", worst_partition=3))
    found = changes_of({}, a_deleted_group("g", held_status=contract.OK), previous=previous)

    change = only(found)
    assert (change.kind, change.status) == ("gone", contract.STATUS_GONE)
    assert (change.row["lag"], change.row["worst_topic"]) == (12, "orders")
    assert found.incidents == {}


def test_a_group_deleted_in_an_incident_ends_it() -> None:
    previous = a_set(a_row("g", contract.ERR, lag=0))
    found = changes_of(FAILED, a_deleted_group("g", held_status=contract.ERR), previous=previous)

    assert only(found).kind == "gone"
    assert only(found).incident_since == FAILED["g"].since
    assert found.incidents == {}


@pytest.mark.parametrize("lag", [0, None])
def test_a_group_deleted_when_all_was_well_is_no_change(lag: int | None) -> None:
    previous = a_set(a_row("g", contract.OK, lag=lag))

    assert (
        changes_of({}, a_deleted_group("g", held_status=contract.OK), previous=previous).changes
        == ()
    )


def test_a_group_made_anew_begins_well() -> None:
    found = changes_of({}, a_row("g", None), a_row("h"))

    assert found == RunChanges((), {}, 2)


@pytest.mark.parametrize("rows", [[], [a_row("other")]], ids=["an empty set", "another group"])
def test_a_run_without_the_group_is_no_recovery(rows: list[Row]) -> None:
    found = changes_of(FAILED, *rows)

    assert found.changes == ()
    assert found.incidents["g"].status == contract.ERR


def a_bench(*, back: int | None = None, until: int = LONG + 10) -> Bench:
    """Group g fails at noon, then is in no run, or in none until it comes `back`, failing anew."""
    sets = {NOON: a_set(FAILING, OTHER)}
    for minute in range(1, until):
        at = NOON + minute * MINUTE
        again = a_row("g", contract.ERR, held_since=at, incident_since=at)
        came = back is not None and minute >= back
        sets[at] = a_set(OTHER, *([{**again, "lag": 1}] if came else []))
    return Bench(sets)


def walk(bench: Bench, minutes: int = LONG + 10) -> None:
    for minute in range(minutes):
        bench.event(minute)


def test_a_group_missing_for_long_is_gone_once() -> None:
    bench = a_bench()
    walk(bench)

    assert bench.channel.kinds == [("g", contract.OPENED), ("g", contract.GONE)]


def test_it_is_gone_after_half_an_hour_of_runs_and_not_before() -> None:
    bench = a_bench()
    walk(bench, LONG + 1)
    earlier = list(bench.channel.kinds)
    bench.event(LONG + 1)

    assert earlier == [("g", contract.OPENED)]
    assert len(bench.channel.kinds) == 2


def test_hours_without_any_run_are_no_absence() -> None:
    later = NOON + 600 * MINUTE
    bench = Bench({NOON: a_set(FAILING), later: a_set(OTHER), later + MINUTE: a_set(OTHER)})
    for minute in (0, 600, 601):
        bench.event(minute)

    assert bench.channel.kinds == [("g", contract.OPENED)]


def test_the_message_says_how_it_was_when_last_seen_and_whose_it_was() -> None:
    bench = a_bench()
    walk(bench)
    gone = bench.channel.sent[-1].notice

    assert gone.attributes[contract.ATTRIBUTE_OWNER] == "team-a"
    assert gone.text.splitlines()[:2] == [
        "g on shop is gone: no run since 2026-01-31 12:01 UTC has it; somebody deleted it, its "
        "offsets expired, or the configuration leaves it out. This is no recovery. It was ERR.",
        "When last seen: 7 records behind.",
    ]


def test_when_the_last_run_is_no_longer_there_the_message_goes_without() -> None:
    bench = a_bench()
    walk(bench, LONG)
    bench.sets[NOON] = None
    for minute in range(LONG, LONG + 3):
        bench.event(minute)

    assert bench.channel.kinds[-1] == ("g", contract.GONE)
    assert "When last seen" not in bench.channel.sent[-1].notice.text


def test_a_group_that_is_back_soon_is_in_the_same_incident() -> None:
    bench = a_bench(back=LONG)
    walk(bench)

    assert bench.channel.kinds == [("g", contract.OPENED)]


def test_a_group_that_was_missing_before_may_be_missing_as_long_again() -> None:
    bench = a_bench(back=LONG, until=LONG + 1)
    bench.sets |= {NOON + minute * MINUTE: a_set(OTHER) for minute in range(LONG + 1, LONG + 20)}
    walk(bench, LONG + 20)

    assert bench.channel.kinds == [("g", contract.OPENED)]


def test_after_a_deletion_that_nobody_could_read_a_new_incident_is_reported() -> None:
    bench = a_bench(back=LONG + 5)
    bench.sets[NOON + MINUTE] = None  # which had the last row
    walk(bench)

    opened, gone, again = bench.channel.sent
    assert [kind for _, kind in bench.channel.kinds] == ["opened", "gone", "opened"]
    assert opened.notice.thread == gone.notice.thread != again.notice.thread


def test_a_deletion_that_is_read_ends_it_at_once() -> None:
    bench = Bench({NOON: a_set(FAILING), NOON + MINUTE: a_set(a_deleted_group("g"))})
    walk(bench, 2)

    assert bench.channel.kinds[-1] == ("g", contract.GONE)
    assert "somebody deleted it, or its offsets expired." in bench.channel.sent[-1].notice.text


def test_since_when_it_is_missing_outlives_the_process() -> None:
    bench = a_bench()
    for minute in range(LONG + 3):
        bench.event(minute, bench.another())

    assert bench.channel.kinds[-1] == ("g", contract.GONE)


def test_groups_that_are_missing_count_among_those_there_are() -> None:
    failing = [a_row(f"g-{number}", contract.ERR) for number in range(12)]
    later = {NOON + minute * MINUTE: a_set(OTHER) for minute in range(1, LONG + 3)}
    bench = Bench({NOON: a_set(*failing, OTHER), **later})
    walk(bench, LONG + 3)

    subject = bench.channel.sent[-1].notice.subject
    assert subject == "Kafka lag storm on shop: 12 of 13 groups (12 GONE)"


def test_a_group_that_was_missing_and_then_deleted_is_reported_as_last_seen() -> None:
    gone = a_set(a_deleted_group("g"), OTHER)
    bench = Bench({NOON: a_set(FAILING), NOON + MINUTE: a_set(OTHER), NOON + 2 * MINUTE: gone})
    walk(bench, 3)

    assert "When last seen: 7 records behind." in bench.channel.sent[-1].notice.text
