# SPDX-License-Identifier: Apache-2.0
"""Views find the newest complete run, and cache what they read as far as memory goes."""

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
from tests.builders import a_snapshot
from tests.fakes import MemoryStore
from tests.functions.views.waiting import WaitingStore

NOON = 1_767_268_800_000  # 2026-01-01T12:00Z
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = NOON / 1000

    def __call__(self) -> float:
        return self.now


def put(store: MemoryStore, *times: int, cluster: str = "demo") -> MemoryStore:
    for time in times:
        for dataset in contract.DATASETS:
            data = to_parquet(Frame.empty(dataset), dataset)
            store.objects[object_key(dataset, cluster, time)] = data
    return store


def test_the_newest_complete_run_is_found_however_old() -> None:
    store = put(MemoryStore(), NOON - 40 * DAY, NOON - 40 * DAY - MINUTE)
    lone = object_key(contract.TOPIC_PARTITIONS, "demo", NOON)
    store.objects[lone] = b"of a set that is not complete"

    assert Snapshots(store, Clock()).newest("demo") == NOON - 40 * DAY


@pytest.mark.parametrize("ahead", [10 * MINUTE + 1000, HOUR, 13 * HOUR, 365 * DAY])
def test_a_run_dated_ahead_hides_no_other(ahead: int) -> None:
    store = put(MemoryStore(), NOON - HOUR, NOON + ahead)

    snapshots = Snapshots(store, Clock())

    assert snapshots.newest("demo") == NOON - HOUR
    assert snapshots.runs("demo", NOON - HOUR) == [NOON - HOUR]


def test_a_clock_a_little_ahead_is_believed() -> None:
    store = put(MemoryStore(), NOON, NOON + 10 * MINUTE)

    snapshots = Snapshots(store, Clock())

    assert snapshots.newest("demo") == NOON + 10 * MINUTE
    assert snapshots.runs("demo", NOON) == [NOON + 10 * MINUTE, NOON]


def test_there_is_no_newest_run_where_all_are_ahead() -> None:
    assert Snapshots(put(MemoryStore(), NOON + HOUR), Clock()).newest("demo") is None


def test_days_and_hours_ahead_are_not_listed() -> None:
    store = put(MemoryStore(), NOON, *(NOON + n * HOUR for n in range(1, 40)))

    assert Snapshots(store, Clock()).newest("demo") == NOON
    assert store.calls == ["folders", "folders", "keys"]


def test_runs_are_listed_from_a_time_on_the_newest_first() -> None:
    times = [NOON - 2 * HOUR, NOON - HOUR - MINUTE, NOON - HOUR, NOON]

    found = Snapshots(put(MemoryStore(), *times), Clock()).runs("demo", NOON - HOUR - MINUTE)

    assert found == [NOON, NOON - HOUR, NOON - HOUR - MINUTE]


def test_runs_are_listed_up_to_a_time_and_no_later_hour_is() -> None:
    times = [NOON - 30 * DAY - n * 20 * MINUTE - 10 * MINUTE for n in range(4)]
    store = put(MemoryStore(), *times, NOON)

    found = Snapshots(store, Clock()).runs("demo", times[2], times[1])

    assert found == times[1:3]
    assert store.calls == ["keys"]


def test_clusters_are_those_with_a_lawful_name() -> None:
    store = put(put(MemoryStore(), NOON, cluster="b"), NOON, cluster="a")
    store.objects["snapshots/groups/cluster=../x.parquet"] = b""
    store.objects["snapshots/groups/other/x.parquet"] = b""

    assert Snapshots(store, Clock()).clusters() == ["a", "b"]


def test_a_name_that_no_cluster_has_is_never_looked_for() -> None:
    store = MemoryStore()
    snapshots = Snapshots(store, Clock())

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


def test_an_object_is_read_once() -> None:
    store = put(MemoryStore(), NOON)
    snapshots = Snapshots(store, Clock())

    frames = [snapshots.frame("demo", contract.GROUPS, NOON) for _ in range(2)]

    assert frames[0] is frames[1]
    assert store.calls.count("read") == 1


def a_held_run(taken_at: int) -> Snapshot:
    return a_snapshot(groups={"g": {"t": [1, 2]}}, topics={"t": [(0, 3), (0, 3)]}, at=taken_at)


def test_a_run_that_this_process_stored_is_not_read_again() -> None:
    store = put(MemoryStore(), NOON)
    snapshots = Snapshots(store, Clock())

    snapshots.hold("demo", a_held_run(NOON))

    assert len(snapshots.frame("demo", contract.GROUP_PARTITIONS, NOON)) == 2
    assert len(snapshots.frames("demo", contract.GROUPS, [NOON])[NOON]) == 1
    assert "read" not in store.calls


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


def test_the_run_of_one_cluster_is_not_taken_for_that_of_another() -> None:
    snapshots = Snapshots(put(MemoryStore(), NOON, cluster="other"), Clock())

    snapshots.hold("demo", a_held_run(NOON))

    assert len(snapshots.frame("other", contract.GROUPS, NOON)) == 0


def test_objects_of_several_runs_are_read_at_once() -> None:
    store, times = WaitingStore(), [NOON - n * MINUTE for n in range(8)]
    put(store, *times)
    store.wait_for(8)

    found = Snapshots(store, Clock()).frames("demo", contract.GROUPS, times)

    assert list(found) == times


def test_of_several_runs_each_is_read_once() -> None:
    store, times = MemoryStore(), [NOON - n * MINUTE for n in range(20)]
    snapshots = Snapshots(put(store, *times), Clock())
    one = snapshots.frame("demo", contract.GROUPS, times[3])

    found = [snapshots.frames("demo", contract.GROUPS, times) for _ in range(2)]

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


def test_a_store_that_is_down_is_reported_for_several_runs_too() -> None:
    times = [NOON - n * MINUTE for n in range(24)]
    store = put(MemoryStore(), *times)
    store.down.add("read")

    with pytest.raises(StoreError):
        Snapshots(store, Clock()).frames("demo", contract.GROUPS, times)


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


def test_what_was_requested_lately_is_let_go_last() -> None:
    times = [NOON - n * MINUTE for n in range(3)]
    store = put_rows(MemoryStore(), 300_000, *times)
    snapshots = Snapshots(store, Clock())
    for time in (times[0], times[1], times[0], times[2]):
        snapshots.frame("demo", contract.GROUPS, time)

    snapshots.frame("demo", contract.GROUPS, times[0])

    assert store.calls.count("read") == 3


def test_what_was_read_is_let_go_when_it_is_much() -> None:
    times = [NOON - n * MINUTE for n in range(3)]
    store = put_rows(MemoryStore(), 400_000, *times)
    snapshots = Snapshots(store, Clock())
    for time in times:
        snapshots.frame("demo", contract.GROUPS, time)

    snapshots.frame("demo", contract.GROUPS, times[-1])
    reads = store.calls.count("read")
    snapshots.frame("demo", contract.GROUPS, times[0])

    assert (reads, store.calls.count("read")) == (3, 4)


def test_ten_large_runs_are_cached_while_the_next_is_read_and_no_more() -> None:
    times = [NOON - n * MINUTE for n in range(13)]
    store = put_rows(MemoryStore(), 60_000, *times[:11])
    put_rows(store, 40_000, times[11])
    put_rows(store, 1, times[12])
    snapshots = Snapshots(store, Clock())
    for time in times[:12] * 2:
        snapshots.frame("demo", contract.GROUPS, time)
    reads = store.calls.count("read")

    for time in (times[12], times[0]):
        snapshots.frame("demo", contract.GROUPS, time)

    assert (reads, store.calls.count("read")) == (12, 14)


def test_frames_of_few_rows_do_not_pile_up() -> None:
    times = [NOON - n * MINUTE for n in range(200)]
    store = put_rows(MemoryStore(), 1, *times)
    snapshots = Snapshots(store, Clock())
    for time in times:
        snapshots.frame("demo", contract.GROUPS, time)
    reads = store.calls.count("read")

    for time in (times[-100], times[0]):
        snapshots.frame("demo", contract.GROUPS, time)

    assert (reads, store.calls.count("read")) == (200, 201)
