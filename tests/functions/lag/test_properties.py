# SPDX-License-Identifier: Apache-2.0
"""Properties of `evaluate` that hold for any input."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.columns import Rows as Numbers
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules, Tolerance
from kafka_lag.lag.model import ClusterReading, LagReport, PreviousRuns
from kafka_lag.lag.time_index import LookUp, LookupResults
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import lag_sets
from kafka_lag.snapshots.previous import select_log_ends
from tests.builders import HOUR, MINUTE, NOON, Commits, Groups, Topics, a_reading, datasets, table

# What no reading may change: the order of rows, company, the date, somebody else's health.
# Excluded, as they are meant to be so: look-ups beyond the budget, which is shared; a shift by less
# than an hour, as compacted topics are dated anew in a minute of the hour that is theirs; which of
# several partitions that are equally bad is named the worst; and the last bits of sums.

_KEY = ("consumer_group", "topic", "partition_id")
_WORST = (
    *("worst_topic", "worst_partition", "worst_member", "worst_leader"),
    *("open_transaction_topic", "open_transaction_partition", "cause_evidence"),
    # Of the oldest record: that of any of several ages of 0.
    "time_lag_method",
)
_REASONS = st.sampled_from([contract.TIMEOUT, contract.DENIED, contract.NO_LEADER])
_OFFSETS = st.integers(0, 60)
_RULES = Rules(allowed_lag=ByName.of([("-u$", 1)]), sla_seconds=ByName.of([("g", 60.0)]))

Rows = dict[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Run:
    """One run: when, and what was read."""

    at: int
    reading: ClusterReading


@st.composite
def stories(draw: st.DrawFn, name: str = "a", clocks: Sequence[int] = (0,)) -> list[Run]:
    """Some runs over two topics and two groups whose names begin so; one partition always reads.

    `clocks`: by how many ms the reporter's clock may be ahead.
    """
    gaps = st.sampled_from([MINUTE, MINUTE, 12 * MINUTE, 26 * HOUR])
    steps = draw(st.lists(gaps, min_size=1, max_size=5))
    policy = draw(st.sampled_from([None, "delete", "compact"]))
    at, runs = NOON, []
    for step in steps:
        at += step
        topics: Topics = {
            f"{name}-t": [draw(_logs()), draw(_logs())],
            f"{name}-u": [draw(_logs())],
            f"{name}-witness": [(0, 5)],
        }
        groups: Groups = {
            f"{name}-g": {f"{name}-t": [draw(_commits()), draw(_commits())]},
            f"{name}-h": draw(_group(name)),
        }
        owner = draw(st.sampled_from([None, "m"]))
        reading = a_reading(
            groups,
            topics,
            at=at + draw(st.sampled_from(clocks)),
            owners={(f"{name}-g", f"{name}-t", 0): owner},
            topic_ids={f"{name}-t": draw(st.sampled_from(["one", "one", "two", None]))},
            state=draw(st.sampled_from(["Stable", "Empty", "PreparingRebalance"])),
        )
        runs.append(Run(at, draw(_configured(reading, policy))))
    return runs


def _logs() -> st.SearchStrategy[Any]:
    pairs = st.tuples(_OFFSETS, _OFFSETS).map(lambda pair: (min(pair), max(pair)))
    return st.one_of(pairs, pairs, pairs, _REASONS)


def _commits() -> st.SearchStrategy[Any]:
    return st.one_of(_OFFSETS, _OFFSETS, _OFFSETS, st.none(), _REASONS)


def _group(name: str) -> st.SearchStrategy[Commits]:
    read = st.tuples(_commits(), _commits()).map(
        lambda pair: {f"{name}-t": [pair[0], 9], f"{name}-u": [pair[1]]}
    )
    return st.one_of(read, read, _REASONS)


@st.composite
def _configured(draw: st.DrawFn, reading: ClusterReading, policy: str | None) -> ClusterReading:
    rows = reading.topic_partitions
    kept = st.sampled_from([None, -1, 0, MINUTE, HOUR, 10**9])
    sizes = st.sampled_from([None, -1, -1, 0, 10**6])
    topics = rows.with_columns(
        retention_ms=Column.optional([draw(kept)] * len(rows)),
        retention_bytes=Column.optional([draw(sizes)] * len(rows)),
        cleanup_policy=Strings.of([policy] * len(rows)),
    )
    return replace(reading, topic_partitions=topics)


def index(shift: int = 0) -> LookUp:
    """A time index of which each partition's answers depend on the time of the look-up alone."""

    def look_up(partitions: Frame, times: Numbers) -> LookupResults:
        answers = LookupResults.unanswered(len(times))
        names = partitions.strings("topic").to_list()
        numbers = partitions.numbers("partition_id").values
        for at, (name, number, time) in enumerate(zip(names, numbers, times, strict=True)):
            newest = NOON + 40 * MINUTE
            first = NOON - (len(name) + int(number)) * HOUR
            wanted = newest if time < 0 else int(time) - shift
            offset = max(0, -(-(wanted - first) // (3 * MINUTE)))
            stamp = first + offset * 3 * MINUTE
            answers.found[at] = stamp <= newest + 3 * MINUTE
            answers.none[at] = not answers.found[at]
            answers.offsets[at], answers.times[at] = offset, stamp + shift
        return answers

    return look_up


def reports(
    runs: Sequence[Run], look_up: LookUp | None = None, rules: Rules = _RULES
) -> list[LagReport]:
    """What each run says, each after those before it."""
    previous_runs, found = PreviousRuns.empty(), []
    for run in runs:
        report = evaluate(run.reading, previous_runs, rules, run.at, look_up or index())
        previous_runs = PreviousRuns(
            report.snapshot,
            (*previous_runs.ends, select_log_ends(report.snapshot.topic_partitions)),
        )
        found.append(report)
    return found


def tables_of(report: LagReport, shift: int = 0) -> dict[str, Rows]:
    """All rows by key, whatever their order, and times as they were before a shift."""
    frames = {
        **datasets(report.snapshot),
        "group_topics": report.group_topics,
        "scaling": report.scaling,
    }
    return {name: _rows(name, frame, shift) for name, frame in frames.items()}


def _rows(dataset: str, frame: Frame, shift: int) -> Rows:
    kinds = contract.COLUMNS.get(dataset, {})
    columns: dict[str, list[Any]] = {}
    for name, column in frame.columns.items():
        values = column.to_list()
        if kinds.get(name) == contract.TIMESTAMP:
            values = [None if value is None else value - shift for value in values]
        if name in ("cause_evidence", "settings_changed"):
            values = [None if value is None else _shift(value, shift) for value in values]
        if name == "incident_id":  # it contains the time
            values = [value is not None for value in values]
        columns[name] = [round(v, 6) if isinstance(v, float) else v for v in values]
    keys = [name for name in _KEY if name in columns]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    found = {tuple(row[name] for name in keys): row for row in rows}
    assert len(found) == len(rows), "two rows have one key"
    return found


def _shift(evidence: str, shift: int) -> str:
    """Evidence with its times earlier."""
    found = json.loads(evidence)
    times = [name for name in found if name.endswith(("_at", "_since", "as_of"))]
    earlier = {name: found[name] - shift for name in times}
    return json.dumps({**found, **earlier})


def differences(one: dict[str, Rows], other: dict[str, Rows]) -> list[tuple[Any, ...]]:
    """Table, key, column and both values of all that differs; rows that one of them lacks whole."""
    return [
        (table, key, name, row.get(name), found.get(name))
        for table in one
        for key in one[table].keys() | other[table].keys()
        for row, found in [(one[table].get(key, {}), other[table].get(key, {}))]
        for name in row.keys() | found.keys()
        if row.get(name) != found.get(name)
    ]


def without_ties(rows: dict[str, Rows]) -> dict[str, Rows]:
    """The rows without the name of the worst partition."""
    groups = {
        key: {name: value for name, value in row.items() if name not in _WORST}
        for key, row in rows[contract.GROUPS].items()
    }
    return {**rows, contract.GROUPS: groups}


@settings(max_examples=7)
@given(stories(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(runs: list[Run], random: Any) -> None:
    def shuffled(frame: Frame) -> Frame:
        rows = list(range(len(frame)))
        random.shuffle(rows)
        return frame.take(np.array(rows, np.int64))

    others = [Run(run.at, _each(run.reading, shuffled)) for run in runs]
    for one, other in zip(reports(runs), reports(others), strict=True):
        differing = differences(without_ties(tables_of(one)), without_ties(tables_of(other)))
        assert differing == []
        assert (one.lags_clamped, one.look_ups) == (other.lags_clamped, other.look_ups)


@settings(max_examples=7)
@given(stories("a"), stories("b"))
def test_two_readings_with_nothing_in_common_say_together_what_each_says(
    these: list[Run], those: list[Run]
) -> None:
    length = min(len(these), len(those))
    # Runs are of one cluster: the second story has the first one's times.
    those = [_at(other, one.at) for one, other in zip(these[:length], those[:length], strict=True)]
    both = [
        Run(one.at, _joined(one.reading, other.reading))
        for one, other in zip(these[:length], those, strict=True)
    ]
    apart = zip(reports(these[:length]), reports(those), strict=True)
    for together, (one, other) in zip(reports(both), apart, strict=True):
        expected = {
            name: {**rows, **tables_of(other)[name]} for name, rows in tables_of(one).items()
        }
        assert tables_of(together) == expected
        assert together.lags_clamped == one.lags_clamped + other.lags_clamped
        assert together.look_ups == one.look_ups + other.look_ups


@settings(max_examples=7)
@given(stories(), st.integers(-20_000, 20_000))
def test_the_date_changes_nothing_but_dates(runs: list[Run], hours: int) -> None:
    shift = hours * HOUR
    later = [_at(run, run.at + shift) for run in runs]
    for one, other in zip(reports(runs), reports(later, index(shift)), strict=True):
        assert tables_of(one) == tables_of(other, shift)


@settings(max_examples=7)
@given(stories())
def test_a_group_that_keeps_up_changes_no_other_row(runs: list[Run]) -> None:
    others = [Run(run.at, _with_healthy(run)) for run in runs]
    for one, other in zip(reports(runs), reports(others), strict=True):
        rows = tables_of(other)
        assert ("healthy",) in rows[contract.GROUPS]
        less = {
            name: {key: row for key, row in found.items() if "healthy" not in key}
            for name, found in rows.items()
        }
        assert less == tables_of(one)
        assert other.look_ups == one.look_ups


def _with_healthy(run: Run) -> ClusterReading:
    """With a group that has read all of a topic that others read too, as far as it is known."""
    topics = run.reading.topic_partitions
    names, ends = topics.strings("topic").to_list(), topics.numbers("end_offset").to_list()
    mine = {"a-t": [end for name, end in zip(names, ends, strict=True) if name == "a-t"]}
    ids = dict(zip(names, topics.strings("topic_id").to_list(), strict=True))
    logs: Topics = {"a-t": [(0, 0), (0, 0)]}
    extra = a_reading({"healthy": mine}, logs, at=run.at, topic_ids={"a-t": ids["a-t"]})
    return replace(
        run.reading,
        group_partitions=run.reading.group_partitions.concat(extra.group_partitions),
        groups=run.reading.groups.concat(extra.groups),
    )


def _joined(one: ClusterReading, other: ClusterReading) -> ClusterReading:
    return replace(
        one,
        topic_partitions=one.topic_partitions.concat(other.topic_partitions),
        group_partitions=one.group_partitions.concat(other.group_partitions),
        groups=one.groups.concat(other.groups),
    )


def _each(reading: ClusterReading, change: Callable[[Frame], Frame]) -> ClusterReading:
    return replace(
        reading,
        topic_partitions=change(reading.topic_partitions),
        group_partitions=change(reading.group_partitions),
        groups=change(reading.groups),
    )


def _at(run: Run, at: int) -> Run:
    """The same reading at another time."""

    def moved(frame: Frame) -> Frame:
        times = {"read_at", "asked_at"} & set(frame.columns)
        columns = {name: frame.numbers(name) for name in times}
        shift = at - run.at
        return frame.with_columns(
            **{name: Column(each.values + shift, each.known) for name, each in columns.items()}
        )

    return Run(at, _each(run.reading, moved))


# Whatever brokers answer and whatever happened before: every number reported is a possible one.

_MAY_BE_NEGATIVE = ("retention_ms", "retention_bytes")  # -1 is Kafka's word for no limit
_TIMES = st.one_of(
    st.sampled_from([-1, 0, 1_700_000_000, 4_102_444_800_000, 2**62]),
    st.integers(NOON - 10**9, NOON + 10**7),
)


@st.composite
def answers(draw: st.DrawFn, length: int) -> LookupResults:
    kind = np.array(draw(st.lists(st.integers(0, 3), min_size=length, max_size=length)))
    offsets = draw(st.lists(st.integers(0, 80), min_size=length, max_size=length))
    times = draw(st.lists(_TIMES, min_size=length, max_size=length))
    return LookupResults(
        kind >= 2, kind == 1, np.array(offsets, np.int64), np.array(times, np.int64)
    )


@st.composite
def a_history(draw: st.DrawFn) -> list[LagReport]:
    """What runs say by any rules, whatever the time index answers, and with a broken clock."""
    rules = Rules(
        allowed_lag=ByName.of([("t", draw(st.integers(0, 3)))]),
        sla_seconds=ByName.of([("g", draw(st.floats(0.1, 1e6)))]),
        tolerance=Tolerance(draw(st.integers(1, 10_000)), draw(st.floats(0, 1))),
        lookup_budget=draw(st.integers(0, 60)),
        ignore_inactive=draw(st.booleans()),
    )
    runs = draw(stories(clocks=(0, 0, 0, -90 * MINUTE, 90 * MINUTE)))
    return reports(runs, lambda _, times: draw(answers(len(times))), rules)


def impossible(report: LagReport) -> list[str]:
    """Numbers that are negative or not finite, of snapshots and of metrics."""
    switches: dict[str, Any] = dict.fromkeys(contract.CHOSEN_METRICS, True)
    levels = Levels(**switches)
    sets = lag_sets(report, plan(report, report.snapshot, levels), levels, "c")
    metrics = [(name, value) for one in sets for name, value in one.values]
    return [
        *(
            f"{name}.{column}: {cells.values[cells.known]}"
            for name, frame in datasets(report.snapshot).items()
            for column, cells in frame.columns.items()
            if isinstance(cells, Column) and column not in _MAY_BE_NEGATIVE
            if not (np.isfinite(cells.values) & (cells.values >= 0))[cells.known].all()
        ),
        *(f"{name}: {value}" for name, value in metrics if not (np.isfinite(value) and value >= 0)),
    ]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@settings(max_examples=12)
@given(a_history())
def test_no_number_and_no_metric_is_negative_or_not_finite(reports: list[LagReport]) -> None:
    assert [line for report in reports for line in impossible(report)] == []


@settings(max_examples=12)
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
        check_groups(report)


def check_groups(report: LagReport) -> None:
    """A group is as old as its oldest partition, and its error covers each of them."""
    names = ("consumer_group", "time_lag_seconds", "time_lag_error_seconds")
    rows = table(report.snapshot.group_partitions, *names)
    for group, age, error in table(report.snapshot.groups, *names):
        dated = [row for row in rows if row[0] == group and row[1] is not None]
        if age is None or not dated:
            continue
        assert age >= max(seconds for _, seconds, _ in dated) - 0.001
        if error is not None:
            oldest = max(seconds + (wrong or 0.0) for _, seconds, wrong in dated)
            assert age + error >= oldest - 0.001
