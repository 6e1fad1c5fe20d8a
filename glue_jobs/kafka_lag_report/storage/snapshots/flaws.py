# SPDX-License-Identifier: Apache-2.0
"""What is wrong with an object, by its name and footer: pure, one verdict an object."""

import re

from kafka_lag_report.errors import DataError
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage.snapshots.day import Run
from kafka_lag_report.storage.snapshots.footers import DAMAGED, VERSION_KEY, Footer

MAJOR = 2
# Columns that came later, by dataset: files of versions before the one named may lack them.
ADDED: dict[str, dict[str, tuple[int, int]]] = {
    "groups": {
        "status_since": (2, 0),
        "group_epoch": (2, 2),
        "rebalances": (2, 2),
        "usual_lag": (2, 3),
        "usual_time_lag": (2, 3),
        "unusual": (2, 3),
    },
    "group_partitions": {
        "work_between_pauses": (2, 1),
        "work_since_pause": (2, 1),
        "pause_age_left": (2, 1),
        "long_pause_seconds": (2, 1),
        "long_pauses_seen": (2, 1),
        "work_between_long_pauses": (2, 1),
        "work_since_long_pause": (2, 1),
        "long_pause_age_left": (2, 1),
        "not_catching_up_since": (2, 1),
        "last_lag": (2, 1),
        "last_time_lag_seconds": (2, 1),
        "uncounted": (2, 1),
    },
}

# MAJOR.MINOR; without a dot MINOR is 0.
_VERSION = re.compile(r"([1-9][0-9]*)(?:\.([0-9]+))?", re.ASCII)

# By Spark's name of a column's type: Parquet's, and the readings of it that Spark takes alike.
_TYPES = {
    "string": {"binary STRING", "binary UTF8"},
    "bigint": {"int64", "int64 INTEGER(64,true)"},
    "int": {"int32", "int32 INTEGER(32,true)"},
    "double": {"double"},
    "boolean": {"boolean"},
    "timestamp": {"int64 TIMESTAMP(MILLIS,true)", "int64 TIMESTAMP(MICROS,true)"},
    "array<int>": {"group LIST"},
}


def flaw(dataset: str, run: Run, footer: Footer | None) -> str | None:
    """Why an object is no usable snapshot; null if it is one.

    DataError for one of a newer MAJOR version, which is right and must not be left out.
    """
    if run.taken_at is None:
        return "its name is no run's of this date and hour"
    if footer is None:
        return DAMAGED
    named = _VERSION.fullmatch(footer.version or "")
    if named is None:
        return f"no snapshot of this reporter: its metadata has no number as {VERSION_KEY}"
    version = int(named[1]), int(named[2] or 0)
    if version[0] > MAJOR:
        raise DataError(
            f"{run.path} is of schema version {footer.version} and this job reads up to {MAJOR}.x; "
            "deploy the job of the collector's release"
        )
    return _wrong_column(dataset, footer, version)


def _wrong_column(dataset: str, footer: Footer, version: tuple[int, int]) -> str | None:
    added = ADDED.get(dataset, {})
    for column in SNAPSHOTS[dataset]:
        expected, found = column.dataType.simpleString(), footer.columns.get(column.name)
        if found is None and version >= added.get(column.name, (1, 0)):
            return f"no snapshot of {dataset}: column {column.name} is missing"
        if found is not None and found not in _TYPES[expected]:
            return f"column {column.name} is {found} and should be {expected}"
    return None
