# SPDX-License-Identifier: Apache-2.0
"""Snapshots from the collector to the jobs: Spark reads the same numbers."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.store import FolderStore, write_snapshot
from kafka_lag_report.read_snapshots import find_days, read
from kafka_lag_report.storage import Storage
from tests.builders import MINUTE, NOON, a_reading, a_report, a_snapshot

pytestmark = pytest.mark.spark


def _two_runs() -> list[Snapshot]:
    """A run with commits, none and a loss; then one in which a group and a partition are silent."""
    groups: Any = {"orders": {"a": [5, None, 1], "b": [0]}, "né[w]": {"a": [9, 9, 9]}}
    topics: Any = {"a": [(0, 10), (2, 7), (3, 9)], "b": [(0, 0)], "unread": [(0, 4)]}
    first = a_snapshot(groups, topics)
    silent = {**groups, "né[w]": "timeout"}
    reading = a_reading(silent, {**topics, "b": ["no_leader"]}, at=NOON + MINUTE)
    return [first, a_report(reading, first, at=NOON + MINUTE).snapshot]


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    for snapshot in _two_runs():
        write_snapshot(FolderStore(tmp_path), "c-1", snapshot)
    return tmp_path


@pytest.mark.parametrize("dataset", contract.DATASETS)
def test_every_value_and_every_null_arrives(
    spark: SparkSession, folder: Path, dataset: str
) -> None:
    files, root, day_after = Storage(), str(folder), date(2026, 2, 1)
    (day,) = find_days(files, root, root, date(2026, 1, 31), [], day_after)
    names = list(contract.COLUMNS[dataset])
    rows = read(spark, files, day, dataset).collect()
    found = [tuple(row[name] for name in names) for row in rows]
    written: list[tuple[Any, ...]] = []
    for snapshot in _two_runs():
        frame = snapshot.dataset(dataset).completed(dataset)
        columns = [_as_spark(frame.columns[name].to_list(), dataset, name) for name in names]
        written += zip(*columns, strict=True)
    assert sorted(found, key=repr) == sorted(written, key=repr)


def _as_spark(values: list[Any], dataset: str, name: str) -> list[Any]:
    kind = contract.COLUMNS[dataset][name]
    if kind == contract.TIMESTAMP:
        return [None if v is None else _local_naive(v) for v in values]
    if kind in contract.LISTS:
        return [None if v is None else list(v) for v in values]
    return values


def _local_naive(milliseconds: int) -> datetime:
    # Python's side of Spark shows a timestamp in the machine's own zone, without one.
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone().replace(tzinfo=None)
