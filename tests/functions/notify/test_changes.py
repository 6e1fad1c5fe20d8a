# SPDX-License-Identifier: Apache-2.0
"""What is a change of status, and what only seems to be one; groups that are deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.backlog import Backlog, Peak, Skip, find_speed
from kafka_lag.notify.changes import RunChanges, find_changes
from kafka_lag.notify.group_change import GroupChange
from kafka_lag.notify.group_rows import Row
from kafka_lag.notify.open_incidents import Incident, OpenIncidents, Reported
from kafka_lag.notify.troubles import LOSS, PROMISE, RISK, OpenTrouble, Trouble
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_deleted_group, a_row, a_set
from tests.functions.notify.fakes import Bench

WARNED = {"g": Incident(contract.WARN, NOON - MINUTE)}
FAILING, OTHER = a_row("g", contract.ERR, owner="team-a", lag=7), a_row("other")
# Half an hour of runs without the group.
LONG = 30


def changes_of(incidents: OpenIncidents, *rows: Row, previous: Frame | None = None) -> RunChanges:
    reported = Reported("shop", NOON, incidents)
    return find_changes(reported, NOON + MINUTE, a_set(*rows), {NOON: previous}.get)


def only(found: RunChanges) -> GroupChange:
    (change,) = found.changes
    return change


def test_what_is_reported_is_what_the_next_run_is_compared_with() -> None:
    after = changes_of(WARNED, a_row("g", contract.ERR), a_row("h", contract.WARN), a_row("i"))

    assert after.incidents == {
        "g": Incident(contract.ERR, NOON - MINUTE, status_since=NOON),
        "h": Incident(contract.WARN, NOON, status_since=NOON),
    }


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
    assert len({change.message_id for change in (*found, *other)}) == 3


def test_a_group_deleted_while_it_had_lag_is_gone_and_not_recovered() -> None:
    previous = a_set(a_row("g", contract.OK, lag=12, worst_topic="orders", worst_partition=3))
    found = changes_of({}, a_deleted_group("g", held_status=contract.OK), previous=previous)

    change = only(found)
    assert (change.kind, change.status) == ("gone", contract.STATUS_GONE)
    assert (change.row["lag"], change.row["worst_topic"]) == (12, "orders")
    assert found.incidents == {}


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


@pytest.mark.parametrize("is_readable", [True, False])
def test_it_is_gone_once_after_half_an_hour_of_runs_and_not_before(is_readable: bool) -> None:
    """In one process or many; as last seen, if that run can still be read."""
    bench = a_bench()
    walk(bench, LONG + 1)
    earlier = list(bench.channel.kinds)
    bench.sets[NOON] = bench.sets[NOON] if is_readable else None
    bench.event(LONG + 1, bench.another())
    gone = bench.channel.sent[-1].notice
    for minute in range(LONG + 2, LONG + 9):
        bench.event(minute, bench.another())

    assert earlier == [("g", contract.OPENED)]
    assert gone == bench.channel.sent[-1].notice
    assert bench.channel.kinds == [*earlier, ("g", contract.GONE)]
    assert gone.attributes.get(contract.ATTRIBUTE_OWNER) == ("team-a" if is_readable else None)
    assert ("7 records behind" in gone.text) is is_readable


def test_hours_without_any_run_are_no_absence() -> None:
    later = NOON + 600 * MINUTE
    bench = Bench({NOON: a_set(FAILING), later: a_set(OTHER), later + MINUTE: a_set(OTHER)})
    for minute in (0, 600, 601):
        bench.event(minute)

    assert bench.channel.kinds == [("g", contract.OPENED)]


def test_a_group_that_is_back_soon_is_in_the_same_incident_and_may_be_missing_again() -> None:
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


def test_groups_that_are_missing_count_among_those_there_are() -> None:
    failing = [a_row(f"g-{number}", contract.ERR) for number in range(12)]
    later = {NOON + minute * MINUTE: a_set(OTHER) for minute in range(1, LONG + 3)}
    bench = Bench({NOON: a_set(*failing, OTHER), **later})
    walk(bench, LONG + 3)

    subject = bench.channel.sent[-1].notice.subject
    assert subject == "Kafka lag storm on shop: 12 of 13 groups (12 GONE)"


# Losses and broken promises, whatever the status is.

LATER = NOON + 5 * MINUTE


def a_trouble(*troubles: Trouble, held: str | None = contract.OK, **more: Any) -> Row:
    """A row of g with troubles that began at noon, and were seen in this run."""
    since = {trouble.held_since: NOON for trouble in troubles}
    seen = {f"{trouble.name}_seen_at": NOON + MINUTE for trouble in troubles}
    return a_row("g", held, **{**since, **seen, **more})


def kinds(found: RunChanges) -> list[str]:
    return [change.kind for change in found.changes]


def open_with(*troubles: Trouble, status: str = contract.OK, **more: Any) -> OpenIncidents:
    """An incident in which these troubles were reported, since noon."""
    reported = {trouble.name: OpenTrouble(NOON, NOON, 7) for trouble in troubles}
    return {"g": Incident(status, NOON - MINUTE, troubles=reported, **more)}


@pytest.mark.parametrize("trouble", [LOSS, PROMISE, RISK], ids=lambda trouble: trouble.name)
def test_a_trouble_that_is_over_is_reported_with_what_it_was(trouble: Trouble) -> None:
    found = changes_of(open_with(trouble), a_row("g"))

    assert kinds(found) == [trouble.ended]
    assert only(found).ended == OpenTrouble(NOON, NOON, 7)
    assert only(found).since == NOON
    assert found.incidents == {}


def test_the_most_that_was_seen_of_a_trouble_is_kept() -> None:
    first = changes_of({}, a_trouble(LOSS, records_lost=30)).incidents
    later = changes_of(first, a_trouble(LOSS, records_lost=10, loss_seen_at=None)).incidents

    assert later["g"].troubles == {"loss": OpenTrouble(NOON, NOON + MINUTE, 30)}


def test_another_one_ends_the_one_before() -> None:
    found = changes_of(open_with(PROMISE), a_trouble(PROMISE, held_sla_broken_since=LATER))

    assert kinds(found) == [contract.PROMISE_KEPT, contract.PROMISE_BROKEN]
    assert found.incidents["g"].troubles["sla_broken"].since == LATER


def test_an_incident_without_a_bad_status_begins_with_its_first_trouble() -> None:
    row = a_trouble(PROMISE, RISK, held_since=NOON - MINUTE, held_at_risk_since=LATER)

    assert {change.incident.since for change in changes_of({}, row).changes} == {NOON}


def test_all_of_one_incident_have_its_id_whatever_began_it() -> None:
    broken = changes_of({}, a_trouble(PROMISE, incident_since=None))
    fails = a_trouble(PROMISE, LOSS, held=contract.ERR, held_since=LATER, incident_since=LATER)
    failed = changes_of(broken.incidents, fails)
    over = changes_of(failed.incidents, a_row("g", contract.OK, incident_since=LATER))
    found = [*broken.changes, *failed.changes, *over.changes]

    assert {change.incident.since for change in found} == {NOON}
    assert [change.kind for change in found] == [
        *("promise_broken", "loss_begun", "opened", "loss_ended", "promise_kept", "resolved")
    ]
    assert len({change.message_id for change in found}) == len(found)


@pytest.mark.parametrize(
    ("before", "is_so"),
    [
        (a_set(a_row("g")), False),
        (a_set(a_row("g", None)), True),
        (a_set(a_row("h")), True),
        (None, False),
    ],
    ids=["seen OK", "no status yet", "not seen", "run not readable"],
)
def test_a_group_that_no_run_saw_well_was_first_seen_ill(before: Frame | None, is_so: bool) -> None:
    found = changes_of({}, a_row("g", contract.WARN), previous=before)

    assert only(found).incident.first_seen_ill == is_so
    assert found.incidents["g"].first_seen_ill == is_so


def test_an_end_knows_when_the_trouble_began_and_the_last_backlog() -> None:
    """Of the last run that was not OK, while OK was not held yet."""
    ill = {"worst_status": contract.STOPPED, "worst_status_since": NOON - 11 * MINUTE}
    opened = a_set(a_row("g", contract.ERR, lag=100, **ill))
    worse = a_set(a_row("g", contract.ERR, lag=160, **ill))
    fine = a_set(a_row("g", contract.ERR, lag=20, status=contract.OK))
    ended = a_set(a_row("g", lag=20, held_since=NOON + 2 * MINUTE))
    incidents: OpenIncidents = {}
    for minute, groups in enumerate([opened, worse, fine, ended]):
        found = find_changes(
            Reported("shop", NOON + (minute - 1) * MINUTE, incidents),
            NOON + minute * MINUTE,
            groups,
            lambda _: None,
        )
        incidents = found.incidents

    change = only(found)
    assert change.incident.worst_since == NOON - 11 * MINUTE
    assert change.incident.backlog == Backlog(160, NOON + MINUTE)


def follow(*rows: Row | None, first: Frame | None = None) -> list[RunChanges]:
    """A run a minute from noon on; None: nobody can read it. `first` is the run before noon."""
    sets: dict[int, Frame | None] = {NOON - MINUTE: first}
    found: list[RunChanges] = []
    incidents: OpenIncidents = {}
    for minute, row in enumerate(rows):
        at = NOON + minute * MINUTE
        sets[at] = None if row is None else a_set(row)
        if row is None:
            continue
        reported = Reported("shop", at - MINUTE, incidents)
        found.append(find_changes(reported, at, a_set(row), sets.get))
        incidents = found[-1].incidents
    return found


SLOW = {"worst_status": contract.FALLING_BEHIND, "worst_status_since": NOON - 9 * MINUTE}


def behind(lag: int | None, held: str | None = contract.OK, **more: Any) -> Row:
    """A row of g of whose topics ten records a second are written."""
    return a_row("g", held, lag=lag, produce_rate=10.0, held_since=NOON, **more)


ILL = behind(9_000, contract.WARN, **SLOW)


def test_a_group_that_was_said_to_catch_up_is_said_to_have_once() -> None:
    found = follow(ILL, behind(6_000), behind(3_000), behind(600), behind(20))

    assert [kinds(each) for each in found] == [["opened"], ["resolved"], [], ["caught_up"], []]
    change = only(found[3])
    assert (change.status, change.previous_status) == (contract.OK, contract.OK)
    assert (change.since, change.ok_since) == (NOON + 3 * MINUTE, NOON)
    assert change.incident.worst_status == contract.FALLING_BEHIND
    assert change.incident_id == only(found[0]).incident_id
    assert found[3].incidents == {}


def test_a_group_that_falls_ill_again_before_it_caught_up_is_in_the_same_incident() -> None:
    again = behind(9_000, contract.WARN, **SLOW, incident_since=NOON + 2 * MINUTE)
    found = follow(ILL, behind(6_000), again, behind(6_000), behind(20))

    assert [kinds(each) for each in found] == [
        *(["opened"], ["resolved"], ["opened"], ["resolved"], ["caught_up"])
    ]
    assert len({only(each).incident_id for each in found}) == 1
    assert not only(found[2]).incident.first_seen_ill


def test_what_a_group_did_before_it_caught_up_is_not_what_it_does_when_it_is_ill_again() -> None:
    found = follow(ILL, behind(6_000), behind(9_000, contract.WARN), behind(20))

    assert only(found[3]).incident.worst_status is None
    assert only(found[3]).incident.worst_since is None


def test_an_incident_knows_the_most_that_any_of_its_runs_saw() -> None:
    """Also of those in which it was not held yet."""
    least = {"time_lag_method": contract.METHOD_AT_LEAST}
    rows = [
        a_row("g", None, status=contract.ERR, lag=400, records_lost=0, time_lag_seconds=40.0),
        a_row("g", None, status=contract.ERR, lag=300, records_lost=0, time_lag_seconds=50.0),
        a_row("g", contract.ERR, lag=200, records_lost=0, time_lag_seconds=60.0, **least),
        a_row("g", contract.ERR, lag=100, records_lost=0, time_lag_seconds=55.0),
        a_row("g", contract.OK, lag=1, records_lost=0, time_lag_seconds=0.0),
    ]
    found = follow(*rows)

    peak = Peak(400, NOON, 60.0, True, 0, NOON + 2 * MINUTE)
    assert only(found[2]).incident.peak == only(found[4]).incident.peak == peak
    assert [each.records for each in only(found[2]).incident.lately] == [400, 300, 200]
    assert [each.records for each in only(found[4]).incident.lately] == [200, 100, 1]


def test_of_what_was_held_for_long_the_last_ten_runs_before_are_read() -> None:
    """Eleven with the last one reported."""
    lags = {2: 999, 3: 900}
    unheld = [a_row("g", None, status=contract.ERR, lag=lags.get(at, 100)) for at in range(14)]
    found = follow(*unheld, a_row("g", contract.ERR, lag=100))

    assert only(found[14]).incident.peak == Peak(900, NOON + 3 * MINUTE)


@pytest.mark.parametrize(("age", "at"), [(1_805.0, NOON), (1_805.1, NOON + MINUTE)])
def test_an_age_read_again_is_as_old_as_it_was(age: float, at: int) -> None:
    first = a_row("g", contract.ERR, lag=9, time_lag_seconds=1_800.0)
    found = follow(first, {**first, "time_lag_seconds": age}, a_row("g", contract.OK, lag=1))
    peak = only(found[2]).incident.peak

    assert peak is not None
    assert peak.seconds_at == at


STOPPED = behind(9_000, contract.ERR, worst_status=contract.STOPPED, members=0)
SKIPPED: dict[str, Any] = {"members": 0, "records_skipped": 9_600, "status": contract.OK}


def test_a_skip_that_nobody_reads_on_from_ends_no_incident() -> None:
    found = follow(
        STOPPED,
        behind(0, contract.ERR, **SKIPPED),
        behind(600, contract.ERR, **SKIPPED),
        behind(1_200, **SKIPPED),
        behind(1_800, **{**SKIPPED, "records_skipped": 500}),
        {**STOPPED, "lag": 2_400},
        behind(20, members=1),
    )

    assert [kinds(each) for each in found] == [["opened"], [], [], [], [], [], ["resolved"]]
    end = only(found[6])
    assert end.incident.skip == Skip(9_600, Backlog(9_000, NOON), Backlog(0, NOON + MINUTE))
    assert end.incident.backlog == Backlog(2_400, NOON + 5 * MINUTE)
    assert end.incident_id == only(found[0]).incident_id


def test_what_a_run_did_not_see_is_not_counted() -> None:
    rows = [
        a_row("g", contract.ERR, lag=100, records_lost=None),
        a_row("g", contract.ERR, lag=900, records_lost=0, unread_reason=contract.TIMEOUT),
        a_row("g", contract.OK, lag=1, records_lost=0),
    ]

    assert only(follow(*rows)[2]).incident.peak == Peak(100, NOON)


@pytest.mark.parametrize(
    ("first", "since", "is_first"),
    [
        (a_set(a_row("h")), NOON, True),
        (a_set(a_row("h")), NOON + 20_000, True),
        (a_set(a_row("h")), NOON + MINUTE, False),
        (a_set(a_row("g")), NOON, False),
        (None, NOON, False),
        (a_set(a_row("h")), None, False),
    ],
    ids=["not seen before", "about then", "later", "seen before", "not readable", "not known"],
)
def test_a_trouble_that_began_as_the_group_was_first_seen_is_known_to(
    first: Frame | None, since: int | None, is_first: bool
) -> None:
    ill = {"worst_status": contract.STOPPED, "worst_status_since": since}
    unheld = a_row("g", None, status=contract.ERR, **ill)
    found = follow(unheld, unheld, a_row("g", contract.ERR, **ill), a_row("g"), first=first)

    assert only(found[2]).incident.first_seen_at == (NOON if is_first else None)
    assert only(found[3]).incident.first_seen_at == (NOON if is_first else None)


@pytest.mark.parametrize(("worst", "is_first"), [(contract.SLOW, True), (contract.STOPPED, False)])
def test_a_least_age_may_begin_a_run_after_the_first_sight(worst: str, is_first: bool) -> None:
    ill = {"worst_status": worst, "worst_status_since": NOON + MINUTE}
    unheld = a_row("g", None, status=contract.WARN, **ill)
    found = follow(unheld, unheld, a_row("g", contract.WARN, **ill), first=a_set(a_row("h")))

    assert only(found[2]).incident.first_seen_at == (NOON if is_first else None)


@pytest.mark.parametrize(
    ("speeds", "known"),
    [
        ((600, 600), 10.0),
        ((400, 800), 10.0),
        ((399, 801), None),
        ((600, 0), None),
        ((0, 0), None),
        ((600,), None),
    ],
    ids=["even", "twice", "more than twice", "stops", "stands", "once"],
)
def test_a_speed_is_known_where_it_was_about_the_same_twice(
    speeds: tuple[int, ...], known: float | None
) -> None:
    lately = [Backlog(9_000, NOON)]
    for speed in speeds:
        lately.append(Backlog(lately[-1].records - speed, lately[-1].at + MINUTE))

    assert find_speed(lately) == known


REPORTED = Incident(
    contract.ERR,
    NOON - 9 * MINUTE,
    status_since=NOON - 8 * MINUTE,
    worst_status=contract.STOPPED,
    worst_since=NOON - 9 * MINUTE,
    backlog=Backlog(9_000, NOON),
    skip=Skip(1, Backlog(1, NOON - MINUTE), Backlog(0, NOON)),
)


def test_what_no_message_said_is_not_what_was_reported_last() -> None:
    row = a_row("g", contract.ERR, worst_status=contract.STALLED, worst_status_since=NOON)
    after = changes_of({"g": REPORTED}, row).incidents["g"]

    assert (after.worst_status, after.worst_since) == (contract.STOPPED, NOON - 9 * MINUTE)


def test_a_trouble_that_begins_does_not_change_since_when_the_status_is_so() -> None:
    found = changes_of({"g": REPORTED}, a_trouble(LOSS, held=contract.ERR))

    assert kinds(found) == [LOSS.begun]
    assert found.incidents["g"].status_since == REPORTED.status_since


def test_of_a_status_that_is_over_nothing_is_remembered_beside_a_trouble() -> None:
    incident = replace(REPORTED, troubles={PROMISE.name: OpenTrouble(NOON, NOON)})
    after = changes_of({"g": incident}, a_trouble(PROMISE)).incidents["g"]

    assert replace(after, troubles={}) == Incident(contract.OK, REPORTED.since)


def test_a_group_that_catches_up_is_remembered_with_what_it_did_and_no_status() -> None:
    after = changes_of({"g": REPORTED}, behind(6_000)).incidents["g"]

    assert (after.worst_status, after.worst_since) == (contract.STOPPED, REPORTED.worst_since)
    assert (after.status_since, after.backlog, after.skip) == (None, None, None)


def test_a_group_in_an_open_incident_was_not_first_seen_ill() -> None:
    row = a_trouble(PROMISE, held=contract.WARN)
    found = changes_of(open_with(PROMISE), row, previous=a_set(a_row("g", None)))

    assert not only(found).incident.first_seen_ill


def test_a_message_has_one_id_whatever_incident_it_is_counted_to() -> None:
    row = a_trouble(LOSS, held=contract.ERR, held_since=LATER)
    one = changes_of({}, {**row, "incident_since": NOON}).changes
    other = changes_of({}, {**row, "incident_since": LATER}).changes

    assert [each.message_id for each in one] == [each.message_id for each in other]
    assert one[0].incident_id != other[0].incident_id


def test_of_a_group_that_is_gone_no_speed_is_known() -> None:
    lately = tuple(Backlog(900 - 100 * at, NOON + (at - 3) * MINUTE) for at in range(3))
    found = changes_of({"g": replace(REPORTED, lately=lately)}, a_deleted_group("g"))

    assert only(found).incident.lately == ()


# Rows of one group, run by run, and the kinds of what changed: "-" where nothing did.
OK, WARN, ERR = (a_row("g", status) for status in (contract.OK, contract.WARN, contract.ERR))
LOST, BROKEN, NEAR = (a_trouble(each) for each in (LOSS, PROMISE, RISK))
SEEN: dict[str, Any] = {"records_skipped": 962, "skipped_at": NOON + MINUTE, "status": contract.OK}
LATE: dict[str, Any] = {
    PROMISE.held_since: NOON,
    "sla_broken_seen_at": NOON,
    "time_lag_seconds": 90.0,
}
LEFT, DONE = behind(6_000), behind(20)
UNKNOWN = (
    a_row("g", None),
    a_row("g", contract.OK, unread_reason=contract.TIMEOUT, status=None),
    a_row("g", contract.OK, status=None),
    a_row("g", contract.WARN, unread_reason=contract.DENIED),
    a_row("g", "SOMETHING"),
    OTHER,
)
# After a stop: a skip, then half a minute's and a minute's records that nobody reads.
UNREAD = behind(600, contract.ERR, **SKIPPED)
SKIPS = (STOPPED, behind(0, contract.ERR, **SKIPPED), UNREAD)
STRIPS: dict[str, tuple[Sequence[Row], str]] = {
    "turns": (
        [OK, WARN, WARN, ERR, ERR, WARN, OK, ERR, OK],
        "- opened - worse - better resolved opened resolved",
    ),
    "missing data": ([ERR, *UNKNOWN, OK], "opened - - - - - - resolved"),
    "worse while unread": (
        [WARN, {**ERR, "unread_reason": contract.NO_COORDINATOR, "status": None}],
        "opened worse",
    ),
    "not held yet": ([a_row("g", None), OK], "- -"),
    "deleted": ([ERR, a_deleted_group("g", held_status=contract.ERR), OK], "opened gone -"),
    "deleted while behind": ([{**OK, "lag": 3}, a_deleted_group("g")], "- gone"),
    "deleted while well": ([{**OK, "lag": 0}, a_deleted_group("g")], "- -"),
    "deleted, lag not known": ([OK, a_deleted_group("g")], "- -"),
    "deleted in a trouble": ([BROKEN, a_deleted_group("g"), OK], "promise_broken gone -"),
    **{
        f"{each.name} while {held}": (
            [a_row("g", held), a_trouble(each, held=held), a_trouble(each, held=held)],
            f"{'opened' if held in (contract.WARN, contract.ERR) else '-'} {each.begun} -",
        )
        for each in (LOSS, PROMISE, RISK)
        for held in (contract.OK, contract.WARN, contract.ERR, None)
    },
    "a trouble ends": (
        [
            LOST,
            a_row("g", unread_reason=contract.TIMEOUT),
            a_row("g", status=None),
            a_trouble(LOSS, status_reason=contract.TOPIC_UNWATCHED, status=None),
            a_row("g", None, status=contract.OK),
        ],
        "loss_begun - - - loss_ended",
    ),
    "near, averted, near in an incident": (
        [*[ERR, a_trouble(RISK, held=contract.ERR)] * 2, ERR, OK, NEAR],
        "opened loss_near loss_averted - - resolved loss_near",
    ),
    "near, lost, near": (
        [NEAR, a_trouble(LOSS, RISK), NEAR, OK],
        "loss_near loss_begun loss_ended -",
    ),
    "near, lost": ([NEAR, LOST], "loss_near loss_begun"),
    "lost at once, near": (
        [a_trouble(LOSS, RISK), a_trouble(RISK, held=contract.ERR)],
        "loss_begun loss_ended+opened",
    ),
    "broken beyond its status": (
        [a_trouble(PROMISE, held=contract.WARN), BROKEN, OK],
        "promise_broken+opened resolved promise_kept",
    ),
    "nothing left": ([ILL, DONE, DONE], "opened resolved -"),
    "caught up once": ([ILL, LEFT, behind(601), DONE, DONE], "opened resolved - caught_up -"),
    "not caught up before that is seen": (
        [
            *(ILL, LEFT, behind(None), behind(20, unread_reason=contract.TIMEOUT)),
            *(behind(20, status=None), behind(20, status=contract.WARN), DONE),
        ],
        "opened resolved - - - - caught_up",
    ),
    "catches up with a promise": (
        [{**ILL, **LATE}, {**LEFT, **LATE}, {**DONE, **LATE}, DONE],
        "promise_broken+opened resolved - promise_kept+caught_up",
    ),
    "what stays for half an hour": (
        [ILL, LEFT, *[behind(5_000)] * 31],
        f"opened resolved {'- ' * 30}caught_up",
    ),
    "skipped while well": (
        [behind(962), behind(0, **SEEN), behind(0, **SEEN), behind(0)],
        "- skipped - -",
    ),
    "skipped in an incident": ([STOPPED, behind(0, contract.ERR, **SEEN)], "opened -"),
    "skipped, nobody reads on": ([*SKIPS, behind(1_200, **SKIPPED)], "opened - - -"),
    "skipped, nobody writes": ([STOPPED, UNREAD, behind(600, **SKIPPED)], "opened - -"),
    "skipped, a member": (
        [*SKIPS, behind(1_200, **{**SKIPPED, "members": 1})],
        "opened - - resolved",
    ),
    "skipped, members not known": (
        [*SKIPS, behind(1_200, **{**SKIPPED, "members": None})],
        "opened - - resolved",
    ),
    "skipped, read all the same": ([*SKIPS, behind(599, **SKIPPED)], "opened - - resolved"),
    "skipped, nothing unread": ([*SKIPS, behind(0, **SKIPPED)], "opened - - resolved"),
    "not skipped": (
        [*({**each, "records_skipped": 0} for each in SKIPS), behind(1_200, members=0)],
        "opened - - resolved",
    ),
    "skipped, stopped again, read": (
        [*SKIPS, {**STOPPED, "lag": 2_400}, behind(1_000, members=0)],
        "opened - - - resolved",
    ),
}


@pytest.mark.parametrize("strip", STRIPS)
def test_what_changed_run_by_run_in_one_incident(strip: str) -> None:
    rows, expected = STRIPS[strip]
    found = follow(*rows)

    assert ["+".join(kinds(each)) or "-" for each in found] == expected.split()
