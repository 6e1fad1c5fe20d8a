# SPDX-License-Identifier: Apache-2.0
"""A day of snapshots: found by listing, checked object by object, read as rows."""

from kafka_lag_report.storage.snapshots.ask import asked_days
from kafka_lag_report.storage.snapshots.day import Day, Run
from kafka_lag_report.storage.snapshots.find import find_day
from kafka_lag_report.storage.snapshots.footers import history_rows
from kafka_lag_report.storage.snapshots.left_out import leaving_out_bad
from kafka_lag_report.storage.snapshots.read import read

__all__ = [
    "Day",
    "Run",
    "asked_days",
    "find_day",
    "history_rows",
    "leaving_out_bad",
    "read",
]
