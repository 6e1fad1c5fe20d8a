# SPDX-License-Identifier: Apache-2.0
"""Messages go out by the ten, and one that cannot go does not lose the others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from functions.notify.channels.channel import Refusal
from functions.notify.delivery import Delivery
from functions.notify.errors import TellingError
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

    def send(self, tellings: Sequence[Telling]) -> dict[str, Refusal]:
        self.batches.append(len(tellings))
        super().send([telling for telling in tellings if telling.name not in self.refused])
        names = [telling.name for telling in tellings]
        return {name: Refusal(f"no {name}") for name in names if name in self.refused}


def a_delivery(claims: MemoryClaims, *channels: RecordingChannel) -> Delivery:
    return Delivery(channels, claims, lambda: 0.0)


def test_messages_go_out_by_the_ten() -> None:
    channel = Counting()

    assert a_delivery(MemoryClaims(), channel).deliver("shop", some(25)) == 25
    assert channel.batches == [10, 10, 5]


def test_without_messages_nobody_is_asked() -> None:
    channel = Counting()

    assert a_delivery(MemoryClaims(), channel).deliver("shop", []) == 0
    assert channel.batches == []


def test_after_a_refusal_no_further_message_is_claimed() -> None:
    claims, channel = MemoryClaims(), Counting("sns", "m3")

    with pytest.raises(TellingError, match=r"are out: no m3\. Nothing is lost"):
        a_delivery(claims, channel).deliver("shop", some(25))

    assert len(claims.objects) == 10
    assert len(channel.sent) == 9


def test_each_cause_is_named_once() -> None:
    sns, bus = RecordingChannel("sns"), RecordingChannel("event_bus")
    sns.refuses, bus.refuses = "the topic is shut", "no such bus"

    with pytest.raises(TellingError, match=r"out: the topic is shut; no such bus\. Nothing"):
        a_delivery(MemoryClaims(), sns, bus).deliver("shop", some(3))


def test_a_message_in_other_hands_does_not_hold_the_others() -> None:
    claims, channel = MemoryClaims(), Counting()
    ClaimBook(claims, ["sns"], lambda: 0.0).claim("shop", "m1")

    with pytest.raises(TellingError, match=r"not known to be out: 1\."):
        a_delivery(claims, channel).deliver("shop", some(12))

    assert len(channel.sent) == 11


class InPart(RecordingChannel):
    """Takes all events but those it `misses`."""

    def __init__(self, *misses: str) -> None:
        super().__init__("event_bus")
        self.misses = misses

    def send(self, tellings: Sequence[Telling]) -> dict[str, Refusal]:
        super().send(tellings)
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
        a_delivery(claims, bus).deliver("shop", [storm])
    bus.misses = ()

    assert Delivery([bus], claims, lambda: 300.0).deliver("shop", [storm]) == 1
    assert [[event.name for event in sent.events] for sent in bus.sent] == [[*"abcd"], [*"bd"]]
    assert Delivery([bus], claims, lambda: 900.0).deliver("shop", [storm]) == 0


def test_a_part_that_one_channel_took_is_still_the_others_to_take() -> None:
    storm = Telling("storm", NOTICE, (Event("a", "{}", 0), Event("b", "{}", 0)))
    claims, sns, bus = MemoryClaims(), RecordingChannel("sns"), InPart("b")
    sns.refuses = "down"
    with pytest.raises(TellingError, match="down; busy"):
        a_delivery(claims, sns, bus).deliver("shop", [storm])
    sns.refuses, bus.misses = None, ()
    Delivery([sns, bus], claims, lambda: 300.0).deliver("shop", [storm])

    assert [sent.events for sent in sns.sent] == [storm.events]
