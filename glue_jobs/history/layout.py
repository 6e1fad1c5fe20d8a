# SPDX-License-Identifier: Apache-2.0
"""How a compacted day lies in files: sorted by name and time, each file a range of names.

A query for one group opens only the files and row groups whose range holds its name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, DataFrameWriter, Window
from pyspark.sql import functions as sf

from glue_jobs.schemas import SNAPSHOTS
from glue_jobs.schemas.types import DOUBLE, LONG, TIMESTAMP

# What identifies a row but for its time, and by what rows are sorted.
KEYS = {
    "topic_partitions": ("topic", "partition_id"),
    "group_partitions": ("consumer_group", "topic", "partition_id"),
    "groups": ("consumer_group",),
}

# Bytes of snapshots to a file: the sort of as many rows fits beside another one's in 4 GB.
FILE_BYTES = 64 << 20

# Spark places files by a hash: with many more places than files, few have to share one.
_PLACES = 10

_FORMAT = {
    "compression": "zstd",
    # A tenth quicker to write than the default, 3, at a tenth more bytes.
    "parquet.compression.codec.zstd.level": "1",
    # Smaller and quicker to write, for offsets and times that rise slowly.
    "parquet.writer.version": "v2",
    # Small enough for a reader to skip most of a file.
    "parquet.block.size": str(16 << 20),
}

Bounds = Mapping[str, Sequence[Sequence[Any]]]


def file_counts(sizes: Mapping[str, int]) -> dict[str, int]:
    """How many files each cluster's bytes of snapshots become, one at least."""
    return {cluster: max(1, round(size / FILE_BYTES)) for cluster, size in sizes.items()}


def bounds(sample: DataFrame, dataset: str, counts: Mapping[str, int]) -> Bounds:
    """The keys at which each cluster's second and further files begin.

    `sample` holds some of each cluster's rows, as of one run; a cluster it lacks gets one file.
    """
    keys = KEYS[dataset]
    several = [cluster for cluster, count in counts.items() if count > 1]
    if not several:
        return {}
    place = sf.percent_rank().over(Window.partitionBy("cluster").orderBy(*keys))
    count = _by_cluster({cluster: sf.lit(counts[cluster]) for cluster in several})
    # the last of all has rank 1
    file = sf.least(sf.floor(place * count), count - 1)
    first = (
        sample.where(sf.col("cluster").isin(several))
        .select("cluster", *keys, file.alias("file"))
        .groupBy("cluster", "file")
        .agg(sf.min(sf.struct(*keys)).alias("first"))
        .where("file > 0")
        .orderBy("cluster", "first")
        .collect()
    )
    # a row for each file, of which there are few
    return {c: [tuple(row["first"]) for row in first if row["cluster"] == c] for c in several}


def laid_out(rows: DataFrame, dataset: str, starts: Bounds) -> DataFrame:
    """Rows sorted by name and time, each file's in one task."""
    keys = KEYS[dataset]
    file = _by_cluster({cluster: _file(keys, begins) for cluster, begins in starts.items()})
    places = sum(len(begins) + 1 for begins in starts.values()) * _PLACES
    placed = rows.repartition(max(places, 1), "cluster", file)
    # the cluster first, or the writer sorts by it again and the order is gone
    return placed.sortWithinPartitions("cluster", *keys, "taken_at")


def writer(rows: DataFrame, dataset: str) -> DataFrameWriter:
    """A writer of history files, a folder for each cluster."""
    # numbers that hardly repeat: a dictionary is tried for each, in vain
    plain = {
        f"parquet.enable.dictionary#{column.name}": "false"
        for column in SNAPSHOTS[dataset]
        if column.dataType in (LONG, DOUBLE, TIMESTAMP)
    }
    return rows.write.partitionBy("cluster").options(**_FORMAT, **plain)


def _file(keys: Sequence[str], begins: Sequence[Sequence[Any]]) -> Column:
    """The number of the file that a row belongs to."""
    number = sf.lit(0)
    for begin in begins:
        bound = sf.struct(
            *(sf.lit(value).alias(key) for key, value in zip(keys, begin, strict=True))
        )
        number = number + (sf.struct(*keys) >= bound).cast("int")
    return number


def _by_cluster(values: Mapping[str, Column]) -> Column:
    chosen = sf.lit(0)
    for cluster, value in values.items():
        chosen = sf.when(sf.col("cluster") == cluster, value).otherwise(chosen)
    return chosen
