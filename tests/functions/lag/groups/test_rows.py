# SPDX-License-Identifier: Apache-2.0
"""What is counted of partitions in groups and topics, and what a user decided of a group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.rollup import roll_up_group_topics, roll_up_groups, roll_up_scaling
from tests.builders import NOON, table
from tests.functions.lag.groups.parts import (
    UNCOMMITTED,
    Part,
    behind,
    counted_of,
    forgotten,
    frame_of,
    groups_of,
    of_group,
    rolled,
    unread,
)

ABANDONED: dict[str, Any] = {"topic": "old", "ignored": True, "reason": contract.INACTIVE}


def pairs_of(*parts: Part) -> Frame:
    return roll_up_group_topics(frame_of(parts))


def scaling_of(*parts: Part) -> list[tuple[Any, ...]]:
    found = roll_up_scaling(groups_of("g", "h"), frame_of(parts), counted_of(parts))
    return table(found, "consumer_group", "scaling_lag")


def test_a_group_counts_its_partitions_and_topics() -> None:
    group = rolled(behind(1.0, 5), behind(2.0, 7), Part(topic="bills"))
    assert of_group(group, "topics", "partitions", "lag", "max_lag") == (2, 3, 12, 7)


def test_a_missing_partition_makes_the_counts_unknown_and_not_the_times() -> None:
    group = rolled(behind(9.0, 5), forgotten())
    names = ("lag", "max_lag", "partitions_unknown", "time_lag_seconds")
    assert of_group(group, *names) == (None, None, 1, 9)


def test_a_partition_that_was_read_lately_counts_as_it_was() -> None:
    group = rolled(behind(9.0, 5), unread(7, age=20.0))
    names = ("lag", "max_lag", "partitions_unknown", "time_lag_seconds")
    assert of_group(group, *names) == (12, 7, 1, 20)


def test_uncommitted_partitions_are_counted_apart() -> None:
    group = rolled(behind(9.0, 5), Part(**UNCOMMITTED))
    names = ("lag", "partitions_uncommitted", "partitions_unknown")
    assert of_group(group, *names) == (5, 1, 0)


def test_records_lost_are_summed_where_they_are_known() -> None:
    assert of_group(rolled(Part(lost=3), Part(lost=None), Part(lost=4)), "records_lost") == (7,)


def test_each_group_has_its_own_row_and_one_without_partitions_knows_nothing() -> None:
    groups = rolled(behind(9.0, 5, group="b"), behind(8.0, 2, group="a"), names=("a", "b", "c"))
    names = ("consumer_group", "partitions", "lag", "time_lag_seconds", "status", "status_reason")
    assert table(groups, *names) == [
        ("a", 1, 2, 8, "OK", None),
        ("b", 1, 5, 9, "OK", None),
        ("c", 0, None, None, None, None),
    ]


IGNORED = [
    pytest.param(
        behind(9e9, 999, status=contract.STOP, lost=9, loss=1.0, risk=contract.LOST, **ABANDONED),
        id="old",
    ),
    pytest.param(forgotten(last_status=contract.STOP, **ABANDONED), id="silent"),
    pytest.param(Part(**{**UNCOMMITTED, **ABANDONED}), id="uncommitted"),
]


@pytest.mark.parametrize("part", IGNORED)
def test_an_ignored_partition_counts_as_a_partition_and_as_nothing_else(part: Part) -> None:
    others = [behind(9.0, 5, produced=2.0, consumed=3.0, drain=5.0, loss=90.0), Part(partition=1)]
    part = replace(part, produced=1.0, consumed=1.0)
    (with_it,), (without,) = (
        table(rolled(*parts), *_all_but("topics", "partitions"))
        for parts in ([*others, part], others)
    )
    assert with_it == without
    assert of_group(rolled(*others, part), "topics", "partitions") == (2, 3)


def _all_but(*names: str) -> list[str]:
    return [name for name in contract.COLUMNS[contract.GROUPS] if name not in names]


@pytest.mark.parametrize("part", IGNORED)
def test_an_ignored_topic_has_no_row_and_does_not_scale(part: Part) -> None:
    assert table(pairs_of(behind(9.0, 5), part), "topic", "lag") == [("orders", 5)]
    assert scaling_of(behind(9.0, 5), part) == [("g", 5), ("h", None)]


def test_a_group_of_which_all_is_ignored_is_inactive_and_has_no_numbers() -> None:
    group = rolled(behind(9e9, 999, status=contract.STOP, **ABANDONED))
    names = ("partitions", "lag", "time_lag_seconds", "status", "status_reason")
    assert of_group(group, *names) == (1, None, None, None, contract.INACTIVE)


def test_a_topic_has_the_sum_the_maximum_and_the_oldest_of_its_partitions() -> None:
    parts = [behind(3.0, 5), behind(9.0, 1), behind(7.0, topic="bills"), forgotten(topic="bills")]
    found = table(pairs_of(*parts), "consumer_group", "topic", "lag", "max_lag", "time_lag_seconds")
    assert sorted(found) == [("g", "bills", None, None, 7), ("g", "orders", 6, 5, 9)]


@pytest.mark.parametrize(
    ("parts", "lag"),
    [
        pytest.param([behind(9.0, 9), behind(9.0, 7)], 16, id="sum"),
        pytest.param([behind(9.0, 9), behind(9.0, 7, status=contract.STALL)], 9, id="stalled"),
        pytest.param([behind(9.0, 9, allowed=5), Part(lag=1, allowed=5)], 4, id="allowed"),
        pytest.param([behind(9.0, 9), forgotten()], None, id="missing"),
        pytest.param([behind(9.0, 9), unread()], None, id="last-known"),
        pytest.param([behind(9.0, 9), Part(**UNCOMMITTED)], 9, id="uncommitted"),
        pytest.param([Part(**UNCOMMITTED)], None, id="nothing-known"),
    ],
)
def test_the_scaling_lag_is_that_of_a_group_that_was_read_whole(
    parts: list[Part], lag: int | None
) -> None:
    assert scaling_of(*parts) == [("g", lag), ("h", None)]


def test_owner_and_limit_are_those_of_the_first_expression_found_in_the_name() -> None:
    rules = Rules(
        owners=ByName.of([("^pay", "payments"), ("pay", "others")]),
        sla_seconds=ByName.of([("ments$", 60.0)]),
    )
    groups = rolled(names=("payments", "repay", "g"), rules=rules)
    found = table(groups, "owner", "sla_seconds")
    assert found == [("payments", 60.0), ("others", None), (None, None)]


def test_owners_that_changed_are_counted_in_groups_that_were_described() -> None:
    parts = [Part(group=name, member="m1") for name in "gh"]
    told = frame_of(parts)
    before = Snapshot(NOON, Frame.empty(contract.TOPIC_PARTITIONS), told, groups_of("g", "h"))
    rows = told.with_columns(member_id=Strings.constant("m2", 2))
    members = Column.optional([1, None], np.int32)
    groups = roll_up_groups(
        groups_of("g", "h", members=members), rows, counted_of(parts), before, Rules()
    )
    assert groups.numbers("owners_changed").to_list() == [1, None]


PARTS = st.builds(
    Part,
    group=st.sampled_from("gh"),
    topic=st.sampled_from(["orders", "bills"]),
    lag=st.none() | st.integers(0, 2**40),
    age=st.none() | st.floats(0, 1e9),
    bounds=st.none() | st.tuples(st.none() | st.floats(0, 1e9), st.none() | st.floats(0, 1e9)),
    status=st.none() | st.sampled_from([contract.OK, contract.WARN, contract.STALL]),
    unread=st.none() | st.just(contract.TIMEOUT),
    uncommitted=st.booleans(),
    produced=st.none() | st.floats(0, 1e9),
    consumed=st.none() | st.floats(0, 1e9),
    drain=st.none() | st.floats(0, 1e9),
    loss=st.none() | st.floats(0, contract.NO_LOSS_SECONDS),
    risk=st.none() | st.sampled_from([contract.LOST, contract.AT_RISK, contract.SAFE]),
    ignored=st.booleans(),
)


@given(st.lists(PARTS, max_size=8))
def test_no_number_of_a_group_or_topic_is_negative_or_none_at_all(parts: list[Part]) -> None:
    with np.errstate(all="raise"):
        groups, pairs = rolled(*parts, names=("g", "h")), pairs_of(*parts)
    for frame in (groups, pairs):
        for column in frame.columns.values():
            if isinstance(column, Column):
                told = column.values[column.known]
                assert np.isfinite(told).all()
                assert (told >= 0).all()


@given(st.lists(PARTS, max_size=8))
def test_a_groups_counts_are_the_sums_and_maxima_of_its_topics(parts: list[Part]) -> None:
    lags = dict(table(rolled(*parts, names=("g", "h")), "consumer_group", "lag"))
    ages = dict(table(rolled(*parts, names=("g", "h")), "consumer_group", "time_lag_seconds"))
    pairs = table(pairs_of(*parts), "consumer_group", "lag", "time_lag_seconds")
    for group in "gh":
        of_topics = [(lag, age) for name, lag, age in pairs if name == group]
        if lags[group] is not None:
            assert lags[group] == sum(lag for lag, _ in of_topics if lag is not None)
        known = [age for _, age in of_topics if age is not None]
        oldest = max(known, default=None)
        # 0 beside a topic whose age is unknown would be a guess.
        assert ages[group] == oldest or (not oldest and ages[group] is None)
