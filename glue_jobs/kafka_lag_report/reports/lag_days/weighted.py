# SPDX-License-Identifier: Apache-2.0
"""Aggregates over rows that stand for the seconds in their `weight`; unknown does not count."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

# Of each run; `lag_days` has them as columns.
LEVELS = ("lag", "time_lag")


def minutes(condition: Column) -> Column:
    """How long the condition held; 0 if never, or never known."""
    seconds = sf.sum(sf.when(condition, sf.col("weight")))
    return sf.coalesce(seconds, sf.lit(0.0)) / 60


def mean(name: str) -> Column:
    """The column's mean over the time in which it was known; null: never."""
    known = sf.when(sf.col(name).isNotNull(), sf.col("weight"))
    return sf.try_divide(sf.sum(sf.col(name) * sf.col("weight")), sf.sum(known))


def with_percentiles(runs: DataFrame, keys: Sequence[str]) -> DataFrame:
    """`lag_p50` to `time_lag_p99` of all rows alike in `keys`, on each of these rows.

    A value counts as often as its weight has whole seconds, once at least. As a plain aggregate
    Spark would hold the values of all keys at once and send them through a shuffle; over a window
    it holds those of one.
    """
    over = Window.partitionBy(*keys)
    times = sf.greatest(sf.floor(sf.col("weight") + 0.5), sf.lit(1))
    found = {
        name: sf.percentile(name, list(PERCENTILES.values()), times).over(over) for name in LEVELS
    }
    arrays = runs.select("*", *(values.alias(f"{name}_all") for name, values in found.items()))
    return arrays.select(
        *runs.columns,
        *(
            sf.col(f"{name}_all")[place].alias(f"{name}_{level}")
            for name in LEVELS
            for place, level in enumerate(PERCENTILES)
        ),
    )


def levels() -> dict[str, Column]:
    """Aggregates over `with_percentiles`: what lag and time lag were like, and the best speed."""
    found = [f"{name}_{level}" for name in LEVELS for level in PERCENTILES]
    return {
        **{name: sf.max(name) for name in found},
        **{f"{name}_max": sf.max(name) for name in LEVELS},
        "known_minutes": minutes(sf.col("lag").isNotNull()),
        "best_consume_rate": sf.max("consume_rate"),
    }
