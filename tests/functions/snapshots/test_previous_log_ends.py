# SPDX-License-Identifier: Apache-2.0
"""End offsets come from what earlier runs wrote, and a bad object costs its own only."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.snapshots.previous import LOG_END_COLUMNS, load_log_ends, select_log_ends
from tests.builders import MINUTE, NOON, a_snapshot, same
from tests.fakes import MemoryStore


def key(taken_at: int) -> str:
    return object_key(contract.TOPIC_PARTITIONS, "c", taken_at)


def data(taken_at: int) -> bytes:
    snapshot = a_snapshot({}, {"orders": [(0, 10), contract.NO_LEADER]}, at=taken_at)
    return to_parquet(snapshot.topic_partitions, contract.TOPIC_PARTITIONS)


def a_store(*times: int) -> MemoryStore:
    store = MemoryStore()
    for taken_at in times:
        store.objects[key(taken_at)] = data(taken_at)
    return store


def test_ends_are_read_as_a_warm_run_remembers_them() -> None:
    ends = load_log_ends(a_store(NOON), "c", [NOON])
    snapshot = a_snapshot({}, {"orders": [(0, 10), contract.NO_LEADER]}, at=NOON)
    assert same(ends.value[NOON], select_log_ends(snapshot.topic_partitions))
    assert list(ends.value[NOON].columns) == list(LOG_END_COLUMNS)
    assert ends.value[NOON].numbers("end_offset").to_list() == [10, None]
    assert ends.warnings == ()


@pytest.mark.parametrize("how", ["missing", "scribble"])
def test_a_bad_object_costs_its_own_point_and_one_warning(how: str) -> None:
    times = [NOON, NOON + MINUTE, NOON + 2 * MINUTE]
    store = a_store(*times)
    if how == "missing":
        del store.objects[key(times[1])]
    else:
        store.objects[key(times[1])] = b"scribble"
    ends = load_log_ends(store, "c", times)
    assert sorted(ends.value) == [times[0], times[2]]
    (warning,) = ends.warnings
    assert warning.startswith(f"the end offsets of {key(times[1])} were left out: ")


@pytest.mark.parametrize(
    ("bad", "lines", "last"),
    [(3, 3, "the end offsets of "), (4, 4, "and the end offsets of 1 more"), (9, 4, "and the end")],
)
def test_three_bad_objects_are_named_and_the_rest_counted(bad: int, lines: int, last: str) -> None:
    ends = load_log_ends(MemoryStore(), "c", [NOON + number * MINUTE for number in range(bad)])
    assert ends.value == {}
    assert len(ends.warnings) == lines
    assert ends.warnings[-1].startswith(last)


def test_a_store_that_does_not_answer_is_an_error_and_not_a_gap() -> None:
    store = a_store(NOON, NOON + MINUTE)
    store.down = {"read"}
    with pytest.raises(StoreError, match="cannot read"):
        load_log_ends(store, "c", [NOON, NOON + MINUTE])
