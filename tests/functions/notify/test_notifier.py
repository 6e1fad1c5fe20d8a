# SPDX-License-Identifier: Apache-2.0
"""Each change is sent once, even if events, channels or processes fail."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.notify.conditional_objects import StoredObject
from kafka_lag.notify.delivery import NotificationError
from kafka_lag.notify.notifier import NotifyResult, StoredRuns
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from tests.builders import HOUR, MINUTE, NOON
from tests.fakes import MemoryStore
from tests.functions.notify.builders import a_row, a_set, minutes
from tests.functions.notify.fakes import CURSOR, Bench, RecordingChannel

OPENED, RESOLVED = ("g", contract.OPENED), ("g", contract.RESOLVED)


def a_bench(*channels: RecordingChannel) -> Bench:
    """All is well at noon, not a minute later, and again at two minutes past."""
    return Bench(minutes(contract.OK, contract.ERR, contract.OK), channels)


@pytest.mark.parametrize(
    ("events", "sent"),
    [
        ([0, 1, 1, 2, 2, 2], [OPENED, RESOLVED]),
        ([0, 2, 1], [OPENED, RESOLVED]),
        ([2], []),
        ([1], [OPENED]),
    ],
    ids=["repeated", "lost, and an older one", "the first is of its own run", "without a cursor"],
)
def test_events_of_any_order_send_each_change_once(
    events: list[int], sent: list[tuple[str, str]]
) -> None:
    bench = a_bench()

    assert [bench.event(minute) for minute in events][-1].runs == (1 if len(events) == 1 else 0)
    assert bench.channel.kinds == sent
    assert bench.cursor == NOON + max(events) * MINUTE


def test_without_its_cursor_it_says_again_what_is_not_well_by_the_same_ids() -> None:
    bench = a_bench()
    bench.event(1)
    del bench.objects.objects[CURSOR]

    assert bench.event(1) == NotifyResult(1, 1)
    assert bench.channel.ids == [bench.channel.ids[0]] * 2


@pytest.mark.parametrize(
    ("unreadable", "sent"),
    [([1], []), ([0], [OPENED, RESOLVED]), ([2], [OPENED])],
    ids=["it came and went", "at the cursor", "the newest"],
)
def test_a_run_is_compared_with_the_nearest_readable_one_before(
    unreadable: list[int], sent: list[tuple[str, str]]
) -> None:
    bench = a_bench()
    bench.sets[NOON - MINUTE] = bench.sets[NOON]
    bench.event(0)
    for minute in unreadable:
        bench.sets[NOON + minute * MINUTE] = None
    for minute in (1, 2):
        bench.event(minute, bench.another())

    assert bench.channel.kinds == sent
    assert len(bench.logger.warnings) == len(set(unreadable) - {0}) * (
        1 if unreadable == [2] else 2
    )


def test_a_cursor_that_nobody_can_read_is_one_clear_error() -> None:
    bench = a_bench()
    bench.event(0)
    stored = bench.objects.objects[CURSOR]
    bench.objects.objects[CURSOR] = StoredObject(b"{}", stored.etag)

    with pytest.raises(NotificationError, match=r"notified/shop/sns cannot .* Delete it"):
        bench.event(1)


def test_an_event_of_another_year_does_not_suppress_ours() -> None:
    bench = a_bench()
    bench.event(0)
    next_year = NOON + 365 * 24 * 60 * MINUTE
    bench.sets[next_year] = a_set(a_row("g"))

    assert bench.notifier.notify({"shop": next_year}) == NotifyResult()
    bench.event(1)

    assert bench.channel.kinds == [OPENED]
    assert "is not of our time yet" in bench.logger.warnings[0]


@pytest.mark.parametrize(("ahead", "sent"), [(10, 1), (10.1, 0)])
def test_a_clock_ten_minutes_behind_ours_is_believed(ahead: float, sent: int) -> None:
    at = round(NOON + ahead * MINUTE)
    bench = Bench({at: a_set(a_row("g", contract.ERR))})
    bench.now = NOON / 1000

    assert bench.notifier.notify({"shop": at}).messages == sent


@pytest.mark.parametrize(
    ("seconds_left", "sending", "result"),
    [(0, 0, (0, 0)), (1, 0, (2, 2)), (20, 30, (1, 1))],
    ids=["no time", "time", "time that the first message takes"],
)
def test_what_does_not_fit_into_the_time_left_waits_for_the_next_event(
    seconds_left: float, sending: float, result: tuple[int, int]
) -> None:
    bench = a_bench()
    bench.event(0)
    bench.channel.after = lambda: setattr(bench, "now", bench.now + sending)
    bench.now = (NOON + 2 * MINUTE) / 1000

    found = bench.notifier.notify({"shop": NOON + 2 * MINUTE}, seconds_left=seconds_left)

    assert found == NotifyResult(*result)
    assert bench.cursor == NOON + result[0] * MINUTE


def test_messages_that_there_was_no_time_for_go_out_next_time() -> None:
    names = [f"group-{number:02}" for number in range(25)]
    rows = [a_row(name, contract.ERR) for name in names]
    calm = [a_row(f"calm-{number}") for number in range(50)]
    bench = Bench({NOON: a_set(*calm), NOON + MINUTE: a_set(*rows, *calm)})
    bench.event(0)
    bench.channel.after = lambda: setattr(bench, "now", bench.now + 30)

    bench.now = (NOON + MINUTE) / 1000
    for _ in range(24):
        with pytest.raises(NotificationError, match=r"^shop: The time of one run was not enough"):
            bench.notifier.notify({"shop": NOON + MINUTE}, seconds_left=20)

    assert bench.notifier.notify({"shop": NOON + MINUTE}, seconds_left=20) == NotifyResult(1, 25)
    assert sorted(str(group) for group, _ in bench.channel.kinds) == names


def test_a_channel_that_is_slow_leaves_the_other_its_share_of_the_time() -> None:
    sns, bus = RecordingChannel("sns"), RecordingChannel("event_bus")
    bench = Bench(minutes(contract.OK, *[contract.ERR, contract.OK] * 30), [sns, bus])
    bench.event(0)
    sns.after = lambda: setattr(bench, "now", bench.now + 4)
    bench.now = (NOON + 60 * MINUTE) / 1000
    bench.notifier.notify({"shop": NOON + 60 * MINUTE}, seconds_left=30)

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
    with pytest.raises(NotificationError, match=r"^shop: UnforeseenError in test_notifier\.py"):
        bench.event(1)

    assert bus.kinds == [OPENED]


def test_one_cluster_that_fails_does_not_stop_the_others() -> None:
    bench = a_bench()
    stored = bench.objects.put_if_none_match("notified/broken/sns", b"?")
    assert stored

    with pytest.raises(NotificationError, match=r"^broken: notified/broken"):
        bench.notifier.notify({"broken": NOON, "shop": NOON})

    assert bench.cursor == NOON


def test_a_channel_that_is_down_fails_the_run_and_loses_nothing() -> None:
    bench = a_bench()
    bench.event(0)
    bench.channel.error = "the topic is shut"

    with pytest.raises(NotificationError, match=r"the topic is shut.* Nothing is lost"):
        bench.event(1)

    assert bench.cursor == NOON
    bench.channel.error = None
    assert bench.event(2) == NotifyResult(2, 2)
    assert bench.logger.done == ["shop: 1 sent by sns"] * 2


def nothing() -> None:
    """It goes on."""


def test_of_two_at_once_one_sends_and_the_other_fails() -> None:
    bench = Bench(minutes(contract.OK, contract.ERR, contract.OK, contract.WARN))
    bench.event(0)

    def enter() -> None:
        bench.channel.before = nothing
        with pytest.raises(NotificationError, match="holds the lease"):
            bench.event(3, bench.another())

    bench.channel.before = enter

    assert bench.event(3) == NotifyResult(3, 3)
    assert bench.channel.kinds == [OPENED, RESOLVED, OPENED]


@pytest.mark.parametrize("verb", ["read", "put_if_match"])
def test_a_store_that_is_down_fails_the_run_and_loses_nothing(verb: str) -> None:
    bench = a_bench()
    bench.event(0)
    bench.objects.down = {verb}
    with pytest.raises(NotificationError, match=f"the store cannot {verb}"):
        bench.event(1)
    bench.objects.down = set()
    bench.now += 300
    bench.event(2)

    assert set(bench.channel.kinds) == {OPENED, RESOLVED}
    assert bench.cursor == NOON + 2 * MINUTE


def a_store(*times: int) -> MemoryStore:
    store = MemoryStore()
    for at in times:
        store.objects[object_key(contract.GROUPS, "shop", at)] = b""
    return store


def test_runs_come_oldest_first_without_the_one_reported_and_with_the_one_of_the_event() -> None:
    times = [NOON - MINUTE, NOON, NOON + MINUTE, NOON + HOUR, NOON + HOUR + MINUTE]
    store = a_store(*times)
    store.objects[object_key(contract.GROUPS, "shop", NOON + MINUTE) + ".part"] = b""
    runs = StoredRuns(store)

    assert list(runs.between("shop", NOON, NOON + HOUR)) == [NOON + MINUTE, NOON + HOUR]
    assert len(store.calls) == 2
    assert list(runs.between("shop", NOON, NOON + MINUTE)) == [NOON + MINUTE]
    assert len(store.calls) == 3


def test_a_week_is_listed_back_and_no_further() -> None:
    week = 7 * 24 * HOUR
    store = a_store(NOON - week - MINUTE, NOON - week, NOON)

    assert list(StoredRuns(store).between("shop", 0, NOON)) == [NOON - week, NOON]
    assert len(store.calls) == 7 * 24 + 1


def test_a_run_is_read_once_and_as_it_was_written() -> None:
    store = MemoryStore()
    written = a_set(a_row("g", contract.ERR, lag=7))
    store.objects[object_key(contract.GROUPS, "shop", NOON)] = to_parquet(written, contract.GROUPS)
    runs = StoredRuns(store)

    groups = runs.groups("shop", NOON)

    assert groups.strings("held_status").to_list() == [contract.ERR]
    assert groups.numbers("lag").to_list() == [7]
    assert runs.groups("shop", NOON) is groups
    assert store.calls == ["read"]


def test_earlier_runs_come_newest_first_a_week_back() -> None:
    week = 7 * 24 * HOUR
    times = [NOON - week - HOUR, NOON - HOUR, NOON - MINUTE, NOON, NOON + MINUTE]
    runs = StoredRuns(a_store(*times))

    assert list(runs.up_to("shop", NOON)) == [NOON, NOON - MINUTE, NOON - HOUR]
