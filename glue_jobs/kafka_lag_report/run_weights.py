# SPDX-License-Identifier: Apache-2.0
"""How long each run's values stand: until the next run, unless runs are missing in between.

Reports count in time, not in rows, so that neither a run too many nor one too few moves a number.
A run speaks for twice the pause before it at most: what came after that was seen by nobody.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

# For a single run, where no pause is known.
LONE_RUN_SECONDS = 60.0

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND


def run_weights(groups: DataFrame) -> DataFrame:
    """`weight` in seconds of each run (`taken_at`) of the day that has any row in `groups`."""
    cluster = Window.partitionBy("cluster")
    before = sf.lag("gap").over(cluster.orderBy("taken_at"))
    usual = sf.coalesce(sf.median("gap").over(cluster), sf.lit(LONE_RUN_SECONDS))
    gaps = _gaps(groups).select("*", usual.alias("usual"), before.alias("before"))
    return gaps.select("cluster", "taken_at", _weight().alias("weight"))


def intervals(groups: DataFrame) -> DataFrame:
    """The usual `interval` between runs in seconds, the median, of each cluster in `groups`."""
    usual = sf.coalesce(sf.median("gap"), sf.lit(LONE_RUN_SECONDS))
    return _gaps(groups).groupBy("cluster").agg(usual.alias("interval"))


def weighed(
    rows: DataFrame, weights: DataFrame, intervals: DataFrame, at: str = "taken_at"
) -> DataFrame:
    """`rows` with the `weight` of the run at the time `at`.

    A time that is no run of `groups`, whose object may be missing, weighs an interval.
    """
    runs = weights.withColumnRenamed("taken_at", at)
    both = rows.join(sf.broadcast(runs), ["cluster", at], "left")
    fallback = sf.coalesce("weight", "interval", sf.lit(LONE_RUN_SECONDS))
    return both.join(sf.broadcast(intervals), "cluster", "left").select(
        *rows.columns, fallback.alias("weight")
    )


def _gaps(groups: DataFrame) -> DataFrame:
    """The runs, with the seconds to the next; null for the last."""
    ordered = Window.partitionBy("cluster").orderBy("taken_at")
    gap = _micros(sf.lead("taken_at").over(ordered)) - _micros(sf.col("taken_at"))
    runs = groups.select("cluster", "taken_at").distinct()
    return runs.select("cluster", "taken_at", (gap / _SECOND).alias("gap"))


def _weight() -> Column:
    gap, before, usual = sf.col("gap"), sf.col("before"), sf.col("usual")
    to_midnight = (_DAY - sf.pmod(_micros(sf.col("taken_at")), sf.lit(_DAY))) / _SECOND
    last = sf.least(usual, to_midnight)
    return sf.when(gap.isNull(), last).otherwise(sf.least(gap, 2 * sf.coalesce(before, usual)))


def _micros(time: Column) -> Column:
    """Whole numbers, whose difference is exact."""
    return sf.unix_micros(time)


def whole_seconds() -> Column:
    """How often a run's value counts in percentiles: its seconds, once at least."""
    return sf.greatest(sf.floor(sf.col("weight") + 0.5), sf.lit(1))


def weighted_minutes(condition: Column) -> Column:
    """How long the condition held; 0 if never, or never known."""
    seconds = sf.sum(sf.when(condition, sf.col("weight")))
    return sf.coalesce(seconds, sf.lit(0.0)) / 60


def weighted_mean(name: str) -> Column:
    """The column's mean over the time in which it was known; null: never."""
    known = sf.when(sf.col(name).isNotNull(), sf.col("weight"))
    return sf.try_divide(sf.sum(sf.col(name) * sf.col("weight")), sf.sum(known))
