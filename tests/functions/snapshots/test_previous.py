# SPDX-License-Identifier: Apache-2.0
"""A cold start knows the newest complete set and the log ends of some runs before it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.lag.model import PreviousRuns, Snapshot
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.previous import (
    LOG_END_COLUMNS,
    Loaded,
    Memory,
    downsample,
    load_memory,
    load_newest,
    needed_since,
    select_log_ends,
)
from kafka_lag.snapshots.store import write_snapshot
from tests.builders import HOUR, MINUTE, NOON, a_snapshot, datasets, same
from tests.fakes import MemoryStore

DAY = 24 * HOUR
TOPIC_PARTITIONS, GROUPS = contract.TOPIC_PARTITIONS, contract.GROUPS


def at(taken_at: int) -> Snapshot:
    """A run whose first log ends at its time; the second partition was not read."""
    logs: list[tuple[int, int] | str] = [(0, taken_at), contract.NO_LEADER]
    return a_snapshot({"g": {"orders": [5, None]}}, {"orders": logs}, at=taken_at)


def a_store(*times: int) -> MemoryStore:
    store = MemoryStore()
    for taken_at in times:
        write_snapshot(store, "c", at(taken_at))
    return store


def key(dataset: str, taken_at: int) -> str:
    return object_key(dataset, "c", taken_at)


def load(store: MemoryStore, taken_at: int = NOON) -> Loaded[Memory]:
    return load_memory(store, "c", taken_at, MINUTE)


def past(store: MemoryStore, taken_at: int = NOON) -> PreviousRuns:
    return load(store, taken_at).value.previous_runs()


def ends(found: PreviousRuns) -> list[int]:
    """The log end of each point; here they are the times of the runs."""
    return [frame.numbers("end_offset").to_list()[0] for frame in found.ends]


def newest(store: MemoryStore, taken_at: int = NOON) -> int:
    return load_newest(store, "c", taken_at).value.taken_at


def test_before_the_first_run_there_is_no_past() -> None:
    loaded = load(MemoryStore())
    found = loaded.value.previous_runs()
    assert (found.newest.taken_at, found.ends, loaded.warnings) == (0, (), ())
    assert [len(frame) for frame in datasets(found.newest).values()] == [0, 0, 0]
    assert Memory.empty().previous_runs().ends == ()


def test_a_set_is_read_as_it_was_written_and_its_ends_as_a_warm_run_remembers_them() -> None:
    loaded = load(a_store(NOON - 2 * MINUTE, NOON - MINUTE))
    found = loaded.value.previous_runs()
    for name, frame in datasets(at(NOON - MINUTE)).items():
        assert same(found.newest.dataset(name), frame)
    for frame, minutes in zip(found.ends, (2, 1), strict=True):
        assert list(frame.columns) == list(LOG_END_COLUMNS)
        written = at(NOON - minutes * MINUTE)
        assert same(frame, select_log_ends(written.topic_partitions))
    assert loaded.warnings == ()


def test_groups_is_written_last_and_a_repeated_run_writes_only_what_is_missing() -> None:
    store = a_store(NOON)
    first = dict(store.objects)
    assert list(first) == [key(dataset, NOON) for dataset in contract.DATASETS]
    assert contract.DATASETS[-1] == GROUPS
    del store.objects[key(GROUPS, NOON)]
    assert [write_snapshot(store, "c", at(NOON)) for _ in range(2)] == [1, 0]
    assert store.objects == first


@pytest.mark.parametrize(
    ("ages", "found"),
    [
        ([2 * MINUTE, MINUTE, 0, -MINUTE], MINUTE),
        ([13 * HOUR], 13 * HOUR),
        ([2 * HOUR], 2 * HOUR),
        ([7 * DAY], 7 * DAY),
        ([8 * DAY], NOON),
    ],
    ids=["the newest before the run", "yesterday", "hours ago", "seven days ago", "longer ago"],
)
def test_the_newest_set_before_the_run_is_taken_of_seven_days(ages: list[int], found: int) -> None:
    store = a_store(*(NOON - age for age in ages))
    assert NOON - newest(store) == found
    assert load_newest(store, "other", NOON).value.taken_at == 0


def test_a_run_on_time_lists_an_hour_only() -> None:
    store = a_store(NOON - 2 * HOUR, NOON - MINUTE)
    store.calls.clear()
    assert newest(store) == NOON - MINUTE
    assert store.calls.count("keys") == 1


@pytest.mark.parametrize(
    ("dataset", "data", "warned"),
    [
        (GROUPS, None, False),
        (TOPIC_PARTITIONS, None, True),
        (contract.GROUP_PARTITIONS, None, True),
        (contract.GROUP_PARTITIONS, b"scribble", True),
    ],
    ids=["not there yet", "ends missing", "rows missing", "unreadable"],
)
def test_a_set_that_is_incomplete_or_unreadable_is_skipped(
    dataset: str, data: bytes | None, warned: bool
) -> None:
    store = a_store(NOON - 2 * MINUTE, NOON - MINUTE)
    del store.objects[key(dataset, NOON - MINUTE)]
    if data is not None:
        store.objects[key(dataset, NOON - MINUTE)] = data
    loaded = load_newest(store, "c", NOON)
    assert loaded.value.taken_at == NOON - 2 * MINUTE
    assert [key(GROUPS, NOON - MINUTE) in each for each in loaded.warnings] == [True] * warned


def test_the_search_ends_after_five_unreadable_sets() -> None:
    times = [NOON - minute * MINUTE for minute in range(1, 8)]
    store = a_store(*times)
    for taken_at in times[:5]:
        store.objects[key(GROUPS, taken_at)] = b"scribble"
    loaded = load_newest(store, "c", NOON)
    assert (loaded.value.taken_at, len(loaded.warnings)) == (0, 5)


def test_points_are_the_chosen_runs_the_oldest_first_each_object_read_once() -> None:
    times = [NOON + number * MINUTE for number in range(40)]
    store = a_store(*times)
    store.calls.clear()
    found = past(store, NOON + HOUR)
    assert ends(found) == sorted({*downsample(times, NOON + HOUR, MINUTE), times[-1]})
    assert found.newest.taken_at == times[-1]
    assert store.calls.count("read") == len(contract.DATASETS) - 1 + len(found.ends)


def test_a_set_that_is_incomplete_is_still_a_point() -> None:
    store = a_store(NOON - 2 * MINUTE, NOON - MINUTE, NOON)
    del store.objects[key(GROUPS, NOON - MINUTE)]
    found = past(store)
    assert found.newest.taken_at == NOON - 2 * MINUTE
    assert ends(found) == [NOON - 2 * MINUTE, NOON - MINUTE]


@pytest.mark.parametrize(
    "times",
    [[NOON - 9 * HOUR], [NOON - 40 * MINUTE, NOON - 40 * MINUTE + 1000]],
    ids=["too old for a point", "another has its slot"],
)
def test_the_newest_set_is_always_a_point(times: list[int]) -> None:
    assert ends(past(a_store(*times))) == times


@pytest.mark.parametrize(("bad", "lines"), [(1, 1), (3, 3), (4, 4), (6, 4)])
def test_ends_that_cannot_be_read_cost_their_own_points_and_four_warnings(
    bad: int, lines: int
) -> None:
    times = [NOON - minute * MINUTE for minute in range(8, 0, -1)]
    store = a_store(*times)
    for taken_at in times[:bad]:
        store.objects[key(TOPIC_PARTITIONS, taken_at)] = b"scribble"
    loaded = load(store)
    assert ends(loaded.value.previous_runs()) == times[bad:]
    assert len(loaded.warnings) == lines
    first = f"the end offsets of {key(TOPIC_PARTITIONS, times[0])} were left out: "
    assert loaded.warnings[0].startswith(first)
    assert (f"and the end offsets of {bad - 3} more" in loaded.warnings[-1]) == (bad > 3)


@pytest.mark.parametrize("dataset", [GROUPS, TOPIC_PARTITIONS])
@pytest.mark.parametrize("verb", ["keys", "read"])
def test_a_store_that_does_not_answer_is_an_error_and_not_an_empty_past(
    verb: str, dataset: str
) -> None:
    class Deaf(MemoryStore):
        def keys(self, prefix: str, after: str = "") -> list[str]:
            self._refuse("keys", prefix)
            return super().keys(prefix, after)

        def read(self, key: str) -> bytes:
            self._refuse("read", key)
            return super().read(key)

        def _refuse(self, called: str, text: str) -> None:
            if called == verb and f"/{dataset}/" in text:
                raise StoreError("no answer")

    store = Deaf()
    store.objects = a_store(NOON - 2 * MINUTE, NOON - MINUTE).objects
    with pytest.raises(StoreError, match="no answer"):
        load(store)


def test_a_warm_memory_holds_no_more_than_a_cold_start_would() -> None:
    memory, snapshot = Memory.empty(), a_snapshot({}, {"orders": [(0, 1)]})
    for number in range(700):
        snapshot = replace(snapshot, taken_at=NOON + number * MINUTE)
        memory = memory.add_run(snapshot, MINUTE, stored=True)
    assert len(memory.ends) == 32
    assert 512 <= len(memory.times) <= 576


# Which earlier runs are points: few, the same warm and cold, whatever the runs were like.

INTERVALS = st.integers(1000, 3_600_000)
# Runs in a row: how many, and how far apart in thousandths of an interval.
STRETCHES = st.lists(
    st.tuples(
        st.integers(1, 70),
        st.sampled_from([1000, 1000, 1000, 999, 1001, 400, 17]) | st.integers(1, 200_000),
    ),
    min_size=1,
    max_size=6,
)


def run_times(begin: int, interval_ms: int, stretches: list[tuple[int, int]]) -> list[int]:
    times = [begin]
    for count, thousandths in stretches:
        step = max(1, interval_ms * thousandths // 1000)
        times += [times[-1] + step * (number + 1) for number in range(count)]
    return times


def test_points_are_those_of_the_slots_of_their_age() -> None:
    begin = 64 * MINUTE * 1000
    times = [begin - number * MINUTE for number in range(1, 700)]
    ages = [(begin - time) // MINUTE for time in downsample(times, begin, MINUTE)]
    assert ages == [
        512, 448, 384, 320, 256, 224, 192, 160, 128, 112, 96, 80, 64, 56, 48, 40, 32, 28, 24, 20,
        16, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1,
    ]  # fmt: skip


@pytest.mark.parametrize(("age", "found"), [(512 * MINUTE, True), (512 * MINUTE + 1, False)])
def test_nothing_older_than_512_intervals_is_a_point(age: int, found: bool) -> None:
    assert downsample([NOON - age], NOON, MINUTE) == ([NOON - age] if found else [])


def test_a_run_of_the_same_time_or_later_is_no_point() -> None:
    assert downsample([NOON - MINUTE, NOON, NOON + MINUTE], NOON, MINUTE) == [NOON - MINUTE]


def test_the_first_run_of_a_slot_counts_even_where_it_is_none_itself() -> None:
    # Both in one slot of 64 minutes, of which only the second is young enough.
    slot = NOON // (64 * MINUTE) * 64 * MINUTE
    taken_at = slot + MINUTE + 512 * MINUTE
    assert downsample([slot, slot + 2 * MINUTE], taken_at, MINUTE) == []
    assert downsample([slot + 2 * MINUTE], taken_at, MINUTE) == [slot + 2 * MINUTE]
    assert needed_since(taken_at, MINUTE) == slot


@given(begin=st.integers(0, 10**12), interval_ms=INTERVALS, stretches=STRETCHES)
def test_stepping_from_point_to_point_finds_the_points_of_a_cold_start(
    begin: int, interval_ms: int, stretches: list[tuple[int, int]]
) -> None:
    times = run_times(begin, interval_ms, stretches)
    known: list[int] = []
    held: set[int] = set()
    for number, taken_at in enumerate(times):
        known = [time for time in known if time >= needed_since(taken_at, interval_ms)]
        warm = downsample(known, taken_at, interval_ms)
        assert warm == downsample(times[:number], taken_at, interval_ms)
        assert held.issuperset(warm)
        known.append(taken_at)
        held = {*warm, taken_at}


@given(
    times=st.lists(st.integers(NOON - 600 * MINUTE, NOON), max_size=400, unique=True),
    crowd=st.integers(0, 600),
)
def test_points_are_few_however_many_runs_there_were(times: list[int], crowd: int) -> None:
    crowded = [NOON - crowd * MINUTE - number * 100 for number in range(1, 400)]
    assert len(downsample([*times, *crowded], NOON, MINUTE)) <= 33 + 6 * 5
