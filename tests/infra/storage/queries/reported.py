# SPDX-License-Identifier: Apache-2.0
"""Reports of a cluster, written as the catalog declares them, with each test's own rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_lag import contract
from kafka_lag.contract.reports import REPORT_COLUMNS
from tests.infra.storage.queries.story import SHOP

SATURDAY, FRIDAY = "2026-01-31", "2026-01-30"

_ARROW = {
    contract.STRING: pa.string(),
    contract.LONG: pa.int64(),
    contract.INT: pa.int32(),
    contract.DOUBLE: pa.float64(),
    contract.BOOLEAN: pa.bool_(),
    contract.TIMESTAMP: pa.timestamp("ms", tz="UTC"),
    contract.INT_LIST: pa.list_(pa.int32()),
}


def write_report(
    folder: Path, name: str, rows: Sequence[dict[str, Any]], *, day: str = SATURDAY
) -> None:
    """A day's report; columns that a row does not name are null, and others are an error."""
    columns = REPORT_COLUMNS[name]
    assert {column for row in rows for column in row} <= set(columns)
    schema = pa.schema([(column, _ARROW[kind]) for column, kind in columns.items()])
    place = folder / contract.REPORT_PREFIX / name / f"cluster={SHOP}" / f"dt={day}"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), place / "part-0.parquet")
