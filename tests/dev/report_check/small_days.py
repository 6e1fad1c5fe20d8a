# SPDX-License-Identifier: Apache-2.0
"""Days of a few rows, and every report that the SQL makes of them."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb

from dev.report_check import run
from tests.glue_jobs.days import Row, write_run

DAY = date(2026, 1, 31)
TOMORROW = DAY + timedelta(days=1)
MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)


def second(number: float) -> datetime:
    """So many seconds after the day's midnight."""
    return MIDNIGHT + timedelta(seconds=number)


def write_rows(root: Path, dataset: str, rows: Sequence[Row]) -> None:
    """Rows with their `taken_at`, an object for each time."""
    runs: defaultdict[datetime, list[Row]] = defaultdict(list)
    for row in rows:
        runs[row["taken_at"]].append(row)
    for at, of_run in runs.items():
        write_run(root, dataset, of_run, at=at)


def reports(root: Path, *, today: date = TOMORROW, cluster: str = "demo") -> dict[str, list[Row]]:
    """The rows of each report."""
    with duckdb.connect() as connection:
        tables = run(connection, root, cluster, DAY, today=today)
    return {name: table.to_pylist() for name, table in tables.items()}
