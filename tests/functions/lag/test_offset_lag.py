# SPDX-License-Identifier: Apache-2.0
"""Lag of one partition, case by case; numbers in ids are rows of the table of edge cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import EARLIEST, ByName, Rules
from kafka_lag.lag.model import LagReport
from tests.builders import Commit, Log, a_reading, a_report, table

RULES = Rules(uncommitted=ByName.of([("^early", EARLIEST)]))


Row = tuple[int | None, int | None, int | None, bool]


def report_of(*rows: Row) -> LagReport:
    """A group and a topic per row; a group of the last kind counts from the log start."""
    names = [f"early-{i}" if row[3] else f"group-{i}" for i, row in enumerate(rows)]
    groups: dict[str, dict[str, list[Commit]]] = {
        name: {f"t{i}": [row[0]]} for i, (name, row) in enumerate(zip(names, rows, strict=True))
    }
    topics: dict[str, list[Log]] = {f"t{i}": [(0, 0)] for i in range(len(rows))}
    reading = a_reading(groups, topics)
    offsets = {
        "start_offset": Column.optional([row[1] for row in rows]),
        "end_offset": Column.optional([row[2] for row in rows]),
    }
    partitions = reading.topic_partitions.with_columns(**offsets)
    return a_report(replace(reading, topic_partitions=partitions), rules=RULES)


def of(*rows: Row) -> Frame:
    return report_of(*rows).snapshot.group_partitions


def uncommitted(rows: Frame) -> list[bool]:
    return [why == contract.UNCOMMITTED for why in rows.strings("uncounted").to_list()]


def test_only_a_log_whose_ends_are_known_is_said_to_be_uncommitted() -> None:
    rows = of((None, 0, 9, False), (None, 0, None, False), (None, None, 9, False))
    assert uncommitted(rows) == [True, False, False]


@pytest.mark.parametrize(
    ("committed", "start", "end", "lag", "lost", "margin"),
    [
        pytest.param(40, 0, 100, 60, 0, 40, id="behind"),
        pytest.param(100, 0, 100, 0, 0, 100, id="caught-up"),
        pytest.param(101, 0, 100, 0, 0, 101, id="1-commit-moved-between-reads"),
        pytest.param(10, 30, 100, 70, 20, 0, id="4-commit-below-log-start"),
        pytest.param(100, 100, 100, 0, 0, 0, id="4-commit-at-start-of-an-emptied-log"),
        pytest.param(50, 100, 100, 0, 50, 0, id="4-everything-unread-was-deleted"),
        pytest.param(900, 0, 5, 0, 0, 900, id="5-commit-beyond-end"),
        pytest.param(40, None, 100, 60, None, None, id="10-start-unknown"),
        pytest.param(40, 0, None, None, 0, 40, id="10-end-unknown"),
        pytest.param(40, None, None, None, None, None, id="9-partition-unread"),
        pytest.param(99, 0, 100, 1, 0, 99, id="20-transaction-marker"),
        pytest.param(None, 0, 0, 0, None, None, id="2-uncommitted-and-empty"),
        pytest.param(None, 7, 7, 0, None, None, id="2-uncommitted-and-purged"),
        pytest.param(None, 0, 5, None, None, None, id="2-uncommitted"),
        pytest.param(None, None, 5, None, None, None, id="10-uncommitted-start-unknown"),
    ],
)
def test_lag_loss_and_margin(
    committed: int | None,
    start: int | None,
    end: int | None,
    lag: int | None,
    lost: int | None,
    margin: int | None,
) -> None:
    found = of((committed, start, end, False))
    assert table(found, "lag", "records_lost", "retention_margin") == [(lag, lost, margin)]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param((None, 0, 5, False), True, id="2-records-to-read"),
        pytest.param((None, 5, 5, False), False, id="2-nothing-to-read"),
        pytest.param((None, 0, 5, True), False, id="3-counted-from-start"),
        pytest.param((None, None, 5, False), False, id="10-unknown"),
        pytest.param((3, 0, 5, False), False, id="committed"),
    ],
)
def test_uncommitted_is_no_commit_with_records_to_read(row: Row, expected: bool) -> None:
    assert uncommitted(of(row)) == [expected]


def test_a_group_that_starts_at_the_earliest_lags_from_the_log_start() -> None:
    assert table(of((None, 20, 100, True)), "lag") == [(80,)]
