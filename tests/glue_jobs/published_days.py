# SPDX-License-Identifier: Apache-2.0
"""Reports of a day, published and read back; each file tells which cluster it belongs to."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_lag_report.schemas import report_schema
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import NOON, a_day

CLUSTERS = ("a", "b")
# Of all reports, as there is no difference between them here.
TABLES = ("lag_summary", "lag_hourly", "anomalies", "incidents")
DATE = NOON.date()
DAYS = [a_day(name) for name in CLUSTERS]
A_DAY = DAYS[0]


def tables(name: str, rows: int, *, without: Sequence[str] = ()) -> dict[str, pa.Table]:
    """So many rows of each report, all of this name; none of those `without`."""
    made = {}
    for table in TABLES:
        schema = report_schema(table)
        texts = [n for n in schema.names if pa.types.is_string(schema.field(n).type)]
        row = dict.fromkeys(texts, name)
        made[table] = pa.Table.from_pylist([row] * (0 if table in without else rows), schema)
    return made


def is_replaced(root: str, cluster: str) -> bool:
    """Whether readers are warned that the day may be of two runs."""
    return Storage().exists(f"{root}/reports/_replacing/cluster={cluster}/dt={DATE}/complete")


def published(root: str, cluster: str) -> str:
    """Whose the cluster's reports are, and what they lack; it fails if they are of several."""
    place, storage = f"cluster={cluster}/dt={DATE}", Storage()
    names = {*storage.read(f"{root}/reports/page/{place}/report.html").decode().split()}
    rows, lacking = set[int](), list[str]()
    for table in TABLES:
        folder = f"{root}/reports/{table}/{place}"
        for file in storage.objects(folder, ".parquet"):
            whole = pq.ParquetFile(pa.BufferReader(storage.read(f"{folder}/{file.name}"))).read()
            names |= {
                *next(column for column in whole.columns if not column.null_count).to_pylist()
            }
            rows.add(whole.num_rows)
            break
        else:
            lacking.append(table)
    (name,), (_,) = names, rows
    return " without ".join((name, *lacking))
