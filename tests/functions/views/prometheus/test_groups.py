# SPDX-License-Identifier: Apache-2.0
"""/metrics tells what the groups dataset holds, and nothing that is not known."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_a_group_has_its_lag() -> None:
    series = scrape(stored(SHOP))
    assert value(series, "kafka_lag_group_lag", consumergroup="billing") == 6
    assert value(series, "kafka_lag_group_max_lag", consumergroup="billing") == 5


@pytest.mark.parametrize(("family", "source"), sorted(exposition.GROUP_GAUGES.items()))
def test_each_family_shows_its_column(family: str, source: tuple[str, str]) -> None:
    column = SHOP.groups.numbers(source[0])
    known = Column.of(np.full(1, 3, column.values.dtype))
    series = scrape(a_store(**{source[0]: known}))
    assert value(series, family, consumergroup="billing") == float(known.values[0])


@pytest.mark.parametrize(("family", "source"), sorted(exposition.GROUP_GAUGES.items()))
def test_what_is_not_known_is_absent(family: str, source: tuple[str, str]) -> None:
    column = SHOP.groups.numbers(source[0])
    series = scrape(a_store(**{source[0]: Column.unknown(1, column.values.dtype)}))
    assert value(series, family, consumergroup="billing") is None
    assert "kafka_lag_group_info" in names(series)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1.0])
def test_a_value_that_cannot_be_is_absent(wrong: float) -> None:
    series = scrape(a_store(drain_seconds=number(wrong)))
    assert value(series, "kafka_lag_group_drain_seconds", consumergroup="billing") is None


@pytest.mark.parametrize(("word", "expected"), [("OK", 0), ("WARN", 1), ("ERR", 2), (None, None)])
@pytest.mark.parametrize("column", ["status", "held_status"])
def test_a_status_is_a_number(column: str, word: str | None, expected: int | None) -> None:
    series = scrape(a_store(**{column: Strings.of([word])}))
    assert value(series, f"kafka_lag_group_{column}", consumergroup="billing") == expected


def test_what_is_said_of_a_group_is_in_the_labels_of_its_info() -> None:
    series = scrape(a_store(owner=Strings.of(["the shop's team"]), protocol=Strings.of(["range"])))
    labels = {
        "owner": "the shop's team",
        "state": "Stable",
        "type": "classic",
        "protocol": "range",
    }
    assert value(series, "kafka_lag_group_info", consumergroup="billing", **labels) == 1


@pytest.mark.parametrize("word", ["stopped", "falling_behind", None])
def test_what_a_consumer_does_is_a_label_and_absent_where_nothing_is_wrong(
    word: str | None,
) -> None:
    series = scrape(a_store(worst_status=Strings.of([word])))
    family = "kafka_lag_group_worst_status"
    shown = [dict(labels) for name, labels in series if name == family]
    words = [] if word is None else [{"consumergroup": "billing", "worst_status": word}]
    assert shown == [{"cluster": "shop", **labels} for labels in words]
    assert word is None or value(series, family, **shown[0]) == 1


def test_a_group_that_is_gone_is_left_out() -> None:
    series = scrape(a_store(status_reason=Strings.of([contract.GONE])))
    assert names(series) == {"kafka_lag_snapshot_age_seconds", "kafka_lag_snapshot_readable"}


def test_the_age_of_the_snapshot_is_exposed() -> None:
    assert value(scrape(stored(SHOP)), "kafka_lag_snapshot_age_seconds") == 30


def test_a_snapshot_from_the_future_has_no_negative_age() -> None:
    store = stored(a_snapshot(at=NOON + MINUTE))
    assert value(scrape(store), "kafka_lag_snapshot_age_seconds") == 0


def test_clusters_are_distinguished() -> None:
    store = stored(SHOP)
    stored(a_snapshot({"billing": {"orders": [9, 10]}}, TOPICS), "bank", store)
    series = scrape(store)
    lags = [
        value(series, "kafka_lag_group_lag", cluster=cluster, consumergroup="billing")
        for cluster in ("shop", "bank")
    ]
    assert lags == [6, 1]


def test_one_cluster_can_be_requested() -> None:
    store = stored(SHOP, "bank", stored(SHOP))
    clusters = {dict(labels)["cluster"] for _, labels in scrape(store, cluster="bank")}
    assert clusters == {"bank"}


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


def test_the_answer_is_text_of_version_0_0_4() -> None:
    assert ask(stored(SHOP)).content_type == "text/plain; version=0.0.4; charset=utf-8"


def test_a_snapshot_dated_next_year_is_not_shown_as_fresh() -> None:
    store = stored(SHOP)
    stored(
        a_snapshot({"billing": {"orders": [0, 0]}}, TOPICS, at=NOON + 365 * 24 * HOUR), store=store
    )

    series = scrape(store)

    assert value(series, "kafka_lag_snapshot_age_seconds") == 30
    assert value(series, "kafka_lag_group_lag", consumergroup="billing") == 6
