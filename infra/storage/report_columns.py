# SPDX-License-Identifier: Apache-2.0
"""The columns of the daily reports in the contract's types, by report.

The job that writes them has its own in Spark's types and imports nothing from here; a test holds
the two together.
"""

from functions.contract import BOOLEAN, DOUBLE, INT, LONG, STRING, TIMESTAMP

PARTITION_SKEW, RETENTION_RISK = "partition_skew", "retention_risk"

REPORT_COLUMNS = {
    PARTITION_SKEW: {
        "consumer_group": STRING,
        "topic": STRING,
        "lag_partitions": INT,
        "lag_mean": DOUBLE,
        "lag_max": DOUBLE,
        "lag_max_to_mean": DOUBLE,
        "lag_top_partition": INT,
        "lag_top_share": DOUBLE,
        "lag_even_share": DOUBLE,
        "lag_gini": DOUBLE,
        "lag_skewed": BOOLEAN,
        "production_partitions": INT,
        "production_mean": DOUBLE,
        "production_max": DOUBLE,
        "production_max_to_mean": DOUBLE,
        "production_top_partition": INT,
        "production_top_share": DOUBLE,
        "production_even_share": DOUBLE,
        "production_gini": DOUBLE,
        "production_skewed": BOOLEAN,
    },
    RETENTION_RISK: {
        "consumer_group": STRING,
        "topic": STRING,
        "partition_id": INT,
        "retention_risk": STRING,
        "records_lost": LONG,
        "least_margin": LONG,
        "least_margin_at": TIMESTAMP,
        "lag_at_least_margin": LONG,
        "least_seconds_until_loss": DOUBLE,
        "least_seconds_until_loss_at": TIMESTAMP,
    },
}
