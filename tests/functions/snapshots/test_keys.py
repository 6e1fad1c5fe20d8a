# SPDX-License-Identifier: Apache-2.0
"""Keys: cluster and scheduled time make one key, and a key gives them back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.snapshots.keys import CLUSTER_NAME, day_prefix, object_key, taken_at_of
from kafka_lag.snapshots.store import list_runs
from tests.builders import HOUR, MINUTE, NOON
from tests.fakes import MemoryStore

SECONDS = st.integers(0, 4_102_444_800).map(lambda second: second * 1000)


def test_a_key_is_partitioned_by_cluster_day_and_hour() -> None:
    assert object_key("groups", "shop", NOON) == (
        "snapshots/groups/cluster=shop/dt=2026-01-31/hour=12/20260131T120000Z-0of1.parquet"
    )


@given(st.sampled_from(contract.DATASETS), SECONDS)
def test_a_key_lies_under_its_day_and_has_its_time(dataset: str, taken_at: int) -> None:
    key = object_key(dataset, "shop", taken_at)
    assert key.startswith(day_prefix(dataset, "shop", taken_at))
    assert taken_at_of(key) == taken_at


@given(SECONDS, SECONDS)
def test_keys_of_a_day_are_in_the_order_of_time(one: int, other: int) -> None:
    keys = [object_key("groups", "shop", taken_at) for taken_at in (one, other)]
    assert (one < other) == (keys[0] < keys[1])


@pytest.mark.parametrize(
    "key",
    [
        "snapshots/groups/cluster=shop/dt=2026-01-31/hour=12/_SUCCESS",
        "snapshots/groups/cluster=shop/dt=2026-01-31/hour=12/20260131T120000Z-0of1.parquet.part",
        "snapshots/groups/cluster=shop/dt=2026-01-31/hour=12/20269931T120000Z-0of1.parquet",
        "",
    ],
    ids=["marker", "half-written", "no-such-month", "empty"],
)
def test_a_key_of_something_else_has_no_time(key: str) -> None:
    assert taken_at_of(key) is None


@pytest.mark.parametrize(
    ("name", "legal"),
    [("shop", True), ("Shop-1_a.b", True), ("a" * 128, True)]
    + [(bad, False) for bad in ("", "a/b", "a b", "-a", "..", "a=b", "ü", "a" * 129, "a\n")],
)
def test_a_cluster_name_is_one_folder(name: str, legal: bool) -> None:
    assert (CLUSTER_NAME.fullmatch(name) is not None) == legal


# Which runs there were is read from the keys, of no more objects than are asked for.

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
