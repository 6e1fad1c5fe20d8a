# SPDX-License-Identifier: Apache-2.0
"""The usual figures of groups, one object per cluster, and the limits of unusual values.

The daily report writes the object and the collector reads it.
"""

from kafka_lag.contract.columns import DOUBLE, INT, STRING

USUAL_PREFIX = "usual"
# In the file's metadata: MAJOR.MINOR of its columns, and the last day that is included.
USUAL_VERSION, USUAL_VERSION_KEY = "1.1", "kafka_lag_usual_version"
USUAL_DATE_KEY = "kafka_lag_usual_date"

# An hour is compared with the same hour and weekday of this many weeks. At least the second number
# of weeks must be known, because a spread of two means nothing.
USUAL_WEEKS, LEAST_WEEKS = 6, 3
# A collector needs one week more, because it judges some hundred times as many values as a report.
LEAST_WEEKS_OF_RUNS = 4

# A value is unusual if it is FAR spreads from the usual one. The spread counts as at least
# USUAL_PART of the usual value, and at least the floor of its measure: records, s, records/s.
FAR = 5.0
# Runs in a row that must be far before a group is unusual, because a single one is often chance.
FAR_RUNS = 3
USUAL_PART = 0.1
FLOORS = {"lag": 20.0, "time_lag_seconds": 10.0, "produce_rate": 0.2}

# A row per group, weekday (1 is Monday) and hour, UTC; sorted by weekday, hour and group.
USUAL_COLUMNS = {
    "weekday": INT,
    "hour": INT,
    "consumer_group": STRING,
    "usual_lag": DOUBLE,
    "lag_spread": DOUBLE,
    "usual_time_lag": DOUBLE,
    "time_lag_spread": DOUBLE,
    "usual_produce_rate": DOUBLE,
    "produce_rate_spread": DOUBLE,
}
# Columns that older files lack; they are then unknown.
USUAL_ADDED = ("usual_produce_rate", "produce_rate_spread")


def usual_key(folder: str) -> str:
    """Returns the object's key; `folder` is the cluster's, `cluster=<name>`."""
    return f"{USUAL_PREFIX}/{folder}/usual.parquet"
