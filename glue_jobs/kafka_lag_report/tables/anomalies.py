# SPDX-License-Identifier: Apache-2.0
"""Hours unlike the same hour of the same weekday in the weeks before.

By median and median deviation, which hold while less than half the weeks are odd themselves: a
holiday does not become the usual day. Nothing is to be configured. Short of LEAST_WEEKS there is no
row, and a group that is always even is not judged by its tiny spread, but by a tenth of the usual
value or a floor.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag.contract import FAR, FLOORS, LEAST_WEEKS, USUAL_PART

# Makes the median deviation of normal values their standard deviation.
NORMAL = 1.4826
# The same for few values, whose median lies too near to them: six have 1.35 times as much.
NORMAL_OF_FEW = 2.0

MEASURES = ("time_lag_seconds", "lag", "produce_rate")
# A clock change moves whole days: so many unusual hours of a cluster at least are explained by it.
LEAST_MOVED = 12
# How far apart the runs of an hour lie, of the measures that the collector compares.
WITHIN = {
    "time_lag_seconds": "time_lag_deviation",
    "lag": "lag_deviation",
    "produce_rate": "produce_rate_deviation",
}

# The most that runs of an hour have, but for a few of them.
HIGH = {
    "time_lag_seconds": "time_lag_high",
    "lag": "lag_high",
    "produce_rate": "produce_rate_max",
}

_HOUR = ("consumer_group", "hour")


def anomalies(today: DataFrame, before: DataFrame) -> DataFrame:
    """The hours of `today` at least FAR times the usual spread away from the usual value.

    Both frames are `lag_hourly`; `before` has the days of the same weekday (column `dt`). Hours are
    UTC's, and people live by local ones: for weeks after a clock change a cluster's whole day lies
    an hour beside the usual one. Where most groups say so, an hour that is as usual by the one
    beside it is not unusual. The first or last hour then has none beside it, and is not judged.
    A time lag that was known without an upper bound, `value_is_least`, is never low.
    """
    usual = usual_hours(before, MEASURES).drop("weekday", "part", "highs")
    usual = usual.withColumnRenamed("hour", "usual_hour")
    is_least = sf.coalesce(sf.col("time_lag_least_minutes") > 0, sf.lit(False)).alias("is_least")
    shifted = _values(today, MEASURES, is_least).withColumns(
        {"shift": sf.explode(sf.array(*map(sf.lit, (0, -1, 1))))}
    )
    shifted = shifted.withColumn("usual_hour", sf.col("hour") + sf.col("shift"))
    compared = shifted.join(usual, ["consumer_group", "measure", "usual_hour"])
    compared = compared.withColumn("deviation", _deviation())
    compared = compared.withColumn("far", sf.abs("deviation") >= FAR)
    own = Window.partitionBy(*_HOUR, "measure")
    was_far = sf.max(sf.when(sf.col("shift") == 0, sf.col("far"))).over(own)
    compared = compared.withColumn("was_far", was_far).withColumns(_says_of_shift())
    value_is_least = sf.col("is_least") & (sf.col("measure") == "time_lag_seconds")
    return (
        compared.withColumn("fits", _fits_the_day())
        .withColumn("value_is_least", value_is_least)
        .where("far AND was_far AND fits AND (deviation > 0 OR NOT value_is_least)")
        .select(
            *_HOUR,
            "measure",
            "value",
            "value_is_least",
            "usual",
            "spread",
            "deviation",
            sf.when(sf.col("deviation") > 0, "high").otherwise("low").alias("direction"),
            "days",
        )
    )


def _says_of_shift() -> dict[str, Column]:
    """What a row's group says of its shift, in each of its rows; `part` of them is one group.

    `gain` is how many more of its unusual hours a shift explains than it makes unusual of the
    others. A group whose hours are all alike has none, and says nothing.
    """
    group = Window.partitionBy("consumer_group", "shift")
    spoilt = ~sf.col("was_far") & sf.col("far")
    return {
        "gain": sf.count_if(_explained()).over(group) - sf.count_if(spoilt).over(group),
        "part": 1.0 / sf.count("*").over(group),
    }


def _explained() -> Column:
    return sf.col("was_far") & ~sf.col("far")


def _fits_the_day() -> Column:
    """Whether a row's `shift` is its cluster's: none, unless most groups speak for one."""
    cluster = Window.partitionBy()

    def groups_for(shift: int) -> Column:
        """How many speak for it; 0 unless it may be the day's."""
        of_shift = sf.col("shift") == shift
        count, against = (
            sf.round(sf.sum(sf.when(of_shift & said, sf.col("part")).otherwise(0.0)).over(cluster))
            for said in (sf.col("gain") > 0, sf.col("gain") < 0)
        )
        enough = sf.count_if(of_shift & _explained()).over(cluster) >= LEAST_MOVED
        # MOST of them, in whole numbers
        most = count >= 2 * against
        return sf.when(enough & most, count).otherwise(0.0)

    earlier, later = groups_for(-1), groups_for(1)
    moved = sf.greatest(earlier, later) > 0
    shift = sf.when(moved, sf.when(earlier >= later, -1).otherwise(1)).otherwise(0)
    return sf.col("shift") == shift


def usual_hours(hours: DataFrame, measures: Sequence[str]) -> DataFrame:
    """What is usual for each group, weekday (1 is Monday), hour and measure with enough days.

    `hours` are `lag_hourly` with their days (`dt`). `usual` is the median. `spread`, in standard
    deviations, is that of the hour or that of all hours of the group's weekday, as parts of their
    usual values, whichever is more: six days alone often happen to lie close together. `within` is
    the usual deviation of an hour's runs from its mean, null where no day has it. `part` is how far
    the hours of the weekday lie from their usual values, as a median part of these. `highs` are the
    `week` (its Monday) and the `high` of each day.
    """
    group = ("consumer_group", "measure", "weekday")
    weekday = (sf.weekday(sf.to_date("dt")) + 1).cast("int").alias("weekday")
    week = sf.date_trunc("week", sf.to_date("dt")).alias("week")
    days = _values(hours, measures, weekday, week).where("value IS NOT NULL")
    # All windows and groups below are parts of these: the rows are sent once.
    days = days.repartition("consumer_group", "measure")
    days = days.withColumn("usual", sf.median("value").over(Window.partitionBy(*group, "hour")))
    days = days.withColumn("off", sf.abs(sf.col("value") - sf.col("usual")))
    part = sf.try_divide(sf.col("off"), sf.col("usual"))
    days = days.withColumn("part", sf.median(part).over(Window.partitionBy(*group)))
    usual = days.groupBy(*group, "hour").agg(
        sf.max("usual").alias("usual"),
        (NORMAL * sf.median("off")).alias("of_hour"),
        (NORMAL_OF_FEW * sf.max("usual") * sf.max("part")).alias("of_weekday"),
        sf.median("within").alias("within"),
        sf.max("part").alias("part"),
        sf.collect_list(sf.struct("week", "high")).alias("highs"),
        sf.count("value").cast("int").alias("days"),
    )
    return usual.where(sf.col("days") >= LEAST_WEEKS).select(
        *_HOUR,
        "weekday",
        "measure",
        "usual",
        sf.greatest("of_hour", "of_weekday").alias("spread"),
        "within",
        "part",
        "highs",
        "days",
    )


def _values(hours: DataFrame, measures: Sequence[str], *more: Column) -> DataFrame:
    """One row a measure; null is unknown and neither counts as a day nor as far from usual."""
    rows = [
        sf.struct(
            sf.lit(name).alias("measure"),
            sf.col(name).alias("value"),
            sf.col(WITHIN[name]).alias("within"),
            sf.col(HIGH[name]).alias("high"),
        )
        for name in measures
    ]
    return hours.select(*_HOUR, *more, sf.inline(sf.array(*rows)))


def _deviation() -> Column:
    """By how many spreads the value lies above the usual one; below, it is negative."""
    usual = sf.col("usual")
    floor = sf.create_map(*(sf.lit(word) for pair in FLOORS.items() for word in pair))
    scale = sf.greatest(sf.col("spread"), usual * USUAL_PART, floor[sf.col("measure")])
    return (sf.col("value") - usual) / scale
