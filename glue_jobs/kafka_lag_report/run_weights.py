# SPDX-License-Identifier: Apache-2.0
"""How long each run's values stand: until the next run, unless runs are missing in between.

Reports count in time, not in rows, so that neither a run too many nor one too few moves a number.
A run speaks for twice the pause before it at most: what came after that was seen by nobody.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

# For a single run, where no pause is known.
LONE_RUN_SECONDS = 60.0

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND


@dataclass(frozen=True, slots=True)
class RunWeights:
    """The day's runs that have any row in `groups`.

    `times` are in microseconds since 1970, ascending; `frame` has the `weight` in seconds of each
    `taken_at`.
    """

    times: Sequence[int]
    frame: DataFrame

    @property
    def interval(self) -> float:
        """The usual seconds between runs, the median."""
        return usual_interval(self.times)

    def weigh(self, rows: DataFrame) -> DataFrame:
        """`rows` with the `weight` of their run.

        A time that is no run of `groups`, whose object may be missing, weighs an interval.
        """
        weight = sf.coalesce("weight", sf.lit(self.interval)).alias("weight")
        both = rows.join(self.frame, ["taken_at"], "left")
        return both.select(*rows.columns, weight)


def run_weights(groups: DataFrame) -> RunWeights:
    """The runs in `groups`, which is read for their times."""
    # as numbers: Python would show the machine's own zone
    found = groups.select(sf.unix_micros("taken_at")).distinct().collect()
    times = sorted(row[0] for row in found)
    # a frame of Python's rows would come through a Python worker each time that it is joined
    values = ", ".join(
        f"({at}, {weight!r}D)" for at, weight in zip(times, weights_of(times), strict=True)
    )
    rows = groups.sparkSession.sql(f"VALUES {values or '(0, 0D)'} AS runs(at, weight)")
    frame = rows.selectExpr("timestamp_micros(at) AS taken_at", "weight").coalesce(1)
    return RunWeights(times, frame)


def usual_interval(times: Sequence[int]) -> float:
    """The median seconds between ascending times in microseconds."""
    gaps = [(after - before) / _SECOND for before, after in pairwise(times)]
    return median(gaps) if gaps else LONE_RUN_SECONDS


def weights_of(times: Sequence[int]) -> list[float]:
    """Seconds for which each run stands, of ascending times in microseconds."""
    if not times:
        return []
    usual = usual_interval(times)
    gaps = [(after - before) / _SECOND for before, after in pairwise(times)]
    before = [usual, *gaps]
    to_midnight = (_DAY - times[-1] % _DAY) / _SECOND
    stands = [min(gap, 2 * pause) for gap, pause in zip(gaps, before, strict=False)]
    return [*stands, min(usual, to_midnight)]


# SQL: how often a run's value counts in percentiles: its seconds, once at least.
WHOLE_SECONDS = "greatest(floor(weight + 0.5D), 1)"


def weighted_minutes(condition: str) -> str:
    """SQL, an aggregate: how long the condition held; 0 if never, or never known."""
    return f"coalesce(sum(IF({condition}, weight, NULL)), 0D) / 60"


def weighted_mean(name: str) -> str:
    """SQL, an aggregate: the column's mean over the time in which it was known; null: never."""
    return f"try_divide(sum({name} * weight), sum(IF({name} IS NULL, NULL, weight)))"
