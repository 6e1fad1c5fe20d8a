# SPDX-License-Identifier: Apache-2.0
"""What incidents are made of: a day's rows as spells, each from its first run to its last.

Spark finds them, and Python sees no more than there are: of a group that was OK all day nothing, of
partitions only those that stood, lost, came near to it, went back or were unread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf

from kafka_lag.contract import (
    AT_RISK,
    ERR,
    GONE,
    NO_LEADER,
    OK,
    REBALANCING_STATES,
    STALL,
    UNEXPLAINED,
    WARN,
)
from kafka_lag_report.aggregates import (
    MEMBER,
    PARTITION,
    DayAggregates,
    dated_age,
    is_age_least,
    standing,
)
from kafka_lag_report.thresholds import (
    CALM_TIMES,
    GAP_INTERVALS,
    LONG_TRANSACTION_SECONDS,
    READABLE_RATE,
    RESTLESS_RUNS,
    RESTLESS_SECONDS,
    USUAL_TIMES,
)

T = TypeVar("T")

# Of each kind: more of them than that nobody reads.
MOST_SPELLS = 50_000
_NAMES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpell:
    """Runs of a group in a row that said the same of it; `first` and `last` of them.

    `calm_at` is the last run before in which it was as near to the end as it usually is. `since` is
    what the first run gives as the beginning, maybe on a day before. `restless_since`: the first
    of the rebalances that are too many; `rebalances` are those from it to `restless_until`, less
    those of the spell before if that was restless, too. `held_since`: when the transaction began
    that was open for long, in `held_topic` and `held_partition`; `held_records` waited for its end.
    `dated`: the greatest time lag of which it is known that it was no greater. `cause`: what the
    last run that knew it named, since when it was so and by which numbers, as in `groups`.
    """

    group: str
    first: datetime
    last: datetime
    runs: int = 1
    unread: str | None = None
    status: str | None = None
    reason: str | None = None
    gone: bool = False
    nobody: bool = False
    over_sla: bool = False
    restless: bool = False
    owner: str | None = None
    lag: int | None = None
    last_lag: int | None = None
    time_lag: float | None = None
    dated: float | None = None
    sla: float | None = None
    calm_at: datetime | None = None
    since: datetime | None = None
    restless_since: datetime | None = None
    restless_until: datetime | None = None
    rebalances: int | None = None
    held_topic: str | None = None
    held_partition: int | None = None
    held_since: datetime | None = None
    held_records: int | None = None
    cause: str | None = None
    cause_since: datetime | None = None
    cause_evidence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSpell:
    """Runs of a group's partition in a row in which the same was wrong with it.

    `standing` is the contract's STALL or STOP, also where the status says only that records are
    lost; `stands_since` when the commit last moved, or the first unread record came; not
    `begin_seen`: the first run that read a commit which may have stood long before. `lost` is what
    was deleted unread by its last run; `passed_over` what the group never read when it came back.
    `needed`: for so many seconds the log had to be kept; null where an age had no upper bound.
    `leapt` are the records of which nobody knows whether they were read, in the `leapt_seconds`
    until it no longer stood, or skipped.
    """

    group: str
    topic: str
    partition: int
    first: datetime
    last: datetime
    standing: str | None = None
    stands_since: datetime | None = None
    begin_seen: bool = True
    leader: int | None = None
    member: str | None = None
    client: str | None = None
    host: str | None = None
    lag: int | None = None
    lost: int = 0
    passed_over: int = 0
    needed: float | None = None
    at_risk: bool = False
    seconds_left: float | None = None
    seconds_left_at: datetime | None = None
    rewound: int = 0
    going_back: bool = False
    skipped: int = 0
    leapt: int = 0
    leapt_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadSpell:
    """Runs in a row in which partitions were not read; `group` null: the topic's own."""

    topic: str
    reason: str
    first: datetime
    last: datetime
    group: str | None = None
    partition: int | None = None
    partitions: int = 1
    leader: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stint:
    """Runs in a row that saw one broker lead a partition of one topic id, unread ones aside."""

    topic: str
    topic_id: str | None
    partition: int
    leader: int | None
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Of one cluster's day. `runs` are the times at which anything was collected.

    `sizes` is how many partitions a topic has, of those of which any was unread, as far as known.
    """

    runs: tuple[datetime, ...] = ()
    groups: tuple[GroupSpell, ...] = ()
    partitions: tuple[PartitionSpell, ...] = ()
    unread: tuple[UnreadSpell, ...] = ()
    stints: tuple[Stint, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)


def gather_evidence(
    aggregates: DayAggregates, group_rows: DataFrame, topic_rows: DataFrame
) -> Evidence:
    """The spells of one cluster's day; the rows are those that the aggregates were made of."""
    pause = GAP_INTERVALS * aggregates.weights.interval
    with ThreadPoolExecutor() as pool:
        groups = pool.submit(_collected, GroupSpell, group_spells(aggregates.groups, pause))
        partitions = pool.submit(_partition_spells, aggregates.segments, group_rows, pause)
        unread = pool.submit(
            _collected, UnreadSpell, unread_spells(group_rows, ("consumer_group", "topic"), pause)
        )
        topics = pool.submit(topic_spells, aggregates.topic_segments, topic_rows, pause)
    of_topics, stints = topics.result()
    of_both = (*unread.result(), *of_topics)
    return Evidence(
        runs=tuple(_moment(time // 1_000_000) for time in aggregates.weights.times),
        groups=groups.result(),
        partitions=partitions.result(),
        unread=of_both,
        stints=stints,
        sizes=topic_sizes(aggregates.topic_segments, {one.topic for one in of_both}),
    )


def restless_runs(interval: float) -> float:
    """Runs of an hour that see a rebalance and are too many, where runs are so many seconds apart.

    Half of them where there are few; three at least.
    """
    return min(RESTLESS_RUNS, max(3, RESTLESS_SECONDS / interval / 2))


def group_spells(groups: DataFrame, pause: float) -> DataFrame:
    """A row for each `GroupSpell` that says more than OK; times in seconds since 1970.

    Rows farther apart than `pause` seconds are no spell.
    """
    ordered = Window.partitionBy("group").orderBy("at")
    rows = _with_restless(_group_runs(groups), ordered, pause)
    rows = _of_bad_groups(rows, ordered, pause)
    said = ("unread", "status", "reason", "gone", "nobody", "over_sla", "restless", *_HELD)
    spells = _numbered(rows, ordered, said, pause).groupBy("group", "spell")
    return spells.agg(
        sf.min("at").alias("first"),
        sf.max("at").alias("last"),
        sf.count("at").cast("int").alias("runs"),
        *(sf.max(name).alias(name) for name in said),
        sf.max("owner").alias("owner"),
        sf.max("lag").alias("lag"),
        sf.max_by("any_lag", "at").alias("last_lag"),
        sf.max("time_lag").alias("time_lag"),
        sf.max("dated").alias("dated"),
        sf.max("sla").alias("sla"),
        sf.min_by("calm_at", "at").alias("calm_at"),
        sf.min_by("since", "at").alias("since"),
        sf.min("restless_since").alias("restless_since"),
        sf.max("restless_until").alias("restless_until"),
        sf.sum("counted").cast("int").alias("rebalances"),
        sf.max("held_records").alias("held_records"),
        *(sf.max_by(name, "explained_at").alias(name) for name in _CAUSE),
        sf.max("bad").alias("bad"),
    ).where("bad OR nobody")


# Which transaction holds a group up, where it has been open for long.
_HELD = ("held_topic", "held_partition", "held_since")
_CAUSE = ("cause", "cause_since", "cause_evidence")


def _group_runs(groups: DataFrame) -> DataFrame:
    """What each run says of a group; of one that did not read it, nothing but that and the lag."""
    read = sf.col("unread_reason").isNull()
    began = _seconds("open_transaction_since")
    held = read & (_seconds("taken_at") - began >= LONG_TRANSACTION_SECONDS)
    explained = sf.col("cause") != UNEXPLAINED
    return groups.select(
        sf.col("consumer_group").alias("group"),
        _seconds("taken_at").alias("at"),
        sf.col("unread_reason").alias("unread"),
        *(sf.when(read, sf.col(name)).alias(name) for name in ("status", "lag", "owner")),
        sf.when(read, sf.col("status_reason")).alias("reason"),
        sf.col("lag").alias("any_lag"),
        sf.when(read, sf.col("time_lag_seconds")).alias("time_lag"),
        sf.when(read, dated_age()).alias("dated"),
        sf.col("sla_seconds").alias("sla"),
        sf.col("status_reason").eqNullSafe(GONE).alias("gone"),
        (read & sf.col("members").eqNullSafe(0)).alias("nobody"),
        _true(read & (sf.col("time_lag_seconds") > sf.col("sla_seconds"))).alias("over_sla"),
        _true(read & (_rebalances() > 0)).alias("moving"),
        sf.when(read, _rebalances()).alias("rebalanced"),
        _seconds("incident_since").alias("since"),
        sf.when(held, sf.col("open_transaction_topic")).alias("held_topic"),
        sf.when(held, sf.col("open_transaction_partition")).alias("held_partition"),
        sf.when(held, began).alias("held_since"),
        sf.when(held, sf.col("held_up_records")).alias("held_records"),
        sf.when(explained, _seconds("taken_at")).alias("explained_at"),
        "cause",
        _seconds("cause_since").alias("cause_since"),
        "cause_evidence",
    )


def _with_restless(rows: DataFrame, ordered: WindowSpec, pause: float) -> DataFrame:
    """With `restless` where many runs of the hour before saw a rebalance; from when to when.

    `counted` are the rebalances of those runs, each once.
    """
    hour = ordered.rangeBetween(-RESTLESS_SECONDS, 0)
    many = restless_runs(pause / GAP_INTERVALS)
    moved_at = sf.when(sf.col("moving"), sf.col("at"))
    rows = rows.withColumns(
        {
            "restless": _true(sf.sum(sf.col("moving").cast("int")).over(hour) >= many),
            "restless_since": sf.min(moved_at).over(hour),
            "restless_until": sf.max(moved_at).over(hour),
            "of_hour": sf.sum("rebalanced").over(hour),
        }
    )
    # the first run that says so has those of the hour before it, too
    goes_on = sf.lag("restless").over(ordered) & (
        sf.col("at") - sf.lag("at").over(ordered) <= pause
    )
    counted = sf.when(_true(goes_on), sf.col("rebalanced")).otherwise(sf.col("of_hour"))
    return rows.withColumn("counted", sf.when(sf.col("restless"), counted))


def _of_bad_groups(rows: DataFrame, ordered: WindowSpec, pause: float) -> DataFrame:
    """The runs of groups that any run calls `bad`.

    `calm_at` is the last run before at which the group was as near to the end as it usually is.
    """
    group = Window.partitionBy("group")
    bad = (
        sf.col("status").isin(WARN, ERR)
        | sf.col("unread").isNotNull()
        | sf.col("gone")
        | sf.col("over_sla")
        | sf.col("restless")
        | sf.col("held_since").isNotNull()
    )
    usual = CALM_TIMES * sf.median(sf.when(sf.col("status") == OK, sf.col("dated"))).over(group)
    near = sf.greatest(sf.coalesce(usual, sf.lit(0.0)), sf.lit(2 * pause / GAP_INTERVALS))
    rows = (
        rows.withColumn("bad", _true(bad))
        .withColumn("any_bad", sf.max("bad").over(group))
        .where("any_bad")
        .withColumn("near", near)
    )
    calm = sf.when(sf.col("dated") <= sf.col("near"), sf.col("at"))
    before = ordered.rowsBetween(Window.unboundedPreceding, -1)
    return rows.withColumn("calm_at", sf.last(calm, ignorenulls=True).over(before))


def _rebalances() -> Column:
    """How many rebalances a run saw: counted, or one where it saw one under way or its effect."""
    seen = sf.col("group_state").isin(*REBALANCING_STATES) | (sf.col("owners_changed") > 0)
    return sf.coalesce("rebalances", sf.when(_true(seen), 1).otherwise(0))


def partition_spells(rows: DataFrame, pause: float) -> DataFrame:
    """A row for each `PartitionSpell` of these rows of `group_partitions`."""
    ordered = Window.partitionBy(*PARTITION).orderBy("at")
    rows = _with_leaps(_with_passed_over(_partition_runs(rows), ordered), ordered)
    rows = _with_needed(rows)
    wrong = (
        sf.col("standing").isNotNull()
        | sf.col("losing")
        | sf.col("at_risk")
        | sf.col("going_back")
        | (sf.col("passed_over") > 0)
        | sf.col("skipped").isNotNull()
        | sf.col("leapt").isNotNull()
    )
    who = sf.when(sf.col("standing") == STALL, sf.col("member_id"))
    rows = rows.where(wrong).withColumn("who", who)
    said = ("standing", "who", "losing", "at_risk", "going_back")
    risk = sf.when(sf.col("at_risk"), sf.col("seconds_until_loss"))
    spells = _numbered(rows, ordered, said, pause).groupBy(*PARTITION, "spell")
    return spells.agg(
        sf.min("at").alias("first"),
        sf.max("at").alias("last"),
        sf.max("standing").alias("standing"),
        sf.min_by("stands_since", "at").alias("stands_since"),
        sf.min_by("begin_seen", "at").alias("begin_seen"),
        *(sf.max_by(name, "at").alias(name) for name in (*MEMBER, "leader")),
        sf.max("lag").alias("lag"),
        sf.max_by("lost", "at").alias("lost"),
        sf.sum("passed_over").alias("passed_over"),
        sf.when(sf.max("time_lag_seconds") <= sf.max("dated"), sf.max("needed")).alias("needed"),
        sf.coalesce(sf.max("rewound"), sf.lit(0)).alias("rewound"),
        sf.coalesce(sf.sum("skipped"), sf.lit(0)).alias("skipped"),
        sf.coalesce(sf.sum("leapt"), sf.lit(0)).alias("leapt"),
        sf.max("leapt_seconds").alias("leapt_seconds"),
        sf.max("at_risk").alias("at_risk"),
        sf.min(risk).alias("seconds_left"),
        sf.min_by("at", risk).alias("seconds_left_at"),
        sf.max("going_back").alias("going_back"),
    ).withColumnsRenamed(
        {
            "consumer_group": "group",
            "partition_id": "partition",
            "member_id": "member",
            "client_id": "client",
            "client_host": "host",
        }
    )


def _partition_runs(rows: DataFrame) -> DataFrame:
    """What each run that read a partition says of it; rewinds and skips where they were seen."""
    lost = sf.coalesce("records_lost", sf.lit(0))
    changed = _seconds("commit_changed_at")
    written = _seconds("taken_at") - sf.col("time_lag_seconds").cast("bigint")
    came_later = (lost == 0) & ~is_age_least() & (written > changed)
    return rows.where("unread_reason IS NULL").select(
        *PARTITION,
        *MEMBER,
        "leader",
        "lag",
        _seconds("taken_at").alias("at"),
        "committed_offset",
        "start_offset",
        lost.alias("lost"),
        (lost > 0).alias("losing"),
        standing().alias("standing"),
        # of what is deleted no age is left; a least age says nothing of when it came first
        sf.greatest(
            changed,
            sf.when((lost == 0) & (~is_age_least() | changed.isNotNull()), written),
        ).alias("stands_since"),
        (changed.isNull() | sf.col("commit_gap_seconds").isNotNull() | _true(came_later)).alias(
            "begin_seen"
        ),
        "topic_id",
        "end_offset",
        "time_lag_seconds",
        dated_age().alias("dated"),
        _true(sf.col("retention_risk") == AT_RISK).alias("at_risk"),
        "seconds_until_loss",
        sf.col("rewound_from").isNotNull().alias("going_back"),
        sf.when(
            sf.col("rewound_at") == sf.col("taken_at"),
            sf.col("rewound_from") - sf.col("committed_offset"),
        ).alias("rewound"),
        sf.when(
            sf.col("skipped_at") == sf.col("taken_at"),
            sf.col("skipped_to") - sf.col("skipped_from"),
        ).alias("skipped"),
    )


def _with_passed_over(rows: DataFrame, ordered: WindowSpec) -> DataFrame:
    """With the records lost that a commit passed over, in the run that sees it beyond them."""
    came_back = (sf.lag("lost").over(ordered) > 0) & (
        sf.col("committed_offset") >= sf.lag("start_offset").over(ordered)
    )
    passed = sf.when(_true(came_back), sf.lag("lost").over(ordered)).otherwise(sf.lit(0))
    return rows.withColumn("passed_over", passed)


def _with_leaps(rows: DataFrame, ordered: WindowSpec) -> DataFrame:
    """With the records behind which it stood that were gone at once: read very fast, or skipped.

    The collector calls more of them skipped, as nobody reads so fast; of fewer all are read.
    """

    def before(name: str) -> Column:
        return sf.lag(name).over(ordered)

    seconds = sf.col("at") - before("at")
    left = sf.least(before("lag"), sf.col("committed_offset") - before("committed_offset"))
    usual = sf.try_divide(before("lag"), before("at") - before("stands_since"))
    leapt = (
        before("standing").isNotNull()
        & (sf.col("lost") + before("lost") == 0)
        & sf.col("skipped").isNull()
        & (left > READABLE_RATE * seconds)
        & (left > USUAL_TIMES * usual * seconds)
    )
    return rows.withColumns(
        {
            "leapt": sf.when(leapt, left),
            "leapt_seconds": sf.when(leapt, seconds),
        }
    )


def _with_needed(rows: DataFrame) -> DataFrame:
    """With the seconds for which the log had to be kept for all that a run had yet to read.

    What was deleted was older than all that is there: by as long as it took to produce.
    """
    log = Window.partitionBy(*PARTITION, "topic_id")
    risen, seconds = (
        sf.max(name).over(log) - sf.min(name).over(log) for name in ("end_offset", "at")
    )
    older = sf.when(sf.col("losing"), sf.col("lost") * sf.try_divide(seconds, risen)).otherwise(0.0)
    return rows.withColumn("needed", sf.col("time_lag_seconds") + older)


def notable_partitions(segments: DataFrame) -> DataFrame:
    """The partitions of groups with which anything was wrong on the day."""
    wrong = (
        "records_lost > 0 OR at_risk OR lost OR rewinds > 0 OR skips > 0"
        " OR stalled_lag > 0 OR stopped_lag > 0"
    )
    return segments.where(wrong).select(*PARTITION).distinct()


def unread_spells(rows: DataFrame, keys: Sequence[str], pause: float) -> DataFrame:
    """A row for each `UnreadSpell`, of what the keys name."""
    said = (*keys, "unread_reason")
    by_run = (
        rows.where("unread_reason IS NOT NULL")
        .groupBy(*said, _seconds("taken_at").alias("at"))
        .agg(sf.count("*").cast("int").alias("count"))
    )
    ordered = Window.partitionBy(*said).orderBy("at")
    names = {"consumer_group": "group", "partition_id": "partition", "unread_reason": "reason"}
    return (
        _numbered(by_run, ordered, (), pause)
        .groupBy(*said, "spell")
        .agg(
            sf.min("at").alias("first"),
            sf.max("at").alias("last"),
            sf.max("count").alias("partitions"),
        )
        .select(
            *(sf.col(name).alias(names.get(name, name)) for name in said),
            "first",
            "last",
            "partitions",
        )
    )


def topic_spells(
    topic_segments: DataFrame, rows: DataFrame, pause: float
) -> tuple[tuple[UnreadSpell, ...], tuple[Stint, ...]]:
    """Where topics' partitions were unread, and who led those that moved or had no leader."""
    partition = ("topic", "partition_id")
    unread = _collected(UnreadSpell, unread_spells(rows, partition, pause))
    several = sf.count_distinct(sf.struct("topic_id", "leader")) > 1
    those = topic_segments.groupBy(*partition).agg(several.alias("moved")).where("moved")
    those = those.select(*partition)
    if any(one.reason == NO_LEADER for one in unread):
        leaderless = rows.where(sf.col("unread_reason") == NO_LEADER).select(*partition)
        those = those.union(leaderless).distinct()
    again = _rows_of(rows, those)
    stints = _collected(Stint, _leader_stints(again)) if again is not None else ()
    return tuple(_led_before(unread, stints)), stints


def topic_sizes(topic_segments: DataFrame, topics: Collection[str]) -> dict[str, int]:
    """How many partitions these topics have, of those that were ever read."""
    if not topics:
        return {}
    named = topic_segments
    if len(topics) <= _NAMES:
        named = named.where(sf.col("topic").isin(sorted(topics)))
    # they are numbered from 0 on
    sizes = named.groupBy("topic").agg((sf.max("partition_id") + 1).alias("size")).collect()
    return {row["topic"]: row["size"] for row in sizes}


def _leader_stints(rows: DataFrame) -> DataFrame:
    read = rows.where("unread_reason IS NULL").select(
        "topic",
        "topic_id",
        sf.col("partition_id").alias("partition"),
        "leader",
        _seconds("taken_at").alias("at"),
    )
    log = ("topic", "partition")
    # whoever leads before and after a pause led meanwhile
    ordered = Window.partitionBy(*log).orderBy("at")
    said = ("topic_id", "leader")
    return (
        _numbered(read, ordered, said, float("inf"))
        .groupBy(*log, *said, "spell")
        .agg(sf.min("at").alias("first"), sf.max("at").alias("last"))
    )


def _led_before(unread: Sequence[UnreadSpell], stints: Sequence[Stint]) -> Iterator[UnreadSpell]:
    """With the last leader that was known before; `stints` as they came."""
    led: dict[tuple[str, int | None], list[Stint]] = defaultdict(list)
    for stint in stints:
        if stint.leader is not None:
            led[stint.topic, stint.partition].append(stint)
    for one in unread:
        before = [each for each in led[one.topic, one.partition] if each.first < one.first]
        yield replace(one, leader=before[-1].leader) if before else one


def _partition_spells(
    segments: DataFrame, rows: DataFrame, pause: float
) -> tuple[PartitionSpell, ...]:
    again = _rows_of(rows, notable_partitions(segments))
    return () if again is None else _collected(PartitionSpell, partition_spells(again, pause))


def _rows_of(rows: DataFrame, those: DataFrame) -> DataFrame | None:
    """The rows whose keys are `those`; null: there are none."""
    by = "consumer_group" if "consumer_group" in those.columns else "topic"
    names = sorted(row[0] for row in those.select(by).distinct().collect())
    if not names:
        return None
    # of sorted files the rest is skipped unread
    few = rows.where(sf.col(by).isin(names)) if len(names) <= _NAMES else rows
    return few.join(sf.broadcast(those), those.columns, "left_semi")


def _numbered(rows: DataFrame, ordered: WindowSpec, said: Sequence[str], pause: float) -> DataFrame:
    """With `spell`, which rises where anything said changes, or rows lie farther apart."""
    apart = sf.col("at") - sf.lag("at").over(ordered) > pause
    changed = [~sf.col(name).eqNullSafe(sf.lag(name).over(ordered)) for name in said]
    begins = sf.coalesce(apart, sf.lit(True))
    for one in changed:
        begins = begins | one
    marked = rows.withColumn("begins", begins.cast("int"))
    return marked.withColumn("spell", sf.sum("begins").over(ordered))


def _true(condition: Column) -> Column:
    """What is not known is not so."""
    return sf.coalesce(condition, sf.lit(False))


def _seconds(name: str) -> Column:
    return sf.unix_seconds(name)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


_TIMES = frozenset(
    {
        "first",
        "last",
        "calm_at",
        "since",
        "cause_since",
        "restless_since",
        "restless_until",
        "stands_since",
        "seconds_left_at",
        "held_since",
    }
)


def worst_spells(spells: DataFrame, most: int = MOST_SPELLS) -> DataFrame:
    """So many: those with the most records lost, then the longest; of stints whole partitions."""
    if "topic_id" in spells.columns:
        return spells.orderBy("topic", "partition", "first").limit(most)
    worst = [sf.desc("lost")] if "lost" in spells.columns else []
    longest = (sf.col("last") - sf.col("first")).desc()
    names = [name for name in ("group", "topic", "partition", "first") if name in spells.columns]
    return spells.orderBy(*worst, longest, *names).limit(most)


def _collected(kind: type[T], frame: DataFrame) -> tuple[T, ...]:
    """The rows as `kind`, by what they are about and when; at most MOST_SPELLS, the worst."""
    names = [one.name for one in fields(kind) if one.name in frame.columns]  # type: ignore[arg-type]
    found = worst_spells(frame.select(*names)).collect()
    made = [kind(**{name: _value(name, row[name]) for name in names}) for row in found]
    return tuple(sorted(made, key=lambda one: (one.first, repr(one))))  # type: ignore[attr-defined]


def _value(name: str, value: Any) -> Any:
    return _moment(value) if name in _TIMES and value is not None else value
