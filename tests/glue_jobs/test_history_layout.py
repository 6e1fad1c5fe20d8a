# SPDX-License-Identifier: Apache-2.0
"""Files of a compacted day: rows by name and time, and as many files as its size asks for."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_report.history_file import ROW_GROUP_ROWS, encode, sorted_rows
from kafka_lag_report.schemas import arrow_schema
from tests.glue_jobs.days import Row, minute


def table(dataset: str, rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=arrow_schema(dataset))


# Above the basic plane UTF-16 sorts otherwise than UTF-8.
_NAME = st.sampled_from(["", "a", "B", "b", "\uff5e", "\U0001f600", "é"])


@given(
    st.lists(st.tuples(_NAME, _NAME, st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)
)
def test_rows_are_sorted_by_name_byte_by_byte_and_then_by_time(
    found: list[tuple[str, str, int, int]],
) -> None:
    rows = [
        {"consumer_group": g, "topic": t, "partition_id": p, "taken_at": minute(m), "lag": i}
        for i, (g, t, p, m) in enumerate(found)
    ]

    done = sorted_rows(table("group_partitions", rows), "group_partitions")

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        group, topic = row["consumer_group"].encode(), row["topic"].encode()
        return group, topic, row["partition_id"], row["taken_at"]

    # a stable sort: whatever lies in one row stays in one row
    assert [row["lag"] for row in done.to_pylist()] == [
        row["lag"] for row in sorted(rows, key=place)
    ]


def test_a_reader_finds_a_name_without_the_rest(tmp_path: Path) -> None:
    count = ROW_GROUP_ROWS + 1
    groups = pa.array([f"g{number // 1000:04}" for number in range(count)]).dictionary_encode()
    columns = [
        groups if f.name == "consumer_group" else pa.nulls(count, f.type)
        for f in arrow_schema("groups")
    ]

    schema = arrow_schema("groups")
    path = str(tmp_path / "made.parquet")
    encode(path, schema, [pa.table(columns, schema)])
    file = pq.ParquetFile(path)

    place = file.schema_arrow.get_field_index("consumer_group")
    ranges = [file.metadata.row_group(n).column(place) for n in range(file.num_row_groups)]
    assert [(r.statistics.min, r.statistics.max) for r in ranges] == [
        ("g0000", "g0065"),
        ("g0065", "g0065"),
    ]
    assert all(r.has_column_index and r.has_offset_index for r in ranges)
