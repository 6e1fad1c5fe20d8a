# SPDX-License-Identifier: Apache-2.0
"""How much of the day was seen, from `coverage`: a row a dataset."""

from pyspark.sql import DataFrame

from kafka_lag_report.page.frames.worst import moment, seconds
from kafka_lag_report.page.model import Coverage

DATASETS = 10


def datasets(coverage: DataFrame) -> tuple[Coverage, ...]:
    """The datasets by name."""
    times = {name: seconds(name) for name in ("first_run", "last_run")}
    rows = coverage.withColumns(times).orderBy("dataset").limit(DATASETS).collect()
    return tuple(
        Coverage(
            dataset=row["dataset"],
            runs=row["runs"],
            expected_runs=row["expected_runs"],
            objects=row["objects"],
            objects_skipped=row["objects_skipped"],
            skipped=row["skipped"],
            first_run=moment(row["first_run"]),
            last_run=moment(row["last_run"]),
            interval=row["interval_seconds"],
            longest_gap=row["longest_gap_seconds"],
            in_progress=row["in_progress"],
            source=row["source"],
        )
        for row in rows
    )
