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

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_lag.contract import (
    AT_RISK,
    CATCHING_UP,
    ERR,
    GONE,
    NO_LEADER,
    OK,
    READ_OR_SKIPPED,
    REBALANCING_STATES,
    STALL,
    UNEXPLAINED,
    WARN,
)
from kafka_lag_report.aggregates import MEMBER, PARTITION, DayAggregates, where_read
from kafka_lag_report.segments import DATED_AGE, IS_AGE_LEAST, STANDING
from kafka_lag_report.skew import grouped, selected, with_columns
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
    skip_reason: str | None = None
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
    aggregates: DayAggregates,
    group_rows: DataFrame,
    topic_rows: DataFrame,
    *,
    few_rows: bool = False,
) -> Evidence:
    """The spells of one cluster's day; the rows are those that the aggregates were made of."""
    pause = GAP_INTERVALS * aggregates.weights.interval
    # to look at the few others as well takes less time than to plan without them
    of_groups = aggregates.groups if few_rows else of_notable_groups(aggregates.groups)
    with ThreadPoolExecutor() as pool:
        groups = pool.submit(_collected, GroupSpell, group_spells(of_groups, pause))
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


def _is(condition: str) -> str:
    """SQL: what is not known is not so."""
    return f"coalesce({condition}, false)"


def _double(number: float) -> str:
    """The number in SQL, where one with a point alone is a decimal."""
    return f"{float(number)!r}D"


def restless_runs(interval: float) -> float:
    """Runs of an hour that see a rebalance and are too many, where runs are so many seconds apart.

    Half of them where there are few; three at least.
    """
    return min(RESTLESS_RUNS, max(3, RESTLESS_SECONDS / interval / 2))


def of_notable_groups(groups: DataFrame) -> DataFrame:
    """The rows of those groups of which `group_spells` may have any: on most days few."""
    runs = selected(groups, {"consumer_group": "consumer_group", **_GROUP_RUN})
    notable = runs.where(f"{_BAD} OR moving").select("consumer_group").distinct()
    return _whose_keys_are(groups, notable)


def group_spells(groups: DataFrame, pause: float) -> DataFrame:
    """A row for each `GroupSpell` that says more than OK; times in seconds since 1970.

    Rows farther apart than `pause` seconds are no spell.
    """
    of_group = "PARTITION BY group ORDER BY at"
    rows = _with_restless(selected(groups, _GROUP_RUN), of_group, pause)
    rows = _of_bad_groups(rows, of_group, pause)
    said = ("unread", "status", "reason", "gone", "nobody", "over_sla", "restless", *_HELD)
    spells = grouped(
        _numbered(rows, of_group, said, pause),
        ("group", "spell"),
        {
            "first": "min(at)",
            "last": "max(at)",
            "runs": "int(count(at))",
            **{name: f"max({name})" for name in said},
            **{name: f"max({name})" for name in ("owner", "lag", "time_lag", "dated", "sla")},
            "last_lag": "max_by(any_lag, at)",
            "calm_at": "min_by(calm_at, at)",
            "since": "min_by(since, at)",
            "restless_since": "min(restless_since)",
            "restless_until": "max(restless_until)",
            "rebalances": "int(sum(counted))",
            "held_records": "max(held_records)",
            **{name: f"max_by({name}, explained_at)" for name in _CAUSE},
            "bad": "max(bad)",
        },
    )
    return spells.where("bad OR nobody")


# Which transaction holds a group up, where it has been open for long.
_HELD = ("held_topic", "held_partition", "held_since")
_CAUSE = ("cause", "cause_since", "cause_evidence")


# How many rebalances a run saw: counted, or one where it saw one under way or its effect.
_IS_REBALANCING = " OR ".join(
    (*(f"group_state = '{state}'" for state in REBALANCING_STATES), "owners_changed > 0")
)
_REBALANCES = f"coalesce(rebalances, IF({_IS_REBALANCING}, 1, 0))"
_TRANSACTION = "unix_seconds(taken_at) - unix_seconds(open_transaction_since)"


def _held(name: str) -> str:
    return where_read(f"IF({_TRANSACTION} >= {LONG_TRANSACTION_SECONDS}, {name}, NULL)")


# What each run says of a group; of one that did not read it, nothing but that and the lag.
_GROUP_RUN = {
    "group": "consumer_group",
    "at": "unix_seconds(taken_at)",
    "unread": "unread_reason",
    **{name: where_read(name) for name in ("status", "lag", "owner")},
    "reason": where_read("status_reason"),
    "any_lag": "lag",
    "time_lag": where_read("time_lag_seconds"),
    "dated": where_read(DATED_AGE),
    "sla": "sla_seconds",
    "gone": f"status_reason <=> '{GONE}'",
    "nobody": "unread_reason IS NULL AND members <=> 0",
    "over_sla": _is(where_read("time_lag_seconds > sla_seconds")),
    "moving": _is(where_read(f"{_REBALANCES} > 0")),
    "rebalanced": where_read(_REBALANCES),
    "since": "unix_seconds(incident_since)",
    "held_topic": _held("open_transaction_topic"),
    "held_partition": _held("open_transaction_partition"),
    "held_since": _held("unix_seconds(open_transaction_since)"),
    "held_records": _held("held_up_records"),
    "explained_at": (
        f"IF(cause NOT IN ('{UNEXPLAINED}', '{CATCHING_UP}'), unix_seconds(taken_at), NULL)"
    ),
    "cause": "cause",
    "cause_since": "unix_seconds(cause_since)",
    "cause_evidence": "cause_evidence",
}
# What is wrong in a run, beside that it is one of too many with a rebalance.
_BAD = (
    f"status IN ('{WARN}', '{ERR}') OR unread IS NOT NULL OR gone OR over_sla"
    " OR held_since IS NOT NULL"
)


def _with_restless(rows: DataFrame, of_group: str, pause: float) -> DataFrame:
    """With `restless` where many runs of the hour before saw a rebalance; from when to when.

    `counted` are the rebalances of those runs, each once.
    """
    hour = f"{of_group} RANGE BETWEEN {RESTLESS_SECONDS} PRECEDING AND CURRENT ROW"
    many = restless_runs(pause / GAP_INTERVALS)
    rows = with_columns(
        rows,
        {
            "restless": _is(f"sum(int(moving)) OVER ({hour}) >= {_double(many)}"),
            "restless_since": f"min(IF(moving, at, NULL)) OVER ({hour})",
            "restless_until": f"max(IF(moving, at, NULL)) OVER ({hour})",
            "of_hour": f"sum(rebalanced) OVER ({hour})",
        },
    )
    # the first run that says so has those of the hour before it, too
    goes_on = (
        f"lag(restless) OVER ({of_group}) AND at - lag(at) OVER ({of_group}) <= {_double(pause)}"
    )
    counted = f"IF(restless, IF({goes_on}, rebalanced, of_hour), NULL)"
    return with_columns(rows, {"counted": counted})


def _of_bad_groups(rows: DataFrame, of_group: str, pause: float) -> DataFrame:
    """The runs of groups that any run calls `bad`.

    `calm_at` is the last run before at which the group was as near to the end as it usually is.
    """
    usual = f"median(IF(status = '{OK}', dated, NULL)) OVER (PARTITION BY group)"
    least = _double(2 * pause / GAP_INTERVALS)
    rows = with_columns(rows, {"bad": _is(f"{_BAD} OR restless")})
    rows = with_columns(
        rows,
        {
            "any_bad": "max(bad) OVER (PARTITION BY group)",
            "near": f"greatest(coalesce({_double(CALM_TIMES)} * {usual}, 0D), {least})",
        },
    )
    calm = (
        f"last(IF(dated <= near, at, NULL), true) OVER ({of_group}"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    )
    return with_columns(rows.where("any_bad"), {"calm_at": calm})


def partition_spells(rows: DataFrame, pause: float) -> DataFrame:
    """A row for each `PartitionSpell` of these rows of `group_partitions`."""
    of_partition = f"PARTITION BY {', '.join(PARTITION)} ORDER BY at"
    runs = selected(rows.where("unread_reason IS NULL"), _PARTITION_RUN)
    runs = _with_needed(_with_leaps(_with_passed_over(runs, of_partition), of_partition))
    wrong = (
        "standing IS NOT NULL OR losing OR at_risk OR going_back OR passed_over > 0"
        " OR skipped IS NOT NULL OR leapt IS NOT NULL"
    )
    who = f"IF(standing = '{STALL}', member_id, NULL)"
    said = ("standing", "who", "losing", "at_risk", "going_back")
    risk = "IF(at_risk, seconds_until_loss, NULL)"
    spells = grouped(
        _numbered(with_columns(runs.where(wrong), {"who": who}), of_partition, said, pause),
        (*PARTITION, "spell"),
        {
            "first": "min(at)",
            "last": "max(at)",
            "standing": "max(standing)",
            "stands_since": "min_by(stands_since, at)",
            "begin_seen": "min_by(begin_seen, at)",
            "member": "max_by(member_id, at)",
            "client": "max_by(client_id, at)",
            "host": "max_by(client_host, at)",
            "leader": "max_by(leader, at)",
            "lag": "max(lag)",
            "lost": "max_by(lost, at)",
            "passed_over": "sum(passed_over)",
            "needed": "IF(max(time_lag_seconds) <= max(dated), max(needed), NULL)",
            "rewound": "coalesce(max(rewound), 0)",
            "skipped": f"coalesce(sum(IF({_IS_UNSURE}, NULL, skipped)), 0)",
            "skip_reason": "max(skip_reason)",
            "leapt": "coalesce(sum(leapt), 0)",
            "leapt_seconds": "max(leapt_seconds)",
            "at_risk": "max(at_risk)",
            "seconds_left": f"min({risk})",
            "seconds_left_at": f"min_by(at, {risk})",
            "going_back": "max(going_back)",
        },
    )
    return spells.withColumnsRenamed({"consumer_group": "group", "partition_id": "partition"})


_WRITTEN = "unix_seconds(taken_at) - bigint(time_lag_seconds)"
_IS_UNSURE = f"skip_reason <=> '{READ_OR_SKIPPED}'"
# What each run that read a partition says of it; rewinds and skips where they were seen.
_PARTITION_RUN = {
    **{name: name for name in (*PARTITION, *MEMBER, "leader", "lag", "topic_id")},
    "at": "unix_seconds(taken_at)",
    "committed_offset": "committed_offset",
    "start_offset": "start_offset",
    "end_offset": "end_offset",
    "lost": "coalesce(records_lost, 0)",
    "losing": "coalesce(records_lost, 0) > 0",
    "standing": STANDING,
    # of what is deleted no age is left; a least age says nothing of when it came first
    "stands_since": (
        "greatest(unix_seconds(commit_changed_at), IF(coalesce(records_lost, 0) = 0"
        f" AND (NOT {IS_AGE_LEAST} OR commit_changed_at IS NOT NULL), {_WRITTEN}, NULL))"
    ),
    "begin_seen": (
        "commit_changed_at IS NULL OR commit_gap_seconds IS NOT NULL OR "
        + _is(
            f"coalesce(records_lost, 0) = 0 AND NOT {IS_AGE_LEAST}"
            f" AND {_WRITTEN} > unix_seconds(commit_changed_at)"
        )
    ),
    "time_lag_seconds": "time_lag_seconds",
    "dated": DATED_AGE,
    "at_risk": _is(f"retention_risk = '{AT_RISK}'"),
    "seconds_until_loss": "seconds_until_loss",
    "going_back": "rewound_from IS NOT NULL",
    "rewound": "IF(rewound_at = taken_at, rewound_from - committed_offset, NULL)",
    "skipped": "IF(skipped_at = taken_at, skipped_to - skipped_from, NULL)",
    "skip_reason": "IF(skipped_at = taken_at, skip_reason, NULL)",
}


def _with_passed_over(rows: DataFrame, of_partition: str) -> DataFrame:
    """With the records lost that a commit passed over, in the run that sees it beyond them."""
    lost, start = (f"lag({name}) OVER ({of_partition})" for name in ("lost", "start_offset"))
    passed = f"IF({lost} > 0 AND committed_offset >= {start}, {lost}, 0)"
    return with_columns(rows, {"passed_over": passed})


def _with_leaps(rows: DataFrame, of_partition: str) -> DataFrame:
    """With the records behind which it stood that were gone at once: read very fast, or skipped.

    The collector calls more of them skipped, as nobody reads so fast; of fewer all are read, unless
    it says that nobody knows: these count here, and not as skipped.
    """
    names = ("at", "lag", "lost", "committed_offset", "standing", "stands_since")
    before = {f"{name}_before": f"lag({name}) OVER ({of_partition})" for name in names}
    left = "least(lag_before, committed_offset - committed_offset_before)"
    usual = "try_divide(lag_before, at_before - stands_since_before)"
    leapt = (
        "standing_before IS NOT NULL AND lost + lost_before = 0 AND skipped IS NULL"
        f" AND {left} > {_double(READABLE_RATE)} * (at - at_before)"
        f" AND {left} > {_double(USUAL_TIMES)} * {usual} * (at - at_before)"
    )
    unsure = f"skipped IS NOT NULL AND {_IS_UNSURE}"
    leaps = {
        "leapt": f"IF({unsure}, skipped, IF({leapt}, {left}, NULL))",
        "leapt_seconds": f"IF({unsure} OR {leapt}, at - at_before, NULL)",
    }
    return with_columns(with_columns(rows, before), leaps)


def _with_needed(rows: DataFrame) -> DataFrame:
    """With the seconds for which the log had to be kept for all that a run had yet to read.

    What was deleted was older than all that is there: by as long as it took to produce.
    """
    of_log = f"PARTITION BY {', '.join(PARTITION)}, topic_id"
    risen, seconds = (
        f"max({name}) OVER ({of_log}) - min({name}) OVER ({of_log})"
        for name in ("end_offset", "at")
    )
    older = f"IF(losing, lost * try_divide({seconds}, {risen}), 0D)"
    return with_columns(rows, {"needed": f"time_lag_seconds + {older}"})


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
    unread = rows.where("unread_reason IS NOT NULL")
    unread = unread.selectExpr(*said, "unix_seconds(taken_at) AS at")
    by_run = grouped(unread, (*said, "at"), {"count": "int(count(*))"})
    of_keys = f"PARTITION BY {', '.join(said)} ORDER BY at"
    spells = grouped(
        _numbered(by_run, of_keys, (), pause),
        (*said, "spell"),
        {"first": "min(at)", "last": "max(at)", "partitions": "max(count)"},
    )
    names = {"consumer_group": "group", "partition_id": "partition", "unread_reason": "reason"}
    return spells.drop("spell").withColumnsRenamed(names)


def topic_spells(
    topic_segments: DataFrame, rows: DataFrame, pause: float
) -> tuple[tuple[UnreadSpell, ...], tuple[Stint, ...]]:
    """Where topics' partitions were unread, and who led those that moved or had no leader."""
    partition = ("topic", "partition_id")
    unread = _collected(UnreadSpell, unread_spells(rows, partition, pause))
    several = "count(DISTINCT struct(topic_id, leader)) > 1"
    those = grouped(topic_segments, partition, {"moved": several})
    those = those.where("moved").select(*partition)
    if any(one.reason == NO_LEADER for one in unread):
        leaderless = rows.where(f"unread_reason = '{NO_LEADER}'").select(*partition)
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
    sizes = grouped(named, ("topic",), {"size": "max(partition_id) + 1"}).collect()
    return {row["topic"]: row["size"] for row in sizes}


def _leader_stints(rows: DataFrame) -> DataFrame:
    read = rows.where("unread_reason IS NULL").selectExpr(
        *("topic", "topic_id", "partition_id AS partition", "leader"),
        "unix_seconds(taken_at) AS at",
    )
    said = ("topic_id", "leader")
    # whoever leads before and after a pause led meanwhile
    spells = _numbered(read, "PARTITION BY topic, partition ORDER BY at", said, None)
    return grouped(
        spells,
        ("topic", "partition", *said, "spell"),
        {"first": "min(at)", "last": "max(at)"},
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
    return _whose_keys_are(few, those)


def _whose_keys_are(rows: DataFrame, those: DataFrame) -> DataFrame:
    return rows.join(sf.broadcast(those), those.columns, "left_semi")


def _numbered(rows: DataFrame, within: str, said: Sequence[str], pause: float | None) -> DataFrame:
    """With `spell`, which rises where anything said changes, or rows lie farther apart.

    `within` is the partition and order of a window; any distance will do without a `pause`.
    """
    apart = f"at - lag(at) OVER ({within})"
    apart = f"{apart} IS NULL" if pause is None else f"coalesce({apart} > {_double(pause)}, true)"
    changed = (f"NOT {name} <=> lag({name}) OVER ({within})" for name in said)
    rows = with_columns(rows, {"begins": f"int({' OR '.join((apart, *changed))})"})
    return with_columns(rows, {"spell": f"sum(begins) OVER ({within})"})


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
