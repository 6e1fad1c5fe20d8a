# SPDX-License-Identifier: Apache-2.0
"""Sizes on which costs rest, compared with what the collector and the daily job write."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag import contract
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import OTEL_NAMES, Levels
from kafka_lag.sinks.emf import emf_line
from kafka_lag.sinks.metric_sets import MetricSet, lag_sets
from kafka_lag.sinks.otlp import Authorization, OtlpSink
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.snapshots.store import FolderStore
from kafka_lag_config.cluster import Expected
from kafka_lag_config.cost.usage import (
    MetricCounts,
    count_metrics,
    day_bytes,
    log_bytes,
    otlp_bytes,
    snapshot_bytes,
)
from kafka_lag_report.history import compact_day
from kafka_lag_report.read_snapshots import find_days, read_small_day
from kafka_lag_report.storage import Storage
from tests.builders import NOON
from tests.functions.sinks.otlp_receiver import receiving
from tests.infra.configured import cluster
from tests.infra.cost.generated import Size, reports

WITHIN = 0.20
MIDDLE = Size(groups=20, topics=3, partitions=10)
EVERY_OPTION: dict[str, Any] = {
    **dict.fromkeys(contract.CHOSEN_METRICS, True),
    "scaling": NameFilter(),
    "max_offset_lag": True,
}
NOTHING = dict.fromkeys(
    ("groups", "with_sla", "topics", "partitions", "of_groups", "details", "omitted"), 0
)
LEVELS = {1: "group", 2: "topic", 3: "partition"}


@pytest.fixture(scope="module")
def day() -> list[LagReport]:
    return list(reports(MIDDLE, 30))


def expected(report: LagReport) -> Expected:
    rows = report.snapshot
    return Expected(
        groups=len(rows.groups),
        group_partitions=len(rows.group_partitions),
        topic_partitions=len(rows.topic_partitions),
    )


def written(sets: Iterable[MetricSet]) -> int:
    return sum(len(emf_line(one, NOON, contract.NAMESPACE)) + 1 for one in sets)


@pytest.mark.parametrize("more", [{}, EVERY_OPTION], ids=["default", "every-option"])
@pytest.mark.parametrize("level", LEVELS)
def test_lines_of_metrics_are_as_long_as_measured(
    day: list[LagReport], level: int, more: dict[str, Any]
) -> None:
    report = day[-1]
    levels = Levels(max_metrics=10**6, partition_groups=NameFilter(), **more)
    chosen = plan(report, Snapshot.empty(), levels)
    sets = [
        one
        for one in lag_sets(report, chosen, levels, "orders-production")
        if len(one.dimensions) == level + 1
    ]
    counts = NOTHING | {f"{LEVELS[level]}s": len(sets), "details": sum(len(x.values) for x in sets)}
    computed = log_bytes(MetricCounts(**counts)) - log_bytes(MetricCounts(**NOTHING))
    assert computed == pytest.approx(written(sets), rel=WITHIN)


@pytest.mark.parametrize("partitions", [False, True])
@pytest.mark.parametrize("more", [{}, EVERY_OPTION], ids=["default", "every-option"])
def test_a_receiver_gets_the_bytes_by_otlp_within_three_percent(
    day: list[LagReport], more: dict[str, Any], partitions: bool
) -> None:
    report = day[-1]
    levels = Levels(10**6, partition_groups=NameFilter() if partitions else None, **more)
    sets = lag_sets(report, plan(report, Snapshot.empty(), levels), levels, "orders")
    health = dict.fromkeys(contract.HEALTH_UNITS, 1.0)
    sets.append(MetricSet(((contract.DIMENSION_CLUSTER, "orders"),), tuple(health.items())))
    with receiving() as receiver:
        OtlpSink(receiver.url, Authorization(), print, names=OTEL_NAMES).publish(sets, NOON)
    got = [one.request.ByteSize() for one in receiver.received]
    sizes = {"groups": 20, "group_topics": 60, "group_partitions": 600}
    one = cluster(expected=sizes, namespace="KafkaLag")
    # Not every group needs tasks or has another value that depends on its past.
    known = sum(len(each.values) for each in sets) / count_metrics(one, levels).total
    computed = otlp_bytes(count_metrics(one, levels)) * known
    assert computed == pytest.approx(sum(got), rel=0.03)


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(Size(1, 1, 1), id="one"),
        pytest.param(MIDDLE, id="600"),
    ],
)
def test_snapshots_are_as_large_as_measured(size: Size) -> None:
    *_, report = reports(size, 4)
    real = sum(
        len(to_parquet(report.snapshot.dataset(dataset), dataset)) for dataset in contract.DATASETS
    )
    assert snapshot_bytes(expected(report)) == pytest.approx(real, rel=WITHIN)


def test_history_is_as_large_as_measured(
    day: list[LagReport], spark: SparkSession, tmp_path: Path
) -> None:
    store = FolderStore(tmp_path)
    for report in day:
        for dataset in contract.DATASETS:
            key = object_key(dataset, "shop", report.snapshot.taken_at)
            store.write_once(key, to_parquet(report.snapshot.dataset(dataset), dataset))
    storage, root, date = Storage(), str(tmp_path), datetime.fromtimestamp(NOON / 1000, UTC).date()
    (found,) = find_days(storage, root, root, date, (), date + timedelta(days=1))
    compact_day(spark, storage, *read_small_day(storage, found))

    real = sum(file.stat().st_size for file in (tmp_path / "history").rglob("*.parquet"))
    assert day_bytes(expected(day[-1]), len(day))[0] == pytest.approx(real, rel=WITHIN)
