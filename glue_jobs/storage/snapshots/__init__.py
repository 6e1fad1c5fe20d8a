# SPDX-License-Identifier: Apache-2.0
"""A day of snapshots: found by listing, checked object by object, read as rows."""

from glue_jobs.storage.snapshots.ask import asked_days
from glue_jobs.storage.snapshots.day import Day, Run
from glue_jobs.storage.snapshots.find import find_day
from glue_jobs.storage.snapshots.footers import history_rows
from glue_jobs.storage.snapshots.left_out import leaving_out_bad
from glue_jobs.storage.snapshots.read import read

__all__ = [
    "Day",
    "Run",
    "asked_days",
    "find_day",
    "history_rows",
    "leaving_out_bad",
    "read",
]
