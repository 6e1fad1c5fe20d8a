# SPDX-License-Identifier: Apache-2.0
"""Each change is told once, whatever becomes of the events that tell of snapshots."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.notify.errors import TellingError
from kafka_lag.notify.memory.objects import Stored
from kafka_lag.notify.notifier import Outcome
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_farewell, a_row, a_set, minutes
from tests.functions.notify.fakes import CURSOR, Bench, RecordingChannel

OPENED, RESOLVED = ("g", contract.OPENED), ("g", contract.RESOLVED)


def a_bench() -> Bench:
    """All is well at noon, not a minute later, and again at two minutes past."""
    return Bench(minutes(contract.OK, contract.ERR, contract.OK))


def test_each_change_is_told_once() -> None:
    bench = a_bench()

    outcomes = [bench.event(minute) for minute in range(3)]

    assert bench.channel.kinds == [OPENED, RESOLVED]
    assert outcomes == [Outcome(1, 0), Outcome(1, 1), Outcome(1, 1)]


def test_a_repeated_event_changes_nothing() -> None:
    bench = a_bench()

    for minute in (0, 1, 1, 2, 2, 2):
        bench.event(minute)

    assert bench.channel.kinds == [OPENED, RESOLVED]


def test_an_older_event_changes_nothing() -> None:
    bench = a_bench()

    for minute in (0, 2, 1):
        bench.event(minute)

    assert bench.channel.kinds == [OPENED, RESOLVED]
    assert bench.cursor == NOON + 2 * MINUTE


def test_a_lost_event_loses_no_change() -> None:
    bench = a_bench()

    bench.event(0)
    assert bench.event(2) == Outcome(2, 2)

    assert bench.channel.kinds == [OPENED, RESOLVED]


def test_the_first_event_tells_of_its_own_set_only() -> None:
    bench = a_bench()

    bench.event(2)

    assert bench.channel.kinds == []


def test_without_a_cursor_what_is_not_well_is_told_at_once() -> None:
    bench = a_bench()

    bench.event(1)

    assert bench.channel.kinds == [OPENED]


def test_a_lost_cursor_repeats_no_message() -> None:
    bench = a_bench()
    bench.event(1)
    del bench.claims.objects[CURSOR]

    assert bench.event(1) == Outcome(1, 0)
    assert bench.channel.kinds == [OPENED]


def test_a_set_that_cannot_be_read_is_left_out() -> None:
    bench = a_bench()
    bench.sets[NOON + MINUTE] = None

    for minute in range(3):
        bench.event(minute)

    assert bench.channel.kinds == []
    assert bench.cursor == NOON + 2 * MINUTE
    assert len(bench.journal.warnings) == 2


def test_a_cursor_that_nobody_can_read_is_one_clear_error() -> None:
    bench = a_bench()
    bench.event(0)
    stored = bench.claims.objects[CURSOR]
    bench.claims.objects[CURSOR] = Stored(b'{"version": "9"}', stored.etag)

    with pytest.raises(TellingError, match=r"notified/cursors/shop/sns .*version 9.* Delete it"):
        bench.event(1)


def test_an_event_of_another_year_does_not_silence_ours() -> None:
    bench = a_bench()
    bench.event(0)
    next_year = NOON + 365 * 24 * 60 * MINUTE
    bench.sets[next_year] = a_set(a_row("g"))

    assert bench.notifier.run({"shop": next_year}) == Outcome()
    bench.event(1)

    assert bench.channel.kinds == [OPENED]
    assert "is not of our time yet" in bench.journal.warnings[0]


@pytest.mark.parametrize(("ahead", "told"), [(10, 1), (10.1, 0)])
def test_a_clock_ten_minutes_behind_ours_is_believed(ahead: float, told: int) -> None:
    at = round(NOON + ahead * MINUTE)
    bench = Bench({at: a_set(a_row("g", contract.ERR))})
    bench.now = NOON / 1000

    assert bench.notifier.run({"shop": at}).told == told


def test_what_does_not_fit_into_the_time_left_waits_for_the_next_event() -> None:
    bench = a_bench()
    bench.event(0)
    bench.now = (NOON + 2 * MINUTE) / 1000

    assert bench.notifier.run({"shop": NOON + 2 * MINUTE}, seconds_left=0) == Outcome()
    assert bench.notifier.run({"shop": NOON + 2 * MINUTE}, seconds_left=1) == Outcome(2, 2)


def test_a_cluster_that_takes_all_the_time_leaves_the_rest_to_the_next_event() -> None:
    bench = a_bench()
    bench.event(0)
    bench.channel.after = lambda: setattr(bench, "now", bench.now + 30)
    bench.now = (NOON + 2 * MINUTE) / 1000

    outcome = bench.notifier.run({"shop": NOON + 2 * MINUTE}, seconds_left=20)

    assert outcome == Outcome(1, 1)
    assert bench.cursor == NOON + MINUTE


def test_news_that_the_time_did_not_suffice_for_is_gone_on_with() -> None:
    names = [f"group-{number:02}" for number in range(25)]
    rows = [a_row(name, contract.ERR) for name in names]
    calm = [a_row(f"calm-{number}") for number in range(50)]
    bench = Bench({NOON: a_set(*calm), NOON + MINUTE: a_set(*rows, *calm)})
    bench.event(0)
    bench.channel.after = lambda: setattr(bench, "now", bench.now + 30)

    bench.now = (NOON + MINUTE) / 1000
    for _ in range(2):
        with pytest.raises(TellingError, match=r"^shop: The time of one run was not enough"):
            bench.notifier.run({"shop": NOON + MINUTE}, seconds_left=20)

    assert bench.notifier.run({"shop": NOON + MINUTE}, seconds_left=20) == Outcome(1, 5)
    assert sorted(str(group) for group, _ in bench.channel.kinds) == names


def test_a_channel_that_is_slow_leaves_the_other_its_share_of_the_time() -> None:
    sns, bus = RecordingChannel("sns"), RecordingChannel("event_bus")
    bench = Bench(minutes(contract.OK, *[contract.ERR, contract.OK] * 30), [sns, bus])
    bench.event(0)
    sns.after = lambda: setattr(bench, "now", bench.now + 4)
    bench.now = (NOON + 60 * MINUTE) / 1000
    bench.notifier.run({"shop": NOON + 60 * MINUTE}, seconds_left=30)

    assert len(sns.sent) == 4
    assert len(bus.sent) == 60


class UnforeseenError(Exception):
    """Nobody foresaw it."""


def test_a_fault_in_one_channel_is_none_of_the_others() -> None:
    sns, bus = RecordingChannel("sns"), RecordingChannel("event_bus")
    bench = Bench(minutes(contract.OK, contract.ERR), [sns, bus])
    bench.event(0)

    def fault() -> None:
        raise UnforeseenError

    sns.before = fault
    with pytest.raises(UnforeseenError):
        bench.event(1)

    assert bus.kinds == [OPENED]


def test_what_was_sent_is_told_to_the_log() -> None:
    bench = a_bench()
    bench.event(1)

    assert bench.journal.done == ["shop: 1 sent by sns"]


def test_one_cluster_that_fails_does_not_keep_the_others_from_telling() -> None:
    bench = a_bench()
    stored = bench.claims.put_if_none_match("notified/cursors/broken/sns", b"?")
    assert stored

    with pytest.raises(TellingError, match=r"^broken: notified/cursors/broken"):
        bench.notifier.run({"broken": NOON, "shop": NOON})

    assert bench.cursor == NOON


def test_of_a_group_that_is_gone_the_last_set_says_what_it_left_unread() -> None:
    sets = {
        NOON: a_set(a_row("g", lag=7), a_row("h", lag=0)),
        NOON + MINUTE: a_set(a_farewell("g"), a_farewell("h")),
        NOON + 2 * MINUTE: a_set(),
    }
    bench = Bench(sets)

    for minute in range(3):
        bench.event(minute)

    assert bench.channel.kinds == [("g", "gone")]
    assert "When last seen: 7 records behind." in bench.channel.sent[0].notice.text


def test_half_of_all_groups_at_once_are_one_message() -> None:
    names = [f"group-{number}" for number in range(20)]
    bad = [a_row(name, contract.ERR if at % 2 else contract.OK) for at, name in enumerate(names)]
    bench = Bench({NOON: a_set(*map(a_row, names)), NOON + MINUTE: a_set(*bad)})

    assert [bench.event(minute).told for minute in range(2)] == [0, 1]
    assert len(bench.channel.sent[0].events) == 10
