# SPDX-License-Identifier: Apache-2.0
"""Each group's day in numbers, from `lag_summary`."""

from dataclasses import fields

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.page.frames.worst import worst
from kafka_lag_report.page.model import GroupDay, Listed

COLUMNS = tuple(field.name for field in fields(GroupDay) if field.name != "group")


def group_days(lag_summary: DataFrame, limit: int) -> Listed[GroupDay]:
    """The groups' own rows; of more than `limit` those that lost, erred or missed most."""
    own = lag_summary.where(sf.col("topic").isNull())
    missed = sf.col("sla_minutes") - sf.col("sla_met_minutes")
    order = (
        sf.col("records_lost").desc_nulls_last(),
        sf.col("err_minutes").desc_nulls_last(),
        missed.desc_nulls_last(),
        sf.col("warn_minutes").desc_nulls_last(),
        sf.col("time_lag_max").desc_nulls_last(),
        "consumer_group",
    )
    rows, total = worst(own.select("consumer_group", *COLUMNS), order, limit)
    days = (GroupDay(row["consumer_group"], *(row[name] for name in COLUMNS)) for row in rows)
    return Listed(tuple(days), total)
