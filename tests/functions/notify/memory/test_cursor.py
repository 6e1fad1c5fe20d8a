# SPDX-License-Identifier: Apache-2.0
"""The cursor remembers the last run told of, and moves only from where it was seen."""

from __future__ import annotations

import json

import pytest

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.notify.memory.cursor import Cursors
from kafka_lag.notify.news.incident import Incident
from tests.builders import MINUTE, NOON
from tests.functions.notify.fakes import MemoryClaims

KEY = "notified/cursors/shop/sns"
STANDING = {"g\n<b>": Incident(contract.ERR, NOON)}


@pytest.fixture(name="claims")
def _claims() -> MemoryClaims:
    return MemoryClaims()


def test_it_begins_just_before_the_first_run_and_says_so(claims: MemoryClaims) -> None:
    cursors = Cursors(claims, "sns")
    first = cursors.read("shop", NOON)

    assert (first.taken_at, first.standing) == (NOON - 1, {})
    assert cursors.read("shop", NOON + MINUTE) == first


def test_it_remembers_the_run_and_how_things_stood(claims: MemoryClaims) -> None:
    cursors = Cursors(claims, "sns")
    moved = cursors.move(cursors.read("shop", NOON), NOON, STANDING)

    assert (moved.taken_at, moved.standing) == (NOON, STANDING)
    assert cursors.read("shop", NOON) == moved


def test_channels_have_cursors_of_their_own(claims: MemoryClaims) -> None:
    sns, bus = Cursors(claims, "sns"), Cursors(claims, "event_bus")
    sns.move(sns.read("shop", NOON), NOON, STANDING)

    assert bus.read("shop", NOON).standing == {}


def test_who_moves_second_gets_the_first_ones_cursor(claims: MemoryClaims) -> None:
    cursors = Cursors(claims, "sns")
    seen = cursors.move(cursors.read("shop", NOON), NOON, {})
    first = cursors.move(seen, NOON + MINUTE, STANDING)

    assert cursors.move(seen, NOON + 2 * MINUTE, {}) == first
    assert cursors.read("shop", NOON) == first


def test_one_deleted_while_it_moves_begins_at_that_run(claims: MemoryClaims) -> None:
    cursors = Cursors(claims, "sns")
    seen = cursors.read("shop", NOON)
    del claims.objects[KEY]

    assert cursors.move(seen, NOON, STANDING).taken_at == NOON


class Contested(MemoryClaims):
    """Another process begins between our look and our write."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        super().put_if_none_match(key, b'{"version": "1", "taken_at": 7, "open": {}}')
        return super().put_if_none_match(key, data)


def test_two_first_runs_have_one_cursor() -> None:
    assert Cursors(Contested(), "sns").read("shop", NOON).taken_at == 7


class Vanishing(MemoryClaims):
    """What is there when we write is deleted when we look."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        return None


def test_one_that_comes_and_goes_is_one_clear_error() -> None:
    with pytest.raises(StoreError, match=rf"^{KEY} comes and goes"):
        Cursors(Vanishing(), "sns").read("shop", NOON)


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
        Cursors(claims, "sns").read("shop", NOON)


def test_its_form_is_the_documented_one(claims: MemoryClaims) -> None:
    cursors = Cursors(claims, "sns")
    cursors.move(cursors.read("shop", NOON), NOON, STANDING)

    assert json.loads(claims.objects[KEY].data) == {
        "version": "1",
        "taken_at": NOON,
        "open": {"g\n<b>": {"status": "ERR", "incident_since": NOON}},
    }


def test_since_when_a_group_is_missing_is_remembered(claims: MemoryClaims) -> None:
    missing = {"g": Incident(contract.ERR, NOON, last_seen=NOON, missing_since=NOON + MINUTE)}
    cursors = Cursors(claims, "sns")
    cursors.move(cursors.read("shop", NOON), NOON + MINUTE, missing)

    assert Cursors(claims, "sns").read("shop", NOON).standing == missing
    assert json.loads(claims.objects[KEY].data)["open"]["g"] == {
        "status": "ERR",
        "incident_since": NOON,
        "last_seen": NOON,
        "missing_since": NOON + MINUTE,
    }
