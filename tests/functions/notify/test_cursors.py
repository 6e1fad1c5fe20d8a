# SPDX-License-Identifier: Apache-2.0
"""What was reported is remembered by cursors, those of older releases too."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.notify.backlog import Backlog, CatchingUp, Peak, Skip
from kafka_lag.notify.conditional_objects import StoredObject
from kafka_lag.notify.cursors import Cursors
from kafka_lag.notify.open_incidents import Absence, Incident
from kafka_lag.notify.troubles import OpenTrouble
from tests.builders import MINUTE, NOON
from tests.functions.notify.fakes import CURSOR, Deleted, MemoryObjects

INCIDENTS = {"g\n<b>": Incident(contract.ERR, NOON)}
LOST = OpenTrouble(NOON, NOON + MINUTE, 383_938)


@pytest.fixture(name="objects")
def _objects() -> MemoryObjects:
    return MemoryObjects()


def test_it_begins_just_before_the_first_run_and_says_so(objects: MemoryObjects) -> None:
    cursors = Cursors(objects, "sns")
    first = cursors.read("shop", NOON)

    assert (first.taken_at, first.incidents) == (NOON - 1, {})
    assert cursors.read("shop", NOON + MINUTE) == first


def test_who_moves_second_gets_the_first_ones_cursor(objects: MemoryObjects) -> None:
    cursors = Cursors(objects, "sns")
    seen = cursors.move(cursors.read("shop", NOON), NOON, {})
    first = cursors.move(seen, NOON + MINUTE, INCIDENTS)

    assert cursors.move(seen, NOON + 2 * MINUTE, {}) == first
    assert cursors.read("shop", NOON) == first


def test_one_deleted_while_it_moves_begins_at_that_run(objects: MemoryObjects) -> None:
    cursors = Cursors(objects, "sns")
    seen = cursors.read("shop", NOON)
    del objects.objects[CURSOR]

    assert cursors.move(seen, NOON, INCIDENTS).taken_at == NOON


class Contested(MemoryObjects):
    """Another process begins between our read and our write."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        super().put_if_none_match(key, b'{"version": "1", "taken_at": 7, "open": {}}')
        return super().put_if_none_match(key, data)


def test_two_first_runs_have_one_cursor() -> None:
    assert Cursors(Contested(), "sns").read("shop", NOON).taken_at == 7


def test_one_that_comes_and_goes_is_one_clear_error() -> None:
    with pytest.raises(StoreError, match=rf"^{CURSOR} comes and goes"):
        Cursors(Deleted(), "sns").read("shop", NOON)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"version": "2", "taken_at": 0, "open": {}}',
        b'{"version": "1", "taken_at": null, "open": {}}',
        b'{"version": "1", "taken_at": 0, "open": []}',
        b'{"version": "1", "taken_at": 0, "open": {"g": {"status": "ERR"}}}',
        b'{"version": "1", "taken_at": 0, "open": {"g": {"status": "BAD", "incident_since": 0}}}',
        b'{"version": "1", "taken_at": 0, "open": {"g": {"status": "OK", "incident_since": 0, '
        b'"troubles": {"loss": {"since": 0}}}}}',
    ],
)
def test_one_that_cannot_be_understood_is_one_clear_error(
    objects: MemoryObjects, data: bytes
) -> None:
    objects.put_if_none_match(CURSOR, data)

    with pytest.raises(StoreError, match=rf"^{CURSOR} cannot be understood .* Delete it to begin"):
        Cursors(objects, "sns").read("shop", NOON)


@pytest.mark.parametrize(
    ("incident", "written"),
    [
        (Incident(contract.ERR, NOON), {"status": "ERR"}),
        (
            Incident(contract.ERR, NOON, missing=Absence(NOON, NOON + MINUTE)),
            {"status": "ERR", "last_seen": NOON, "missing_since": NOON + MINUTE},
        ),
        (
            Incident(contract.OK, NOON, troubles={"loss": LOST}, near_reported=True),
            {
                "status": "OK",
                "troubles": {"loss": {"since": NOON, "seen_at": NOON + MINUTE, "most": 383_938}},
                "near_reported": True,
            },
        ),
    ],
    ids=["open", "missing", "in troubles"],
)
def test_its_form_is_the_documented_one_and_is_read_again(
    objects: MemoryObjects, incident: Incident, written: dict[str, Any]
) -> None:
    cursors, open_ = Cursors(objects, "sns"), {"g\n<b>": incident}
    moved = cursors.move(cursors.read("shop", NOON), NOON, open_)

    assert json.loads(objects.objects[CURSOR].data) == {
        "version": "1",
        "taken_at": NOON,
        "open": {"g\n<b>": {**written, "incident_since": NOON}},
    }
    assert (moved.taken_at, moved.incidents) == (NOON, open_)
    assert cursors.read("shop", NOON) == moved
    assert Cursors(objects, "event_bus").read("shop", NOON).incidents == {}


def test_what_was_reported_last_is_read_again(objects: MemoryObjects) -> None:
    bad = Incident(
        contract.ERR,
        NOON,
        status_since=NOON,
        worst_status=contract.STOPPED,
        first_seen_ill=True,
        worst_since=NOON - MINUTE,
        backlog=Backlog(53_420, NOON, 10.0, 7),
        peak=Peak(53_420, NOON, 60.0, True, 0, NOON),
        lately=(Backlog(9, NOON), Backlog(8, NOON + MINUTE)),
        catching_up=CatchingUp(NOON, Backlog(8, NOON + MINUTE)),
        first_seen_at=NOON - MINUTE,
        skip=Skip(9, Backlog(9, NOON), Backlog(0, NOON + MINUTE)),
    )
    cursors = Cursors(objects, "sns")
    cursors.move(cursors.read("shop", NOON), NOON, {"g": bad})

    assert cursors.read("shop", NOON + MINUTE).incidents == {"g": bad}


def test_a_cursor_of_another_release_says_what_both_know(objects: MemoryObjects) -> None:
    cursors = Cursors(objects, "sns")
    cursors.read("shop", NOON)
    backlog = {"records": 7, "at": NOON, "what only a later one knows": 1}
    older = {"status": contract.ERR, "incident_since": NOON}
    other = {**older, "backlog": backlog, "peak": backlog}
    content = {"version": "1", "taken_at": NOON, "open": {"g": other, "h": older}}
    objects.objects[CURSOR] = StoredObject(json.dumps(content).encode(), "etag")

    incidents = cursors.read("shop", NOON + MINUTE).incidents
    known = replace(incidents["g"], backlog=None, peak=None)

    assert (incidents["g"].backlog, incidents["g"].peak) == (Backlog(7, NOON), Peak(7, NOON))
    assert known == incidents["h"] == Incident(contract.ERR, NOON)
