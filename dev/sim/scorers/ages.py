# SPDX-License-Identifier: Apache-2.0
"""Scores time lags: compares each age with the log, and with the error that was stated.

Each case is seen cold, where look-ups alone date a record; once more; after an hour of runs in
which commits moved; and without any look-up, by the log ends of that hour alone.
"""

from __future__ import annotations

import zlib
from argparse import Namespace
from collections.abc import Iterator, Sequence

import numpy as np

from dev.sim.cases.logs import CASES, HOUR, MINUTE, MOVING, WIDE, Case
from dev.sim.reading import FIRST, Floats, Layout, Sight
from dev.sim.records import RecordIndex
from dev.sim.run import run
from dev.sim.scorers import Line, print_lines
from dev.sim.truth import record_ages
from kafka_lag import contract
from kafka_lag.lag.columns import Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import LagReport

COLD, AGAIN, MOVED, BLIND = "cold", "again", "moved", "blind"
RUNS = (COLD, AGAIN, MOVED, BLIND)
# A run reads commits and then the ends of the logs so many ms after it began.
_READ = (150, 200)
_HOUR_OF_RUNS = 60
# The 95th percentile of the error may be so many seconds, or so large a share of the age.
_ALLOWED, _ALLOWED_SHARE = 2.0, 0.003
# A stated error may be too small by so many seconds, as clocks differ.
_SLACK = 2.0
# Look-ups that a search may need, and look-ups that each commit may take on average.
_SUFFICIENT, _MOST, _MOST_MOVING = 50, 5.0, 3.0
# In an hour of runs a compacted topic costs about as much as in the first run.
_MOST_AGAIN = 1.1
_DATED = (contract.METHOD_RECORD_TIME, contract.METHOD_CARRIED, contract.METHOD_NONE)


class Planted:
    """The logs of a case as a cluster, seen by `past` runs before they end, and by others after it.

    Commits stand still, or move a record a minute until the logs end. With `looks` look-ups are
    answered from then on.
    """

    def __init__(self, case: Case, seed: int, past: int, *, moves: bool, looks: bool) -> None:
        rng = np.random.default_rng([seed, zlib.crc32(case.name.encode())])
        topics = {f"t{number:02}": case.draw(rng, FIRST) for number in range(case.topics)}
        self.logs = [log for logs in topics.values() for log in logs]
        commits = [
            np.stack([case.draw_commits(rng, log) for log in logs], axis=1)
            for logs in topics.values()
        ]
        self.commits = np.concatenate([each.ravel() for each in commits])
        self.index = RecordIndex(
            {(name, n): log for name in topics for n, log in enumerate(topics[name])}
        )
        groups = {f"{name}-{n:02}": name for name in topics for n in range(case.groups)}
        self._layout = Layout.of({name: len(topics[name]) for name in topics}, groups, _READ)
        self._case, self._past, self._moves, self._looks = case, past, moves, looks
        self._minute = -1

    def layout(self) -> Layout:
        """Returns the rows of all readings."""
        return self._layout

    def live_a_minute(self) -> None:
        """Goes to the next run."""
        self._minute += 1
        self.index.answers = self._looks and self._minute >= self._past

    def sight(self) -> Sight:
        """Returns the state that the run sees."""
        left = max(self._past - self._minute, 0)
        moment = FIRST - left * MINUTE + _READ[1]
        start = np.array([log.start for log in self.logs])
        end = np.maximum([log.end_at(moment) for log in self.logs], start)
        commits = np.maximum(self.commits - self._moves * left, 0)
        groups = len(self._layout.groups)
        return Sight(
            end=end,
            committed=np.minimum(commits, end[self._layout.partition]),
            owner=np.full(len(commits), -1),
            members=("m",),
            counts=np.zeros(groups, np.int64),
            states=Strings.constant("Empty", groups),
            start=start,
            retention_ms=np.full(len(self._layout.topics), -1),
            compacted=self._case.compacted,
        )

    def true_ages(self, now: int) -> tuple[Floats, Floats]:
        """Returns the ages of each row's next record, as `record_ages` does."""
        ages = np.full((2, len(self.commits)), np.nan)
        for number, log in enumerate(self.logs):
            rows = self._layout.partition == number
            ages[:, rows] = record_ages(log, self.commits[rows], now)
        return ages[0], ages[1]


def score(case: Case, seed: int) -> Iterator[Line]:
    """Yields a verdict on each of the runs: how far off the ages are, and their cost."""
    for name in RUNS:
        past = 0 if name in (COLD, AGAIN) else _HOUR_OF_RUNS
        world = Planted(case, seed, past, moves=name == MOVED, looks=name != BLIND)
        # A compacted topic is looked at again in each hour.
        more = (_HOUR_OF_RUNS if case.compacted else 1) if name == AGAIN else 0
        rules = Rules(
            lookup_budget=_SUFFICIENT * len(world.commits),
            allowed_lag=ByName.of([("", case.allowed_lag)]),
        )
        reports = list(run(world, past + 1 + more, rules, FIRST - past * MINUTE, world.index))
        yield _judge(case, name, world, reports)


def _judge(case: Case, name: str, world: Planted, reports: Sequence[LagReport]) -> Line:
    """Returns the verdict on the last of the runs."""
    rows = reports[-1].snapshot.group_partitions
    came, by_clock = world.true_ages(int(rows.numbers("read_at").values[0]))
    if name not in (COLD, AGAIN):
        # Log ends prove when a record came, whatever its producer's clock.
        by_clock = np.where((came <= HOUR / 1_000) & (by_clock >= 0), came, by_clock)
    lag, error = _read(rows, "time_lag_seconds"), _read(rows, "time_lag_error_seconds")
    p95, share, beyond = compare(came, by_clock, lag, error)
    look_ups = sum(each.look_ups for each in reports[1 if name == AGAIN else -1 :])
    faults = {
        "too far off": name != BLIND and share > 1,
        "beyond the stated error": beyond > _SLACK,
        "impossible numbers": any(map(_is_impossible, reports)),
        "too many look-ups": look_ups > _allow_look_ups(case, name, reports, rows),
    }
    off = ("-", "-") if name == BLIND else (f"{p95:.3g}", f"{share:.0%}")
    cells = case.name, name, f"{len(lag):,}", *off, f"{beyond:.3g}", f"{look_ups:,}"
    return cells, ", ".join(words for words, is_so in faults.items() if is_so)


def compare(
    came: Floats, by_clock: Floats, said: Floats, error: Floats
) -> tuple[float, float, float]:
    """Returns how far stated ages are off the true ones, in s: three figures.

    The 95th percentile; that of the share of what is allowed; and by how much the worst age is
    farther off than stated.
    """
    true = np.where(by_clock >= 0, by_clock, came)
    errors = np.where(np.isnan(said), np.inf, np.abs(said - true))
    allowed = np.maximum(_ALLOWED, _ALLOWED_SHARE * true)
    # If a clock dates a record in the future, only the stated error is judged.
    judged = by_clock >= 0
    p95, share = (_find_p95(each[judged]) for each in (errors, errors / allowed))
    # An age without an error is a least one.
    beyond = np.where(np.isnan(error), said - true, errors - error)
    return p95, share, float(np.nanmax(beyond, initial=0.0))


def _find_p95(values: Floats) -> float:
    return float(np.quantile(values, 0.95, method="inverted_cdf"))


def _allow_look_ups(case: Case, name: str, reports: Sequence[LagReport], rows: Frame) -> float:
    """Returns how many look-ups the runs may send."""
    if name == AGAIN and case.compacted:
        return _MOST_AGAIN * reports[0].look_ups
    if name == AGAIN:
        # Two for a partition with a record ahead of now, which time may date yet.
        undated = rows.where(~rows.strings("time_lag_method").is_in(_DATED))
        return 2 * len(set(undated.numbers("partition_id").to_list()))
    each = {(WIDE, COLD): _MOST, (MOVING, MOVED): _MOST_MOVING}.get((case.name, name), np.inf)
    return each * len(rows)


def _read(rows: Frame, name: str) -> Floats:
    """Returns a column: NaN if unknown, infinite if it is NaN though known."""
    column = rows.numbers(name)
    values = np.nan_to_num(column.values.astype(np.float64), nan=np.inf)
    return np.where(column.known, values, np.nan)


def _is_impossible(report: LagReport) -> bool:
    """Returns whether a known number is negative, infinite or NaN."""
    for dataset in contract.DATASETS:
        for name, kind in contract.COLUMNS[dataset].items():
            if kind == contract.DOUBLE:
                values = _read(report.snapshot.dataset(dataset), name)
                if (values < 0).any() or np.isinf(values).any():
                    return True
    return False


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each run of each case; without look-ups only the stated error counts."""
    chosen = [case for case in CASES if case.name.startswith(options.only)]
    columns = "case | run | rows | p95 off, s | of allowed | beyond, s | look-ups"
    lines = (line for case in chosen for line in score(case, options.seed))
    return print_lines("ages", columns, lines)
