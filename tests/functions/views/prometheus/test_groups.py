# SPDX-License-Identifier: Apache-2.0
"""/metrics tells what the groups dataset holds, and nothing that is not known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.snapshots.keys import object_key
from tests.builders import HOUR, MINUTE, NOON, a_snapshot
from tests.fakes import MemoryStore
from tests.functions.views.prometheus.scrapes import (
    ask,
    names,
    scrape,
    stored,
    value,
    with_groups,
)

TOPICS = {"orders": [(0, 10), (0, 10)]}
SHOP = a_snapshot({"billing": {"orders": [5, 9]}}, TOPICS)


def a_store(**columns: Column | Strings) -> MemoryStore:
    """A snapshot of one group with these columns."""
    return stored(with_groups(SHOP, SHOP.groups.with_columns(**columns)))


def number(*values: float | None) -> Column:
    return Column.optional(values, np.float64)


def test_each_family_shows_its_column_and_is_absent_where_that_is_not_known() -> None:
    numbers = {
        column: Column.of(np.full(1, place, SHOP.groups.numbers(column).values.dtype))
        for place, (column, _) in enumerate(exposition.GROUP_GAUGES.values(), 3)
    }
    unknown = {column: Column.unknown(1, known.values.dtype) for column, known in numbers.items()}
    series, without = scrape(a_store(**numbers)), scrape(a_store(**unknown))
    for family, (column, _) in exposition.GROUP_GAUGES.items():
        expected = float(numbers[column].values[0])
        assert value(series, family, consumergroup="billing") == expected, family
        assert value(without, family, consumergroup="billing") is None, family
    assert "kafka_lag_group_info" in names(without)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1.0])
def test_a_value_that_cannot_be_is_absent(wrong: float) -> None:
    series = scrape(a_store(drain_seconds=number(wrong)))
    assert value(series, "kafka_lag_group_drain_seconds", consumergroup="billing") is None


@pytest.mark.parametrize(
    ("status", "expected", "worst"),
    [("OK", 0, None), ("WARN", 1, "falling_behind"), ("ERR", 2, "stopped"), (None, None, None)],
)
def test_a_status_is_a_number_and_what_a_consumer_does_a_label(
    status: str | None, expected: int | None, worst: str | None
) -> None:
    word, does = Strings.of([status]), Strings.of([worst])
    series = scrape(a_store(status=word, held_status=word, worst_status=does))
    for column in ("status", "held_status"):
        assert value(series, f"kafka_lag_group_{column}", consumergroup="billing") == expected
    shown = [
        (dict(labels)["worst_status"], one)
        for (name, labels), one in series.items()
        if name == "kafka_lag_group_worst_status"
    ]
    assert shown == ([] if worst is None else [(worst, 1)])


def test_what_is_said_of_a_group_is_in_the_labels_of_its_info() -> None:
    series = scrape(a_store(owner=Strings.of(["the shop's team"]), protocol=Strings.of(["range"])))
    labels = {
        "owner": "the shop's team",
        "state": "Stable",
        "type": "classic",
        "protocol": "range",
    }
    assert value(series, "kafka_lag_group_info", consumergroup="billing", **labels) == 1


def test_a_group_that_is_gone_is_left_out() -> None:
    series = scrape(a_store(status_reason=Strings.of([contract.GONE])))
    assert names(series) == {"kafka_lag_snapshot_age_seconds", "kafka_lag_snapshot_readable"}


def test_a_broken_snapshot_hides_no_other_cluster() -> None:
    store = stored(SHOP, "bank", stored(SHOP))
    store.objects[object_key(contract.GROUPS, "shop", NOON)] = b"no Parquet"
    series = scrape(store)
    readable = [value(series, "kafka_lag_snapshot_readable", cluster=c) for c in ("shop", "bank")]
    assert readable == [0, 1]
    assert value(series, "kafka_lag_snapshot_age_seconds") == 30
    assert value(series, "kafka_lag_group_lag", cluster="bank", consumergroup="billing") == 6


def test_without_any_snapshot_there_are_families_and_no_samples() -> None:
    assert scrape(MemoryStore()) == {}
    assert b"# TYPE kafka_lag_group_lag gauge" in ask(MemoryStore()).body


def test_clusters_are_distinguished_and_one_can_be_requested() -> None:
    store = stored(SHOP)
    stored(a_snapshot({"billing": {"orders": [9, 10]}}, TOPICS), "bank", store)
    series = scrape(store)
    lags = [
        value(series, "kafka_lag_group_lag", cluster=cluster, consumergroup="billing")
        for cluster in ("shop", "bank")
    ]
    assert lags == [6, 1]
    assert value(series, "kafka_lag_group_max_lag", consumergroup="billing") == 5
    assert {dict(labels)["cluster"] for _, labels in scrape(store, cluster="bank")} == {"bank"}
    assert ask(store).content_type == "text/plain; version=0.0.4; charset=utf-8"


@pytest.mark.parametrize(
    ("later", "age"), [(MINUTE, 0), (365 * 24 * HOUR, 30)], ids=["a little ahead", "next year"]
)
def test_a_snapshot_dated_ahead_is_not_shown_as_fresh_and_has_no_negative_age(
    later: int, age: int
) -> None:
    store = stored(SHOP)
    ahead = a_snapshot({"billing": {"orders": [0, 0]}}, TOPICS, at=NOON + later)
    series = scrape(stored(ahead, store=store))

    assert value(series, "kafka_lag_snapshot_age_seconds") == age
    assert value(series, "kafka_lag_group_lag", consumergroup="billing") == (6 if age else 20)


# What UTF-8 can carry, with what the format itself is made of in between.
NAMES = st.text(
    st.one_of(st.sampled_from('\\"\n\r{},= #'), st.characters(exclude_categories=["Cs"])),
    max_size=12,
)
LAGS = st.dictionaries(NAMES, st.none() | st.integers(0, 2**53), min_size=1, max_size=4)


@settings(max_examples=15, deadline=None)
@given(lags=LAGS, topic=NAMES, number=st.floats(0, allow_nan=False, allow_infinity=False))
@example(lags={'"': 1, 'a",b="': 2, "\\n\n": 3}, topic='"} 5\n', number=0.5)
def test_every_name_and_number_comes_back(
    lags: dict[str, int | None], topic: str, number: float
) -> None:
    snapshot = a_snapshot({name: {topic: [1]} for name in lags}, {topic: [(0, 1)]})
    known = snapshot.groups.strings("consumer_group").to_list()
    groups = snapshot.groups.with_columns(
        lag=Column.optional([lags[name] for name in known]),
        time_lag_seconds=Column.of(np.full(len(known), number)),
    )
    series = scrape(stored(with_groups(snapshot, groups)), level="partition")
    for name, lag in lags.items():
        assert value(series, "kafka_lag_group_lag", consumergroup=name) == lag
        assert value(series, "kafka_lag_group_time_lag_seconds", consumergroup=name) == number
        labels = {"consumergroup": name, "topic": topic, "partition": "0", "leader": "0"}
        assert value(series, "kafka_lag_partition_status", **labels) == 0
