# SPDX-License-Identifier: Apache-2.0
"""A claim is one process's, until it is done or silent for two minutes."""

from __future__ import annotations

import json

import pytest

from kafka_lag.notify.memory.claim import Claim, ClaimBook, Taken
from kafka_lag.notify.memory.objects import Stored
from tests.functions.notify.fakes import MemoryClaims

KEY = "notified/claims/shop/sns/m"


class At:
    """A clock that is set, in seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(name="claims")
def _claims() -> MemoryClaims:
    return MemoryClaims()


@pytest.fixture(name="clock")
def _clock() -> At:
    return At()


@pytest.fixture(name="book")
def _book(claims: MemoryClaims, clock: At) -> ClaimBook:
    return ClaimBook(claims, "sns", clock, "us")


@pytest.fixture(name="others")
def _others(claims: MemoryClaims, clock: At) -> ClaimBook:
    """Another process at the same work."""
    return ClaimBook(claims, "sns", clock, "them")


def ours(claim: Claim | Taken) -> Claim:
    assert isinstance(claim, Claim)
    return claim


def test_the_second_to_ask_must_wait(book: ClaimBook, others: ClaimBook) -> None:
    assert ours(book.claim("shop", "m")).key == KEY
    assert others.claim("shop", "m") is Taken.SENDING


def test_clusters_do_not_share_claims(book: ClaimBook) -> None:
    ours(book.claim("shop", "m"))

    assert ours(book.claim("bank", "m")).key == "notified/claims/bank/sns/m"


def test_what_is_sent_stays_sent(book: ClaimBook, clock: At) -> None:
    book.sent(ours(book.claim("shop", "m")))
    clock.now += 10_000

    assert book.claim("shop", "m") is Taken.SENT


@pytest.mark.parametrize(("silent", "taken_over"), [(119.9, False), (120, True), (9_999, True)])
def test_a_silent_claim_is_taken_over_after_two_minutes(
    book: ClaimBook, clock: At, silent: float, taken_over: bool
) -> None:
    ours(book.claim("shop", "m"))
    clock.now += silent

    assert isinstance(book.claim("shop", "m"), Claim) is taken_over


def test_only_one_takes_over(book: ClaimBook, others: ClaimBook, clock: At) -> None:
    ours(book.claim("shop", "m"))
    clock.now += 120

    ours(book.claim("shop", "m"))
    assert others.claim("shop", "m") is Taken.SENDING


class Late(MemoryClaims):
    """Another process writes between our look and our write."""

    def read(self, key: str) -> Stored | None:
        held = super().read(key)
        if held:
            self._put(key, held.data)
        return held


def test_of_two_who_take_over_at_once_one_loses(clock: At) -> None:
    book = ClaimBook(Late(), "sns", clock, "us")
    ours(book.claim("shop", "m"))
    clock.now += 120

    assert book.claim("shop", "m") is Taken.SENDING


def test_who_takes_over_knows_which_events_are_out(book: ClaimBook, clock: At) -> None:
    book.doubt(ours(book.claim("shop", "m")), ["a"])
    clock.now += 120
    again = ours(book.claim("shop", "m"))
    book.doubt(again, ["b"])
    clock.now += 120

    assert again.out == {"a"}
    assert ours(book.claim("shop", "m")).out == {"a", "b"}


def test_channels_do_not_share_claims(claims: MemoryClaims, clock: At, book: ClaimBook) -> None:
    book.sent(ours(book.claim("shop", "m")))

    ours(ClaimBook(claims, "event_bus", clock, "us").claim("shop", "m"))


def test_what_was_given_back_is_taken_over_at_once(
    book: ClaimBook, others: ClaimBook, claims: MemoryClaims
) -> None:
    book.give_back(ours(book.claim("shop", "m")), ["a"])

    assert b'"free"' in claims.objects[KEY].data
    assert ours(others.claim("shop", "m")).out == {"a"}
    assert book.claim("shop", "m") is Taken.SENDING


def test_its_form_is_sending_then_sent(book: ClaimBook, claims: MemoryClaims) -> None:
    claim = ours(book.claim("shop", "m"))
    forms = [json.loads(claims.objects[KEY].data)]
    book.sent(claim)
    forms.append(json.loads(claims.objects[KEY].data))

    held = {"at": 1_000_000, "by": "us", "out": []}
    assert forms == [{"state": "sending", **held}, {"state": "sent", **held}]


def test_a_doubt_does_not_make_the_claim_younger(
    book: ClaimBook, others: ClaimBook, clock: At
) -> None:
    claim = ours(book.claim("shop", "m"))
    clock.now += 20
    book.doubt(claim, [])
    assert others.claim("shop", "m") is Taken.SENDING
    clock.now += 100

    ours(others.claim("shop", "m"))


class Deaf(MemoryClaims):
    """The first answer to a write is lost, so the client writes once more."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        super().put_if_none_match(key, data)
        return super().put_if_none_match(key, data)


class DeafLater(MemoryClaims):
    """The answer to taking over is lost, so the client writes once more."""

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        super().put_if_match(key, data, etag)
        return super().put_if_match(key, data, etag)


def test_a_takeover_whose_answer_was_lost_is_still_ours(clock: At) -> None:
    claims = DeafLater()
    ours(ClaimBook(claims, "sns", clock, "them").claim("shop", "m"))
    clock.now += 120
    book = ClaimBook(claims, "sns", clock, "us")
    book.sent(ours(book.claim("shop", "m")))

    assert b'"sent"' in claims.objects[KEY].data


def test_a_claim_whose_answer_was_lost_is_still_ours(clock: At) -> None:
    claims = Deaf()
    book = ClaimBook(claims, "sns", clock, "us")
    book.sent(ours(book.claim("shop", "m")))

    assert book.claim("shop", "m") is Taken.SENT


def test_whoever_was_overtaken_does_not_undo_the_others_claim(
    book: ClaimBook, clock: At, claims: MemoryClaims
) -> None:
    slow = ours(book.claim("shop", "m"))
    clock.now += 120
    ours(book.claim("shop", "m"))
    book.sent(slow)

    assert b"sending" in claims.objects[KEY].data


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"state": "sending", "at": "x", "out": []}'])
def test_a_claim_that_nobody_can_read_is_taken_over(
    book: ClaimBook, claims: MemoryClaims, data: bytes
) -> None:
    claims.put_if_none_match(KEY, data)

    ours(book.claim("shop", "m"))


class Deleted(MemoryClaims):
    """What is there when we write is deleted when we look."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        return None


def test_a_claim_that_vanishes_is_left_to_the_next_run(clock: At) -> None:
    assert ClaimBook(Deleted(), "sns", clock, "us").claim("shop", "m") is Taken.SENDING
