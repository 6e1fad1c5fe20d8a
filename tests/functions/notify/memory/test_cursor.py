# SPDX-License-Identifier: Apache-2.0
"""The cursor remembers the last run told of, and moves only from where it was seen."""

from __future__ import annotations

import json

import pytest

from functions import contract
from functions.errors import StoreError
from functions.notify.memory.cursor import Cursor, Cursors
from functions.notify.news.incident import Incident
from tests.builders import MINUTE, NOON
from tests.functions.notify.fakes import MemoryClaims

KEY = "notified/cursors/shop"
STANDING = {"g\n<b>": Incident(contract.ERR, NOON)}


@pytest.fixture(name="claims")
def _claims() -> MemoryClaims:
    return MemoryClaims()


def test_before_the_first_run_nothing_is_known(claims: MemoryClaims) -> None:
    assert Cursors(claims).read("shop") == Cursor("shop")


def test_it_remembers_the_run_and_how_things_stood(claims: MemoryClaims) -> None:
    cursors = Cursors(claims)
    moved = cursors.move(cursors.read("shop"), NOON, STANDING)

    assert (moved.taken_at, moved.standing) == (NOON, STANDING)
    assert cursors.read("shop") == moved


def test_who_moves_second_gets_the_first_ones_cursor(claims: MemoryClaims) -> None:
    cursors = Cursors(claims)
    seen = cursors.move(cursors.read("shop"), NOON, {})
    first = cursors.move(seen, NOON + MINUTE, STANDING)

    assert cursors.move(seen, NOON + 2 * MINUTE, {}) == first
    assert cursors.read("shop") == first


def test_two_first_runs_make_one_cursor(claims: MemoryClaims) -> None:
    cursors = Cursors(claims)
    first = cursors.move(Cursor("shop"), NOON, STANDING)

    assert cursors.move(Cursor("shop"), NOON + MINUTE, {}) == first


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"7",
        b"{}",
        b'{"version": "2", "taken_at": 0, "open": {}}',
        b'{"version": "1", "taken_at": null, "open": {}}',
        b'{"version": "1", "taken_at": 0, "open": []}',
        b'{"version": "1", "taken_at": 0, "open": {"g": {"status": "ERR"}}}',
        b'{"version": "1", "taken_at": 0, "open": {"g": {"status": "BAD", "incident_since": 0}}}',
    ],
)
def test_one_that_cannot_be_understood_is_one_clear_error(
    claims: MemoryClaims, data: bytes
) -> None:
    claims.put_if_none_match(KEY, data)

    with pytest.raises(StoreError, match=rf"^{KEY} cannot be understood .* Delete it to begin"):
        Cursors(claims).read("shop")


def test_its_form_is_the_documented_one(claims: MemoryClaims) -> None:
    Cursors(claims).move(Cursor("shop"), NOON, STANDING)

    assert json.loads(claims.objects[KEY].data) == {
        "version": "1",
        "taken_at": NOON,
        "open": {"g\n<b>": {"status": "ERR", "incident_since": NOON}},
    }


def test_since_when_a_group_is_missing_is_remembered(claims: MemoryClaims) -> None:
    missing = {"g": Incident(contract.ERR, NOON, last_seen=NOON, missing_since=NOON + MINUTE)}
    Cursors(claims).move(Cursor("shop"), NOON + MINUTE, missing)

    assert Cursors(claims).read("shop").standing == missing
    assert json.loads(claims.objects[KEY].data)["open"]["g"] == {
        "status": "ERR",
        "incident_since": NOON,
        "last_seen": NOON,
        "missing_since": NOON + MINUTE,
    }
