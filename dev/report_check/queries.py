# SPDX-License-Identifier: Apache-2.0
"""Every report in DuckDB SQL over the objects of a day that hold rows which can be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from glob import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.types import StructType

from kafka_lag_report.schemas import REPORTS, SNAPSHOTS


@dataclass(frozen=True, slots=True)
class Kind:
    """`stored` are the physical types a Parquet file may have for it; empty: not looked at."""

    duckdb: str
    arrow: pa.DataType
    stored: frozenset[str]


_KINDS = {
    "string": Kind("VARCHAR", pa.string(), frozenset({"BYTE_ARRAY"})),
    "bigint": Kind("BIGINT", pa.int64(), frozenset({"INT32", "INT64"})),
    "int": Kind("INTEGER", pa.int32(), frozenset({"INT32", "INT64"})),
    "double": Kind("DOUBLE", pa.float64(), frozenset({"DOUBLE", "FLOAT"})),
    "boolean": Kind("BOOLEAN", pa.bool_(), frozenset({"BOOLEAN"})),
    "timestamp": Kind("TIMESTAMP", pa.timestamp("ms", tz="UTC"), frozenset({"INT64", "INT96"})),
    "array<int>": Kind("INTEGER[]", pa.list_(pa.int32()), frozenset()),
    "array<double>": Kind("DOUBLE[]", pa.list_(pa.float64()), frozenset()),
}


def kinds_of(declared: StructType) -> dict[str, Kind]:
    """The type of each column, in their order."""
    return {field.name: _KINDS[field.dataType.simpleString()] for field in declared.fields}


def casts(kinds: dict[str, Kind], there: set[str]) -> str:
    """A SELECT's columns: those that are there with their types, the others null."""
    return ", ".join(
        f"CAST({name if name in there else 'NULL'} AS {kind.duckdb}) AS {name}"
        for name, kind in kinds.items()
    )


_KEYS = {"taken_at", "consumer_group", "topic", "partition_id"}
_NAME = re.compile(r"(\d{8}T\d{6})Z-\d+of\d+\.parquet")


@dataclass(frozen=True, slots=True)
class Object:
    """One file; `taken_at` is its run in UTC, without a zone, null where its name is no run's."""

    path: Path
    taken_at: datetime | None


def folder(root: Path, *parts: str, cluster: str, day: date) -> Path:
    """Where one dataset or report of a cluster's day lies; the folder's name is percent-encoded."""
    return root.joinpath(*parts, f"cluster={quote(cluster, safe='')}", f"dt={day.isoformat()}")


def objects_of(root: Path, dataset: str, cluster: str, day: date) -> list[Object]:
    """All objects of one dataset by their names, whatever is in them."""
    place = folder(root, "snapshots", dataset, cluster=cluster, day=day)
    return [Object(path, _run(path, day)) for path in sorted(place.glob("hour=*/*.parquet"))]


def _run(path: Path, day: date) -> datetime | None:
    match = _NAME.fullmatch(path.name)
    try:
        time = datetime.strptime(match.group(1), "%Y%m%dT%H%M%S") if match else None
    except ValueError:
        return None
    its_own = time is not None and time.date() == day and path.parent.name == f"hour={time:%H}"
    return time if its_own else None


def sound(
    connection: duckdb.DuckDBPyConnection, kinds: Mapping[str, Kind], objects: Sequence[Object]
) -> list[Object]:
    """The objects that are a run's, Parquet, have the key and no column of another type."""
    objects = [each for each in objects if each.taken_at]
    if not objects:
        return []
    try:
        stored = _stored(connection, objects)
    except duckdb.Error:
        if len(objects) == 1:
            return []
        # An error is of one of them, and does not always say which.
        half = len(objects) // 2
        parts = (objects[:half], objects[half:])
        return [each for part in parts for each in sound(connection, kinds, part)]
    return [each for each in objects if _fits(kinds, stored[str(each.path)])]


def literal(paths: Iterable[Path]) -> list[str]:
    """Paths as DuckDB wants them, to which a name with `*` or `[` is a pattern."""
    return [escape(str(path)) for path in paths]


def _stored(
    connection: duckdb.DuckDBPyConnection, objects: Sequence[Object]
) -> dict[str, dict[str, str | None]]:
    """Column -> physical type, null for a list, by file."""
    rows = connection.execute(
        "SELECT file_name, map_from_entries(list((name, type))) FROM ("
        "    SELECT DISTINCT ON (file_name, name) file_name, name, type FROM parquet_schema($1)"
        ") GROUP BY file_name",
        [literal(each.path for each in objects)],
    ).fetchall()
    return dict(rows)


def _fits(kinds: Mapping[str, Kind], stored: Mapping[str, str | None]) -> bool:
    has_key = (_KEYS & kinds.keys()) <= stored.keys()
    return has_key and all(
        stored[name] in kind.stored
        for name, kind in kinds.items()
        if name in stored and kind.stored
    )


def written(root: Path, report: str, cluster: str, day: date) -> pa.Table:
    """The rows of a report's files; a table without columns where there is no file."""
    place = folder(root, "reports", report, cluster=cluster, day=day)
    # One by one: a dataset read would add the folders' names as columns.
    parts = [pq.ParquetFile(path).read() for path in sorted(place.glob("*.parquet"))]
    return pa.concat_tables(parts) if parts else pa.table({})


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
