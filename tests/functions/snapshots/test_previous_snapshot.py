# SPDX-License-Identifier: Apache-2.0
"""The state of a run is the newest complete set before it, and nothing else."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.previous import load_newest
from kafka_lag.snapshots.store import write_snapshot
from tests.builders import HOUR, MINUTE, NOON, a_snapshot, datasets, same
from tests.fakes import MemoryStore

DAY = 24 * HOUR


def at(taken_at: int) -> Snapshot:
    return a_snapshot({"g": {"orders": [5, None]}}, {"orders": [(0, 10), (0, 3)]}, at=taken_at)


def a_store(*times: int) -> MemoryStore:
    store = MemoryStore()
    for taken_at in times:
        write_snapshot(store, "c", at(taken_at))
    return store


def key(dataset: str, taken_at: int) -> str:
    return object_key(dataset, "c", taken_at)


def test_a_set_is_read_as_it_was_written() -> None:
    loaded = load_newest(a_store(NOON), "c", NOON + MINUTE)
    assert loaded.value.taken_at == NOON
    assert loaded.warnings == ()
    for name, frame in datasets(at(NOON)).items():
        assert same(loaded.value.dataset(name), frame)


def test_groups_is_written_last_and_completes_the_set() -> None:
    assert list(a_store(NOON).objects) == [key(dataset, NOON) for dataset in contract.DATASETS]
    assert contract.DATASETS[-1] == contract.GROUPS


def test_a_set_of_which_nothing_was_there_is_three_new_objects() -> None:
    assert write_snapshot(MemoryStore(), "c", at(NOON)) == 3


def test_a_repeated_run_writes_only_what_is_missing() -> None:
    store = a_store(NOON)
    first = dict(store.objects)
    del store.objects[key(contract.GROUPS, NOON)]
    assert write_snapshot(store, "c", at(NOON)) == 1
    assert store.objects == first
    assert write_snapshot(store, "c", at(NOON)) == 0


def test_the_newest_set_before_the_run_is_taken() -> None:
    store = a_store(NOON - 2 * MINUTE, NOON - MINUTE, NOON, NOON + MINUTE)
    assert load_newest(store, "c", NOON).value.taken_at == NOON - MINUTE


def test_a_set_of_yesterday_is_found_after_midnight() -> None:
    midnight = NOON + 12 * HOUR
    store = a_store(midnight - MINUTE)
    assert load_newest(store, "c", midnight).value.taken_at == midnight - MINUTE


@pytest.mark.parametrize(("days", "found"), [(7, True), (8, False)])
def test_a_set_is_looked_for_seven_days_back(days: int, found: bool) -> None:
    loaded = load_newest(a_store(NOON - days * DAY), "c", NOON)
    assert loaded.value.taken_at == (NOON - days * DAY if found else 0)


def test_a_run_on_time_lists_an_hour_only() -> None:
    store = a_store(NOON - 2 * HOUR, NOON - MINUTE)
    calls = len(store.calls)
    assert load_newest(store, "c", NOON).value.taken_at == NOON - MINUTE
    assert store.calls[calls:].count("keys") == 1


def test_a_set_of_hours_ago_is_found() -> None:
    assert load_newest(a_store(NOON - 2 * HOUR), "c", NOON).value.taken_at == NOON - 2 * HOUR


def test_another_clusters_sets_are_not_ours() -> None:
    store = a_store(NOON)
    assert load_newest(store, "other", NOON + MINUTE).value.taken_at == 0


def test_before_the_first_run_nothing_is_known() -> None:
    loaded = load_newest(MemoryStore(), "c", NOON)
    assert [len(frame) for frame in datasets(loaded.value).values()] == [0, 0, 0]
    assert loaded.warnings == ()


def test_a_set_without_its_groups_is_not_there_yet() -> None:
    store = a_store(NOON - MINUTE, NOON)
    del store.objects[key(contract.GROUPS, NOON)]
    loaded = load_newest(store, "c", NOON + MINUTE)
    assert (loaded.value.taken_at, loaded.warnings) == (NOON - MINUTE, ())


@pytest.mark.parametrize("dataset", [contract.TOPIC_PARTITIONS, contract.GROUP_PARTITIONS])
def test_an_incomplete_set_is_skipped_and_warned_of(dataset: str) -> None:
    store = a_store(NOON - MINUTE, NOON)
    del store.objects[key(dataset, NOON)]
    loaded = load_newest(store, "c", NOON + MINUTE)
    assert loaded.value.taken_at == NOON - MINUTE
    (warning,) = loaded.warnings
    assert key(contract.GROUPS, NOON) in warning


def test_an_unreadable_set_is_skipped_and_warned_of() -> None:
    store = a_store(NOON - MINUTE, NOON)
    store.objects[key(contract.GROUP_PARTITIONS, NOON)] = b"scribble"
    loaded = load_newest(store, "c", NOON + MINUTE)
    assert loaded.value.taken_at == NOON - MINUTE
    assert "not a readable group_partitions file" in loaded.warnings[0]


def test_the_search_ends_after_five_unreadable_sets() -> None:
    times = [NOON - minute * MINUTE for minute in range(1, 8)]
    store = a_store(*times)
    for taken_at in times[:5]:
        store.objects[key(contract.GROUPS, taken_at)] = b"scribble"
    loaded = load_newest(store, "c", NOON)
    assert (loaded.value.taken_at, len(loaded.warnings)) == (0, 5)


def test_a_stranger_among_the_objects_is_passed_over() -> None:
    store = a_store(NOON)
    store.objects[key(contract.GROUPS, NOON).replace("20260131T12", "20269931T99")] = b"?"
    assert load_newest(store, "c", NOON + MINUTE).value.taken_at == NOON


@pytest.mark.parametrize("verb", ["keys", "read"])
def test_a_store_that_does_not_answer_is_an_error_and_not_an_empty_past(verb: str) -> None:
    store = a_store(NOON)
    store.down = {verb}
    with pytest.raises(StoreError, match=f"cannot {verb}"):
        load_newest(store, "c", NOON + MINUTE)
