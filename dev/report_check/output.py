# SPDX-License-Identifier: Apache-2.0
"""What the job wrote, read as any reader of Parquet would."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dev.report_check.objects import folder


def written(root: Path, report: str, cluster: str, day: date) -> pa.Table:
    """The rows of a report's files; a table without columns where there is no file."""
    place = folder(root, "reports", report, cluster=cluster, day=day)
    # One by one: a dataset read would add the folders' names as columns.
    parts = [pq.ParquetFile(path).read() for path in sorted(place.glob("*.parquet"))]
    return pa.concat_tables(parts) if parts else pa.table({})
