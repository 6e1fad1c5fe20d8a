# SPDX-License-Identifier: Apache-2.0
"""Runs of the collector's reading and arithmetic on a case, cold and warm, and what they missed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from dev.benchmarks.time_lag.accuracy import Answers, Figures, figures
from dev.benchmarks.time_lag.cases import MOVING, WIDE
from dev.benchmarks.time_lag.logs import Floats, Ints, Log, ends_at
from dev.benchmarks.time_lag.staging import Prepared
from kafka_lag import contract
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.lag.columns import Column, Rows, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, NameFilter, Rules
from kafka_lag.lag.model import LagReport, PreviousRuns, Snapshot
from kafka_lag.lag.time_index import LookupResults
from kafka_lag.snapshots.previous import Memory, downsample

_ANSWERED_AFTER_MS = 5
_DATES = (
    "next_record_after",
    "next_record_before",
    "next_record_time",
    "time_lag_seconds",
    "time_lag_error_seconds",
)


def moments(taken_at: int, interval_ms: int = 60_000, runs: int = 60) -> Ints:
    """Those of so many runs on time before this one whose ends are kept, the oldest first, ms."""
    times = (taken_at - run * interval_ms for run in range(1, runs + 1))
    return np.array(downsample(times, taken_at, interval_ms), np.int64)


def an_hour_before(
    snapshot: Snapshot, logs: Sequence[Log], taken_at: int, *, moved: bool
) -> PreviousRuns:
    """What a run at `taken_at` knows that comes after an hour of runs without look-ups.

    They saw the commits of this snapshot, or, with `moved`, each one record before. Logs are in
    the order of the snapshot's `topic_partitions`.
    """
    at = moments(taken_at)
    topics = snapshot.topic_partitions
    offsets = np.array([ends_at(log, at) for log in logs])
    ends = tuple(_ends(topics, offsets[:, i], moment) for i, moment in enumerate(at.tolist()))
    last = ("asked_at", "read_at", "end_offset")
    newest = Snapshot(
        int(at[-1]),
        topics.with_columns(**{name: ends[-1].columns[name] for name in last}),
        _undated(snapshot.group_partitions, int(moved)),
        snapshot.groups,
    )
    return PreviousRuns(newest, ends)


def _undated(rows: Frame, before: int) -> Frame:
    committed = rows.numbers("committed_offset")
    undated = {n: Column.unknown(len(rows), rows.numbers(n).values.dtype) for n in _DATES}
    return rows.with_columns(
        **undated,
        time_lag_method=Strings.unknown(len(rows)),
        committed_offset=Column(
            committed.values - before, committed.known & (committed.values >= before)
        ),
    )


def _ends(partitions: Frame, offsets: Ints, moment: int) -> Frame:
    sent = np.full(len(partitions), moment, np.int64)
    return Frame.of(
        {
            "topic": partitions.strings("topic"),
            "topic_id": partitions.strings("topic_id"),
            "partition_id": partitions.numbers("partition_id"),
            "asked_at": Column.of(sent),
            "read_at": Column.of(sent + _ANSWERED_AFTER_MS),
            "end_offset": Column.of(offsets),
        }
    )


_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class Run:
    """What a run said, row by row of the case, and what it took: look-ups, rounds, seconds."""

    report: LagReport
    answers: Answers
    look_ups: int
    rounds: int
    reading_seconds: float
    seconds: float


class _Counted:
    """Look-ups of a source, counted as they are made."""

    def __init__(self, source: KafkaSource, deadline: float) -> None:
        self._source, self._deadline = source, deadline
        self.look_ups = self.rounds = 0

    def __call__(self, partitions: Frame, times: Rows) -> LookupResults:
        self.look_ups += len(times)
        self.rounds += 1
        return self._source.look_up(partitions, times, self._deadline)


def run_collector(
    source: KafkaSource, prepared: Prepared, previous: PreviousRuns, rules: Rules, taken_at: int
) -> Run:
    """One run scheduled at `taken_at`, ms, as a collector that sees this case alone.

    Raises RuntimeError where a row was not read, or the report counts other look-ups.
    """
    rules = _rules_of(prepared, rules)
    began, began_at = time.perf_counter(), int(time.time() * 1000)
    deadline = time.monotonic() + _WITHIN
    reading = source.read(ReadRequest(groups=rules.groups, topics=rules.topics), deadline)
    read = time.perf_counter()
    look_up = _Counted(source, deadline)
    report = evaluate(reading, previous, rules, taken_at, look_up)
    done = time.perf_counter()
    if report.problems or report.look_ups != look_up.look_ups:
        raise RuntimeError(f"{report.look_ups=}, {look_up.look_ups=}, {report.problems[:5]}")
    answers = _answers(report, prepared)
    if not (began_at <= answers.now.min() and answers.now.max() <= time.time() * 1000):
        raise RuntimeError("read_at is no time of this reading")
    return Run(report, answers, look_up.look_ups, look_up.rounds, read - began, done - began)


def _rules_of(prepared: Prepared, rules: Rules) -> Rules:
    case = prepared.case
    mine = re.compile(rf"^{re.escape(case.name)}-(group-)?\d+$")
    allowed = (*rules.allowed_lag.choices, (mine, case.allowed_lag))
    return replace(
        rules, groups=NameFilter(mine), topics=NameFilter(mine), allowed_lag=ByName(allowed)
    )


def _answers(report: LagReport, prepared: Prepared) -> Answers:
    rows = report.snapshot.group_partitions
    keys = (rows.columns[name].to_list() for name in ("consumer_group", "topic", "partition_id"))
    index = {
        (group, (topic, number)): i
        for i, (group, topic, number) in enumerate(zip(*keys, strict=True))
    }
    wanted = zip(prepared.groups, prepared.places, strict=True)
    at = np.array([index[key] for key in wanted], np.int64)
    return Answers(
        lag=_numbers(rows, "time_lag_seconds", at),
        error=_numbers(rows, "time_lag_error_seconds", at),
        now=_numbers(rows, "read_at", at),
        impossible=sum(
            _impossible(report.snapshot.dataset(name), name) for name in contract.DATASETS
        ),
    )


def _numbers(rows: Frame, name: str, at: Ints) -> Floats:
    """NaN where unknown; what is known and NaN shows as infinite."""
    column = rows.numbers(name).take(at)
    values = np.nan_to_num(column.values.astype(np.float64), nan=np.inf)
    return np.where(column.known, values, np.nan)


def _impossible(frame: Frame, dataset: str) -> int:
    """Known numbers that are negative, infinite or NaN."""
    doubles = [n for n, kind in contract.COLUMNS[dataset].items() if kind == contract.DOUBLE]
    columns = [frame.numbers(name) for name in doubles]
    return sum(int((c.known & ~(np.isfinite(c.values) & (c.values >= 0))).sum()) for c in columns)


# Nothing known before; the run after that (on a compacted topic all of the next hour); with an
# hour of log ends known and nothing dated; the same, and every commit has moved since the last run.
RunName: TypeAlias = Literal["cold", "again", "warm", "moved"]
_WITH_PAST: tuple[RunName, ...] = ("warm", "moved")

_RUNS_AN_HOUR = 60
_MOST_PER_POSITION, _MOST_SECONDS = 5.0, 3.0
_SUFFICIENT = 50
_DATED = (contract.METHOD_RECORD_TIME, contract.METHOD_CARRIED, contract.METHOD_NONE)
_MOST_WHILE_MOVING = 3.0  # look-ups a position, of a tenth of the budget at most


@dataclass(frozen=True, slots=True)
class Line:
    """One run of a case, or several."""

    case: str
    run: RunName
    figures: Figures
    look_ups: int
    rounds: int
    reading_seconds: float
    seconds: float
    missed: list[str]


def measure_case(source: KafkaSource, prepared: Prepared, rules: Rules) -> Iterator[Line]:
    """The four lines of a case; where look-ups are counted, the budget is no bound to them."""
    if prepared.case.name == WIDE:
        enough = _SUFFICIENT * len(prepared.groups)
        rules = replace(rules, lookup_budget=max(rules.lookup_budget, enough))
    taken_at = int(time.time() * 1000)
    cold = run_collector(source, prepared, PreviousRuns.empty(), rules, taken_at)
    yield _line(prepared, "cold", cold, cold.look_ups)
    yield _again(source, prepared, rules, cold)
    for name in _WITH_PAST:
        taken_at = int(time.time() * 1000)
        previous = _an_hour_before(cold, prepared, taken_at, moved=name == "moved")
        run = run_collector(source, prepared, previous, rules, taken_at)
        yield _line(prepared, name, run, run.look_ups)


def _an_hour_before(cold: Run, prepared: Prepared, taken_at: int, *, moved: bool) -> PreviousRuns:
    snapshot = cold.report.snapshot
    topics, numbers = (snapshot.topic_partitions.columns[n] for n in ("topic", "partition_id"))
    places = zip(topics.to_list(), numbers.to_list(), strict=True)
    logs = [prepared.logs[place] for place in places]
    return an_hour_before(snapshot, logs, taken_at, moved=moved)


def _again(source: KafkaSource, prepared: Prepared, rules: Rules, cold: Run) -> Line:
    """The next run; on a compacted topic all of the next hour, in which it is looked at again."""
    memory, run, look_ups = Memory.empty(), cold, 0
    for _ in range(1 if prepared.case.kept is None else _RUNS_AN_HOUR):
        snapshot = run.report.snapshot
        memory = memory.add_run(snapshot, rules.interval_ms, stored=True)
        taken_at = snapshot.taken_at + rules.interval_ms
        run = run_collector(source, prepared, memory.previous_runs(), rules, taken_at)
        look_ups += run.look_ups
    line = _line(prepared, "again", run, look_ups)
    if look_ups > (_for_undated(run) if prepared.case.kept is None else cold.look_ups):
        line.missed.append(f"{look_ups} look-ups for commits that stand still")
    return line


def _for_undated(run: Run) -> int:
    """Two look-ups a partition that holds a record ahead of now, which time may yet date."""
    rows = run.report.snapshot.group_partitions
    undated = rows.where(~rows.strings("time_lag_method").is_in(_DATED))
    return 2 * len(set(undated.numbers("partition_id").to_list()))


def _line(prepared: Prepared, name: RunName, run: Run, look_ups: int) -> Line:
    found = figures(_truth(prepared, run, name in _WITH_PAST), prepared.appended, run.answers)
    case, each = prepared.case.name, look_ups / max(1, found.rows)
    cost = f"{each:.2f} look-ups a position"
    missed = found.faults
    if case == WIDE and name == "cold":
        missed += [cost] if each > _MOST_PER_POSITION else []
        missed += [f"{run.seconds:.1f} s"] if run.seconds > _MOST_SECONDS else []
    if case == MOVING and name == "moved" and each > _MOST_WHILE_MOVING:
        missed += [cost]
    return Line(
        case,
        name,
        found,
        look_ups,
        run.rounds,
        run.reading_seconds,
        run.seconds,
        missed,
    )


def _truth(prepared: Prepared, run: Run, with_past: bool) -> Floats:
    """When the next record came if that is since the oldest known end, else its time in the log.

    Log ends prove the one whatever clocks producers have; of the other nothing else says anything.
    """
    seen = prepared.appended >= run.answers.now - _RUNS_AN_HOUR * 60_000
    believed = prepared.reached <= run.answers.now
    return np.where(with_past & seen & believed, prepared.appended, prepared.reached)
