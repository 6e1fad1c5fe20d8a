# SPDX-License-Identifier: Apache-2.0
"""What is wrong with an object, by its name and footer: pure, one verdict an object."""

from glue_jobs.errors import DataError
from glue_jobs.schemas import SNAPSHOTS
from glue_jobs.storage.snapshots.day import Run
from glue_jobs.storage.snapshots.footers import DAMAGED, VERSION_KEY, Footer

VERSION = 2
# What files of older versions may lack, by version and dataset.
LACKING = {1: {"groups": {"status_since"}}}

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

    DataError for one of a newer version, which is right and must not be left out.
    """
    if run.taken_at is None:
        return "its name is no run's of this date and hour"
    if footer is None:
        return DAMAGED
    version = footer.version or ""
    if not version.isdecimal() or int(version) < 1:
        return f"no snapshot of this reporter: its metadata has no number as {VERSION_KEY}"
    if int(version) > VERSION:
        raise DataError(
            f"{run.path} is of schema version {version} and this job reads up to {VERSION}; "
            "deploy the job of the collector's release"
        )
    return _wrong_column(dataset, footer, LACKING.get(int(version), {}).get(dataset, set()))


def _wrong_column(dataset: str, footer: Footer, lacking: set[str]) -> str | None:
    for column in SNAPSHOTS[dataset]:
        expected, found = column.dataType.simpleString(), footer.columns.get(column.name)
        if found is None and column.name not in lacking:
            return f"no snapshot of {dataset}: column {column.name} is missing"
        if found is not None and found not in _TYPES[expected]:
            return f"column {column.name} is {found} and should be {expected}"
    return None
