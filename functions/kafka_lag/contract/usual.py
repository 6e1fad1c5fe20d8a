# SPDX-License-Identifier: Apache-2.0
"""The usual figures of groups: one object a cluster, and what both sides call unusual.

The daily report writes it and the collector reads it.
"""

from kafka_lag.contract.columns import DOUBLE, INT, STRING

USUAL_PREFIX = "usual"
# In the file's metadata: MAJOR.MINOR of its columns, and the last day that was taken in.
USUAL_VERSION, USUAL_VERSION_KEY = "1.1", "kafka_lag_usual_version"
USUAL_DATE_KEY = "kafka_lag_usual_date"

# An hour is compared with the same hour of the same weekday in so many weeks, of which so many
# must be known; a spread of two means nothing.
USUAL_WEEKS, LEAST_WEEKS = 6, 3
# A collector judges some hundred times as many values as a report: it waits for one more.
LEAST_WEEKS_OF_RUNS = 4

# A value is unusual from so many times the spread on. The spread is never taken for less than this
# part of the usual value, nor for less than the floor of its measure: records, s, records/s.
FAR = 5.0
# Runs in a row that must be so before it is said: a single one is often chance.
FAR_RUNS = 3
USUAL_PART = 0.1
FLOORS = {"lag": 20.0, "time_lag_seconds": 10.0, "produce_rate": 0.2}

# A row a group, weekday (1 is Monday) and hour, UTC; sorted by weekday, hour and group.
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
# Those that older files lack, which are unknown then.
USUAL_ADDED = ("usual_produce_rate", "produce_rate_spread")


def usual_key(folder: str) -> str:
    """The object's key; `folder` is the cluster's, `cluster=<name>`."""
    return f"{USUAL_PREFIX}/{folder}/usual.parquet"
