# SPDX-License-Identifier: Apache-2.0
"""Each group's hours, small enough to keep: what `anomalies` calls usual."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.run_weights import weighted_mean, weighted_minutes

# What lasts for fewer runs of an hour is nothing unusual.
_HIGH = 0.95


def lag_hourly(groups: DataFrame) -> DataFrame:
    """Time-weighted means per group and UTC hour in which the group was read.

    `known_minutes` is how long time lag was known; a mean is null where its value never was. The
    deviations are standard ones, of the hour's runs from each other. A twentieth of the runs, three
    of the sixty at one a minute, lie above `time_lag_high` and `lag_high`.
    """
    read = groups.where("unread_reason IS NULL")
    hours = read.groupBy("consumer_group", sf.hour("taken_at").alias("hour"))
    return hours.agg(
        weighted_minutes(sf.col("time_lag_seconds").isNotNull()).alias("known_minutes"),
        weighted_mean("time_lag_seconds").alias("time_lag_seconds"),
        sf.max("time_lag_seconds").alias("time_lag_max"),
        sf.stddev_pop("time_lag_seconds").alias("time_lag_deviation"),
        sf.percentile("time_lag_seconds", sf.lit(_HIGH)).alias("time_lag_high"),
        weighted_mean("lag").alias("lag"),
        sf.stddev_pop("lag").alias("lag_deviation"),
        sf.percentile("lag", sf.lit(_HIGH)).alias("lag_high"),
        weighted_mean("produce_rate").alias("produce_rate"),
        sf.stddev_pop("produce_rate").alias("produce_rate_deviation"),
        sf.max("produce_rate").alias("produce_rate_max"),
        weighted_mean("consume_rate").alias("consume_rate"),
    )
