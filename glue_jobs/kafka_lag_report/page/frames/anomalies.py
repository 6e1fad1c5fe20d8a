# SPDX-License-Identifier: Apache-2.0
"""The hours that left a group's usual range, from `anomalies`."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.page.frames.worst import worst
from kafka_lag_report.page.model import Anomaly, Listed


def unusual_hours(anomalies: DataFrame, limit: int) -> Listed[Anomaly]:
    """The furthest from its usual first."""
    order = (sf.abs("deviation").desc_nulls_last(), "consumer_group", "measure", "hour")
    rows, total = worst(anomalies, order, limit)
    found = (
        Anomaly(
            group=row["consumer_group"],
            hour=row["hour"],
            measure=row["measure"],
            value=row["value"],
            usual=row["usual"],
            deviation=row["deviation"],
            direction=row["direction"],
            days=row["days"],
        )
        for row in rows
    )
    return Listed(tuple(found), total)
