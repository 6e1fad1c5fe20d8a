# SPDX-License-Identifier: Apache-2.0
"""Whom a rising offset is credited to: each rise to the owner of the run in which it was seen.

A tenure is a stretch of runs with one owner. It is credited with the rise from the last value known
before it to its own last one, so tenures add up to the whole. An owner that comes back has several,
which its segment does not tell apart: those partitions' rows are read once more, in order.
"""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf

from kafka_lag_report.moments import clock, first_and_last

_KNOWN = ("first", "last", "first_at", "last_at", "times")
# By so many at most Parquet's readers are asked to skip.
_NAMES = 256


@dataclass(frozen=True, slots=True)
class Offset:
    """A column that rises, what `segments` call it, and who owns a partition of which log.

    `log` and `owner` are columns of the rows and of the segments, `by` the one of them by which
    the history is sorted first.
    """

    name: str
    segment: tuple[str, str]
    log: tuple[str, ...]
    owner: tuple[str, ...]
    by: str

    def known(self) -> dict[str, str]:
        """The segments' columns by what `first_and_last` calls them."""
        prefix, times = self.segment
        return {each: times if each == "times" else f"{prefix}_{each}" for each in _KNOWN}


def credited(rows: DataFrame, segments: DataFrame, offset: Offset) -> DataFrame:
    """`credited` records per log and owner; null: nothing was known to compare with.

    `rows` are snapshots, `segments` theirs. What went back is no negative rise, and what is written
    or read again counts again. Computes at once which logs have to be read once more.
    """
    spans = _spans(segments, offset)
    returned = _returned(spans, offset).collect()
    tenures = spans
    if returned:
        keys = rows.sparkSession.createDataFrame([(row["key"],) for row in returned], "key long")
        names = sorted({row["name"] for row in returned})
        # of sorted files the rest is skipped unread
        few = rows.where(sf.col(offset.by).isin(names)) if len(names) <= _NAMES else rows
        again = _read(few, offset).join(sf.broadcast(keys), "key", "left_semi")
        apart = spans.join(sf.broadcast(keys), "key", "left_anti")
        tenures = apart.unionByName(_tenures(again, offset))
    before = sf.last("last", ignorenulls=True).over(_until_now(offset))
    rise = sf.greatest(sf.col("last") - sf.least("first", "before"), sf.lit(0))
    known = (sf.col("times") > 1) | (sf.col("before").isNotNull() & (sf.col("times") > 0))
    return (
        tenures.withColumn("before", before)
        .withColumn("rise", sf.when(known, rise))
        .groupBy(*offset.log, *offset.owner)
        .agg(sf.sum("rise").alias("credited"))
    )


def _spans(segments: DataFrame, offset: Offset) -> DataFrame:
    """From an owner's first sight to its last, as if it had stayed: `since`, `until`, values."""
    known = {name: sf.col(column) for name, column in offset.known().items()}
    return (
        segments.groupBy(*offset.log, *offset.owner)
        .agg(
            sf.min("first_at").alias("since"),
            sf.max("last_at").alias("until"),
            sf.min_by(known["first"], known["first_at"]).alias("first"),
            sf.max_by(known["last"], known["last_at"]).alias("last"),
            sf.sum(known["times"]).alias("times"),
        )
        .withColumn("key", _key(offset))
    )


def _returned(spans: DataFrame, offset: Offset) -> DataFrame:
    """Logs of which one owner was seen before and after another one: `key`, and `name` of `by`."""
    latest = sf.max("until").over(_until_now(offset))
    found = spans.withColumn("latest", latest).where("latest >= since")
    return found.select("key", sf.col(offset.by).alias("name")).distinct()


def _key(offset: Offset) -> Column:
    """A number for a log. Two with the same one are both read once more, which is as right."""
    return sf.xxhash64(*offset.log)


def _read(rows: DataFrame, offset: Offset) -> DataFrame:
    return rows.where("unread_reason IS NULL").select(
        *offset.log,
        *offset.owner,
        clock().alias("second"),
        sf.col(offset.name).alias("value"),
        _key(offset).alias("key"),
    )


def _tenures(rows: DataFrame, offset: Offset) -> DataFrame:
    """The same columns as `_spans` for each tenure of the logs, by their runs."""
    by_run = Window.partitionBy(*offset.log).orderBy("second")
    same = sf.lit(True)
    for name in offset.owner:
        same &= sf.col(name).eqNullSafe(sf.lag(name).over(by_run))
    numbered = rows.withColumn("begins", (~same).cast("int")).withColumn(
        "tenure", sf.sum("begins").over(by_run)
    )
    found = first_and_last("value")
    return (
        numbered.groupBy(*offset.log, *offset.owner, "tenure", "key")
        .agg(
            sf.min("second").alias("since"),
            sf.max("second").alias("until"),
            *(found[name].alias(name) for name in ("first", "last", "times")),
        )
        .drop("tenure")
    )


def _until_now(offset: Offset) -> WindowSpec:
    earlier = Window.partitionBy(*offset.log).orderBy("since")
    return earlier.rowsBetween(Window.unboundedPreceding, -1)
