# SPDX-License-Identifier: Apache-2.0
"""How often healthy groups are called unusual, and how soon planted anomalies are.

The patterns of `dev.benchmarks.pauses` over 60 days at a run a minute, without those in trouble:
their hours through the daily report's `lag_hourly` and `usual_figures`, each day after the first
weeks judged by what was usual before it, run by run, as the collector does. Ends with 1 where a
group is called unusual more than once a month, or less than nine tenths of the anomalies planted in
it are seen in their third run.
Every third pattern is held out: no limit was chosen by it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from rich.console import Console
from rich.table import Table

from dev.benchmarks.pauses.tracks import DAY, HOUR, WEEK, Generator, Track
from dev.benchmarks.pauses.whole_runs import FIRST, is_held_out, patterns
from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.rates import ewma_weight
from kafka_lag.lag.usual_lag import add_unusual
from kafka_lag_report.session import open_session
from kafka_lag_report.tables.lag_hourly import lag_hourly
from kafka_lag_report.tables.usual import usual_figures

Values: TypeAlias = npt.NDArray[np.float64]

MEASURES = ("lag", "time_lag_seconds", "produce_rate")
_RULES = Rules()
_WEIGHT = float(ewma_weight(Column.of(np.array([60.0])), _RULES)[0])
_MINUTE_MS = 60_000
_HOURS, _WEEKDAYS = 24, 7
# So many days are learnt from before anything is said, and so many are looked back at.
LEARNT = 7 * contract.LEAST_WEEKS_OF_RUNS
_BACK = 7 * contract.USUAL_WEEKS
_MONTH = 30.0
# An anomaly is so many times the most that there was, and so much more: records, s, records/s.
_TIMES = 3.0
_MORE = {"lag": 300.0, "time_lag_seconds": 300.0, "produce_rate": 3.0}
# What these do follows no weekday and no hour, so an anomaly of theirs is one beside all they did.
_FOLLOW_NO_HOUR = ("random", "jitter", "three days", "by a count")
_MOST_A_MONTH = 1.0
# In an hour in which a value falls from its most to nothing, three times that may be chance.
_LEAST_SEEN = 0.9


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups over days: a row a run, a column a group. `produce_rate` is the moving average."""

    names: tuple[str, ...]
    lag: Values
    time_lag_seconds: Values
    produce_rate: Values

    @property
    def days(self) -> int:
        """How many whole days there are."""
        return len(self.lag) // DAY

    def of(self, measure: str) -> Values:
        """The values of one measure."""
        found: Values = getattr(self, measure)
        return found

    def written(self) -> Values:
        """Records/s that each run saw written since the one before."""
        before = np.vstack([self.produce_rate[:1], self.produce_rate[:-1]])
        return np.maximum((self.produce_rate - before * (1 - _WEIGHT)) / _WEIGHT, 0.0)

    def frame(self, run: int) -> Frame:
        """The groups' rows as a run has them."""
        moment = np.full(len(self.names), FIRST + run * _MINUTE_MS)
        return Frame.of(
            {
                "consumer_group": Strings.of(self.names),
                "read_at": Column.of(moment),
                **{name: Column.of(self.of(name)[run].copy()) for name in MEASURES},
            }
        )


def groups_of(tracks: dict[str, Track]) -> Groups:
    """What runs see of groups of one partition."""
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
    """All patterns but those that are in trouble."""
    found = patterns(days, seed).items()
    return groups_of({name: one.track for name, one in found if one.trouble is None})


# By judged day and hour.
Usual: TypeAlias = dict[tuple[int, int], Frame]


def learn(spark: SparkSession, groups: Groups, judged: Sequence[int]) -> Usual:
    """The usual figures before each judged day, by the daily report's own tables."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        for day in range(groups.days):
            pq.write_table(_runs_of(groups, day), path / f"{day:03}.parquet")
        runs = spark.read.parquet(folder).withColumn("weight", sf.lit(60.0))
        # A group of each day: first of the day that is reported, then of the one that is judged.
        hours = _taken_apart(lag_hourly(_put_together(runs, "dt")), "dt").cache()
        days = [(str(day), _date(day - back)) for day in judged for back in range(1, _BACK + 1)]
        pairs = spark.createDataFrame(days, "judged string, dt string")
        learnt = _put_together(hours.join(sf.broadcast(pairs), "dt"), "judged")
        figures = _taken_apart(usual_figures(learnt), "judged")
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
    """0 is Monday."""
    return datetime.fromtimestamp(FIRST / 1_000 + day * DAY * 60, UTC).weekday()


def _date(day: int) -> str:
    return datetime.fromtimestamp(FIRST / 1_000 + day * DAY * 60, UTC).date().isoformat()


def _put_together(rows: DataFrame, name: str) -> DataFrame:
    """The rows with the column in the names of their groups."""
    return rows.withColumn("consumer_group", sf.concat_ws("/", name, "consumer_group"))


def _taken_apart(rows: DataFrame, name: str) -> DataFrame:
    """The rows with the column that is in the names of their groups."""
    both = sf.split("consumer_group", "/", 2)
    return rows.withColumns({name: both[0], "consumer_group": both[1]})


def _runs_of(groups: Groups, day: int) -> pa.Table:
    at, count = slice(day * DAY, (day + 1) * DAY), len(groups.names)
    times = FIRST + np.arange(day * DAY, (day + 1) * DAY) * _MINUTE_MS
    length = DAY * count
    return pa.table(
        {
            "dt": pa.array([_date(day)] * length),
            "taken_at": pa.array(np.repeat(times, count), pa.timestamp("ms", "UTC")),
            "consumer_group": pa.array(groups.names * DAY),
            "unread_reason": pa.nulls(length, pa.string()),
            **{name: groups.of(name)[at].ravel() for name in MEASURES},
            "time_lag_error_seconds": np.zeros(length),
            "consume_rate": pa.nulls(length, pa.float64()),
        }
    )


def figures_at(usual: Usual, run: int) -> Frame:
    """What is usual in the hour of a run, by the object of the day before."""
    return usual[run // DAY, run % DAY // HOUR]


def count_marks(
    groups: Groups, usual: Usual, judged: Sequence[int], say: Callable[[str], None]
) -> npt.NDArray[np.int64]:
    """How often each group begins to be called unusual on the judged days, which follow on."""
    marks = np.zeros(len(groups.names), np.int64)
    before, marked = Frame.empty(contract.GROUPS), np.zeros(len(groups.names), bool)
    for day in judged:
        for run in range(day * DAY, (day + 1) * DAY):
            before, now = _judge(groups.frame(run), usual, before, run)
            marks += now & ~marked
            marked = now
        say(f"day {day + 1} of {groups.days}")
    return marks


def _judge(
    frame: Frame, usual: Usual, before: Frame, run: int
) -> tuple[Frame, npt.NDArray[np.bool_]]:
    taken_at = FIRST + run * _MINUTE_MS
    found = add_unusual(frame, figures_at(usual, run), before, taken_at, _RULES)
    unusual = found.numbers("unusual")
    return found, unusual.known & (unusual.values > 0)


@dataclass(frozen=True, slots=True)
class Anomaly:
    """What is planted in a measure from run `since` on; a group without a value has none."""

    measure: str
    since: int
    values: Values


def plant(groups: Groups, judged: Sequence[int], count: int, rng: Generator) -> list[Anomaly]:
    """So many anomalies of each measure, which are over within their hour.

    Three times the most there was at that hour of the week, or at any time of what follows no hour;
    and nothing written any more, where records came in every run.
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


def _most_so_far(groups: Groups, seen: Values, run: int) -> Values:
    runs = np.arange(DAY, run)
    same = runs[runs % WEEK // HOUR == run % WEEK // HOUR]
    follows_none = [any(word in name for word in _FOLLOW_NO_HOUR) for name in groups.names]
    most: Values = np.where(follows_none, seen[runs].max(axis=0), seen[same].max(axis=0))
    return most


def is_seen(groups: Groups, usual: Usual, anomaly: Anomaly) -> npt.NDArray[np.bool_]:
    """The groups in which it is seen in its third run."""
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
    """Marks a month of a healthy group, and of each measure how many planted ones were seen."""

    name: str
    held_out: bool
    marks_a_month: float
    seen: dict[str, tuple[int, int]]

    @property
    def missed(self) -> bool:
        """Too many marks, or too many anomalies that were not seen."""
        unseen = any(found < _LEAST_SEEN * planted for found, planted in self.seen.values())
        return unseen or self.marks_a_month > _MOST_A_MONTH


def judge_groups(
    spark: SparkSession, groups: Groups, planted: int, seed: int, say: Callable[[str], None]
) -> list[Verdict]:
    """A verdict on each group."""
    judged = range(LEARNT, groups.days)
    usual = learn(spark, groups, judged)
    marks = count_marks(groups, usual, judged, say)
    seen: list[dict[str, tuple[int, int]]] = [{} for _ in groups.names]
    for anomaly in plant(groups, judged, planted, np.random.default_rng(seed)):
        found = is_seen(groups, usual, anomaly)
        for number, counts in enumerate(seen):
            if not np.isnan(anomaly.values[number]):
                before = counts.get(anomaly.measure, (0, 0))
                counts[anomaly.measure] = before[0] + int(found[number]), before[1] + 1
    return [
        Verdict(name, is_held_out(n), marks[n] / (len(judged) / _MONTH), seen[n])
        for n, name in enumerate(groups.names)
    ]


def table_of(verdicts: Sequence[Verdict]) -> Table:
    """A line a pattern."""
    table = Table(*("pattern", "held out", "false marks a month", *MEASURES), title="Unusual")
    for one in verdicts:
        seen = (f"{found} of {planted}" for found, planted in one.seen.values())
        color = "[red]" if one.missed else ""
        held_out = "yes" if one.held_out else ""
        table.add_row(f"{color}{one.name}", held_out, f"{one.marks_a_month:.1f}", *seen)
    return table


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table; 1 if a limit was missed."""
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.unusual", description=__doc__)
    parser.add_argument("--days", type=int, default=60, help="simulated (default: 60)")
    parser.add_argument("--seed", type=int, default=0, help="of work and pauses (default: 0)")
    parser.add_argument("--planted", type=int, default=10, help="of each measure (default: 10)")
    options = parser.parse_args(argv)
    progress = Console(stderr=True, highlight=False)
    verdicts = judge_groups(
        open_session(),
        healthy(options.days, options.seed),
        options.planted,
        options.seed,
        lambda words: progress.print(words, style="dim"),
    )
    Console(width=130).print(table_of(verdicts))
    missed = [one.name for one in verdicts if one.missed]
    for name in missed:
        progress.print(f"[red]missed[/] {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
