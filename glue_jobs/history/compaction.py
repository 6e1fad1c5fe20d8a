# SPDX-License-Identifier: Apache-2.0
"""A dataset's day as few sorted files, staged and read back before anything trusts them."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.types import StructType

from glue_jobs.errors import DataError
from glue_jobs.history.checksum import Checksum, checksums
from glue_jobs.history.layout import bounds, file_counts, laid_out, writer
from glue_jobs.schemas import CLUSTER, SNAPSHOTS


def stage(
    rows: DataFrame, dataset: str, folder: str, *, sizes: Mapping[str, int], sample: DataFrame
) -> Checksum:
    """Write the rows to `folder`, one scan of them, and say what they were.

    `sizes` are the clusters' bytes of snapshots, `sample` some of their rows.
    """
    columns = _columns(dataset)
    observed = Observation()
    counted = rows.select(*columns).observe(observed, *checksums(columns))
    starts = bounds(sample, dataset, file_counts(sizes))
    writer(laid_out(counted, dataset, starts), dataset).parquet(folder)
    return Checksum.of(observed.get)


def verify(spark: SparkSession, dataset: str, folder: str, expected: Checksum) -> None:
    """Read back what was staged; DataError unless it is the same rows in every column."""
    columns = _columns(dataset)
    schema = StructType([*SNAPSHOTS[dataset].fields, CLUSTER])
    found = spark.read.schema(schema).parquet(folder).agg(*checksums(columns)).first()
    if found is None or Checksum.of(found.asDict()) != expected:
        raise DataError(
            f"the compacted {dataset} differ from the snapshots' {expected.rows:,} rows; "
            "nothing was replaced or marked: run the job again"
        )


def _columns(dataset: str) -> list[str]:
    return ["cluster", *SNAPSHOTS[dataset].names]
