# SPDX-License-Identifier: Apache-2.0
"""Who sends a message is settled by a claim, and each write of one by one of two writers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from kafka_lag.errors import StoreError
from kafka_lag.notify.claims import Claim, Claims, NotClaimed
from kafka_lag.notify.conditional_objects import (
    ConditionalObjects,
    S3ConditionalObjects,
    StoredObject,
)
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


# Of two who write an object one loses, in S3 and in the fake of it.


@pytest.fixture(name="bucket")
def _bucket() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="kept")
        yield client


@pytest.fixture(name="stored", params=["s3", "memory"])
def _stored(request: pytest.FixtureRequest) -> ConditionalObjects:
    if request.param == "memory":
        return MemoryObjects()
    return S3ConditionalObjects(request.getfixturevalue("bucket"), "kept")


def test_the_first_write_wins(stored: ConditionalObjects) -> None:
    assert stored.read("a/b") is None
    first = stored.put_if_none_match("a/b", b"one")

    assert first is not None
    assert stored.put_if_none_match("a/b", b"two") is None
    assert stored.read("a/b") == StoredObject(b"one", first)


def test_a_write_that_saw_the_newest_wins(stored: ConditionalObjects) -> None:
    first = stored.put_if_none_match("a/b", b"one") or ""
    second = stored.put_if_match("a/b", b"two", first)

    assert second is not None
    assert stored.put_if_match("a/b", b"three", first) is None
    assert stored.read("a/b") == StoredObject(b"two", second)


def test_a_write_over_what_was_deleted_loses(stored: ConditionalObjects) -> None:
    assert stored.put_if_match("a/b", b"one", '"0"') is None


def test_a_bucket_that_is_not_there_is_an_error(bucket: Any) -> None:
    objects = S3ConditionalObjects(bucket, "missing")

    with pytest.raises(StoreError, match=r"^Cannot read a/b in bucket missing \(NoSuchBucket\)"):
        objects.read("a/b")
    with pytest.raises(StoreError, match=r"^Cannot write a/b .*\(NoSuchBucket\)"):
        objects.put_if_none_match("a/b", b"one")


class _Denying:
    """S3 to a role that may not read; it may list if `keys` are known."""

    def __init__(self, keys: list[str] | None) -> None:
        self._keys = keys

    def get_object(self, **_: Any) -> Any:
        raise _denied("GetObject")

    def list_objects_v2(self, *, Prefix: str, **_: Any) -> Any:  # noqa: N803
        if self._keys is None:
            raise _denied("ListObjectsV2")
        return {"Contents": [{"Key": key} for key in self._keys if key.startswith(Prefix)]}


def _denied(operation: str) -> ClientError:
    return ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, operation)


@pytest.mark.parametrize("keys", [[], ["notified/cursors/orders/topic-2"]])
def test_a_missing_object_that_s3_denies_is_missing_if_a_list_says_so(keys: list[str]) -> None:
    objects = S3ConditionalObjects(_Denying(keys), "ours")
    assert objects.read("notified/cursors/orders/topic") is None


@pytest.mark.parametrize("keys", [None, ["notified/cursors/orders/topic"]])
def test_an_object_that_is_there_or_may_be_is_denied(keys: list[str] | None) -> None:
    objects = S3ConditionalObjects(_Denying(keys), "ours")
    with pytest.raises(StoreError, match=r"Cannot read .*/topic in bucket ours \(AccessDenied\)"):
        objects.read("notified/cursors/orders/topic")
