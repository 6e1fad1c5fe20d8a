# SPDX-License-Identifier: Apache-2.0
"""What was sent is remembered by claims and cursors, and each write by one of two writers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.notify.changes import Backlog, CatchingUp, Incident, OpenTrouble, Peak, Skip
from kafka_lag.notify.progress import (
    Claim,
    Claims,
    ConditionalObjects,
    Cursors,
    NotClaimed,
    S3ConditionalObjects,
    StoredObject,
)
from tests.builders import MINUTE, NOON
from tests.functions.notify.fakes import CURSOR, MemoryObjects

CLAIM = "notified/claims/shop/sns/m"
INCIDENTS = {"g\n<b>": Incident(contract.ERR, NOON)}


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


def test_the_second_to_claim_must_wait(claims: Claims, others: Claims) -> None:
    assert ours(claims.claim("shop", "m")).key == CLAIM
    assert others.claim("shop", "m") is NotClaimed.SENDING


def test_clusters_do_not_share_claims(claims: Claims) -> None:
    ours(claims.claim("shop", "m"))

    assert ours(claims.claim("bank", "m")).key == "notified/claims/bank/sns/m"


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


def test_only_one_takes_over(claims: Claims, others: Claims, clock: At) -> None:
    ours(claims.claim("shop", "m"))
    clock.now += 120

    ours(claims.claim("shop", "m"))
    assert others.claim("shop", "m") is NotClaimed.SENDING


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


def test_channels_do_not_share_claims(objects: MemoryObjects, clock: At, claims: Claims) -> None:
    claims.mark_sent(ours(claims.claim("shop", "m")))

    ours(Claims(objects, "event_bus", clock, "us").claim("shop", "m"))


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


def test_a_takeover_whose_answer_was_lost_is_still_ours(clock: At) -> None:
    objects = TakeoverAnswerLost()
    ours(Claims(objects, "sns", clock, "them").claim("shop", "m"))
    clock.now += 120
    claims = Claims(objects, "sns", clock, "us")
    claims.mark_sent(ours(claims.claim("shop", "m")))

    assert b'"sent"' in objects.objects[CLAIM].data


def test_a_claim_whose_answer_was_lost_is_still_ours(clock: At) -> None:
    objects = AnswerLost()
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


class Deleted(MemoryObjects):
    """What is there when we write is deleted when we read."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        return None


def test_a_claim_that_vanishes_is_left_to_the_next_run(clock: At) -> None:
    assert Claims(Deleted(), "sns", clock, "us").claim("shop", "m") is NotClaimed.SENDING


def test_it_begins_just_before_the_first_run_and_says_so(objects: MemoryObjects) -> None:
    cursors = Cursors(objects, "sns")
    first = cursors.read("shop", NOON)

    assert (first.taken_at, first.incidents) == (NOON - 1, {})
    assert cursors.read("shop", NOON + MINUTE) == first


def test_it_remembers_the_run_and_its_open_incidents(objects: MemoryObjects) -> None:
    cursors = Cursors(objects, "sns")
    moved = cursors.move(cursors.read("shop", NOON), NOON, INCIDENTS)

    assert (moved.taken_at, moved.incidents) == (NOON, INCIDENTS)
    assert cursors.read("shop", NOON) == moved


def test_channels_have_cursors_of_their_own(objects: MemoryObjects) -> None:
    sns, bus = Cursors(objects, "sns"), Cursors(objects, "event_bus")
    sns.move(sns.read("shop", NOON), NOON, INCIDENTS)

    assert bus.read("shop", NOON).incidents == {}


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
        b"7",
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


def test_its_form_is_the_documented_one(objects: MemoryObjects) -> None:
    cursors = Cursors(objects, "sns")
    cursors.move(cursors.read("shop", NOON), NOON, INCIDENTS)

    assert json.loads(objects.objects[CURSOR].data) == {
        "version": "1",
        "taken_at": NOON,
        "open": {"g\n<b>": {"status": "ERR", "incident_since": NOON}},
    }


def test_since_when_a_group_is_missing_is_remembered(objects: MemoryObjects) -> None:
    missing = {"g": Incident(contract.ERR, NOON, last_seen=NOON, missing_since=NOON + MINUTE)}
    cursors = Cursors(objects, "sns")
    cursors.move(cursors.read("shop", NOON), NOON + MINUTE, missing)

    assert Cursors(objects, "sns").read("shop", NOON).incidents == missing
    assert json.loads(objects.objects[CURSOR].data)["open"]["g"] == {
        "status": "ERR",
        "incident_since": NOON,
        "last_seen": NOON,
        "missing_since": NOON + MINUTE,
    }


def test_troubles_and_a_near_loss_are_remembered(objects: MemoryObjects) -> None:
    lost = OpenTrouble(NOON, NOON + MINUTE, 383_938)
    troubled = {"g": Incident(contract.OK, NOON, troubles={"loss": lost}, near_reported=True)}
    cursors = Cursors(objects, "sns")
    cursors.move(cursors.read("shop", NOON), NOON + MINUTE, troubled)

    assert Cursors(objects, "sns").read("shop", NOON).incidents == troubled
    assert json.loads(objects.objects[CURSOR].data)["open"]["g"] == {
        "status": "OK",
        "incident_since": NOON,
        "troubles": {"loss": {"since": NOON, "seen_at": NOON + MINUTE, "most": 383_938}},
        "near_reported": True,
    }


def test_one_of_an_older_release_is_read(objects: MemoryObjects) -> None:
    objects.put_if_none_match(
        CURSOR,
        b'{"version": "1", "taken_at": 7, "open": {"g": {"status": "ERR", "incident_since": 5}}}',
    )

    assert Cursors(objects, "sns").read("shop", NOON).incidents == {"g": Incident(contract.ERR, 5)}


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


def test_an_object_that_is_not_there_is_none(stored: ConditionalObjects) -> None:
    assert stored.read("a/b") is None


def test_the_first_write_wins(stored: ConditionalObjects) -> None:
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


class Contended:
    """A client whose puts meet a writer at the same time, so many times."""

    def __init__(self, client: Any, conflicts: int) -> None:
        self._client, self._conflicts = client, conflicts

    def put_object(self, **request: Any) -> Any:
        self._conflicts -= 1
        if self._conflicts >= 0:
            answer = {"Error": {"Code": "ConditionalRequestConflict", "Message": ""}}
            raise ClientError(answer, "PutObject")  # type: ignore[arg-type]
        return self._client.put_object(**request)


def test_a_conflict_of_two_writers_is_tried_again(bucket: Any) -> None:
    objects = S3ConditionalObjects(Contended(bucket, 2), "kept")

    assert objects.put_if_none_match("a/b", b"one")


def test_a_lasting_conflict_is_an_error(bucket: Any) -> None:
    objects = S3ConditionalObjects(Contended(bucket, 3), "kept")

    with pytest.raises(StoreError, match=r"^Cannot write a/b .*\(ConditionalRequestConflict\)"):
        objects.put_if_none_match("a/b", b"one")


def test_a_bucket_that_is_not_there_is_an_error(bucket: Any) -> None:
    objects = S3ConditionalObjects(bucket, "missing")

    with pytest.raises(StoreError, match=r"^Cannot read a/b in bucket missing \(NoSuchBucket\)"):
        objects.read("a/b")


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
    old = {"status": contract.ERR, "incident_since": NOON, "backlog": backlog, "peak": backlog}
    content = {"version": "1", "taken_at": NOON, "open": {"g": old}}
    objects.objects[CURSOR] = StoredObject(json.dumps(content).encode(), "etag")

    incident = cursors.read("shop", NOON + MINUTE).incidents["g"]

    assert (incident.backlog, incident.peak) == (Backlog(7, NOON), Peak(7, NOON))
    assert (incident.lately, incident.catching_up) == ((), None)
