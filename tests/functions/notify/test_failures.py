# SPDX-License-Identifier: Apache-2.0
"""No message is lost, and none told twice, whatever becomes of channels and processes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import pytest

from kafka_lag import contract
from kafka_lag.notify.errors import TellingError
from kafka_lag.notify.memory.objects import Stored
from kafka_lag.notify.notifier import Outcome
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_row, a_set, minutes
from tests.functions.notify.fakes import CURSOR, Bench, Crash, RecordingChannel

OPENED, RESOLVED = ("g", contract.OPENED), ("g", contract.RESOLVED)


def a_bench(*channels: RecordingChannel) -> Bench:
    """All is well at noon, not a minute later, and again at two minutes past."""
    return Bench(minutes(contract.OK, contract.ERR, contract.OK), channels)


def persist(bench: Bench, events: Iterable[int]) -> None:
    """Events that fail as long as a claim is another's."""
    for minute in events:
        with suppress(TellingError):
            bench.event(minute)


def test_a_channel_that_is_down_fails_the_run_and_loses_nothing() -> None:
    bench = a_bench()
    bench.event(0)
    bench.channel.refuses = "the topic is shut"

    with pytest.raises(TellingError, match=r"the topic is shut.* Nothing is lost"):
        bench.event(1)

    assert bench.cursor == NOON
    assert b'"free"' in next(
        stored.data for key, stored in bench.claims.objects.items() if key != CURSOR
    )


def test_what_a_channel_refused_is_told_with_the_next_event() -> None:
    bench = Bench(minutes(contract.OK, *[contract.ERR] * 3))
    bench.event(0)
    bench.channel.refuses = "the topic is shut"
    with pytest.raises(TellingError):
        bench.event(1)
    bench.channel.refuses = None

    assert [bench.event(minute) for minute in (2, 3)] == [Outcome(2, 1), Outcome(1, 0)]
    assert bench.channel.kinds == [OPENED]


def test_what_may_be_out_is_told_again_after_two_minutes() -> None:
    bench = Bench(minutes(contract.OK, *[contract.ERR] * 4))
    bench.event(0)
    bench.channel.refuses, bench.channel.doubts = "no answer", True
    with pytest.raises(TellingError):
        bench.event(1)
    bench.channel.refuses = None

    with pytest.raises(TellingError, match=r"not known to be out: 1\. Another run .* two"):
        bench.event(2)
    outcomes = [bench.event(minute) for minute in range(3, 5)]

    assert bench.channel.kinds == [OPENED]
    assert outcomes == [Outcome(3, 1), Outcome(1, 0)]


def test_while_one_channel_is_down_the_other_goes_on_telling() -> None:
    sns, bus = RecordingChannel("sns"), RecordingChannel("event_bus")
    bench = Bench(minutes(contract.OK, contract.ERR, contract.OK, contract.WARN), [bus, sns])
    bus.refuses = "no such bus"
    persist(bench, range(4))
    assert sns.kinds == [OPENED, RESOLVED, OPENED]

    bus.refuses = None
    bench.event(3)
    assert bus.kinds == sns.kinds


def test_a_first_run_that_fails_is_where_the_next_begins() -> None:
    bench = Bench(minutes(contract.ERR, contract.ERR, contract.OK))
    bench.channel.refuses = "the topic is shut"
    persist(bench, [0])
    bench.channel.refuses = None
    persist(bench, [1, 2])

    assert bench.channel.kinds == [OPENED, RESOLVED]


def test_a_storm_in_the_very_first_run_is_told_once_to_each_channel() -> None:
    rows = [a_row(f"group-{number}", contract.ERR) for number in range(12)]
    sns, bus = RecordingChannel("sns"), RecordingChannel("event_bus")
    bench = Bench({NOON + minute * MINUTE: a_set(*rows) for minute in range(9)}, [sns, bus])
    bus.refuses = "no such bus"
    persist(bench, range(8))
    bus.refuses = None
    persist(bench, [8])

    assert len(sns.names) == 1
    assert bus.names == sns.names


def test_one_channel_that_is_down_makes_the_other_repeat_nothing() -> None:
    sns, bus = RecordingChannel("sns"), RecordingChannel("event_bus")
    bench = a_bench(sns, bus)
    bench.event(0)
    bus.refuses = "no such bus"
    with pytest.raises(TellingError):
        bench.event(1)
    bus.refuses = None
    bench.now += 300
    bench.event(2)

    assert sns.kinds == bus.kinds == [OPENED, RESOLVED]


def test_two_processes_at_one_event_tell_it_once() -> None:
    bench = a_bench()
    bench.event(0)
    other = bench.another()

    def interrupted() -> None:
        bench.channel.before = lambda: None
        with pytest.raises(TellingError):
            bench.event(1, other)

    bench.channel.before = interrupted
    bench.event(1)

    assert bench.channel.kinds == [OPENED]
    assert bench.cursor == NOON + MINUTE


def test_a_process_that_was_overtaken_goes_on_where_the_other_is() -> None:
    bench = Bench(minutes(contract.OK, contract.ERR, contract.OK, contract.WARN))
    bench.event(0)
    other = bench.another()
    theirs = []

    def overtaken() -> None:
        bench.channel.after = lambda: None
        bench.claims.objects |= {  # as if the other had begun after the claim was done
            key: Stored(stored.data.replace(b"sending", b"sent"), stored.etag)
            for key, stored in bench.claims.objects.items()
        }
        theirs.append(bench.event(3, other))

    bench.channel.after = overtaken
    ours = bench.event(3)

    assert bench.channel.kinds == [OPENED, RESOLVED, OPENED]
    assert theirs == [Outcome(3, 2)]
    assert ours == Outcome(1, 1)
    assert bench.cursor == NOON + 3 * MINUTE


def test_a_crash_before_sending_delays_a_message() -> None:
    bench = Bench(minutes(contract.OK, *[contract.ERR] * 7))
    bench.event(0)

    def crash() -> None:
        raise Crash

    bench.channel.before = crash
    with pytest.raises(Crash):
        bench.event(1)
    bench.channel.before = lambda: None
    persist(bench, range(2, 8))

    assert bench.channel.kinds == [OPENED]


def test_a_crash_after_sending_may_repeat_a_message_once() -> None:
    bench = Bench(minutes(contract.OK, *[contract.ERR] * 12))
    bench.event(0)

    def crash() -> None:
        raise Crash

    bench.channel.after = crash
    with pytest.raises(Crash):
        bench.event(1)
    bench.channel.after = lambda: None
    persist(bench, range(2, 13))

    assert bench.channel.names == [bench.channel.names[0]] * 2


@pytest.mark.parametrize("verb", ["read", "put_if_none_match", "put_if_match"])
def test_a_store_that_is_down_fails_the_run_and_loses_nothing(verb: str) -> None:
    bench = a_bench()
    bench.event(0)
    bench.claims.down = {verb}
    with pytest.raises(TellingError, match=f"the store cannot {verb}"):
        bench.event(1)
    bench.claims.down = set()
    bench.now += 300
    bench.event(2)

    assert set(bench.channel.kinds) == {OPENED, RESOLVED}
    assert bench.cursor == NOON + 2 * MINUTE
