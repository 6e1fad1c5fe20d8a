# SPDX-License-Identifier: Apache-2.0
"""What went out in part, too late or past a store that failed goes out once all the same."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from kafka_lag.errors import StoreError
from kafka_lag.notify.channels.channel import InTime, Refusal
from kafka_lag.notify.channels.event_bus import EventBus
from kafka_lag.notify.channels.sns import Sns
from kafka_lag.notify.errors import OutOfTimeError, TellingError
from kafka_lag.notify.messages.telling import Event, Telling
from tests.functions.notify.delivering import NOTICE, Counting, a_delivery, always, some
from tests.functions.notify.fakes import MemoryClaims, RecordingChannel


class InPart(RecordingChannel):
    """Takes all events but those it `misses`."""

    def __init__(self, *misses: str) -> None:
        super().__init__("event_bus")
        self.misses = misses

    def send(self, tellings: Sequence[Telling], in_time: InTime) -> dict[str, Refusal]:
        super().send(tellings, in_time)
        names = {telling.name: {event.name for event in telling.events} for telling in tellings}
        return {
            name: Refusal("busy", frozenset(events.difference(self.misses)))
            for name, events in names.items()
            if events & set(self.misses)
        }


def test_of_a_message_taken_in_part_only_the_rest_goes_out_again() -> None:
    events = tuple(Event(name, "{}", 0) for name in "abcd")
    claims, bus, storm = MemoryClaims(), InPart("b", "d"), Telling("storm", NOTICE, events)
    with pytest.raises(TellingError, match="are out: busy"):
        a_delivery(claims, bus).deliver("shop", [storm], always)
    bus.misses = ()

    assert a_delivery(claims, bus, 300).deliver("shop", [storm], always) == 1
    assert [[event.name for event in sent.events] for sent in bus.sent] == [[*"abcd"], [*"bd"]]
    assert a_delivery(claims, bus, 900).deliver("shop", [storm], always) == 0


def test_between_the_tens_the_time_is_looked_at() -> None:
    channel = Counting()

    with pytest.raises(OutOfTimeError):
        a_delivery(MemoryClaims(), channel).deliver(
            "shop", some(25), lambda: len(channel.batches) < 2
        )
    assert channel.batches == [10, 10]


def test_what_was_claimed_when_the_time_ended_is_given_back() -> None:
    claims, left = MemoryClaims(), iter([True, True, False, False])
    sns = Sns(None, "arn")
    with pytest.raises(OutOfTimeError):
        a_delivery(claims, sns).deliver("shop", some(5), lambda: next(left))

    assert len(claims.objects) == 2
    assert all(b'"free"' in stored.data for stored in claims.objects.values())


class FailingOnce(MemoryClaims):
    """The so many-th call fails."""

    def __init__(self, call: int) -> None:
        super().__init__()
        self._left = call

    def _called(self, verb: str) -> None:
        self._left -= 1
        if self._left == 0:
            raise StoreError(f"cannot {verb}")


@pytest.mark.parametrize("call", range(1, 19))
def test_a_store_that_fails_once_repeats_one_message_at_most(call: int) -> None:
    claims, channel = FailingOnce(call), Counting()
    with suppress(StoreError):
        a_delivery(claims, channel).deliver("shop", some(9), always)
    a_delivery(claims, channel, 120).deliver("shop", some(9), always)

    assert len(set(channel.names)) == 9
    assert len(channel.names) <= 10


def test_what_is_known_to_be_out_is_not_asked_for_again() -> None:
    claims, channel = MemoryClaims(), Counting()
    delivery = a_delivery(claims, channel)
    delivery.deliver("shop", some(3), always)
    claims.down = {"read", "put_if_none_match"}

    assert delivery.deliver("shop", some(3), always) == 0


class Late(RecordingChannel):
    """Has time for the first event alone."""

    def send(self, tellings: Sequence[Telling], in_time: InTime) -> dict[str, Refusal]:
        self.sent += [replace(telling, events=telling.events[:1]) for telling in tellings]
        return {
            telling.name: Refusal(None, frozenset(event.name for event in telling.events[:1]))
            for telling in tellings
        }


def test_what_there_was_no_time_for_is_gone_on_with_at_once() -> None:
    storm = Telling("storm", NOTICE, (Event("a", "{}", 0), Event("b", "{}", 0)))
    claims, slow, quick = MemoryClaims(), Late(), RecordingChannel()
    with pytest.raises(OutOfTimeError):
        a_delivery(claims, slow).deliver("shop", [storm], always)
    a_delivery(claims, quick, 1).deliver("shop", [storm], always)

    assert [event.name for sent in slow.sent for event in sent.events] == ["a"]
    assert [event.name for sent in quick.sent for event in sent.events] == ["b"]


class SlowBus:
    """Each request takes eight seconds of a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.taken: list[str] = []

    def before(self, end: float) -> InTime:
        return lambda: self.now < end

    def put_events(self, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.now += 8
        self.taken += [entry["Detail"] for entry in Entries]
        return {"Entries": [{"EventId": "1"} for _ in Entries]}


def test_a_storm_that_takes_many_runs_sends_each_event_once() -> None:
    details = [str(number) for number in range(200)]
    storm = Telling("storm", NOTICE, tuple(Event(each, each, 0) for each in details))
    client, claims = SlowBus(), MemoryClaims()
    runs = 0
    while runs < 9:
        runs += 1
        bus, until = EventBus(client, "alerts", lambda _: None), client.now + 30
        with suppress(OutOfTimeError):
            a_delivery(claims, bus, client.now).deliver("shop", [storm], client.before(until))
            break

    assert client.taken == details
    assert runs == 5


def test_what_is_ours_goes_out_though_the_next_claim_fails() -> None:
    channel = Counting()
    with pytest.raises(StoreError):
        a_delivery(FailingOnce(5), channel).deliver("shop", some(9), always)

    assert channel.names == ["m0", "m1", "m2", "m3"]
