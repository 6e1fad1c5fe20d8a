# SPDX-License-Identifier: Apache-2.0
"""How unevenly a day's values are spread over partitions: top share, max to mean, Gini, skewed.

Skewed is max / mean >= SKEW_FACTOR, and at least an excess of records more than the mean.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag_report.thresholds import LAG_EXCESS, SKEW_FACTOR


def skewed(top: Column, total: Column, count: Column, excess: float) -> Column:
    """Whether the top of `count` values is far above their mean; null when there are none."""
    mean = sf.try_divide(total.cast("double"), count)
    return sf.when(count > 0, (top >= SKEW_FACTOR * mean) & (top - mean >= excess))


def spread(days: DataFrame, keys: Sequence[str], value: str, prefix: str) -> DataFrame:
    """How `value` is spread over the partitions of each of `keys`, in columns `<prefix>_...`.

    Partitions with a null value are left out of everything, N (`_partitions`) included; all null
    without any. Equal values, also a single one or all zero, give max_to_mean 1, gini 0, share 1/N.
    """
    sums = placed(days, keys, value).groupBy(*keys).agg(*sums_of_placed())
    return sums.select(*keys, *measures(prefix))


def placed(days: DataFrame, keys: Sequence[str], value: str) -> DataFrame:
    """`days` with `x`, the value as double, its `rank` among `keys`, and their `n`, `total`, `top`.

    The last three leave out what is null; a null ranks last.
    """
    x = sf.col(value).cast("double")
    ascending = Window.partitionBy(*keys).orderBy(sf.col("x").asc_nulls_last())
    of_all = Window.partitionBy(*keys)
    return days.withColumn("x", x).select(
        "*",
        sf.row_number().over(ascending).alias("rank"),
        sf.count("x").over(of_all).alias("n"),
        sf.sum("x").over(of_all).alias("total"),
        sf.max("x").over(of_all).alias("top"),
    )


def sums_of_placed() -> list[Column]:
    """Aggregates over the rows of `placed` alike in its keys, for `measures`."""
    return [
        *(sf.max(name).alias(name) for name in ("n", "total", "top")),
        sf.sum(sf.col("rank") * sf.col("x")).alias("ranked_total"),
        _top_partition().alias("top_partition"),
    ]


def measures(prefix: str) -> list[Column]:
    """The columns that `spread` adds, of `sums_of_placed`."""
    return [column.alias(f"{prefix}_{name}") for name, column in _measures().items()]


def is_skewed() -> Column:
    """Whether the values of `placed` are skewed, by their top one."""
    return skewed(sf.col("top"), sf.col("total"), sf.col("n"), LAG_EXCESS)


def _measures() -> dict[str, Column]:
    n, total, top = sf.col("n"), sf.col("total"), sf.col("top")
    mean = sf.try_divide(total, n)
    even = sf.try_divide(sf.lit(1.0), n)
    max_to_mean = _known(sf.coalesce(sf.try_divide(top, mean), sf.lit(1.0)))
    return {
        "partitions": n.cast("int"),
        "mean": mean,
        "max": top,
        "max_to_mean": max_to_mean,
        "top_partition": sf.when(total > 0, sf.col("top_partition")),
        "top_share": _known(sf.coalesce(sf.try_divide(top, total), even)),
        "even_share": even,
        "gini": _gini(n, total),
        "skewed": is_skewed(),
    }


def _gini(n: Column, total: Column) -> Column:
    """2 sum(i x_i) / (n sum(x)) - (n + 1) / n, x ascending, i from 1; 0 even, (n - 1)/n all in one.

    The same as sum|x_i - x_j| / (2 n^2 mean), Gini's mean difference, without the n^2 pairs.
    """
    raw = sf.try_divide(2 * sf.col("ranked_total"), n * total) - sf.try_divide(n + 1, n)
    # rounding may leave -1e-17 for equal values
    return _known(sf.greatest(sf.coalesce(raw, sf.lit(0.0)), sf.lit(0.0)))


def _top_partition() -> Column:
    """The partition of the largest value, the lowest number among equals, so that reruns agree."""
    best = sf.min(sf.when(sf.col("x").isNotNull(), sf.struct(-sf.col("x"), "partition_id")))
    return best["partition_id"]


def _known(measure: Column) -> Column:
    return sf.when(sf.col("n") > 0, measure)
