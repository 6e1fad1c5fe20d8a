# SPDX-License-Identifier: Apache-2.0
"""Messages go out by the ten, and one that cannot go does not lose the others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from kafka_lag.errors import StoreError
from kafka_lag.notify.claims import Claims
from kafka_lag.notify.delivery import HasTime, NotificationError, OutOfTimeError, Unsent
from kafka_lag.notify.eventbridge import EventBridgeChannel
from kafka_lag.notify.messages import StatusEvent, StatusMessage
from kafka_lag.notify.sns import SnsChannel
from tests.functions.notify.fakes import (
    NOTICE,
    CountingChannel,
    MemoryObjects,
    RecordingChannel,
    a_delivery,
    always,
    some,
)


def test_messages_go_out_by_the_ten() -> None:
    channel = CountingChannel()
    delivery = a_delivery(MemoryObjects(), channel)

    assert [delivery.deliver("shop", some(count), always) for count in (0, 25)] == [0, 25]
    assert channel.batches == [10, 10, 5]


def test_after_an_error_no_further_message_is_claimed() -> None:
    objects, channel = MemoryObjects(), CountingChannel("sns", "m3")

    with pytest.raises(NotificationError, match=r"are out: no m3\. Nothing is lost"):
        a_delivery(objects, channel).deliver("shop", some(25), always)

    assert len(objects.objects) == 10
    assert len(channel.sent) == 9


@pytest.mark.parametrize(
    ("uncertain", "later", "sent"), [(False, 1, 3), (True, 119, 0), (True, 120, 3)]
)
def test_what_is_not_out_goes_at_once_and_what_is_uncertain_after_two_minutes(
    uncertain: bool, later: float, sent: int
) -> None:
    objects, channel = MemoryObjects(), RecordingChannel()
    channel.error, channel.uncertain = "down", uncertain
    with pytest.raises(NotificationError, match=r"out: down\. "):
        a_delivery(objects, channel).deliver("shop", some(3), always)
    channel.error = None
    with suppress(NotificationError):
        a_delivery(objects, channel, later).deliver("shop", some(3), always)

    assert len(channel.sent) == sent


def test_a_message_claimed_elsewhere_does_not_delay_the_others() -> None:
    objects, channel = MemoryObjects(), CountingChannel()
    Claims(objects, "sns", lambda: 0.0, "them").claim("shop", "m1")

    with pytest.raises(NotificationError, match=r"not known to be out: 1\."):
        a_delivery(objects, channel).deliver("shop", some(12), always)

    assert len(channel.sent) == 11


class PartialChannel(RecordingChannel):
    """Takes all events but those it `misses`."""

    def __init__(self, *misses: str) -> None:
        super().__init__("event_bus")
        self.misses = misses

    def send(self, messages: Sequence[StatusMessage], has_time: HasTime) -> dict[str, Unsent]:
        super().send(messages, has_time)
        ids = {message.id: {event.id for event in message.events} for message in messages}
        return {
            id_: Unsent("busy", frozenset(events.difference(self.misses)))
            for id_, events in ids.items()
            if events & set(self.misses)
        }


def test_of_a_message_taken_in_part_only_the_rest_goes_out_again() -> None:
    events = tuple(StatusEvent(id_, "{}", 0) for id_ in "abcd")
    objects, bus, bulk = (
        MemoryObjects(),
        PartialChannel("b", "d"),
        StatusMessage("storm", NOTICE, events),
    )
    with pytest.raises(NotificationError, match="are out: busy"):
        a_delivery(objects, bus).deliver("shop", [bulk], always)
    bus.misses = ()

    assert a_delivery(objects, bus, 300).deliver("shop", [bulk], always) == 1
    assert [[event.id for event in sent.events] for sent in bus.sent] == [[*"abcd"], [*"bd"]]
    assert a_delivery(objects, bus, 900).deliver("shop", [bulk], always) == 0


def test_between_the_tens_the_time_is_looked_at() -> None:
    channel = CountingChannel()

    with pytest.raises(OutOfTimeError):
        a_delivery(MemoryObjects(), channel).deliver(
            "shop", some(25), lambda: len(channel.batches) < 2
        )
    assert channel.batches == [10, 10]


def test_what_was_claimed_when_the_time_ended_is_released() -> None:
    objects, left = MemoryObjects(), iter([True, True, False, False])
    sns = SnsChannel(None, "arn")
    with pytest.raises(OutOfTimeError):
        a_delivery(objects, sns).deliver("shop", some(5), lambda: next(left))

    assert len(objects.objects) == 2
    assert all(b'"free"' in stored.data for stored in objects.objects.values())


class FailingOnce(MemoryObjects):
    """The so many-th call fails."""

    def __init__(self, call: int) -> None:
        super().__init__()
        self._left = call

    def _called(self, verb: str) -> None:
        self._left -= 1
        if self._left == 0:
            raise StoreError(f"cannot {verb}")


@pytest.mark.parametrize("call", range(1, 19, 2))
def test_a_store_that_fails_once_repeats_one_message_at_most(call: int) -> None:
    objects, channel = FailingOnce(call), CountingChannel()
    with suppress(StoreError):
        a_delivery(objects, channel).deliver("shop", some(9), always)
    a_delivery(objects, channel, 120).deliver("shop", some(9), always)

    assert len(set(channel.ids)) == 9
    assert len(channel.ids) <= 10


def test_what_is_known_to_be_sent_is_not_claimed_again() -> None:
    objects, channel = MemoryObjects(), CountingChannel()
    delivery = a_delivery(objects, channel)
    delivery.deliver("shop", some(3), always)
    objects.down = {"read", "put_if_none_match"}

    assert delivery.deliver("shop", some(3), always) == 0


class SlowBus:
    """Each request takes eight seconds of a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.taken: list[str] = []

    def before(self, end: float) -> HasTime:
        return lambda: self.now < end

    def put_events(self, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.now += 8
        self.taken += [entry["Detail"] for entry in Entries]
        return {"Entries": [{"EventId": "1"} for _ in Entries]}


def test_a_bulk_change_that_takes_many_runs_sends_each_event_once() -> None:
    details = [str(number) for number in range(200)]
    bulk = StatusMessage("storm", NOTICE, tuple(StatusEvent(each, each, 0) for each in details))
    client, objects = SlowBus(), MemoryObjects()
    runs = 0
    while runs < 9:
        runs += 1
        bus, until = EventBridgeChannel(client, "alerts", lambda _: None), client.now + 30
        with suppress(OutOfTimeError):
            a_delivery(objects, bus, client.now).deliver("shop", [bulk], client.before(until))
            break

    assert client.taken == details
    assert runs == 5


def test_what_is_claimed_goes_out_though_the_next_claim_fails() -> None:
    channel = CountingChannel()
    with pytest.raises(StoreError):
        a_delivery(FailingOnce(5), channel).deliver("shop", some(9), always)

    assert channel.ids == ["m0", "m1", "m2", "m3"]
