# SPDX-License-Identifier: Apache-2.0
"""How rows lie in a file of the history: sorted by name and time, in small row groups.

A query for one group reads, of each file, only the row groups whose range holds its name.
"""

from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

# What identifies a row but for its time, and by what rows are sorted.
KEYS = {
    "topic_partitions": ("topic", "partition_id"),
    "group_partitions": ("consumer_group", "topic", "partition_id"),
    "groups": ("consumer_group",),
}
TIME = "taken_at"

# Of some 2 MB: small enough to skip most of a file, large enough to be worth a request to S3.
ROW_GROUP_ROWS = 1 << 16

_SLOWLY_RISING = (pa.int64(), pa.timestamp("ms", tz="UTC"))

Order = npt.NDArray[np.int64]


def sorted_rows(table: pa.Table, dataset: str) -> pa.Table:
    """Rows by the dataset's key, of each key by time; the table's columns must be of one piece."""
    keys = [_ranks(table[name]) for name in (*KEYS[dataset], TIME)]
    # the last of lexsort's keys counts most
    return table.take(pa.array(np.lexsort(keys[::-1])))


def encoded(table: pa.Table) -> bytes:
    """The table as a Parquet file that Athena and every Spark of this job read."""
    # tried for numbers that hardly repeat, a dictionary is tried in vain
    rising = [field.name for field in table.schema if field.type in _SLOWLY_RISING]
    repeating = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    repeating += [f.name for f in table.schema if f.type == pa.int32()]
    file = BytesIO()
    pq.write_table(
        table,
        file,
        row_group_size=ROW_GROUP_ROWS,
        compression="zstd",
        use_dictionary=repeating,
        column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
        write_page_index=True,
        # else readers that know it would take text for dictionaries
        store_schema=False,
    )
    return file.getvalue()


def _ranks(column: pa.ChunkedArray) -> Order:
    """Numbers that sort as the values do: text byte by byte, as Spark and Parquet compare it."""
    (values,) = column.chunks or [pa.array([], column.type)]
    if not pa.types.is_dictionary(values.type):
        whole: Order = values.cast(pa.int64()).fill_null(-1).to_numpy()
        return whole
    order = pc.sort_indices(values.dictionary.cast(pa.binary())).to_numpy()
    ranks = np.full(len(order) + 1, -1, dtype=np.int64)
    ranks[order] = np.arange(len(order))
    chosen: Order = ranks[values.indices.fill_null(-1).to_numpy()]
    return chosen


def shares(sizes: Sequence[int], most: int) -> list[slice]:
    """Consecutive items in shares of about the same size, `most` or so; none of no items."""
    count = max(1, round(sum(sizes) / most))
    ends = np.cumsum(sizes)
    share = np.minimum((ends - 1) * count // max(1, sum(sizes)), count - 1)
    starts = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(sizes)]
    return [slice(a, b) for a, b in pairwise(starts) if a < b]
