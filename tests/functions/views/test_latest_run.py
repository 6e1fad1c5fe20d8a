# SPDX-License-Identifier: Apache-2.0
"""Views find the newest complete run, and cache objects within their limits of memory."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.views.latest_run import Snapshots
from tests.builders import HOUR, MINUTE, NOON, a_snapshot
from tests.fakes import MemoryStore
from tests.functions.views.waiting import WaitingStore

DAY = 24 * HOUR


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = NOON / 1000

    def __call__(self) -> float:
        return self.now


EMPTY = {dataset: to_parquet(Frame.empty(dataset), dataset) for dataset in contract.DATASETS}


def put(store: MemoryStore, *times: int, cluster: str = "demo") -> MemoryStore:
    for time in times:
        for dataset, data in EMPTY.items():
            store.objects[object_key(dataset, cluster, time)] = data
    return store


def test_the_newest_complete_run_is_found_however_old() -> None:
    store = put(MemoryStore(), NOON - 40 * DAY, NOON - 40 * DAY - MINUTE)
    lone = object_key(contract.TOPIC_PARTITIONS, "demo", NOON)
    store.objects[lone] = b"of a set that is not complete"

    assert Snapshots(store, Clock()).newest("demo") == NOON - 40 * DAY


@pytest.mark.parametrize(
    ("ahead", "believed"),
    [(10 * MINUTE, True), (10 * MINUTE + 1000, False), (HOUR, False), (365 * DAY, False)],
)
def test_a_run_dated_ahead_hides_no_other_unless_by_a_clock_a_little_ahead(
    ahead: int, believed: bool
) -> None:
    snapshots = Snapshots(put(MemoryStore(), NOON - HOUR, NOON + ahead), Clock())
    alone = Snapshots(put(MemoryStore(), NOON + ahead), Clock())

    shown = [NOON + ahead] if believed else []
    assert snapshots.runs("demo", NOON - HOUR) == [*shown, NOON - HOUR]
    assert snapshots.newest("demo") == [*shown, NOON - HOUR][0]
    assert alone.newest("demo") == (NOON + ahead if believed else None)


def test_days_and_hours_ahead_are_not_listed() -> None:
    store = put(MemoryStore(), NOON, *(NOON + n * HOUR for n in range(1, 40)))

    assert Snapshots(store, Clock()).newest("demo") == NOON
    assert store.calls == ["folders", "folders", "keys"]


def test_runs_are_listed_up_to_a_time_and_no_later_hour_is() -> None:
    times = [NOON - 30 * DAY - n * 20 * MINUTE - 10 * MINUTE for n in range(4)]
    store = put(MemoryStore(), *times, NOON)

    found = Snapshots(store, Clock()).runs("demo", times[2], times[1])

    assert found == times[1:3]
    assert store.calls == ["keys"]


def test_clusters_are_those_with_a_lawful_name_and_no_other_is_looked_for() -> None:
    store = put(put(MemoryStore(), NOON, cluster="b"), NOON, cluster="a")
    store.objects["snapshots/groups/cluster=../x.parquet"] = b""
    store.objects["snapshots/groups/other/x.parquet"] = b""
    snapshots = Snapshots(store, Clock())

    assert snapshots.clusters() == ["a", "b"]
    store.calls.clear()
    assert snapshots.newest("../../secrets") is None
    assert snapshots.runs("a/b", 0) == []
    assert store.calls == []


def test_the_store_is_read_again_only_after_a_while() -> None:
    store, clock = put(MemoryStore(), NOON - MINUTE), Clock()
    snapshots = Snapshots(store, clock, ttl_seconds=10)
    first = snapshots.newest("demo")
    put(store, NOON)

    clock.now += 9
    again, calls = snapshots.newest("demo"), len(store.calls)
    clock.now += 1
    later = snapshots.newest("demo")

    assert (first, again, later) == (NOON - MINUTE, NOON - MINUTE, NOON)
    assert calls == 3


def test_the_first_run_of_a_store_is_seen_at_once() -> None:
    store = MemoryStore()
    snapshots = Snapshots(store, Clock(), ttl_seconds=10)
    before = snapshots.clusters()
    put(store, NOON)

    assert (before, snapshots.clusters(), snapshots.newest("demo")) == ([], ["demo"], NOON)


def a_held_run(taken_at: int) -> Snapshot:
    return a_snapshot(groups={"g": {"t": [1, 2]}}, topics={"t": [(0, 3), (0, 3)]}, at=taken_at)


def test_a_run_that_this_process_stored_is_not_read_again() -> None:
    store = put(MemoryStore(), NOON)
    snapshots = Snapshots(store, Clock())

    put(store, NOON, cluster="other")
    snapshots.hold("demo", a_held_run(NOON))

    assert len(snapshots.frame("demo", contract.GROUP_PARTITIONS, NOON)) == 2
    assert len(snapshots.frames("demo", contract.GROUPS, [NOON])[NOON]) == 1
    assert "read" not in store.calls
    assert len(snapshots.frame("other", contract.GROUPS, NOON)) == 0


@pytest.mark.parametrize(
    ("stored", "down", "expected"),
    [
        ([NOON - MINUTE], [], [NOON, NOON - MINUTE]),
        ([], [], [NOON]),
        ([NOON - MINUTE], ["keys", "folders", "read"], [NOON]),
    ],
    ids=["a full disk", "a first run", "no answer"],
)
def test_a_run_that_this_process_made_is_shown_whatever_becomes_of_the_store(
    stored: list[int], down: list[str], expected: list[int]
) -> None:
    store = put(MemoryStore(down), *stored)
    snapshots = Snapshots(store, Clock())

    snapshots.hold("demo", a_held_run(NOON))

    assert (snapshots.clusters(), snapshots.newest("demo")) == (["demo"], NOON)
    assert snapshots.runs("demo", NOON - HOUR) == expected
    assert len(snapshots.frame("demo", contract.GROUPS, NOON)) == 1
    assert snapshots.servers("demo", NOON) == []


def test_several_runs_are_read_at_once_and_each_but_once() -> None:
    store, times = WaitingStore(), [NOON - n * MINUTE for n in range(9)]
    snapshots = Snapshots(put(store, *times), Clock())
    one = snapshots.frame("demo", contract.GROUPS, times[3])
    store.wait_for(8)

    found = [snapshots.frames("demo", contract.GROUPS, times) for _ in range(2)]

    assert list(found[0]) == times
    assert store.calls.count("read") == len(times)
    assert found[0][times[3]] is one
    assert all(found[0][time] is found[1][time] for time in times)
    assert snapshots.frame("demo", contract.GROUPS, times[7]) is found[0][times[7]]


def test_a_run_that_cannot_be_read_costs_itself_alone() -> None:
    gone, torn, good = NOON, NOON - MINUTE, NOON - 2 * MINUTE
    store = put(MemoryStore(), torn, good)
    store.objects[object_key(contract.GROUPS, "demo", torn)] = b"torn"

    found = Snapshots(store, Clock()).frames("demo", contract.GROUPS, [gone, torn, good])

    assert list(found) == [good]
    store.down.add("read")
    with pytest.raises(StoreError):
        Snapshots(store, Clock()).frames("demo", contract.GROUPS, [good])


def test_an_hour_that_is_long_over_is_listed_again_only_after_ten_minutes() -> None:
    store, clock = put(MemoryStore(), NOON - 3 * HOUR, NOON), Clock()
    snapshots = Snapshots(store, clock, ttl_seconds=10)
    snapshots.runs("demo", NOON - 3 * HOUR)
    first = len(store.calls)

    clock.now += 60
    snapshots.runs("demo", NOON - 3 * HOUR)
    again = len(store.calls) - first
    clock.now += 600
    put(store, NOON - 3 * HOUR + MINUTE)

    # this one, and the last, which ended a minute ago
    assert again == 2
    assert NOON - 3 * HOUR + MINUTE in snapshots.runs("demo", NOON - 3 * HOUR)


def test_what_is_remembered_of_clusters_that_nobody_has_is_bounded() -> None:
    store = MemoryStore()
    snapshots = Snapshots(store, Clock())
    for number in range(2_001):
        snapshots.newest(f"none-{number}")
    calls = len(store.calls)

    snapshots.newest("none-0")
    snapshots.newest("none-2000")

    # the first was forgotten, the last was not
    assert len(store.calls) == calls + 1


def put_rows(store: MemoryStore, rows: int, *times: int) -> MemoryStore:
    """Runs of so many rows."""
    many = Frame({"lag": Column(np.zeros(rows, np.int64), np.ones(rows, bool))}, rows)
    data = to_parquet(many, contract.GROUPS)
    for time in times:
        store.objects[object_key(contract.GROUPS, "demo", time)] = data
    return store


def read_one(snapshots: Snapshots, time: int) -> None:
    snapshots.frames("demo", contract.GROUPS, [time], ["lag"])


def test_ten_large_runs_are_cached_while_the_next_is_read_and_then_the_longest_unused_goes() -> (
    None
):
    times = [NOON - n * MINUTE for n in range(13)]
    store = put_rows(MemoryStore(), 60_000, *times[:11])
    put_rows(store, 40_000, times[11])
    put_rows(store, 1, times[12])
    snapshots = Snapshots(store, Clock())
    for time in [*times[:12] * 2, times[0], times[12]]:
        read_one(snapshots, time)
    reads = store.calls.count("read")

    for time in (times[0], times[1]):
        read_one(snapshots, time)

    # times[1] made room for the last, times[0] was used after it
    assert (reads, store.calls.count("read")) == (13, 14)


def test_frames_of_few_rows_do_not_pile_up() -> None:
    times = [NOON - n * MINUTE for n in range(151)]
    store = put_rows(MemoryStore(), 1, *times)
    snapshots = Snapshots(store, Clock())
    for time in times:
        read_one(snapshots, time)

    for time in (times[1], times[0]):
        read_one(snapshots, time)

    assert store.calls.count("read") == 151 + 1
