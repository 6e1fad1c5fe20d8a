# SPDX-License-Identifier: Apache-2.0
"""The usual figures of a cluster's groups, which the daily report writes to the store."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import no_figures
from kafka_lag.snapshots.parquet import from_arrow
from kafka_lag.snapshots.store import SnapshotStore

_HOUR = ("weekday", "hour")
# Days (month, day) between which clocks somewhere go back or forward, except in zones that follow
# Ramadan. Hours are UTC, so an hour afterwards looks like the one before it or after it. The rule
# is fixed, because a function's image may lack the zones.
_CLOCK_CHANGES = {
    -1: (((3, 31), (4, 8)), ((10, 24), (11, 7))),
    1: (((3, 8), (4, 30)), ((9, 1), (10, 7))),
}
# After this time most of the weeks behind a usual figure are later than the change.
_UNTIL_LEARNT = timedelta(weeks=contract.USUAL_WEEKS // 2 + 1)


def load_usual(store: SnapshotStore, cluster: str, taken_at: int) -> tuple[Frame, ...]:
    """Returns the figures for the run's weekday and hour (UTC), then those of neighbouring hours.

    A neighbouring hour is one to which a clock change may have moved the day. Each frame has the
    columns of `USUAL_COLUMNS`. If the object does not exist, as before the first daily report, no
    figures are known. Raises UnusableError for an object that cannot be used, else StoreError.
    """
    key = contract.usual_key(f"cluster={cluster}")
    try:
        data = store.read(key)
    except UnusableError:
        return (no_figures(),)
    time = datetime.fromtimestamp(taken_at / 1000, UTC)
    hours = (0, *_list_clock_shifts(time.date()))
    return tuple(read_usual(data, key, time + timedelta(hours=each)) for each in hours)


def _list_clock_shifts(day: date) -> list[int]:
    """Returns the hours by which a day may differ from the usual one after a change of clocks.

    The usual figures do not yet include a change of the last weeks.
    """
    return [
        hours
        for hours, changes in _CLOCK_CHANGES.items()
        if any(
            date(day.year, *first) <= day < date(day.year, *last) + _UNTIL_LEARNT
            for first, last in changes
        )
    ]


def read_usual(data: bytes, key: str, time: datetime) -> Frame:
    """Returns the rows for the weekday and hour of `time`, UTC; other rows are not decoded.

    Raises UnusableError for bytes that are not such an object, that a newer version wrote, or that
    are older than all weeks to compare with.
    """
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        _check_metadata(file.schema_arrow.metadata or {}, key, time.date())
        parts = [_rows_of_hour(file, group, time) for group in range(file.num_row_groups)]
        table = pa.concat_tables([part for part in parts if part is not None] or [_no_rows(file)])
        columns = {n: from_arrow(table[n], kind) for n, kind in contract.USUAL_COLUMNS.items()}
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise UnusableError(f"{key} is not a readable file of usual figures: {error}") from error
    return Frame(columns, table.num_rows) if table.num_rows else no_figures()


def _check_metadata(metadata: dict[bytes, bytes], key: str, today: date) -> None:
    version = metadata[contract.USUAL_VERSION_KEY.encode()].decode()
    if int(version.partition(".")[0]) > int(contract.USUAL_VERSION.partition(".")[0]):
        raise UnusableError(
            f"{key} is of version {version} and this collector reads up to "
            f"{contract.USUAL_VERSION}: deploy the collector of the daily report's release"
        )
    known = date.fromisoformat(metadata[contract.USUAL_DATE_KEY.encode()].decode())
    if today - known > timedelta(weeks=contract.USUAL_WEEKS):
        raise UnusableError(f"{key} is of {known}: the daily report has written none since then")


def _rows_of_hour(file: Any, group: int, time: datetime) -> Any:
    """Returns a row group's rows for the weekday and hour; None if it has none."""
    hours = file.read_row_group(group, columns=_HOUR)
    same = (hours["weekday"].to_numpy() == time.isoweekday()) & (
        hours["hour"].to_numpy() == time.hour
    )
    if not same.any():
        return None
    columns = [n for n in contract.USUAL_COLUMNS if n in file.schema_arrow.names]
    return _complete(file.read_row_group(group, columns=columns).filter(pa.array(same)))


def _no_rows(file: Any) -> Any:
    return _complete(file.schema_arrow.empty_table())


def _complete(rows: Any) -> Any:
    """Adds the columns that a file of an older version lacks, as unknown."""
    for name in contract.USUAL_ADDED:
        if name not in rows.column_names:
            rows = rows.append_column(name, pa.nulls(len(rows), pa.float64()))
    return rows
