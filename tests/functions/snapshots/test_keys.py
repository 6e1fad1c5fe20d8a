# SPDX-License-Identifier: Apache-2.0
"""Keys: cluster and scheduled time in, one place out, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.snapshots.keys import CLUSTER_NAME, day_prefix, object_key, taken_at_of
from tests.builders import NOON

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
