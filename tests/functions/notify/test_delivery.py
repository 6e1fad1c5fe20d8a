# SPDX-License-Identifier: Apache-2.0
"""Messages go out by the ten, and one that cannot go does not lose the others."""

from __future__ import annotations

from contextlib import suppress

import pytest

from kafka_lag.notify.errors import TellingError
from kafka_lag.notify.memory.claim import ClaimBook
from tests.functions.notify.delivering import Counting, a_delivery, always, some
from tests.functions.notify.fakes import MemoryClaims, RecordingChannel


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
