# SPDX-License-Identifier: Apache-2.0
"""Reduces a day's rows to small views of partitions and of runs, the source of all tables."""

from datetime import UTC, datetime, time

from pyspark.sql import DataFrame

from kafka_lag.contract import GROUP_PARTITIONS, RISES, TOPIC_PARTITIONS
from kafka_lag_report.queries import Queries, collect_rows, run_at_once
from kafka_lag_report.read_snapshots import Day, read
from kafka_lag_report.storage import Storage
from kafka_lag_report.thresholds import GAP_INTERVALS, LONE_RUN_SECONDS

# Large reductions that each scan the day, and then those that are computed from them.
_SCANS = ("group_runs", "group_segments", "group_topic_runs", "topic_segments", "topic_runs")
_KEPT = ("logs", "production", "partition_days")


def open_day(queries: Queries, storage: Storage, day: Day, *, few_rows: bool = False) -> None:
    """Makes views of the day's rows as snapshots have them, with the rises of offsets.

    `few_rows` reads each dataset into one partition, which is faster for small days.
    """
    midnight = int(datetime.combine(day.date, time(), UTC).timestamp())
    queries.add_values(midnight=midnight, in_progress=day.in_progress)
    groups, group_rows, topic_rows = (
        read(queries.spark, storage, day, name)
        for name in ("groups", "group_partitions", "topic_partitions")
    )
    if few_rows:
        # with one partition Spark needs no exchange for grouping, ranking or joining
        groups, group_rows, topic_rows = (
            rows.coalesce(1) for rows in (groups, group_rows, topic_rows)
        )
    queries.view("groups", groups)
    for dataset, rows in ((TOPIC_PARTITIONS, topic_rows), (GROUP_PARTITIONS, group_rows)):
        queries.view(dataset, add_rises(queries, dataset, rows))


def add_rises(queries: Queries, dataset: str, rows: DataFrame) -> DataFrame:
    """Returns the rows with their column of RISES; Spark computes it if the rows lack it.

    Makes a view of the rows as they are.
    """
    rise = RISES[dataset]
    queries.view(f"{dataset.removesuffix('s')}_rows", rows)
    if dataset == GROUP_PARTITIONS:
        queries.derive("reductions/group_offsets")
        rows = queries.spark.table("group_offsets")
    return rows if rise in rows.columns else queries.run(f"reductions/{rise}")


def reduce_day(queries: Queries) -> list[datetime]:
    """Computes and keeps the day's reductions, and returns the times of its runs, ascending."""
    runs = queries.keep("reductions/runs").select("taken_at", "interval_seconds")
    found = sorted(collect_rows(runs))
    interval = found[0].interval_seconds if found else LONE_RUN_SECONDS
    queries.add_values(interval_seconds=interval, pause_seconds=GAP_INTERVALS * interval)
    run_at_once(queries.keep, [f"reductions/{name}" for name in _SCANS])
    run_at_once(queries.keep, [f"reductions/{name}" for name in _KEPT])
    queries.keep("reductions/spreads")
    queries.derive("reductions/causes")
    return [row.taken_at for row in found]
