# SPDX-License-Identifier: Apache-2.0
"""What a log got, and what a group read of it, from run to run: by Arrow, by Spark, and by hand."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from kafka_lag_report.history_file import follow
from kafka_lag_report.rises import with_rises
from kafka_lag_report.schemas import arrow_schema
from tests.glue_jobs.days import NOON, Row, frame, group_row, minute, topic_row

UNREAD = {"unread_reason": "timeout"}
SKIPPED = {"skipped_from": 100, "skipped_to": 700, "skipped_at": minute(1)}
YESTERDAYS = {**SKIPPED, "skipped_at": NOON - timedelta(days=1)}

# Runs of one partition, a minute apart, and the rise of each.
PRODUCED: dict[str, tuple[list[Row], list[int | None]]] = {
    "each run since the one before": ([topic_row(0, e) for e in (5, 9, 9)], [None, 4, 0]),
    "an unread run is passed over": (
        [topic_row(0, 5), topic_row(0, 99, **UNREAD), topic_row(0, 7)],
        [None, None, 2],
    ),
    "an unknown end is passed over": ([topic_row(0, e) for e in (5, None, 7)], [None, None, 2]),
    "an end that went back is nothing": ([topic_row(0, e) for e in (5, 3, 4)], [None, 0, 1]),
    "a topic made anew begins anew, and goes on as the old one": (
        [topic_row(0, e, topic_id=i) for e, i in ((5, "a"), (1, "b"), (9, "a"), (3, "b"))],
        [None, None, 4, 2],
    ),
    "a topic whose id is unknown": ([topic_row(0, e, topic_id=None) for e in (1, 2)], [None, 1]),
}
CONSUMED: dict[str, tuple[list[Row], list[int | None]]] = {
    "each run since the one before": (
        [group_row(0, c, 0, 99) for c in (5, 9, 9)],
        [None, 4, 0],
    ),
    "what is read again counts again": (
        [group_row(0, c, 0, 99) for c in (50, 10, 30)],
        [None, 0, 20],
    ),
    "losses are passed over": (
        [group_row(0, 10, 40, 99), group_row(0, 45, 40, 99)],
        [None, 5],
    ),
    "a loss of which only a part is passed": (
        [group_row(0, 10, 40, 99), group_row(0, 30, 40, 99)],
        [None, 0],
    ),
    "a skip is not read": (
        [group_row(0, 90, 0, 999), group_row(0, 705, 0, 999, **SKIPPED)],
        [None, 15],
    ),
    "what a truncated log let it skip was no jump": (
        [group_row(0, 690, 0, 999), group_row(0, 705, 0, 999, **SKIPPED, skip_reason="truncated")],
        [None, 15],
    ),
    "a skip of yesterday is none of today's": (
        [group_row(0, c, 0, 999, **YESTERDAYS) for c in (700, 705)],
        [None, 5],
    ),
    "a commit beyond the end is no reading": (
        [group_row(0, c, 0, 99) for c in (10, 2**63 - 1, 20)],
        [None, None, 10],
    ),
    "a commit of which no end is known": (
        [group_row(0, c, 0, 99, end_offset=None) for c in (5, 8)],
        [None, 3],
    ),
    "another owner's run": (
        [group_row(0, c, 0, 99, member_id=m) for c, m in ((1, "a"), (4, "b"))],
        [None, 3],
    ),
}
CASES = {"topic_partitions": PRODUCED, "group_partitions": CONSUMED}
COLUMN = {"topic_partitions": "produced", "group_partitions": "consumed"}


def rows_of(dataset: str) -> list[Row]:
    """All cases, a topic each."""
    return [
        {**row, "topic": case, "taken_at": minute(run), "read_at": minute(run)}
        for case, (runs, _) in CASES[dataset].items()
        for run, row in enumerate(runs)
    ]


def by_case(rows: Sequence[Row], dataset: str) -> dict[str, list[int | None]]:
    ordered = sorted(rows, key=lambda row: row["taken_at"])
    return {
        case: [row[COLUMN[dataset]] for row in ordered if row["topic"] == case]
        for case in CASES[dataset]
    }


def expected(dataset: str) -> dict[str, list[int | None]]:
    return {case: rises for case, (_, rises) in CASES[dataset].items()}


def in_stretches(dataset: str, *stretches: Sequence[Row]) -> list[Row]:
    """The rows with their rises, of stretches that follow each other."""
    known, done = None, list[Row]()
    for rows in stretches:
        table = pa.Table.from_pylist(list(rows), schema=arrow_schema(dataset))
        table = table.unify_dictionaries().combine_chunks()
        risen, known = follow(dataset, known, table)
        done += risen.to_pylist()
    return done


@pytest.mark.parametrize("dataset", CASES)
def test_the_history_says_how_far_each_offset_rose(dataset: str) -> None:
    assert by_case(in_stretches(dataset, rows_of(dataset)), dataset) == expected(dataset)


@pytest.mark.parametrize("dataset", CASES)
def test_a_stretch_goes_on_where_the_one_before_ended(dataset: str) -> None:
    runs = [[row for row in rows_of(dataset) if row["taken_at"] == minute(run)] for run in range(4)]

    assert by_case(in_stretches(dataset, *filter(None, runs)), dataset) == expected(dataset)


@pytest.mark.spark
@pytest.mark.parametrize("dataset", CASES)
def test_rows_without_the_column_get_the_same_in_spark(spark: SparkSession, dataset: str) -> None:
    rows = with_rises(frame(spark, dataset, rows_of(dataset)), dataset)

    found = [row.asDict() for row in rows.select("topic", "taken_at", COLUMN[dataset]).collect()]
    assert by_case(found, dataset) == expected(dataset)


_RUN = st.tuples(
    st.sampled_from([None, "a", "b"]), st.integers(0, 1), st.one_of(st.none(), st.integers(0, 20))
)


@given(st.lists(_RUN, min_size=1, max_size=12), st.integers(1, 11))
def test_any_logs_rise_by_what_lies_between_their_known_ends(
    runs: list[tuple[str | None, int, int | None]], cut: int
) -> None:
    last = dict[tuple[Any, ...], int]()
    rises = []
    for topic_id, partition, end in runs:
        log = (topic_id, partition)
        known = end is not None and log in last
        rises.append(max((end or 0) - last[log], 0) if known else None)
        if end is not None:
            last[log] = end
    rows = [
        {**topic_row(p, end, topic_id=topic_id), "taken_at": minute(run), "read_at": minute(run)}
        for run, (topic_id, p, end) in enumerate(runs)
    ]

    parts = [part for part in (rows[:cut], rows[cut:]) if part]
    found = sorted(in_stretches("topic_partitions", *parts), key=lambda row: row["taken_at"])

    assert [row["produced"] for row in found] == rises
