# SPDX-License-Identifier: Apache-2.0
"""Tasks that groups needed in the day and in each of its hours, as quartiles of the time.

By hour of the week they are the tables of seven days.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag.contract import TASKS_QUARTILES
from kafka_lag_report.run_weights import weighted_minutes, whole_seconds

_OF = ("consumer_group", "hour")
_NAMES = ("lower_quartile", "median", "upper_quartile")
_HALF = 0.5


def tasks_needed(groups: DataFrame) -> DataFrame:
    """A row per group and UTC hour in which it is known, and one of the day with null `hour`.

    A quartile is the least number that was enough for that part of the time in which it is known,
    `members` the same for half of the time. `last_tasks_needed` and `tasks_needed_reason` are the
    last that were known.
    """
    known = groups.where("unread_reason IS NULL AND tasks_needed IS NOT NULL").select(
        "consumer_group",
        "taken_at",
        "weight",
        "tasks_needed",
        "members",
        sf.col("tasks_needed_reason").alias("reason"),
        whole_seconds().alias("seconds"),
    )
    day = known.withColumn("hour", sf.lit(None).cast("int"))
    rows = known.withColumn("hour", sf.hour("taken_at")).unionByName(day)
    for name in ("tasks_needed", "members"):
        rows = rows.withColumn(f"{name}_part", _part_reached(name))
    quartiles = zip(_NAMES, TASKS_QUARTILES, strict=True)
    return rows.groupBy(*_OF).agg(
        weighted_minutes(sf.lit(True)).alias("known_minutes"),
        *(_least_for("tasks_needed", part).alias(name) for name, part in quartiles),
        sf.max("tasks_needed").alias("most"),
        _least_for("members", _HALF).alias("members"),
        sf.max_by("tasks_needed", "taken_at").alias("last_tasks_needed"),
        sf.max_by("reason", sf.when(sf.col("reason").isNotNull(), sf.col("taken_at"))).alias(
            "tasks_needed_reason"
        ),
    )


def _part_reached(name: str) -> Column:
    """In which part of the time in which it is known no more were there."""
    own = Window.partitionBy(*_OF)
    seconds = sf.when(sf.col(name).isNotNull(), sf.col("seconds"))
    upwards = own.orderBy(name).rangeBetween(Window.unboundedPreceding, Window.currentRow)
    return sf.try_divide(sf.sum(seconds).over(upwards), sf.sum(seconds).over(own))


def _least_for(name: str, part: float) -> Column:
    return sf.min(sf.when(sf.col(f"{name}_part") >= part, sf.col(name)))
