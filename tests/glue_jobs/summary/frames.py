# SPDX-License-Identifier: Apache-2.0
"""Reports with a few rows, as the job's frames."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from kafka_lag_report.schemas import CLUSTER, REPORTS
from tests.glue_jobs.days import Row, frame_of


def reports(spark: SparkSession, **rows: list[Row]) -> dict[str, DataFrame]:
    """All reports, without rows unless given; what a row does not name is null."""
    assert set(rows) <= set(REPORTS)
    return {
        name: frame_of(spark, StructType([CLUSTER, *schema.fields]), rows.get(name, []))
        for name, schema in REPORTS.items()
    }


def row(**values: object) -> Row:
    """Of group g, topic t and cluster demo unless it says otherwise."""
    return {"cluster": "demo", "consumer_group": "g", "topic": "t", "partition_id": 0, **values}


def group_row(**values: object) -> Row:
    """A group's own row of `lag_summary`."""
    return row(**{"topic": None, **values})


def covered(cluster: str = "demo", dataset: str = "groups", **values: object) -> Row:
    """A dataset that a day was seen of, whole unless it says otherwise."""
    whole = {"runs": 1440, "expected_runs": 1440, "interval_seconds": 60.0}
    rest = {"longest_gap_seconds": 60.0, "in_progress": False, "source": "snapshots"}
    return {"cluster": cluster, "dataset": dataset, **whole, **rest, **values}
