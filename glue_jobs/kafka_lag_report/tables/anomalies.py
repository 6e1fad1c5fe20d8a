# SPDX-License-Identifier: Apache-2.0
"""Hours unlike the same hour of the group's last days, by median and median deviation.

Both hold up to half the days being odd themselves, so a bad day does not become the usual one.
Nothing is to be configured: short of a week of history there is no row, and a group that is always
even is not judged by its tiny spread, but by a tenth of the usual value or a floor.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

LEAST_DAYS = 7
FAR = 5.0

# Makes the median deviation of normal values their standard deviation.
NORMAL = 1.4826
USUAL_PARTS = 10

# Seconds, and records a second, below which a difference is nothing.
FLOORS = {"time_lag_seconds": 10.0, "produce_rate": 0.2}

_KEY = ("cluster", "consumer_group", "hour", "measure")


def anomalies(today: DataFrame, before: DataFrame) -> DataFrame:
    """The hours of `today` at least FAR times the usual spread away from the usual value.

    Both frames are `lag_hourly`; `before` has the days to compare with (column `dt`).
    """
    far = _values(today).join(_usual(before), [*_KEY]).withColumn("deviation", _deviation())
    return far.where(sf.abs("deviation") >= FAR).select(
        *_KEY,
        "value",
        "usual",
        "spread",
        "deviation",
        sf.when(sf.col("deviation") > 0, "high").otherwise("low").alias("direction"),
        "days",
    )


def _values(hours: DataFrame) -> DataFrame:
    """One row a measure; null is unknown and neither counts as a day nor as far from usual."""
    return hours.unpivot(_KEY[:-1], tuple(FLOORS), "measure", "value")


def _usual(before: DataFrame) -> DataFrame:
    """Median and median deviation of each hour with enough days."""
    median = sf.median("value").over(Window.partitionBy(*_KEY))
    days = _values(before).withColumn("usual", median)
    usual = days.groupBy(*_KEY).agg(
        sf.max("usual").alias("usual"),
        sf.median(sf.abs(sf.col("value") - sf.col("usual"))).alias("spread"),
        sf.count("value").cast("int").alias("days"),
    )
    return usual.where(sf.col("days") >= LEAST_DAYS)


def _deviation() -> Column:
    usual = sf.col("usual")
    scale = sf.greatest(NORMAL * sf.col("spread"), usual / USUAL_PARTS, _floor())
    return (sf.col("value") - usual) / scale


def _floor() -> Column:
    floor = sf.lit(None).cast("double")
    for measure, least in FLOORS.items():
        floor = sf.when(sf.col("measure") == measure, least).otherwise(floor)
    return floor
