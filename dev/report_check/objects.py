# SPDX-License-Identifier: Apache-2.0
"""The objects of a cluster's day, and which of them hold rows that can be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from glob import escape
from pathlib import Path
from urllib.parse import quote

import duckdb

from dev.report_check.types import Kind

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
