# SPDX-License-Identifier: Apache-2.0
"""A day's rows reduced to small frames by one scan of each dataset: all that tables derive from.

A segment is a partition as one leader led it and, of a group, as one member owned it. Rows with an
`unread_reason` repeat what an earlier run saw, possibly the day before, and count as unknown here.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafka_lag.contract import AT_RISK, LOST, SAFE, STALL, STOP
from kafka_lag_report.credits import Offset, credited
from kafka_lag_report.findings import STALLED, STOPPED
from kafka_lag_report.levels import (
    both_levels,
    clock,
    fine_level,
    first_and_last,
    ordered,
    run_level,
    second_of,
)
from kafka_lag_report.run_weights import intervals, run_weights
from kafka_lag_report.skew import LAG_EXCESS, RATE_EXCESS, skewed

GROUP_TOPIC = ("cluster", "consumer_group", "topic")
GROUP_SEGMENT = ("topic_id", "partition_id", "leader", "client_id", "client_host", "member_id")

_READ = ("lag", "records_lost", "time_lag_seconds", "consume_rate", "end_offset", "retention_risk")
_OWN = ("committed_offset", "seconds_until_loss")

# What the collector calls a commit that stands, with an owner and without one.
_STANDING = {"stalled_lag": STALL, "stopped_lag": STOP}

# Longer than the snapshots' own limit of 30 days, and short enough to count in milliseconds.
_FAR = 10_000_000.0

PARTITION = (*GROUP_TOPIC, "partition_id")
MEMBER = ("member_id", "client_id", "client_host")

TOPIC = ("cluster", "topic")
TOPIC_SEGMENT = ("topic_id", "partition_id", "leader", "leader_rack")

# Rows that lie in one partition: to group, rank or join them there Spark needs no exchange, and its
# planning costs more than a second task would save.
SMALL = 100_000


PRODUCED = Offset(
    "end_offset",
    ("end", "ends"),
    ("cluster", "topic", "topic_id", "partition_id"),
    ("leader", "leader_rack"),
)
CONSUMED = Offset(
    "committed_offset",
    ("committed", "commits"),
    ("cluster", "consumer_group", "topic", "topic_id", "partition_id"),
    MEMBER,
)


@dataclass(frozen=True, slots=True)
class DayAggregates:
    """A day's rows as the small frames that all reports are derived from.

    `consumed` and `produced` are what `credited` says of members and of leaders.
    """

    groups: DataFrame
    weights: DataFrame
    intervals: DataFrame
    segments: DataFrame
    runs: DataFrame
    consumed: DataFrame
    topic_segments: DataFrame
    topic_runs: DataFrame
    produced: DataFrame


class Keeper:
    """Computes frames now, and keeps them until it is told to let go; from any thread."""

    def __init__(self, small: int = SMALL) -> None:
        self._small = small
        self._kept: list[DataFrame] = []

    def keep(self, frame: DataFrame) -> DataFrame:
        """The same rows, computed; in one partition if they are `small`.

        Else as few partitions as there are tasks at once.
        """
        # Spark does not merge the small partitions of a kept frame by itself: 200 tasks a step
        few = frame.coalesce(frame.sparkSession.sparkContext.defaultParallelism).persist()
        self._kept.append(few)
        return few.coalesce(1) if few.count() <= self._small else few

    def release(self) -> None:
        """Give back the memory of all that was kept."""
        while self._kept:
            self._kept.pop().unpersist()


def reduce_day(
    groups: DataFrame, group_rows: DataFrame, topic_rows: DataFrame, keeper: Keeper
) -> DayAggregates:
    """Reduce the rows of `groups`, `group_partitions` and `topic_partitions`."""
    with ThreadPoolExecutor() as pool:
        # three scans at once: one plans and exchanges while the others compute
        of_groups = pool.submit(_of_groups, groups, keeper)
        of_partitions = pool.submit(_of_partitions, group_rows, keeper)
        of_topics = pool.submit(_of_topics, topic_rows, keeper)
    return DayAggregates(*of_groups.result(), *of_partitions.result(), *of_topics.result())


def _of_groups(groups: DataFrame, keeper: Keeper) -> tuple[DataFrame, DataFrame, DataFrame]:
    runs = keeper.keep(groups)
    return runs, keeper.keep(run_weights(runs)), keeper.keep(intervals(runs))


def _of_partitions(rows: DataFrame, keeper: Keeper) -> tuple[DataFrame, DataFrame, DataFrame]:
    levels = keeper.keep(reduce_group_partitions(rows))
    segments = keeper.keep(group_segments(levels))
    consumed = keeper.keep(credited(rows, segments, CONSUMED))
    return segments, group_runs(levels), consumed


def _of_topics(rows: DataFrame, keeper: Keeper) -> tuple[DataFrame, DataFrame, DataFrame]:
    levels = keeper.keep(reduce_topic_partitions(rows))
    segments = keeper.keep(topic_segments(levels))
    produced = keeper.keep(credited(rows, segments, PRODUCED))
    return segments, topic_runs(levels), produced


@contextmanager
def keeping() -> Iterator[Keeper]:
    """A keeper that lets go of everything in the end."""
    keeper = Keeper()
    try:
        yield keeper
    finally:
        keeper.release()


def reduce_group_partitions(group_partitions: DataFrame) -> DataFrame:
    """Segments and runs in one frame, for `group_segments` and `group_runs`; worth keeping."""
    read = sf.col("unread_reason").isNull()
    rows = group_partitions.select(
        *GROUP_TOPIC,
        *GROUP_SEGMENT,
        "taken_at",
        clock().alias("second"),
        sf.when(read, clock()).alias("read_at_second"),
        *(sf.when(read, sf.col(name)).alias(name) for name in (*_READ, *_OWN)),
        sf.when(read, _margin()).alias("margin"),
        *(
            sf.when(read & (sf.col("status") == status), sf.col("lag")).alias(name)
            for name, status in _STANDING.items()
        ),
    )
    return both_levels(rows, GROUP_TOPIC, GROUP_SEGMENT, _group_measures())


def group_segments(levels: DataFrame) -> DataFrame:
    """What each partition's day was like, per leader and owner; null: never known.

    Times (`*_at`) are seconds of the UTC day. `margin` and `loss_seconds` are the least of the day,
    each with its first moment, to the millisecond of `loss_seconds`. `stalled_lag` and
    `stopped_lag` are the parts of `lag_sum` seen while the commit stood.
    """
    at = {name: second_of(sf.col(name)) for name in ("margin_at", "loss_at")}
    return fine_level(levels).drop("rows", "lag_max").withColumns(at)


def group_runs(levels: DataFrame) -> DataFrame:
    """Lag, time lag and consume rate of each group's topic at each run, over its partitions.

    Lag and time lag are null where a partition was not read: what is missing may be the worst.
    """
    whole = sf.col("rows") == sf.col("reads")
    return run_level(levels).select(
        *GROUP_TOPIC,
        "taken_at",
        sf.when(whole, sf.col("lag_sum")).alias("lag"),
        sf.when(whole, sf.col("time_lag_max")).alias("time_lag"),
        "consume_rate",
        skewed(sf.col("lag_max"), sf.col("lag_sum"), sf.col("lags"), LAG_EXCESS).alias("skewed"),
    )


def _group_measures() -> dict[str, Column]:
    margin_order = ordered(sf.col("margin"))
    loss = sf.least(sf.col("seconds_until_loss"), sf.lit(_FAR))
    loss_order = ordered((loss * 1000).cast("bigint"))
    return {
        "rows": sf.count("second"),
        "reads": sf.count("read_at_second"),
        "lags": sf.count("lag"),
        "lag_sum": sf.sum("lag"),
        "lag_max": sf.max("lag"),
        **{name: sf.sum(name) for name in _STANDING},
        "time_lag_max": sf.max("time_lag_seconds"),
        "records_lost": sf.max("records_lost"),
        "consume_rate": sf.sum("consume_rate"),
        "margin": sf.min("margin"),
        "margin_at": sf.min(margin_order),
        "lag_at_margin": sf.min_by("lag", margin_order),
        "loss_seconds": sf.min("seconds_until_loss"),
        "loss_at": sf.min(loss_order),
        "lost": sf.bool_or(sf.col("retention_risk") == LOST),
        "at_risk": sf.bool_or(sf.col("retention_risk") == AT_RISK),
        "safe": sf.bool_or(sf.col("retention_risk") == SAFE),
        "first_at": sf.min("read_at_second"),
        "last_at": sf.max("read_at_second"),
        **_named("end", "ends", "end_offset"),
        **_named("committed", "commits", "committed_offset"),
    }


def _named(prefix: str, times: str, value: str) -> dict[str, Column]:
    found = first_and_last(value)
    return {times if name == "times" else f"{prefix}_{name}": c for name, c in found.items()}


def _margin() -> Column:
    """Records between the log start and the commit, 0 at least; null when either is unknown."""
    distance = sf.col("committed_offset") - sf.col("start_offset")
    # greatest() skips nulls and would call an unknown margin 0, the worst there is
    computed = sf.when(distance.isNotNull(), sf.greatest(distance, sf.lit(0)))
    return sf.coalesce(sf.col("retention_margin"), computed)


def group_partition_days(segments: DataFrame) -> DataFrame:
    """`mean_lag` per group, topic and partition, with the `leader` and the member it stood under.

    `stands` is `stalled` or `stopped` where at least half of the lag was seen while the commit
    stood. The mean is over the runs that knew the lag; null: none did. Leader and member are those
    whose segments hold most of the day's lag, of equals those seen most often.
    """
    # all steps are within a group's topic: one shuffle for all, also for what reports do next
    rows = segments.repartition(*GROUP_TOPIC).withColumns(
        {"by_leader": _held(("leader",)), "by_member": _held(MEMBER)}
    )
    days = rows.groupBy(*PARTITION).agg(
        sf.try_divide(sf.sum("lag_sum").cast("double"), sf.sum("lags")).alias("mean_lag"),
        sf.min("by_leader").alias("by_leader"),
        sf.min("by_member").alias("by_member"),
        _stands().alias("stands"),
    )
    return days.select(
        *PARTITION,
        "mean_lag",
        "stands",
        "by_leader.leader",
        *(f"by_member.{name}" for name in MEMBER),
    )


def _stands() -> Column:
    lag, stalled, stopped = (
        sf.coalesce(sf.sum(name), sf.lit(0)) for name in ("lag_sum", "stalled_lag", "stopped_lag")
    )
    word = sf.when(stopped > stalled, STOPPED).otherwise(STALLED)
    return sf.when((stalled + stopped > 0) & (2 * (stalled + stopped) >= lag), word)


def _held(who: Sequence[str]) -> Column:
    """A struct with one of `who`; the least of a partition is the one with most lag under it."""
    same = Window.partitionBy(*PARTITION, *who)
    lag = sf.coalesce(sf.sum("lag_sum").over(same), sf.lit(0))
    # a struct puts null first, but of equals those with a name are named
    names = [column for name in who for column in (sf.isnull(name), sf.col(name))]
    return sf.struct(-lag, -sf.sum("reads").over(same), *names)


def reduce_topic_partitions(topic_partitions: DataFrame) -> DataFrame:
    """Segments and runs in one frame, for `topic_segments` and `topic_runs`; worth keeping."""
    rows = topic_partitions.where("unread_reason IS NULL").select(
        *TOPIC,
        *TOPIC_SEGMENT,
        "taken_at",
        clock().alias("second"),
        "end_offset",
        "retention_ms",
        _unlimited().alias("unlimited"),
        "produce_rate",
    )
    return both_levels(rows, TOPIC, TOPIC_SEGMENT, _topic_measures())


def topic_segments(levels: DataFrame) -> DataFrame:
    """What each partition's day was like under each leader; times are seconds of the UTC day.

    `retention_seconds` is the newest known, at `retention_known_at`; null: unlimited, or unknown.
    `retention_unlimited` is the newest known, at `unlimited_known_at`: nothing is deleted for age.
    """
    limited = sf.when(sf.col("retention_ms") >= 0, sf.col("retention_ms") / 1000)
    return (
        fine_level(levels)
        .withColumn("retention_seconds", limited)
        .withColumnRenamed("unlimited", "retention_unlimited")
        .drop("retention_ms", "rates", "rate_sum", "rate_max")
    )


def topic_runs(levels: DataFrame) -> DataFrame:
    """Whether production was skewed at each run, by the partitions' produce rates."""
    uneven = skewed(sf.col("rate_max"), sf.col("rate_sum"), sf.col("rates"), RATE_EXCESS)
    return run_level(levels).select(*TOPIC, "taken_at", uneven.alias("skewed"))


def records_produced(segments: DataFrame) -> DataFrame:
    """Records `produced` in the day per cluster, topic and partition; null: seen fewer than twice.

    How far the end offset rose within each topic id: a recreated topic starts anew, and an end
    that went back (unclean leader election) is not negative production. What was there at the
    first sight of a topic id is nobody's day and does not count.
    """
    by_id = segments.groupBy(*TOPIC, "topic_id", "partition_id").agg(
        net_rise("end", "ends").alias("rise")
    )
    return by_id.groupBy(*TOPIC, "partition_id").agg(sf.sum("rise").alias("produced"))


def _unlimited() -> Column:
    """Null unless one setting says so, or both say no."""
    return (sf.col("retention_ms") < 0) | ~sf.col("cleanup_policy").contains("delete")


def _topic_measures() -> dict[str, Column]:
    known = sf.when(sf.col("retention_ms").isNotNull(), sf.col("second"))
    judged = sf.when(sf.col("unlimited").isNotNull(), sf.col("second"))
    found = first_and_last("end_offset")
    return {
        "reads": sf.count("second"),
        "first_at": sf.min("second"),
        "last_at": sf.max("second"),
        "rates": sf.count("produce_rate"),
        "rate_sum": sf.sum("produce_rate"),
        "rate_max": sf.max("produce_rate"),
        "retention_ms": sf.max_by("retention_ms", known),
        "retention_known_at": sf.max(known),
        "unlimited": sf.max_by("unlimited", judged),
        "unlimited_known_at": sf.max(judged),
        **{"ends" if name == "times" else f"end_{name}": c for name, c in found.items()},
    }


def net_rise(offset: str, times: str) -> Column:
    """An aggregate over segments: records from the first to the last known value of `offset`.

    Going back counts as 0, not as negative. Null when it was known less than twice (`times`).
    """
    first = sf.min_by(f"{offset}_first", f"{offset}_first_at")
    last = sf.max_by(f"{offset}_last", f"{offset}_last_at")
    return sf.when(sf.sum(times) > 1, sf.greatest(last - first, sf.lit(0)))
