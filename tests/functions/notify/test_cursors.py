# SPDX-License-Identifier: Apache-2.0
"""A cursor holds the reported run, a lease, and the ids already sent of the next run."""

from __future__ import annotations

import json

import pytest

from kafka_lag.errors import StoreError
from kafka_lag.notify.cursors import LEASE_MS, Cursors, LeasedError
from tests.builders import MINUTE, NOON
from tests.functions.notify.fakes import CURSOR, Deleted, MemoryObjects


class At(MemoryObjects):
    """Objects, and processes that use them at a time."""

    now = NOON / 1_000

    def cursors(self, owner: str = "we") -> Cursors:
        return Cursors(self, "sns", lambda: self.now, owner)


def test_a_new_one_begins_just_before_the_first_run_and_is_written_at_once() -> None:
    objects = At()
    first = objects.cursors().read("shop", NOON)

    assert (first.taken_at, first.is_new) == (NOON - 1, True)
    assert objects.cursors("they").read("shop", NOON + MINUTE) == first


def test_it_says_what_is_out_of_the_next_run_until_it_moves() -> None:
    objects = At()
    cursors = objects.cursors()
    noted = cursors.note(cursors.lease(cursors.read("shop", NOON)), ["a", "b"])

    assert objects.cursors("they").read("shop", NOON) == noted
    assert noted.sent == {"a", "b"}
    assert cursors.move(noted, NOON).sent == frozenset()
    assert json.loads(objects.objects[CURSOR].data) == {
        "taken_at": NOON,
        "is_new": False,
        "sent": [],
        "lease": None,
    }


@pytest.mark.parametrize(("later", "is_free"), [(LEASE_MS - 1, False), (LEASE_MS, True)])
def test_a_lease_holds_others_off_for_two_minutes(later: int, is_free: bool) -> None:
    objects = At()
    ours = objects.cursors()
    ours.lease(ours.read("shop", NOON))
    objects.now += later / 1_000

    assert ours.read("shop", NOON).lease
    if is_free:
        assert objects.cursors("they").read("shop", NOON).lease
    else:
        with pytest.raises(LeasedError, match=f"holds the lease in {CURSOR}"):
            objects.cursors("they").read("shop", NOON)


def test_of_two_that_lease_or_move_at_once_one_loses() -> None:
    objects = At()
    seen = objects.cursors().read("shop", NOON)
    objects.cursors("they").lease(seen)

    with pytest.raises(LeasedError):
        objects.cursors().lease(seen)
    with pytest.raises(LeasedError):
        objects.cursors().move(seen, NOON)


class Twice(At):
    """The client writes once more, because the first answer was lost."""

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        super().put_if_match(key, data, etag)
        return super().put_if_match(key, data, etag)


def test_a_write_whose_answer_was_lost_is_ours() -> None:
    cursors = Twice().cursors()
    moved = cursors.move(cursors.read("shop", NOON), NOON)

    assert cursors.move(moved, NOON + MINUTE).taken_at == NOON + MINUTE


class Contested(At):
    """Another process begins between our read and our write."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        super().put_if_none_match(key, data.replace(str(NOON - 1).encode(), b"7"))
        return super().put_if_none_match(key, data)


def test_two_first_runs_have_one_cursor() -> None:
    assert Contested().cursors().read("shop", NOON).taken_at == 7


def test_one_that_comes_and_goes_is_one_clear_error() -> None:
    with pytest.raises(StoreError, match=rf"^{CURSOR} comes and goes"):
        Cursors(Deleted(), "sns", lambda: 0.0, "we").read("shop", NOON)


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b'{"taken_at": null, "is_new": 0, "sent": [], "lease": null}'],
)
def test_one_that_cannot_be_understood_is_one_clear_error(data: bytes) -> None:
    objects = At()
    objects.put_if_none_match(CURSOR, data)

    with pytest.raises(StoreError, match=rf"^{CURSOR} cannot be understood .* Delete it to start"):
        objects.cursors().read("shop", NOON)
