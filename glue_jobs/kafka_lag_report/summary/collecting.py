# SPDX-License-Identifier: Apache-2.0
"""Findings out of the reports' frames, worst first and no more than a driver should hold.

Of the topics only findings are collected, and what was a finding the day before: what is over is
so told from what nobody saw. Groups and brokers are collected whole.
"""

from collections.abc import Collection, Mapping

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as sf

from kafka_lag_report.summary import rows
from kafka_lag_report.summary.findings import Findings, Topic

AT_MOST = 2_000
GROUPS_AT_MOST = 50_000
_TOPIC = ["cluster", "consumer_group", "topic"]


def findings(
    reports: Mapping[str, DataFrame],
    before: Findings | None = None,
    at_most: int = AT_MOST,
    groups_at_most: int = GROUPS_AT_MOST,
) -> Findings:
    """The findings of one day's reports; six collects, of at most so many findings or groups each.

    With the findings of the day `before`, what became of them is collected as well.
    """
    risks = _risks(reports["retention_risk"], before.risks if before else (), at_most)
    skews = _skews(reports["partition_skew"], before.skews if before else (), at_most)
    groups = _groups(reports["lag_summary"], groups_at_most)
    brokers = _worst(reports["broker_hotspots"], at_most, sf.desc_nulls_last("lag_to_partitions"))
    unusual = _worst(reports["anomalies"], at_most, sf.abs("deviation").desc_nulls_last())
    coverage = _worst(reports["coverage"], groups_at_most, sf.desc_nulls_last("objects_skipped"))
    sizes = {
        "retention_risk": sum(row["found"] for row in risks) > at_most,
        "partition_skew": sum(row["found"] for row in skews) > at_most,
        "lag_summary": len(groups) > groups_at_most,
        "broker_hotspots": len(brokers) > at_most,
        "anomalies": len(unusual) > at_most,
        "coverage": len(coverage) > groups_at_most,
    }
    return Findings(
        risks=rows.risks(risks),
        skews=rows.skews(skews),
        groups=rows.groups(groups),
        brokers=rows.brokers(brokers),
        unusual=rows.unusual(unusual),
        coverage=rows.coverage(coverage),
        cut=frozenset(name for name, is_cut in sizes.items() if is_cut),
    )


def _risks(report: DataFrame, watched: Collection[Topic], at_most: int) -> list[Row]:
    lost = sf.col("retention_risk") == "LOST"
    topics = report.groupBy(*_TOPIC).agg(
        sf.count_if(lost).alias("lost"),
        sf.count_if(sf.col("retention_risk") == "AT_RISK").alias("at_risk"),
        sf.sum(sf.when(lost, sf.col("records_lost"))).alias("records_lost"),
        sf.min("least_seconds_until_loss").alias("least_seconds_until_loss"),
        sf.count("retention_risk").alias("known"),
    )
    marked = topics.filter("known > 0").withColumn("found", sf.expr("lost + at_risk > 0"))
    order = (sf.desc_nulls_last("records_lost"), sf.asc_nulls_last("least_seconds_until_loss"))
    return _found(marked, watched, at_most, *order)


def _skews(report: DataFrame, watched: Collection[Topic], at_most: int) -> list[Row]:
    marked = report.filter("lag_skewed is not null").withColumn("found", sf.col("lag_skewed"))
    return _found(marked, watched, at_most, sf.desc_nulls_last("lag_max_to_mean"))


def _groups(report: DataFrame, at_most: int) -> list[Row]:
    wanted = ("cluster", "consumer_group", "sla_compliance", "err_minutes", "gone")
    return _worst(
        report.filter("topic is null").select(*wanted),
        at_most,
        sf.asc_nulls_last("sla_compliance"),
        sf.desc_nulls_last("err_minutes"),
    )


def _found(
    marked: DataFrame, watched: Collection[Topic], at_most: int, *order: Column
) -> list[Row]:
    """The worst rows that are `found`, then those of `watched` topics that are not."""
    if not watched:
        return _worst(marked.filter("found"), at_most, *order)
    spark = marked.sparkSession
    topics = spark.createDataFrame(list(watched), _TOPIC).withColumn("watched", sf.lit(True))
    known = marked.join(sf.broadcast(topics), _TOPIC, "left").filter("found or watched")
    return _worst(known, at_most + len(watched), sf.desc("found"), *order)


def _worst(frame: DataFrame, at_most: int, *order: Column) -> list[Row]:
    """So many rows and one more, which tells that there are more; equals by their keys."""
    keys = [
        name for name in ("cluster", "consumer_group", "topic", "leader") if name in frame.columns
    ]
    return frame.orderBy(*order, *keys).limit(at_most + 1).collect()
