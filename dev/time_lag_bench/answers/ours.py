# SPDX-License-Identifier: Apache-2.0
"""Our own answers: one run of the collector's reading and arithmetic on a case's groups."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace

import numpy as np

from dev.time_lag_bench.answers.figures import Answers
from dev.time_lag_bench.brokers.prepared import Prepared
from dev.time_lag_bench.logs import Floats, Ints
from kafka_lag import contract
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, NameFilter, Rules
from kafka_lag.lag.model import LagReport, PreviousRuns
from kafka_lag.lag.time_index import LookupResults, TimestampLookups

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
    """Look-ups of a source, counted where they are asked."""

    def __init__(self, source: KafkaSource, deadline: float) -> None:
        self._source, self._deadline = source, deadline
        self.look_ups = self.rounds = 0

    def __call__(self, questions: TimestampLookups) -> LookupResults:
        self.look_ups += len(questions)
        self.rounds += 1
        return self._source.look_up(questions, self._deadline)


def ours(
    source: KafkaSource, prepared: Prepared, past: PreviousRuns, rules: Rules, taken_at: int
) -> Run:
    """One run scheduled at `taken_at`, ms, as a collector that sees this case alone.

    Raises RuntimeError where a row was not read, or the report counts other look-ups.
    """
    rules = _rules_of(prepared, rules)
    began, began_at = time.perf_counter(), int(time.time() * 1000)
    deadline = time.monotonic() + _WITHIN
    reading = source.read(ReadRequest(groups=rules.groups, topics=rules.topics), deadline)
    read = time.perf_counter()
    asked = _Counted(source, deadline)
    report = evaluate(reading, past, rules, taken_at, asked)
    done = time.perf_counter()
    if report.problems or report.look_ups != asked.look_ups:
        raise RuntimeError(f"{report.look_ups=}, {asked.look_ups=}, {report.problems[:5]}")
    answers = _answers(report, prepared)
    if not (began_at <= answers.now.min() and answers.now.max() <= time.time() * 1000):
        raise RuntimeError("read_at is no time of this reading")
    return Run(report, answers, asked.look_ups, asked.rounds, read - began, done - began)


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
