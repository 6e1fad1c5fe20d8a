# SPDX-License-Identifier: Apache-2.0
"""Messages go out by the ten, and one that cannot go does not lose the others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from functions.errors import StoreError
from functions.notify.channels.channel import Channel, InTime, Refusal
from functions.notify.channels.event_bus import EventBus
from functions.notify.channels.sns import Sns
from functions.notify.delivery import Delivery
from functions.notify.errors import OutOfTimeError, TellingError
from functions.notify.memory.claim import ClaimBook
from functions.notify.messages.telling import Event, Notice, Telling
from tests.functions.notify.fakes import MemoryClaims, RecordingChannel

NOTICE = Notice("s", "t", {}, "thread")


def some(count: int) -> list[Telling]:
    return [Telling(f"m{number}", NOTICE, ()) for number in range(count)]


class Counting(RecordingChannel):
    """Notes how many messages came at once, and refuses those named."""

    def __init__(self, name: str = "sns", *refused: str) -> None:
        super().__init__(name)
        self.batches: list[int] = []
        self.refused = refused

    def send(self, tellings: Sequence[Telling], in_time: InTime) -> dict[str, Refusal]:
        self.batches.append(len(tellings))
        super().send([each for each in tellings if each.name not in self.refused], in_time)
        names = [telling.name for telling in tellings]
        return {name: Refusal(f"no {name}") for name in names if name in self.refused}


def a_delivery(claims: MemoryClaims, channel: Channel, now: float = 0.0) -> Delivery:
    return Delivery(channel, claims, lambda: now, f"the one of {now}")


def always() -> bool:
    return True


def test_messages_go_out_by_the_ten() -> None:
    channel = Counting()

    assert a_delivery(MemoryClaims(), channel).deliver("shop", some(25), always) == 25
    assert channel.batches == [10, 10, 5]


def test_without_messages_nobody_is_asked() -> None:
    channel = Counting()

    assert a_delivery(MemoryClaims(), channel).deliver("shop", [], always) == 0
    assert channel.batches == []


def test_after_a_refusal_no_further_message_is_claimed() -> None:
    claims, channel = MemoryClaims(), Counting("sns", "m3")

    with pytest.raises(TellingError, match=r"are out: no m3\. Nothing is lost"):
        a_delivery(claims, channel).deliver("shop", some(25), always)

    assert len(claims.objects) == 10
    assert len(channel.sent) == 9


def test_each_cause_is_named_once() -> None:
    channel = RecordingChannel()
    channel.refuses = "the topic is shut"

    with pytest.raises(TellingError, match=r"out: the topic is shut\. Nothing"):
        a_delivery(MemoryClaims(), channel).deliver("shop", some(3), always)


@pytest.mark.parametrize(
    ("doubts", "later", "told"), [(False, 1, 3), (True, 119, 0), (True, 120, 3)]
)
def test_what_was_refused_goes_at_once_and_what_is_in_doubt_after_two_minutes(
    doubts: bool, later: float, told: int
) -> None:
    claims, channel = MemoryClaims(), RecordingChannel()
    channel.refuses, channel.doubts = "down", doubts
    with pytest.raises(TellingError):
        a_delivery(claims, channel).deliver("shop", some(3), always)
    channel.refuses = None
    with suppress(TellingError):
        a_delivery(claims, channel, later).deliver("shop", some(3), always)

    assert len(channel.sent) == told


def test_a_message_in_other_hands_does_not_hold_the_others() -> None:
    claims, channel = MemoryClaims(), Counting()
    ClaimBook(claims, "sns", lambda: 0.0, "them").claim("shop", "m1")

    with pytest.raises(TellingError, match=r"not known to be out: 1\."):
        a_delivery(claims, channel).deliver("shop", some(12), always)

    assert len(channel.sent) == 11


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
