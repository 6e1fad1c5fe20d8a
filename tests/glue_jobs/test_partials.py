# SPDX-License-Identifier: Apache-2.0
"""Partial aggregates: however rows are cut, what they add up to is the same."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from kafka_lag.contract import STALL, STOP
from kafka_lag_report.partials import How, Measure, Shape, partial_rows
from kafka_lag_report.segments import (
    GROUP_RUNS,
    GROUP_SEGMENTS,
    IS_AGE_LEAST,
    STANDING,
    TOPIC_RUNS,
    TOPIC_SEGMENTS,
    find_ages,
    find_standing,
)
from kafka_lag_report.skew import with_columns
from kafka_lag_report.thresholds import STILL_SECONDS
from tests.glue_jobs.days import NOON, Row, frame, minute

SHAPES = {
    "group segments": GROUP_SEGMENTS,
    "group runs": GROUP_RUNS,
    "topic segments": TOPIC_SEGMENTS,
    "topic runs": TOPIC_RUNS,
}
# Few values, so that keys are alike and values equal; whole doubles add up the same in any order.
_TEXT = st.sampled_from(["a", "b", "", None])
_NUMBER = st.one_of(st.none(), st.integers(-3, 3))
_FACTS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): _NUMBER,
    pa.int32(): _NUMBER,
    pa.float64(): st.one_of(st.none(), st.integers(0, 4).map(float)),
}


def _value(name: str, kind: pa.DataType) -> st.SearchStrategy[Any]:
    if name == "taken_at":
        return st.integers(0, 5).map(minute)
    if pa.types.is_timestamp(kind):
        return st.one_of(st.none(), st.integers(-20, 5).map(minute))
    return _FACTS.get(kind, _TEXT)


def _table(shape: Shape, rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=shape.read)


def _reduced(shape: Shape, tables: Sequence[pa.Table], held: int = 100) -> list[Row]:
    batches = partial_rows(tables, shape, held_rows=held)
    return [row for batch in batches for row in batch.to_pylist()]


def _added_up(shape: Shape, rows: Sequence[Row]) -> dict[tuple[Any, ...], Row]:
    """Rows of measures, put together one by one in plain Python."""
    found = dict[tuple[Any, ...], list[Row]]()
    for row in rows:
        found.setdefault(tuple(row[key] for key in shape.keys), []).append(row)
    return {
        key: {name: _one(measure, name, alike) for name, measure in shape.measures.items()}
        for key, alike in found.items()
    }


def _one(measure: Measure, name: str, rows: Sequence[Row]) -> Any:
    if measure.by:
        ordered = [row for row in rows if row[measure.by] is not None]
        choose = min if measure.how is How.FIRST else max
        row = choose(ordered, key=lambda each: each[measure.by], default=None)
        return row and row[name]
    known = [row[name] for row in rows if row[name] is not None]
    if not known:
        return None
    if measure.how is How.SUM:
        return sum(known)
    return min(known) if measure.how is How.LEAST else max(known)


def _rows(shape: Shape) -> st.SearchStrategy[list[Row]]:
    """Rows of few keys. No two are of one key and moment where one of them counts as the first."""
    facts = {each.name: _value(each.name, each.type) for each in shape.read}
    for name in set(shape.keys) - {"taken_at"}:
        is_text = pa.types.is_dictionary(shape.read.field(name).type)
        # most are alike
        facts[name] = st.sampled_from([*"aaab", None] if is_text else [1, 1, 1, -2, None])
    made = st.fixed_dictionaries({**facts, "taken_at": _value("taken_at", pa.int64())})
    if "taken_at" in shape.keys:
        return st.lists(made, max_size=12)
    moment = (*shape.keys, "taken_at")
    return st.lists(made, max_size=12, unique_by=lambda row: tuple(row[name] for name in moment))


@pytest.mark.parametrize("name", SHAPES)
@given(data=st.data())
def test_rows_add_up_to_the_same_however_they_are_cut(name: str, data: st.DataObject) -> None:
    shape = SHAPES[name]
    rows = data.draw(_rows(shape))
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=3).map(sorted))
    held = data.draw(st.sampled_from([0, 4, 100]))
    pieces = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]

    alone = [row for each in rows for row in _reduced(shape, [_table(shape, [each])])]
    whole = _reduced(shape, [_table(shape, rows)])
    parts = _reduced(shape, [_table(shape, piece) for piece in pieces], held)

    assert len(whole) == len(_added_up(shape, whole))
    assert _added_up(shape, whole) == _added_up(shape, parts) == _added_up(shape, alone)


AGES: dict[str, tuple[Row, bool]] = {
    "a known age": ({"time_lag_seconds": 3.0, "time_lag_error_seconds": 1.0}, False),
    "an age without an error": ({"time_lag_seconds": 3.0}, True),
    "an age of nothing without an error": ({"time_lag_seconds": 0.0}, True),
    "no age": ({}, False),
}


STANDS: dict[str, tuple[Row, str | None]] = {
    "a stalled commit": ({"status": STALL}, STALL),
    "a stopped commit": ({"status": STOP, "member_id": "a"}, STOP),
    "another status": ({"status": "OK"}, None),
    "no status": ({}, None),
    "behind a loss, with an owner": (
        {"status": "ERR", "records_lost": 1, "member_id": "a", "stood": STILL_SECONDS},
        STALL,
    ),
    "behind a loss, without one": (
        {"status": "ERR", "records_lost": 1, "stood": STILL_SECONDS},
        STOP,
    ),
    "behind a loss, for a moment": (
        {"status": "ERR", "records_lost": 1, "stood": STILL_SECONDS - 1},
        None,
    ),
    "a loss of nothing": ({"status": "ERR", "records_lost": 0, "stood": STILL_SECONDS}, None),
    "a loss, and nobody knows since when": ({"status": "ERR", "records_lost": 1}, None),
    "a stall that lost": (
        {"status": STALL, "records_lost": 1, "stood": STILL_SECONDS},
        STALL,
    ),
}


def _stands() -> dict[str, Row]:
    rows = dict[str, Row]()
    for case, (facts, _) in STANDS.items():
        row = {"taken_at": NOON, **facts}
        if stood := row.pop("stood", None):
            row["commit_changed_at"] = NOON - timedelta(seconds=stood)
        rows[case] = row
    return rows


@pytest.mark.parametrize("case", STANDS)
def test_a_commit_stands(case: str) -> None:
    found = find_standing(_table(GROUP_SEGMENTS, [_stands()[case]]).combine_chunks())

    assert [word for word, mask in found.items() if mask[0]] == [
        word for word in (STALL, STOP) if word == STANDS[case][1]
    ]


@pytest.mark.spark
def test_a_commit_stands_in_sql_as_in_arrow(spark: SparkSession) -> None:
    rows = [{**row, "topic": case} for case, row in _stands().items()]

    found = with_columns(frame(spark, "group_partitions", rows), {"standing": STANDING}).collect()

    assert {row["topic"]: row["standing"] for row in found} == {
        case: word for case, (_, word) in STANDS.items()
    }


@pytest.mark.spark
def test_an_age_is_a_least_one_in_sql_as_in_arrow(spark: SparkSession) -> None:
    rows = [{"taken_at": NOON, "topic": case, **facts} for case, (facts, _) in AGES.items()]

    _, mask = find_ages(_table(GROUP_SEGMENTS, rows).combine_chunks())
    found = with_columns(frame(spark, "group_partitions", rows), {"least": IS_AGE_LEAST}).collect()

    assert mask.tolist() == [is_least for _, is_least in AGES.values()]
    assert {row["topic"]: row["least"] for row in found} == {c: one for c, (_, one) in AGES.items()}
