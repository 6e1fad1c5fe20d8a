# SPDX-License-Identifier: Apache-2.0
"""Each group's hours, small enough to keep: what `anomalies` calls usual."""

from pyspark.sql import DataFrame

from kafka_lag_report.run_weights import weighted_mean, weighted_minutes
from kafka_lag_report.segments import IS_AGE_LEAST
from kafka_lag_report.skew import grouped, with_columns

# What lasts for fewer runs of an hour is nothing unusual.
_HIGH = "0.95D"
_MEASURES = {
    "known_minutes": weighted_minutes("time_lag_seconds IS NOT NULL"),
    "time_lag_seconds": weighted_mean("time_lag_seconds"),
    "time_lag_max": "max(time_lag_seconds)",
    "time_lag_least_minutes": weighted_minutes(IS_AGE_LEAST),
    "time_lag_deviation": "stddev_pop(time_lag_seconds)",
    "time_lag_high": f"percentile(time_lag_seconds, {_HIGH})",
    "lag": weighted_mean("lag"),
    "lag_deviation": "stddev_pop(lag)",
    "lag_high": f"percentile(lag, {_HIGH})",
    "produce_rate": weighted_mean("produce_rate"),
    "produce_rate_deviation": "stddev_pop(produce_rate)",
    "produce_rate_max": "max(produce_rate)",
    "consume_rate": weighted_mean("consume_rate"),
}


def lag_hourly(groups: DataFrame) -> DataFrame:
    """Time-weighted means per group and UTC hour in which the group was read.

    `known_minutes` is how long time lag was known, `time_lag_least_minutes` for how long of it
    without an upper bound; a mean is null where its value never was. The deviations are standard
    ones, of the hour's runs from each other. A twentieth of the runs, three of the sixty at one a
    minute, lie above `time_lag_high` and `lag_high`.
    """
    read = with_columns(groups.where("unread_reason IS NULL"), {"hour": "hour(taken_at)"})
    return grouped(read, ("consumer_group", "hour"), _MEASURES)
