# SPDX-License-Identifier: Apache-2.0
"""Who sends a message is settled by a claim, and each write of one by one of two writers."""

from __future__ import annotations

import json

import pytest

from kafka_lag.notify.claims import Claim, Claims, NotClaimed
from kafka_lag.notify.conditional_objects import StoredObject
from tests.functions.notify.fakes import Deleted, MemoryObjects

CLAIM = "notified/claims/shop/sns/m"


class At:
    """A clock that is set, in seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(name="objects")
def _objects() -> MemoryObjects:
    return MemoryObjects()


@pytest.fixture(name="clock")
def _clock() -> At:
    return At()


@pytest.fixture(name="claims")
def _claims(objects: MemoryObjects, clock: At) -> Claims:
    return Claims(objects, "sns", clock, "us")


@pytest.fixture(name="others")
def _others(objects: MemoryObjects, clock: At) -> Claims:
    """Another process at the same work."""
    return Claims(objects, "sns", clock, "them")


def ours(claim: Claim | NotClaimed) -> Claim:
    assert isinstance(claim, Claim)
    return claim


def test_the_second_to_claim_must_wait(
    claims: Claims, others: Claims, objects: MemoryObjects, clock: At
) -> None:
    assert ours(claims.claim("shop", "m")).key == CLAIM
    assert others.claim("shop", "m") is NotClaimed.SENDING
    # Clusters and channels do not share claims.
    assert ours(others.claim("bank", "m")).key == "notified/claims/bank/sns/m"
    ours(Claims(objects, "event_bus", clock, "them").claim("shop", "m"))


def test_what_is_sent_stays_sent(claims: Claims, clock: At) -> None:
    claims.mark_sent(ours(claims.claim("shop", "m")))
    clock.now += 10_000

    assert claims.claim("shop", "m") is NotClaimed.SENT


@pytest.mark.parametrize(("seconds", "taken_over"), [(119.9, False), (120, True), (9_999, True)])
def test_a_stale_claim_is_taken_over_after_two_minutes(
    claims: Claims, clock: At, seconds: float, taken_over: bool
) -> None:
    ours(claims.claim("shop", "m"))
    clock.now += seconds

    assert isinstance(claims.claim("shop", "m"), Claim) is taken_over


class WrittenMeanwhile(MemoryObjects):
    """Another process writes between our read and our write."""

    def read(self, key: str) -> StoredObject | None:
        stored = super().read(key)
        if stored:
            self._put(key, stored.data)
        return stored


def test_of_two_who_take_over_at_once_one_loses(clock: At) -> None:
    claims = Claims(WrittenMeanwhile(), "sns", clock, "us")
    ours(claims.claim("shop", "m"))
    clock.now += 120

    assert claims.claim("shop", "m") is NotClaimed.SENDING


def test_who_takes_over_knows_which_events_are_out(claims: Claims, clock: At) -> None:
    claims.mark_uncertain(ours(claims.claim("shop", "m")), ["a"])
    clock.now += 120
    again = ours(claims.claim("shop", "m"))
    claims.mark_uncertain(again, ["b"])
    clock.now += 120

    assert again.sent_events == {"a"}
    assert ours(claims.claim("shop", "m")).sent_events == {"a", "b"}


def test_what_was_released_is_taken_over_at_once(
    claims: Claims, others: Claims, objects: MemoryObjects
) -> None:
    claims.release(ours(claims.claim("shop", "m")), ["a"])

    assert b'"free"' in objects.objects[CLAIM].data
    assert ours(others.claim("shop", "m")).sent_events == {"a"}
    assert claims.claim("shop", "m") is NotClaimed.SENDING


def test_its_form_is_sending_then_sent(claims: Claims, objects: MemoryObjects) -> None:
    claim = ours(claims.claim("shop", "m"))
    forms = [json.loads(objects.objects[CLAIM].data)]
    claims.mark_sent(claim)
    forms.append(json.loads(objects.objects[CLAIM].data))

    rest = {"at": 1_000_000, "by": "us", "out": []}
    assert forms == [{"state": "sending", **rest}, {"state": "sent", **rest}]


def test_uncertainty_does_not_make_the_claim_younger(
    claims: Claims, others: Claims, clock: At
) -> None:
    claim = ours(claims.claim("shop", "m"))
    clock.now += 20
    claims.mark_uncertain(claim, [])
    assert others.claim("shop", "m") is NotClaimed.SENDING
    clock.now += 100

    ours(others.claim("shop", "m"))


class AnswerLost(MemoryObjects):
    """The first answer to a write is lost, so the client writes once more."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        super().put_if_none_match(key, data)
        return super().put_if_none_match(key, data)


class TakeoverAnswerLost(MemoryObjects):
    """The answer to taking over is lost, so the client writes once more."""

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        super().put_if_match(key, data, etag)
        return super().put_if_match(key, data, etag)


@pytest.mark.parametrize("objects", [AnswerLost(), TakeoverAnswerLost()], ids=["first", "second"])
def test_a_claim_or_takeover_whose_answer_was_lost_is_still_ours(
    objects: MemoryObjects, clock: At
) -> None:
    if isinstance(objects, TakeoverAnswerLost):
        ours(Claims(objects, "sns", clock, "them").claim("shop", "m"))
        clock.now += 120
    claims = Claims(objects, "sns", clock, "us")
    claims.mark_sent(ours(claims.claim("shop", "m")))

    assert claims.claim("shop", "m") is NotClaimed.SENT


def test_whoever_was_overtaken_does_not_undo_the_others_claim(
    claims: Claims, clock: At, objects: MemoryObjects
) -> None:
    slow = ours(claims.claim("shop", "m"))
    clock.now += 120
    ours(claims.claim("shop", "m"))
    claims.mark_sent(slow)

    assert b"sending" in objects.objects[CLAIM].data


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"state": "sending", "at": "x", "out": []}'])
def test_a_claim_that_nobody_can_read_is_taken_over(
    claims: Claims, objects: MemoryObjects, data: bytes
) -> None:
    objects.put_if_none_match(CLAIM, data)

    ours(claims.claim("shop", "m"))


def test_a_claim_that_vanishes_is_left_to_the_next_run(clock: At) -> None:
    assert Claims(Deleted(), "sns", clock, "us").claim("shop", "m") is NotClaimed.SENDING
