# SPDX-License-Identifier: Apache-2.0
"""Two levels of detail out of one scan: what each partition's day was like, and each run.

Grouping sets would say the same, but DataFrame has had them only since Spark 4.0.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

# Bits that hold a second of a day.
_CLOCK = 1 << 17

# Values above are alike when the first of the least is looked for: with the clock they fill a long.
_LARGEST = 1 << 45

_DAY_SECONDS = 86_400


def both_levels(
    rows: DataFrame, common: Sequence[str], fine: Sequence[str], measures: Mapping[str, Column]
) -> DataFrame:
    """One row per `common` and `fine` with null `taken_at`, and one per `common` and `taken_at`.

    `measures` are computed for both; see `fine_level` and `run_level`. All of them must be
    aggregates over numbers, whose buffers Spark keeps in a hash table: one over text or a struct
    would make it sort all rows.
    """
    level = sf.explode(sf.array(sf.lit(0), sf.lit(1))).alias("level")
    others = [name for name in rows.columns if name not in (*common, *fine, "taken_at")]
    return (
        rows.select("*", level)
        .select(
            *common,
            *(sf.when(sf.col("level") == 0, sf.col(name)).alias(name) for name in fine),
            sf.when(sf.col("level") == 1, sf.col("taken_at")).alias("taken_at"),
            "level",
            *others,
        )
        .groupBy(*common, "level", *fine, "taken_at")
        .agg(*(measure.alias(name) for name, measure in measures.items()))
    )


def fine_level(levels: DataFrame) -> DataFrame:
    """The rows of `both_levels` over the whole day, those that were read at least once."""
    return levels.where("level = 0 AND reads > 0").drop("level", "taken_at")


def run_level(levels: DataFrame) -> DataFrame:
    """The rows of `both_levels` of each run."""
    return levels.where("level = 1")


def clock() -> Column:
    """Seconds of the UTC day of `taken_at`."""
    return sf.pmod(sf.unix_seconds("taken_at"), sf.lit(_DAY_SECONDS))


def first_and_last(value: str) -> dict[str, Column]:
    """The value where it was first and last known, when (`second`s), and how often it was."""
    known = sf.when(sf.col(value).isNotNull(), sf.col("second"))
    return {
        "first": sf.min_by(value, known),
        "last": sf.max_by(value, known),
        "first_at": sf.min(known),
        "last_at": sf.max(known),
        "times": sf.count(value),
    }


def ordered(value: Column) -> Column:
    """A number by which rows sort by `value`, a whole number >= 0, and then by `second`."""
    return sf.least(value, sf.lit(_LARGEST)) * _CLOCK + sf.col("second")


def second_of(order: Column) -> Column:
    """The second in a number made by `ordered`."""
    return sf.pmod(order, sf.lit(_CLOCK))
