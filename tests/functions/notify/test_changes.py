# SPDX-License-Identifier: Apache-2.0
"""The changes of a group between two runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.notify.changes import LOSS, PROMISE, RISK, GroupChange, Row, Trouble, find_changes
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_deleted_group, a_row, a_set, an_incident

OK, WARN, ERR = (a_row("g", status) for status in (contract.OK, contract.WARN, contract.ERR))
OTHER = a_row("other")
NEAR_SINCE = {"incident_at_risk_since": NOON}


def find(before: Row | None, *rows: Row) -> list[GroupChange]:
    """The changes of a minute, from a run with one row; None: there is no earlier run."""
    earlier = None if before is None else a_set({"taken_at": NOON, **before})
    return find_changes("shop", NOON + MINUTE, a_set(*rows), earlier)


def only(before: Row | None, *rows: Row) -> GroupChange:
    (change,) = find(before, *rows)
    return change


def kinds_of(rows: Sequence[Row]) -> str:
    """The kinds of each run beside the one before it, "-" if nothing changed; g may be absent."""
    runs = [None, *(a_set({**row, "taken_at": NOON}) for row in rows)]
    found = [
        find_changes("shop", NOON + MINUTE, run, before)
        for before, run in pairwise(runs)
        if run is not None
    ]
    return " ".join("+".join(each.kind for each in of_run) or "-" for of_run in found)


def troubled(*troubles: Trouble, held: str | None = contract.OK, **more: Any) -> Row:
    """A row of g in an incident with troubles since noon."""
    since = {each.held_since: NOON for each in troubles}
    near = NEAR_SINCE if RISK in troubles else {}
    return a_row("g", held, **{**an_incident("g", held or contract.OK), **since, **near, **more})


LEFT = troubled()  # OK, with a backlog
OVER = {**LEFT, "incident_until": NOON + MINUTE}
LOST, BROKEN, NEAR = (troubled(each) for each in (LOSS, PROMISE, RISK))
SKIPPED = a_row("g", records_skipped=9, skipped_at=NOON + MINUTE)
LAST = a_deleted_group("g", **an_incident("g"))
UNWATCHED = {"status_reason": contract.TOPIC_UNWATCHED}
NEXT = {**ERR, "incident_id": "next"}
STRIPS: dict[str, tuple[Sequence[Row], str]] = {
    "turns": (
        [OK, WARN, WARN, ERR, ERR, WARN, OVER, ERR, OVER],
        "- opened - worse - better resolved opened resolved",
    ),
    "first seen ill": ([ERR, ERR], "opened -"),
    "resolved, then caught up": ([ERR, LEFT, LEFT, OVER, OK], "opened resolved - caught_up -"),
    "worse while it works off": ([ERR, LEFT, WARN, OVER], "opened resolved opened resolved"),
    "the run with the end cannot be read": ([ERR, LEFT, OK], "opened resolved caught_up"),
    "the end and the next beginning cannot be read": ([ERR, NEXT], "opened resolved+opened"),
    "deleted": ([ERR, LAST, OK], "opened gone -"),
    "deleted, and in no run after that": ([ERR, LAST, OTHER], "opened gone -"),
    "a last row in many runs": ([ERR, LAST, LAST], "opened gone -"),
    "deleted while behind": ([{**OK, "lag": 3}, a_deleted_group("g"), OTHER], "- gone -"),
    "deleted while well": ([{**OK, "lag": 0}, a_deleted_group("g")], "- -"),
    "deleted, and nothing known": ([a_deleted_group("g")], "-"),
    "deleted in a run that cannot be read": ([ERR, OTHER, OTHER], "opened gone -"),
    "absent while well": ([{**OK, "lag": 3}, OTHER], "- -"),
    "absent, and back": ([ERR, OTHER, ERR], "opened gone opened"),
    "no longer watched": ([ERR, {**ERR, **UNWATCHED, "incident_until": NOON}], "opened gone"),
    "a topic no longer watched": ([ERR, {**ERR, **UNWATCHED}], "opened -"),
    "no longer watched while well": ([OK, {**OK, **UNWATCHED}], "- -"),
    **{
        f"{each.name} while {held}": (
            [a_row("g", held), troubled(each, held=held), troubled(each, held=held)],
            f"{'-' if held in (None, contract.OK) else 'opened'} {each.begun} -",
        )
        for each in (LOSS, PROMISE, RISK)
        for held in (contract.OK, contract.WARN, contract.ERR, None)
    },
    "a loss ends": ([LOST, LEFT, OVER], "loss_begun loss_ended caught_up"),
    "a promise is kept, and nothing is left": ([BROKEN, OVER], "promise_broken promise_kept"),
    "another loss": (
        [LOST, {**LOST, LOSS.held_since: NOON + 1}],
        "loss_begun loss_ended+loss_begun",
    ),
    "near, and averted": ([NEAR, {**LEFT, **NEAR_SINCE}], "loss_near loss_averted"),
    "near again in the incident": (
        [NEAR, {**LEFT, **NEAR_SINCE}, {**NEAR, RISK.held_since: NOON + 9}, OVER],
        "loss_near loss_averted - caught_up",
    ),
    "near, and lost": (
        [NEAR, troubled(LOSS, RISK, incident_lost=9), {**LEFT, "incident_lost": 9}],
        "loss_near loss_begun loss_ended",
    ),
    "lost at once": ([troubled(LOSS, RISK, incident_at_risk_since=None)], "loss_begun"),
    "all at once": ([troubled(LOSS, PROMISE, held="WARN")], "loss_begun+promise_broken+opened"),
    "skipped while well": ([OK, SKIPPED, OK], "- skipped -"),
    "skipped in an incident": ([ERR, {**ERR, "skipped_at": NOON + MINUTE}], "opened -"),
    "skipped at its end": ([ERR, {**OVER, "skipped_at": NOON + MINUTE}], "opened resolved"),
    "skipped before": ([OK, {**SKIPPED, "skipped_at": NOON}], "- -"),
    "skipped in the first run": ([SKIPPED, OK], "skipped -"),
    "skipped before the first run": ([{**SKIPPED, "skipped_at": NOON}, OK], "- -"),
}


@pytest.mark.parametrize("strip", STRIPS)
def test_what_changes_from_run_to_run(strip: str) -> None:
    rows, expected = STRIPS[strip]
    assert kinds_of(rows) == expected


def test_a_deleted_group_is_as_it_was_last_seen() -> None:
    change = only({**OK, "lag": 12, "worst_topic": "orders"}, a_deleted_group("g"))

    assert (change.status, change.row["status_reason"]) == (contract.STATUS_GONE, contract.GONE)
    assert (change.row["lag"], change.row["worst_topic"]) == (12, "orders")
    assert change.row["taken_at"] == NOON


@pytest.mark.parametrize("trouble", [LOSS, PROMISE, RISK], ids=lambda each: each.name)
def test_an_end_knows_its_beginning_and_the_last_run_that_saw_it(trouble: Trouble) -> None:
    seen = {**troubled(trouble), f"{trouble.name}_seen_at": NOON + 5}
    change = only(seen, {**LEFT, **NEAR_SINCE})

    assert (change.kind, change.ended) == (trouble.ended, trouble)
    assert (change.ended_since, change.since) == (NOON, NOON + 5)


def test_all_of_one_incident_have_its_id_and_each_an_id_of_its_own() -> None:
    rows: list[Row | None] = [None, troubled(PROMISE), troubled(PROMISE, held="ERR"), LEFT, OVER]
    found = [change for before, row in pairwise(rows) if row for change in find(before, row)]

    assert len(found) == 5
    assert {change.incident_id for change in found} == {ERR["incident_id"]}
    assert {change.incident_since for change in found} == {NOON}
    assert len({change.message_id for change in found}) == 5


def test_ids_do_not_depend_on_the_run_that_was_compared_with() -> None:
    (again,) = find_changes("shop", NOON + 9 * MINUTE, a_set(ERR), a_set(OTHER))
    others = [
        *find_changes("pop", NOON, a_set(ERR), None),
        *find_changes("shop", NOON, a_set(a_row("h", contract.ERR)), None),
    ]

    assert only(OK, ERR).message_id == again.message_id
    assert len({change.message_id for change in (again, *others)}) == 3


def test_a_skip_has_a_thread_of_its_own() -> None:
    change = only(OK, SKIPPED)

    assert (change.since, change.incident_since) == (NOON + MINUTE, NOON + MINUTE)
    assert change.incident_id != ERR["incident_id"]
