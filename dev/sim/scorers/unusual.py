# SPDX-License-Identifier: Apache-2.0
"""How often healthy groups are called unusual, and how soon anomalies are.

The hours of all patterns without trouble go through the daily report's `lag_hourly.sql` and
`usual.sql`. Each day after the first weeks is judged by what was usual before it, run by run, as
the collector does. A group may be called unusual once a month, and nine tenths of the anomalies in
it must be seen in their third run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from rich.table import Table

from dev.sim.cases.patterns import patterns
from dev.sim.reading import FIRST, MINUTE_MS, Floats, Ints, Mask
from dev.sim.tracks import DAY, HOUR, WEEK, Generator, Track
from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.rates import ewma_weight
from kafka_lag.lag.run import Run
from kafka_lag.lag.usual_lag import add_unusual
from kafka_lag_report.queries import Queries
from kafka_lag_report.session import open_session

MEASURES = ("lag", "time_lag_seconds", "produce_rate")
_RULES = Rules()
_WEIGHT = float(ewma_weight(Column.of(np.array([60.0])), _RULES)[0])
_HOURS, _WEEKDAYS = 24, 7
# Nothing is said before so many days are learnt from; the job looks back at so many.
LEARNT = 7 * contract.LEAST_WEEKS_OF_RUNS
_BACK = 7 * contract.USUAL_WEEKS
_MONTH = 30.0
# An anomaly is so many times the most that there was, plus so many records, s, records/s.
_TIMES = 3.0
_MORE = {"lag": 300.0, "time_lag_seconds": 300.0, "produce_rate": 3.0}
# These follow no weekday and no hour, so an anomaly of theirs exceeds all that they ever did.
_FOLLOW_NO_HOUR = ("random", "jitter", "three days", "by a count")
_MOST_A_MONTH = 1.0
# If a value falls from its most to nothing within an hour, three times that may be chance.
_LEAST_SEEN = 0.9


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups over days: a row a run, a column a group. `produce_rate` is a moving average."""

    names: tuple[str, ...]
    lag: Floats
    time_lag_seconds: Floats
    produce_rate: Floats

    @property
    def days(self) -> int:
        """Number of whole days."""
        return len(self.lag) // DAY

    def of(self, measure: str) -> Floats:
        """Returns the values of one measure."""
        found: Floats = getattr(self, measure)
        return found

    def written(self) -> Floats:
        """Returns records/s that each run saw written since the previous run."""
        before = np.vstack([self.produce_rate[:1], self.produce_rate[:-1]])
        return np.maximum((self.produce_rate - before * (1 - _WEIGHT)) / _WEIGHT, 0.0)

    def frame(self, run: int) -> Frame:
        """Returns the rows of the groups in a run."""
        moment = np.full(len(self.names), FIRST + run * MINUTE_MS)
        return Frame.of(
            {
                "consumer_group": Strings.of(self.names),
                "read_at": Column.of(moment),
                **{name: Column.of(self.of(name)[run].copy()) for name in MEASURES},
            }
        )


def groups_of(tracks: dict[str, Track]) -> Groups:
    """Returns what runs see of groups of one partition."""
    lags, ages, rates = [], [], []
    for track in tracks.values():
        at = track.at_runs()
        end = track.end[at]
        lags.append((end - track.committed[at]).astype(float))
        ages.append(track.ages())
        rates.append(np.diff(end, prepend=end[:1]) / 60.0)
    each = np.stack(rates, axis=1)
    mean = np.empty_like(each)
    mean[:2] = each[1]
    for run in range(2, len(each)):
        mean[run] = mean[run - 1] + _WEIGHT * (each[run] - mean[run - 1])
    return Groups((*tracks,), np.stack(lags, axis=1), np.stack(ages, axis=1), mean)


def healthy(days: int, seed: int) -> Groups:
    """Returns all patterns except those in trouble."""
    found = patterns(days, seed).items()
    return groups_of({name: one.track for name, one in found if one.trouble is None})


# By judged day and hour.
Usual: TypeAlias = dict[tuple[int, int], Frame]


def learn(spark: SparkSession, groups: Groups, judged: Sequence[int]) -> Usual:
    """Returns the usual figures before each judged day, by the tables of the daily report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        for day in range(groups.days):
            pq.write_table(_runs_of(groups, day), path / f"{day:03}.parquet")
        more = {"weight": sf.lit(60.0), "is_age_least": sf.lit(False)}
        runs = spark.read.parquet(folder).withColumns(more)
        queries = Queries(spark)
        # Each day has its own groups: first the day that is reported, then the one that is judged.
        queries.view("group_runs", _put_together(runs, "dt"))
        hours = _taken_apart(queries.run("tables/lag_hourly"), "dt").cache()
        days = [(str(day), _date(day - back)) for day in judged for back in range(1, _BACK + 1)]
        pairs = spark.createDataFrame(days, "judged string, dt string")
        learnt = _put_together(hours.join(sf.broadcast(pairs), "dt"), "judged")
        queries.view("past_hours", learnt)
        queries.derive("reductions/usual_hours")
        figures = _taken_apart(queries.run("tables/usual"), "judged")
        weekday = (sf.col("judged").cast("int") + _weekday(0)) % _WEEKDAYS + 1
        rows = figures.where(sf.col("weekday") == weekday).collect()
        hours.unpersist()
    by_hour: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        by_hour.setdefault((int(row["judged"]), row["hour"]), []).append(row)
    return {
        at: Frame.of(
            {
                "consumer_group": Strings.of(row["consumer_group"] for row in found),
                **{n: Column.optional([r[n] for r in found], np.float64) for n in _FIGURES},
            }
        )
        for at, found in by_hour.items()
    }


_FIGURES = [name for name, kind in contract.USUAL_COLUMNS.items() if kind == contract.DOUBLE]


def _weekday(day: int) -> int:
    """Returns the weekday; 0 is Monday."""
    return datetime.fromtimestamp(FIRST / 1_000 + day * DAY * 60, UTC).weekday()


def _date(day: int) -> str:
    return datetime.fromtimestamp(FIRST / 1_000 + day * DAY * 60, UTC).date().isoformat()


def _put_together(rows: DataFrame, name: str) -> DataFrame:
    """Returns the rows with the column before the names of their groups."""
    return rows.withColumn("consumer_group", sf.concat_ws("/", name, "consumer_group"))


def _taken_apart(rows: DataFrame, name: str) -> DataFrame:
    """Returns the rows with the column that is before the names of their groups."""
    both = sf.split("consumer_group", "/", 2)
    return rows.withColumns({name: both[0], "consumer_group": both[1]})


def _runs_of(groups: Groups, day: int) -> pa.Table:
    at, count = slice(day * DAY, (day + 1) * DAY), len(groups.names)
    times = FIRST + np.arange(day * DAY, (day + 1) * DAY) * MINUTE_MS
    length = DAY * count
    return pa.table(
        {
            "dt": pa.array([_date(day)] * length),
            "taken_at": pa.array(np.repeat(times, count), pa.timestamp("ms", "UTC")),
            "consumer_group": pa.array(groups.names * DAY),
            "unread_reason": pa.nulls(length, pa.string()),
            **{name: groups.of(name)[at].ravel() for name in MEASURES},
            "consume_rate": pa.nulls(length, pa.float64()),
        }
    )


def figures_at(usual: Usual, run: int) -> Frame:
    """Returns what is usual in the hour of a run, as learnt until the day before."""
    return usual[run // DAY, run % DAY // HOUR]


def count_marks(
    groups: Groups, usual: Usual, judged: Sequence[int], say: Callable[[str], None]
) -> Ints:
    """Returns how often each group begins to be called unusual on the judged days."""
    marks = np.zeros(len(groups.names), np.int64)
    before, marked = Frame.empty(contract.GROUPS), np.zeros(len(groups.names), bool)
    for day in judged:
        for run in range(day * DAY, (day + 1) * DAY):
            before, now = _judge(groups.frame(run), usual, before, run)
            marks += now & ~marked
            marked = now
        say(f"day {day + 1} of {groups.days}")
    return marks


def _judge(frame: Frame, usual: Usual, before: Frame, run: int) -> tuple[Frame, Mask]:
    this_run = Run(FIRST + run * MINUTE_MS, _RULES)
    found = add_unusual(frame, figures_at(usual, run), before, this_run)
    unusual = found.numbers("unusual")
    return found, unusual.known & (unusual.values > 0)


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Values of a measure from run `since` on; NaN for groups without an anomaly."""

    measure: str
    since: int
    values: Floats


def draw_anomalies(
    groups: Groups, judged: Sequence[int], count: int, rng: Generator
) -> list[Anomaly]:
    """Returns so many anomalies of each measure, which end within their hour.

    They exceed three times the most at that hour of the week, or at any time for groups that follow
    no hour. Where records came in every run, a last sort is that nothing is written any more.
    """
    written, found = groups.written(), []
    for measure in (*MEASURES, "nothing written"):
        for _ in range(count):
            since = int(rng.choice(judged)) * DAY + int(rng.integers(0, _HOURS)) * HOUR
            since += int(rng.integers(1, HOUR - contract.FAR_RUNS))
            if measure == "nothing written":
                steady = (written[DAY:since] > 0).all(axis=0)
                values = np.where(steady, 0.0, np.nan)
                found.append(Anomaly("produce_rate", since, values))
            else:
                seen = written if measure == "produce_rate" else groups.of(measure)
                values = _TIMES * _most_so_far(groups, seen, since) + _MORE[measure]
                found.append(Anomaly(measure, since, values))
    return found


def _most_so_far(groups: Groups, seen: Floats, run: int) -> Floats:
    runs = np.arange(DAY, run)
    same = runs[runs % WEEK // HOUR == run % WEEK // HOUR]
    follows_none = [any(word in name for word in _FOLLOW_NO_HOUR) for name in groups.names]
    most: Floats = np.where(follows_none, seen[runs].max(axis=0), seen[same].max(axis=0))
    return most


def is_seen(groups: Groups, usual: Usual, anomaly: Anomaly) -> Mask:
    """Returns the groups whose anomaly is seen in its third run."""
    at = slice(anomaly.since, anomaly.since + contract.FAR_RUNS)
    values = np.where(np.isnan(anomaly.values), 0.0, anomaly.values)
    changed = groups.of(anomaly.measure)[at].copy()
    if anomaly.measure == "produce_rate":
        mean = groups.produce_rate[anomaly.since - 1]
        for run in range(contract.FAR_RUNS):
            mean = mean + _WEIGHT * (values - mean)
            changed[run] = mean
    else:
        changed[:] = values
    before = groups.frame(anomaly.since - 1).completed(contract.GROUPS)
    seen = np.zeros(len(groups.names), bool)
    for number in range(contract.FAR_RUNS):
        run = anomaly.since + number
        frame = groups.frame(run).with_columns(
            **{anomaly.measure: Column.of(changed[number].copy())}
        )
        before, seen = _judge(frame, usual, before, run)
    return seen


@dataclass(frozen=True, slots=True)
class Verdict:
    """False marks of a group in a month, and anomalies that were seen and all, by measure."""

    name: str
    marks_a_month: float
    seen: dict[str, tuple[int, int]]

    @property
    def missed(self) -> bool:
        """Whether there were too many marks, or too many anomalies were not seen."""
        unseen = any(found < _LEAST_SEEN * planted for found, planted in self.seen.values())
        return unseen or self.marks_a_month > _MOST_A_MONTH


def score(days: int, seed: int, say: Callable[[str], None], planted: int = 10) -> list[Verdict]:
    """Returns a verdict on each group, with so many anomalies of each measure."""
    groups, judged = healthy(days, seed), range(LEARNT, days)
    usual = learn(open_session(), groups, judged)
    marks = count_marks(groups, usual, judged, say)
    seen: list[dict[str, tuple[int, int]]] = [{} for _ in groups.names]
    for anomaly in draw_anomalies(groups, judged, planted, np.random.default_rng(seed)):
        found = is_seen(groups, usual, anomaly)
        for number, counts in enumerate(seen):
            if not np.isnan(anomaly.values[number]):
                before = counts.get(anomaly.measure, (0, 0))
                counts[anomaly.measure] = before[0] + int(found[number]), before[1] + 1
    return [
        Verdict(name, marks[n] / (len(judged) / _MONTH), seen[n])
        for n, name in enumerate(groups.names)
    ]


def table_of(verdicts: Sequence[Verdict]) -> Table:
    """Returns a line for each pattern."""
    table = Table("pattern", "false marks a month", *MEASURES)
    for one in verdicts:
        seen = (f"{found} of {planted}" for found, planted in one.seen.values())
        color = "[red]" if one.missed else ""
        table.add_row(f"{color}{one.name}", f"{one.marks_a_month:.1f}", *seen)
    return table
