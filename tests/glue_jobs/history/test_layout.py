# SPDX-License-Identifier: Apache-2.0
"""Files of a compacted day: as many as its size asks for, each a range of names."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from glue_jobs.history.layout import FILE_BYTES, bounds, file_counts, laid_out
from tests.glue_jobs.days import frame, minute

pytestmark = pytest.mark.spark


def test_a_file_holds_so_many_bytes_of_snapshots() -> None:
    sizes = {"small": 10, "large": 3 * FILE_BYTES, "empty": 0}

    assert file_counts(sizes) == {"small": 1, "large": 3, "empty": 1}


def test_each_file_is_a_range_of_names_of_one_cluster(spark: SparkSession) -> None:
    rows = [
        {"cluster": cluster, "consumer_group": f"g{number:02}", "taken_at": minute(run)}
        for cluster in ("a", "b")
        for number in range(12)
        for run in range(3)
    ]
    every = frame(spark, "groups", rows)
    starts = bounds(every.where(sf.minute("taken_at") == 0), "groups", {"a": 3, "b": 1})

    files = (
        laid_out(every, "groups", starts)
        .groupBy(sf.spark_partition_id().alias("task"), "cluster")
        .agg(sf.min("consumer_group"), sf.max("consumer_group"), sf.count("*"))
        .collect()
    )

    assert len(starts["a"]) == 2
    assert sorted(tuple(row)[1:] for row in files) == [
        ("a", "g00", "g03", 12),
        ("a", "g04", "g07", 12),
        ("a", "g08", "g11", 12),
        ("b", "g00", "g11", 36),
    ]
