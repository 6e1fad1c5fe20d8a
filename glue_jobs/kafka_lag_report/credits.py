# SPDX-License-Identifier: Apache-2.0
"""Whom a rising offset is credited to: each rise to the owner of the run in which it was seen.

Where each owner of a log had it in one stretch, first and last values are enough: an owner is
credited with the rise from the last value known before it to its own last one. Where an owner came
back, or a commit went back or passed over losses, the log's rows are read once more, in order, and
each run's rise is taken.
"""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf

from kafka_lag_report.moments import clock

_KNOWN = ("first", "last", "first_at", "last_at", "times")
# By so many at most Parquet's readers are asked to skip.
_NAMES = 256


@dataclass(frozen=True, slots=True)
class Offset:
    """A column that rises, what `segments` call it, and who owns a partition of which log.

    `log` and `owner` are columns of the rows and of the segments, `by` the one of them by which
    the history is sorted first. `rewinds`: the segments' count of runs below an earlier value;
    null: it does not go back. `losses`: the column, of rows and segments, of records that are
    deleted ahead of the offset, over which its next rise passes; null: there are none.
    """

    name: str
    segment: tuple[str, str]
    log: tuple[str, ...]
    owner: tuple[str, ...]
    by: str
    rewinds: str | None = None
    losses: str | None = None

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
    unclear = _unclear(spans, offset).collect()
    if not unclear:
        return _risen(spans, offset)
    keys = rows.sparkSession.createDataFrame([(row["key"],) for row in unclear], "key long")
    names = sorted({row["name"] for row in unclear})
    # of sorted files the rest is skipped unread
    few = rows.where(sf.col(offset.by).isin(names)) if len(names) <= _NAMES else rows
    again = _read(few, offset).join(sf.broadcast(keys), "key", "left_semi")
    apart = spans.join(sf.broadcast(keys), "key", "left_anti")
    return _risen(apart, offset).unionByName(_risen_by_run(again, offset))


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
            sf.sum(offset.rewinds or sf.lit(0)).alias("rewinds"),
            sf.max(offset.losses or sf.lit(0)).alias("losses"),
        )
        .withColumn("key", _key(offset))
    )


def _risen(spans: DataFrame, offset: Offset) -> DataFrame:
    """What each owner is credited with that had a log in one stretch."""
    before = sf.last("last", ignorenulls=True).over(_until_now(offset, "since"))
    rise = sf.greatest(sf.col("last") - sf.least("first", "before"), sf.lit(0))
    known = (sf.col("times") > 1) | (sf.col("before").isNotNull() & (sf.col("times") > 0))
    return spans.withColumn("before", before).select(
        *offset.log, *offset.owner, sf.when(known, rise).alias("credited")
    )


def _unclear(spans: DataFrame, offset: Offset) -> DataFrame:
    """`key` and `name` of logs whose first and last values are not enough: an owner had them before
    and after another one, or they went back, or passed over what was lost."""
    latest = sf.max("until").over(_until_now(offset, "since"))
    found = spans.withColumn("latest", latest).where("latest >= since OR rewinds > 0 OR losses > 0")
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
        sf.coalesce(offset.losses or sf.lit(0), sf.lit(0)).alias("lost"),
        _key(offset).alias("key"),
    )


def _risen_by_run(rows: DataFrame, offset: Offset) -> DataFrame:
    """What each owner is credited with, run by run."""
    earlier = _until_now(offset, "second")
    known = sf.when(sf.col("value").isNotNull(), sf.col("lost"))
    last = {
        "before": sf.last("value", ignorenulls=True).over(earlier),
        "passed": sf.last(known, ignorenulls=True).over(earlier),
    }
    rise = sf.col("value") - sf.col("before") - sf.col("passed")
    rises = rows.withColumns(last).withColumn(
        "rise", sf.when(rise.isNotNull(), sf.greatest(rise, sf.lit(0)))
    )
    return rises.groupBy(*offset.log, *offset.owner).agg(sf.sum("rise").alias("credited"))


def _until_now(offset: Offset, time: str) -> WindowSpec:
    earlier = Window.partitionBy(*offset.log).orderBy(time)
    return earlier.rowsBetween(Window.unboundedPreceding, -1)
