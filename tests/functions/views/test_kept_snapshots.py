# SPDX-License-Identifier: Apache-2.0
"""What was read is kept as far as memory goes, and what was asked for lately the longest."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.views.snapshots import Snapshots
from tests.fakes import MemoryStore
from tests.functions.views.test_snapshots import MINUTE, NOON, Clock


def put_rows(store: MemoryStore, rows: int, *times: int) -> MemoryStore:
    """Runs of so many rows."""
    many = Frame({"lag": Column(np.zeros(rows, np.int64), np.ones(rows, bool))}, rows)
    data = to_parquet(many, contract.GROUPS)
    for time in times:
        store.objects[object_key(contract.GROUPS, "demo", time)] = data
    return store


def test_what_was_asked_for_lately_is_let_go_last() -> None:
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
    kept = store.calls.count("read")
    snapshots.frame("demo", contract.GROUPS, times[0])

    assert (kept, store.calls.count("read")) == (3, 4)


def test_ten_large_runs_are_kept_while_the_next_is_read_and_no_more() -> None:
    times = [NOON - n * MINUTE for n in range(13)]
    store = put_rows(MemoryStore(), 60_000, *times[:11])
    put_rows(store, 40_000, times[11])
    put_rows(store, 1, times[12])
    snapshots = Snapshots(store, Clock())
    for time in times[:12] * 2:
        snapshots.frame("demo", contract.GROUPS, time)
    kept = store.calls.count("read")

    for time in (times[12], times[0]):
        snapshots.frame("demo", contract.GROUPS, time)

    assert (kept, store.calls.count("read")) == (12, 14)
