# SPDX-License-Identifier: Apache-2.0
"""All reports of a cluster's day, from its raw snapshots and the hours stored before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path

import duckdb
import pyarrow as pa

from dev.report_check.objects import Object, folder, literal, objects_of, sound
from dev.report_check.types import Kind, casts, kinds_of
from kafka_lag_report.schemas import REPORTS, SNAPSHOTS

_HISTORY_WEEKS = 6
_QUERIES = files("dev.report_check")


def run(
    connection: duckdb.DuckDBPyConnection, root: Path, cluster: str, day: date, *, today: date
) -> dict[str, pa.Table]:
    """Every report of the cluster's day, as `kafka_lag_report.schemas` declares it, unordered.

    `root` is read only. Objects that hold no such rows are skipped, and `coverage` names them.
    """
    prepare(connection, root, cluster, day, today=today)
    return {name: report(connection, name) for name in REPORTS}


def prepare(
    connection: duckdb.DuckDBPyConnection, root: Path, cluster: str, day: date, *, today: date
) -> None:
    """Makes the temporary tables that reports share."""
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET VARIABLE day = $1", [day])
    connection.execute("SET VARIABLE today = $1", [today])
    _open_snapshots(connection, root, cluster, day)
    _open_past(connection, root, cluster, day)
    for step in sorted(_QUERIES.joinpath("reductions").iterdir(), key=lambda file: file.name):
        connection.execute(step.read_text())


def report(connection: duckdb.DuckDBPyConnection, name: str) -> pa.Table:
    """One report of what was prepared; `anomalies` wants `lag_hourly` first."""
    kinds = kinds_of(REPORTS[name])
    rows = connection.sql(_QUERIES.joinpath("reports", f"{name}.sql").read_text())
    schema = pa.schema([(column, kind.arrow) for column, kind in kinds.items()])
    table = rows.project(casts(kinds, set(kinds))).to_arrow_table().cast(schema)
    connection.register(name, table)
    return table


def _open_snapshots(
    connection: duckdb.DuckDBPyConnection, root: Path, cluster: str, day: date
) -> None:
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE objects"
        " (dataset VARCHAR, name VARCHAR, taken_at TIMESTAMP, is_read BOOLEAN)"
    )
    for dataset, declared in SNAPSHOTS.items():
        kinds = kinds_of(declared)
        found = objects_of(root, dataset, cluster, day)
        good = sound(connection, kinds, found)
        _note(connection, dataset, found, good)
        _view(connection, dataset, kinds, [each.path for each in good])


def _open_past(connection: duckdb.DuckDBPyConnection, root: Path, cluster: str, day: date) -> None:
    days = [day - timedelta(weeks=back) for back in range(1, _HISTORY_WEEKS + 1)]
    places = [folder(root, "reports", "lag_hourly", cluster=cluster, day=each) for each in days]
    paths = [path for place in places for path in place.glob("*.parquet")]
    _view(connection, "past_hours", kinds_of(REPORTS["lag_hourly"]), paths)


def _note(
    connection: duckdb.DuckDBPyConnection,
    dataset: str,
    found: Sequence[Object],
    good: Sequence[Object],
) -> None:
    read = {each.path for each in good}
    noted = pa.table(
        {
            "dataset": [dataset] * len(found),
            "name": [each.path.name for each in found],
            "taken_at": pa.array([each.taken_at for each in found], pa.timestamp("us")),
            "is_read": [each.path in read for each in found],
        }
    )
    connection.register("noted", noted)
    connection.execute("INSERT INTO objects SELECT * FROM noted")
    connection.unregister("noted")


def _view(
    connection: duckdb.DuckDBPyConnection, name: str, kinds: dict[str, Kind], paths: Sequence[Path]
) -> None:
    """Files as one table whose columns are all there; times are UTC without a zone."""
    if paths:
        # The folders' names are no columns of these.
        rows = connection.read_parquet(literal(paths), union_by_name=True, hive_partitioning=False)
    else:
        rows = connection.sql("SELECT 1 AS none WHERE false")
    rows.project(casts(kinds, set(rows.columns))).create_view(name, replace=True)
