# SPDX-License-Identifier: Apache-2.0
"""A cold start knows the newest set and the end offsets of some runs before it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.lag.model import PreviousRuns
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.previous import Memory, downsample, load_memory
from kafka_lag.snapshots.store import write_snapshot
from tests.builders import HOUR, MINUTE, NOON, a_snapshot
from tests.fakes import MemoryStore


def a_store(*times: int) -> MemoryStore:
    store = MemoryStore()
    for taken_at in times:
        write_snapshot(store, "c", a_snapshot({}, {"orders": [(0, taken_at)]}, at=taken_at))
    return store


def ends(past: PreviousRuns) -> list[int]:
    """The end offsets of each point; here they are the times of the runs."""
    return [frame.numbers("end_offset").to_list()[0] for frame in past.ends]


def past(store: MemoryStore, taken_at: int) -> PreviousRuns:
    return load_memory(store, "c", taken_at, MINUTE).value.previous_runs()


def key(dataset: str, taken_at: int) -> str:
    return object_key(dataset, "c", taken_at)


def test_before_the_first_run_there_is_no_past() -> None:
    loaded = load_memory(MemoryStore(), "c", NOON, MINUTE)
    assert (loaded.value.newest.taken_at, loaded.value.previous_runs().ends) == (0, ())
    assert loaded.warnings == ()
    assert Memory.empty().previous_runs().ends == ()


def test_points_are_the_chosen_runs_the_oldest_first() -> None:
    times = [NOON + number * MINUTE for number in range(40)]
    found = past(a_store(*times), NOON + HOUR)
    assert ends(found) == sorted({*downsample(times, NOON + HOUR, MINUTE), times[-1]})
    assert found.newest.taken_at == times[-1]


def test_a_cold_start_reads_each_object_once() -> None:
    times = [NOON + number * MINUTE for number in range(40)]
    store = a_store(*times)
    store.calls.clear()
    found = past(store, times[-1] + MINUTE)
    assert store.calls.count("read") == len(contract.DATASETS) - 1 + len(found.ends)


def test_runs_of_the_same_time_or_later_are_not_known() -> None:
    store = a_store(NOON - MINUTE, NOON, NOON + MINUTE)
    assert ends(past(store, NOON)) == [NOON - MINUTE]


def test_a_set_that_is_incomplete_is_still_a_point() -> None:
    store = a_store(NOON - 2 * MINUTE, NOON - MINUTE)
    del store.objects[key(contract.GROUPS, NOON - MINUTE)]
    found = past(store, NOON)
    assert found.newest.taken_at == NOON - 2 * MINUTE
    assert ends(found) == [NOON - 2 * MINUTE, NOON - MINUTE]


@pytest.mark.parametrize("age", [9 * HOUR, 6 * 24 * HOUR], ids=["too-old", "days"])
def test_the_newest_set_is_a_point_however_old(age: int) -> None:
    found = past(a_store(NOON - age), NOON)
    assert (found.newest.taken_at, ends(found)) == (NOON - age, [NOON - age])


def test_the_newest_set_is_a_point_even_where_another_has_its_slot() -> None:
    times = [NOON - 40 * MINUTE, NOON - 40 * MINUTE + 1000]
    assert ends(past(a_store(*times), NOON)) == times


def test_what_is_wrong_with_sets_and_with_points_is_reported() -> None:
    store = a_store(*(NOON - minute * MINUTE for minute in (3, 2, 1)))
    store.objects[key(contract.GROUPS, NOON - MINUTE)] = b"scribble"
    store.objects[key(contract.TOPIC_PARTITIONS, NOON - 3 * MINUTE)] = b"scribble"
    loaded = load_memory(store, "c", NOON, MINUTE)
    assert ends(loaded.value.previous_runs()) == [NOON - 2 * MINUTE, NOON - MINUTE]
    first, second = loaded.warnings
    assert "the snapshot set of" in first
    assert "the end offsets of" in second


@pytest.mark.parametrize("dataset", [contract.GROUPS, contract.TOPIC_PARTITIONS])
def test_a_store_that_does_not_answer_for_either_is_an_error(dataset: str) -> None:
    class Deaf(MemoryStore):
        def keys(self, prefix: str, after: str = "") -> list[str]:
            if f"/{dataset}/" in prefix:
                raise StoreError("no answer")
            return super().keys(prefix, after)

    with pytest.raises(StoreError, match="no answer"):
        load_memory(Deaf(), "c", NOON, MINUTE)


def test_a_warm_memory_holds_no_more_than_a_cold_start_would() -> None:
    memory, snapshot = Memory.empty(), a_snapshot({}, {"orders": [(0, 1)]})
    for number in range(700):
        snapshot = replace(snapshot, taken_at=NOON + number * MINUTE)
        memory = memory.add_run(snapshot, MINUTE, stored=True)
    assert len(memory.ends) == 32
    assert 512 <= len(memory.times) <= 576
