# SPDX-License-Identifier: Apache-2.0
"""Clusters: which broker holds more lag than its part, and how much of the day was seen."""

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as sf

from kafka_lag_report.summary.console.section import Section
from kafka_lag_report.summary.console.table import Cells
from kafka_lag_report.summary.wording import number, percent, shown, span


def _is_hot() -> Column:
    return sf.coalesce("hot", sf.lit(False))


def _hottest() -> list[Column]:
    return [_is_hot().desc(), sf.col("lag_to_partitions").desc_nulls_last()]


def _broker_cells(row: Row) -> Cells:
    return {
        "cluster": shown(row["cluster"]),
        "broker": "none" if row["leader"] is None else str(row["leader"]),
        "rack": shown(row["leader_rack"]),
        "hot": "-" if row["hot"] is None else "yes" if row["hot"] else "no",
        "lag mean": number(row["lag_mean"]),
        "lag": percent(row["lag_share"]),
        "partitions": percent(row["partitions_share"]),
        "produced": percent(row["produce_share"]),
        "lag x": number(row["lag_to_partitions"], ".2f"),
    }


def _is_incomplete() -> Column:
    return sf.expr("coalesce(runs < expected_runs, true) or coalesce(objects_skipped > 0, false)")


def _least_covered() -> list[Column]:
    return [
        sf.col("objects_skipped").desc_nulls_last(),
        sf.expr("runs / expected_runs").asc_nulls_first(),
    ]


def _with_clocks(report: DataFrame) -> DataFrame:
    # formatted by Spark, whose session is in UTC; Python would show the machine's own zone
    return report.withColumns(
        {name: sf.date_format(f"{name}_run", "HH:mm:ss") for name in ("first", "last")}
    )


def _coverage_cells(row: Row) -> Cells:
    return {
        "cluster": shown(row["cluster"]),
        "dataset": shown(row["dataset"]),
        "runs": number(row["runs"], ",d"),
        "expected": number(row["expected_runs"], ",d"),
        "longest gap": span(row["longest_gap_seconds"]),
        "first (UTC)": row["first"] or "-",
        "last": row["last"] or "-",
        "day": "in progress" if row["in_progress"] else "over",
        "from": shown(row["source"]),
        "skipped": number(row["objects_skipped"], ",d"),
        "objects": shown(row["skipped"]),
    }


BROKERS = Section(
    report="broker_hotspots",
    word="hot brokers",
    title="Brokers on {day}: {found} of {of} hot",
    legend="shares of the cluster's lag, partitions led and records produced; x: lag to partitions",
    found=_is_hot,
    worst=_hottest,
    cells=_broker_cells,
)
COVERAGE = Section(
    report="coverage",
    word="gaps",
    title="Coverage of {day}: {found} of {of} datasets with gaps",
    legend="",
    found=_is_incomplete,
    worst=_least_covered,
    cells=_coverage_cells,
    rows=_with_clocks,
)
