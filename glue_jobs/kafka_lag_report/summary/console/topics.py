# SPDX-License-Identifier: Apache-2.0
"""Topics as groups read them: uneven lag, and records near deletion."""

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as sf

from kafka_lag_report.summary.console.section import Section
from kafka_lag_report.summary.console.table import Cells
from kafka_lag_report.summary.rows import cause
from kafka_lag_report.summary.wording import number, shown, span

_SKEWED = {
    (True, True): "both",
    (True, False): "lag",
    (False, True): "production",
    (False, False): "no",
}


def _is_skewed() -> Column:
    return sf.expr("coalesce(lag_skewed, false) or coalesce(production_skewed, false)")


def _most_skewed() -> list[Column]:
    worst = sf.greatest("lag_max_to_mean", "production_max_to_mean")
    return [_is_skewed().desc(), worst.desc_nulls_last()]


def _skew_cells(row: Row) -> Cells:
    minutes = row["lag_skewed_minutes"]
    return {
        "cluster": shown(row["cluster"]),
        "group": shown(row["consumer_group"]),
        "topic": shown(row["topic"]),
        "skewed": _SKEWED[bool(row["lag_skewed"]), bool(row["production_skewed"])],
        "lag max": number(row["lag_max"]),
        "lag x": number(row["lag_max_to_mean"], ".2f"),
        "lag top": _top(row, "lag"),
        "lag for": span(None if minutes is None else 60 * minutes),
        "made x": number(row["production_max_to_mean"], ".2f"),
        "made top": _top(row, "production"),
        "cause": str(cause(row) or "-"),
    }


def _top(row: Row, what: str) -> str:
    partition, share = row[f"{what}_top_partition"], row[f"{what}_top_share"]
    if partition is None:
        return "-"
    return f"{partition}: {share:.0%} ({row[f'{what}_even_share']:.0%})"


def _is_lost() -> Column:
    return sf.coalesce(sf.col("retention_risk") == "LOST", sf.lit(False))


def _nearest_to_loss() -> list[Column]:
    return [
        _is_lost().desc(),
        sf.col("records_lost").desc_nulls_last(),
        (sf.col("retention_risk") == "AT_RISK").desc_nulls_last(),
        sf.col("least_seconds_until_loss").asc_nulls_last(),
        (sf.col("lag_at_least_margin") > 0).desc_nulls_last(),
        sf.col("least_margin").asc_nulls_last(),
    ]


def _with_clock(report: DataFrame) -> DataFrame:
    # formatted by Spark, whose session is in UTC; Python would show the machine's own zone
    return report.withColumn("at", sf.date_format("least_margin_at", "HH:mm:ss"))


def _retention_cells(row: Row) -> Cells:
    return {
        "cluster": shown(row["cluster"]),
        "group": shown(row["consumer_group"]),
        "topic": shown(row["topic"]),
        "partition": str(row["partition_id"]),
        "risk": row["retention_risk"] or "-",
        "lost": number(row["records_lost"], ",d"),
        "margin": number(row["least_margin"], ",d"),
        "lag": number(row["lag_at_least_margin"], ",d"),
        "at (UTC)": row["at"] or "-",
        "time left": span(row["least_seconds_until_loss"]),
        "kept for": span(row["retention_seconds"]),
        "needed": span(row["retention_needed_seconds"]),
    }


SKEW = Section(
    report="partition_skew",
    word="skewed",
    title="Partition skew on {day}: {found} of {of} group topics skewed",
    legend="made: produced; x: max/mean, 1 if even; top: the worst partition's (an even) share",
    found=_is_skewed,
    worst=_most_skewed,
    cells=_skew_cells,
)
RETENTION = Section(
    report="retention_risk",
    word="lost records",
    title="Retention risk on {day}: {found} of {of} group partitions lost records",
    legend="margin: records between log start and commit, at its least, with the lag of then",
    found=_is_lost,
    worst=_nearest_to_loss,
    cells=_retention_cells,
    rows=_with_clock,
)
