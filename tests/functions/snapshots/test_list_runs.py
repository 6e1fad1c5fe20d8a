# SPDX-License-Identifier: Apache-2.0
"""Which runs there were is read from the keys, of no more objects than are asked for."""

from __future__ import annotations

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.store import list_runs
from tests.builders import HOUR, MINUTE, NOON
from tests.fakes import MemoryStore

MIDNIGHT = NOON + 12 * HOUR


class Counting(MemoryStore):
    """Counts the keys that it lists."""

    listed = 0

    def keys(self, prefix: str, after: str = "") -> list[str]:
        found = super().keys(prefix, after)
        self.listed += len(found)
        return found


def key(taken_at: int) -> str:
    return object_key(contract.GROUPS, "c", taken_at)


def a_store(*times: int) -> Counting:
    store = Counting()
    store.objects = {key(taken_at): b"" for taken_at in times}
    return store


def found(store: MemoryStore, since: int, before: int) -> list[int]:
    return list_runs(store, contract.GROUPS, "c", since, before)


def test_runs_are_found_over_midnight_from_the_first_time_to_before_the_last() -> None:
    times = [MIDNIGHT + minute * MINUTE for minute in (-3, -2, -1, 0, 2 * 24 * 60)]
    assert found(a_store(*times), times[1], times[4]) == times[1:4]
    assert found(a_store(*times), times[1], times[4] + 1) == times[1:]


def test_a_day_that_ends_when_the_run_begins_is_the_last_that_is_listed() -> None:
    store = a_store()
    found(store, MIDNIGHT - MINUTE, MIDNIGHT)
    assert store.calls == ["keys"]


def test_runs_before_the_first_time_are_not_even_listed() -> None:
    store = a_store(*range(MIDNIGHT - 12 * HOUR, MIDNIGHT, MINUTE))
    assert len(found(store, MIDNIGHT - HOUR, MIDNIGHT)) == store.listed == 60


def test_other_clusters_and_strangers_are_no_runs() -> None:
    store = a_store(NOON)
    store.objects[object_key(contract.GROUPS, "d", NOON - MINUTE)] = b""
    store.objects[object_key(contract.TOPIC_PARTITIONS, "c", NOON - MINUTE)] = b""
    store.objects[key(NOON).replace("20260131T12", "20269931T99")] = b""
    assert found(store, NOON - HOUR, NOON + HOUR) == [NOON]
