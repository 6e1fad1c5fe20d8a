# SPDX-License-Identifier: Apache-2.0
"""Whatever brokers answer and whatever happened before: every number told is a possible one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules, Tolerance
from kafka_lag.lag.model import LagReport, PreviousRuns
from kafka_lag.lag.time_index import LookupResults
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import lag_sets
from tests.builders import MINUTE, NOON, a_reading, datasets
from tests.builders import Commit as CommitTold
from tests.builders import Log as LogTold

_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "unread_reason", "end_offset")
_MAY_BE_NEGATIVE = ("retention_ms", "retention_bytes")  # -1 is Kafka's word for no limit
_REASONS = st.sampled_from([contract.TIMEOUT, contract.DENIED, contract.NO_LEADER])
_OFFSETS = st.integers(0, 60)
_TIMES = st.one_of(
    st.sampled_from([-1, 0, 1_700_000_000, 4_102_444_800_000, 2**62]),
    st.integers(NOON - 10**9, NOON + 10**7),
)


def logs() -> st.SearchStrategy[LogTold]:
    read = st.tuples(_OFFSETS, _OFFSETS).map(lambda pair: (min(pair), max(pair)))
    return st.one_of(read, read, read, _REASONS)


def commits() -> st.SearchStrategy[CommitTold]:
    return st.one_of(_OFFSETS, _OFFSETS, st.none(), _REASONS)


@st.composite
def answers(draw: st.DrawFn, length: int) -> LookupResults:
    kind = np.array(draw(st.lists(st.integers(0, 3), min_size=length, max_size=length)))
    offsets = draw(st.lists(st.integers(0, 80), min_size=length, max_size=length))
    times = draw(st.lists(_TIMES, min_size=length, max_size=length))
    return LookupResults(
        kind >= 2, kind == 1, np.array(offsets, np.int64), np.array(times, np.int64)
    )


def _two(one: st.SearchStrategy[int | None]) -> st.SearchStrategy[list[int | None]]:
    return st.lists(one, min_size=2, max_size=2)


@st.composite
def a_history(draw: st.DrawFn) -> list[LagReport]:
    """Some runs over one topic of two partitions, with gaps, recreation and a broken clock."""
    rules = Rules(
        allowed_lag=ByName.of([("t", draw(st.integers(0, 3)))]),
        sla_seconds=ByName.of([("g", draw(st.floats(0.1, 1e6)))]),
        tolerance=Tolerance(draw(st.integers(1, 10_000)), draw(st.floats(0, 1))),
        lookup_budget=draw(st.integers(0, 60)),
        ignore_inactive=draw(st.booleans()),
    )
    past, at, reports = PreviousRuns.empty(), NOON, []
    for _ in range(draw(st.integers(1, 5))):
        at += draw(st.sampled_from([MINUTE, MINUTE, 7 * MINUTE, 26 * 60 * MINUTE]))
        skew = draw(st.sampled_from([0, 0, 0, -90 * MINUTE, 90 * MINUTE]))
        reading = a_reading(
            {
                "g": {"t": [draw(commits()), draw(commits())]},
                "h": draw(st.one_of(_REASONS, st.just({"t": [5, 5]}))),
            },
            {"t": [draw(logs()), draw(logs())]},
            at=at + skew,
            owners={("g", "t", 0): draw(st.sampled_from([None, "m"]))},
            topic_ids={"t": draw(st.sampled_from(["one", "one", "two", None]))},
            state=draw(st.sampled_from(["Stable", "Empty", "PreparingRebalance"])),
        )
        topics = reading.topic_partitions.with_columns(
            retention_ms=Column.optional(draw(_two(st.sampled_from([None, -1, 0, 60_000, 10**9])))),
            retention_bytes=Column.optional(draw(_two(st.sampled_from([None, -1, 0, 10**6])))),
        )
        reading = replace(reading, topic_partitions=topics)
        report = evaluate(reading, past, rules, at, lambda asked: draw(answers(len(asked))))
        ends = report.snapshot.topic_partitions
        point = Frame.of({name: ends.columns[name] for name in _ENDS})
        past = PreviousRuns(report.snapshot, (*past.ends, point))
        reports.append(report)
    return reports


def impossible(report: LagReport) -> list[str]:
    """Numbers that are negative or not finite."""
    return [
        f"{name}.{column}: {cells.values[cells.known]}"
        for name, frame in datasets(report.snapshot).items()
        for column, cells in frame.columns.items()
        if isinstance(cells, Column) and column not in _MAY_BE_NEGATIVE
        if not (np.isfinite(cells.values) & (cells.values >= 0))[cells.known].all()
    ]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@settings(max_examples=60, deadline=None)
@given(a_history())
def test_no_number_is_negative_or_not_finite(reports: list[LagReport]) -> None:
    assert [line for report in reports for line in impossible(report)] == []


@settings(max_examples=40, deadline=None)
@given(a_history())
def test_no_metric_is_negative_or_not_finite(reports: list[LagReport]) -> None:
    for report in reports:
        levels = Levels(drain_time=True, members=True, rebalancing=True)
        sets = lag_sets(report, plan(report, report.snapshot, levels), levels, "c")
        values = [value for one in sets for _, value in one.values]
        assert all(np.isfinite(value) and value >= 0 for value in values)


@settings(max_examples=60, deadline=None)
@given(a_history())
def test_a_value_lies_within_its_stated_proof(reports: list[LagReport]) -> None:
    for report in reports:
        rows = report.snapshot.group_partitions
        after, before = rows.numbers("next_record_after"), rows.numbers("next_record_before")
        both = after.known & before.known
        assert (after.values[both] <= before.values[both]).all()
        lag, error = rows.numbers("time_lag_seconds"), rows.numbers("time_lag_error_seconds")
        now, dated = rows.numbers("read_at").values / 1000, lag.known & before.known
        youngest = np.maximum(now - before.values / 1000, 0)[dated]
        oldest = np.where(after.known, np.maximum(now - after.values / 1000, 0), np.inf)[dated]
        assert (youngest - 0.001 <= lag.values[dated]).all()
        assert (lag.values[dated] <= oldest + 0.001).all()
        assert (lag.known | ~error.known).all()
        assert (lag.known == rows.strings("time_lag_method").known).all()
