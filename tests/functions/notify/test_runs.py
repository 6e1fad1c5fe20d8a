# SPDX-License-Identifier: Apache-2.0
"""Runs are found by listing the hours between two times."""

from __future__ import annotations

from kafka_lag import contract
from kafka_lag.notify.runs import StoredRuns
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from tests.builders import HOUR, MINUTE, NOON
from tests.fakes import MemoryStore
from tests.functions.notify.builders import a_row, a_set


def a_store(*times: int) -> MemoryStore:
    store = MemoryStore()
    for at in times:
        store.objects[object_key(contract.GROUPS, "shop", at)] = b""
    return store


def test_runs_come_oldest_first_without_the_one_told_and_with_the_one_of_the_event() -> None:
    times = [NOON - MINUTE, NOON, NOON + MINUTE, NOON + HOUR, NOON + HOUR + MINUTE]
    runs = StoredRuns(a_store(*times))

    assert list(runs.between("shop", NOON, NOON + HOUR)) == [NOON + MINUTE, NOON + HOUR]


def test_a_minute_asks_the_store_once() -> None:
    store = a_store(NOON, NOON + MINUTE)

    assert list(StoredRuns(store).between("shop", NOON, NOON + MINUTE)) == [NOON + MINUTE]
    assert store.calls == ["keys"]


def test_a_week_is_sought_back_and_no_further() -> None:
    week = 7 * 24 * HOUR
    store = a_store(NOON - week - MINUTE, NOON - week, NOON)

    assert list(StoredRuns(store).between("shop", 0, NOON)) == [NOON - week, NOON]
    assert len(store.calls) == 7 * 24 + 1


def test_keys_that_are_no_runs_are_passed_over() -> None:
    store = a_store(NOON)
    store.objects[object_key(contract.GROUPS, "shop", NOON) + ".part"] = b""

    assert list(StoredRuns(store).between("shop", NOON - MINUTE, NOON)) == [NOON]


def test_a_set_is_read_as_it_was_written() -> None:
    store = MemoryStore()
    written = a_set(a_row("g", contract.ERR, lag=7))
    store.objects[object_key(contract.GROUPS, "shop", NOON)] = to_parquet(written, contract.GROUPS)

    groups = StoredRuns(store).groups("shop", NOON)

    assert groups.strings("held_status").to_list() == [contract.ERR]
    assert groups.numbers("lag").to_list() == [7]


def test_a_set_that_each_channel_asks_for_is_read_once() -> None:
    store = MemoryStore()
    key = object_key(contract.GROUPS, "shop", NOON)
    store.objects[key] = to_parquet(a_set(a_row("g")), contract.GROUPS)
    runs = StoredRuns(store)

    assert runs.groups("shop", NOON) is runs.groups("shop", NOON)
    assert store.calls == ["read"]
