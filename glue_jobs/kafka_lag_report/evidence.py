# SPDX-License-Identifier: Apache-2.0
"""What incidents are made of: a day's rows as spells, each from its first run to its last.

Spark finds them, and Python sees no more than there are: of a group without an incident that was
read all day nothing, of partitions only unread ones, and those that another broker led.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import Field, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_lag.contract import GONE, NO_LEADER, REBALANCING_STATES
from kafka_lag_report.aggregates import DayAggregates, where_read
from kafka_lag_report.incident_rows import IncidentRows, incident_rows
from kafka_lag_report.skew import grouped, selected, with_columns
from kafka_lag_report.thresholds import (
    GAP_INTERVALS,
    LONG_TRANSACTION_SECONDS,
    RESTLESS_RUNS,
    RESTLESS_SECONDS,
)

T = TypeVar("T")

# Of each kind: more of them than that nobody reads.
MOST_SPELLS = 50_000
_NAMES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpell:
    """Runs of a group in a row that said the same of it; `first` and `last` of them.

    `left` are the records that a group left unread when it was `gone`, `seen_until` the last run
    of the day that has it. `restless_since`: the first of the rebalances that are too many;
    `rebalances` are those from it to `restless_until`, less those of the spell before if that was
    restless, too. `held_since`: when the transaction began that was open for long, in `held_topic`
    and `held_partition`; `held_records` waited for its end. `losing`, and a `skip_reason`: of runs
    without an incident; `lost` and `skipped` are the records.
    """

    group: str
    first: datetime
    last: datetime
    unread: str | None = None
    gone: bool = False
    restless: bool = False
    losing: bool = False
    left: int | None = None
    seen_until: datetime | None = None
    restless_since: datetime | None = None
    restless_until: datetime | None = None
    rebalances: int | None = None
    held_topic: str | None = None
    held_partition: int | None = None
    held_since: datetime | None = None
    held_records: int | None = None
    lost: int | None = None
    skipped: int | None = None
    skip_reason: str | None = None


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
    incidents: tuple[IncidentRows, ...] = ()
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
        incidents = pool.submit(
            _collected, IncidentRows, incident_rows(aggregates.weights.weigh(aggregates.groups))
        )
        unread = pool.submit(
            _collected, UnreadSpell, unread_spells(group_rows, ("consumer_group", "topic"), pause)
        )
        topics = pool.submit(topic_spells, aggregates.topic_segments, topic_rows, pause)
    of_topics, stints = topics.result()
    of_both = (*unread.result(), *of_topics)
    return Evidence(
        runs=tuple(_moment(time // 1_000_000) for time in aggregates.weights.times),
        groups=groups.result(),
        incidents=incidents.result(),
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
    """A row for each `GroupSpell`; times in seconds since 1970.

    Rows farther apart than `pause` seconds are no spell.
    """
    of_group = "PARTITION BY group ORDER BY at"
    rows = _with_restless(selected(groups, _GROUP_RUN), of_group, pause)
    said = ("unread", "gone", "restless", "losing", "skip_reason", *_HELD)
    before = f"last(lag, true) OVER ({of_group} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    rows = with_columns(
        rows,
        {
            "bad": _is(f"{_BAD} OR restless"),
            "lag_before": before,
            "seen_until": "max(at) OVER (PARTITION BY group)",
        },
    )
    spells = grouped(
        _numbered(rows, of_group, said, pause),
        ("group", "spell"),
        {
            "first": "min(at)",
            "last": "max(at)",
            **{name: f"max({name})" for name in said},
            "left": "max_by(lag_before, at)",
            "seen_until": "max(seen_until)",
            "restless_since": "min(restless_since)",
            "restless_until": "max(restless_until)",
            "rebalances": "int(sum(counted))",
            "held_records": "max(held_records)",
            "lost": "max(lost)",
            "skipped": "max(skipped)",
            "bad": "max(bad)",
        },
    )
    return spells.where("bad")


# Which transaction holds a group up, where it has been open for long.
_HELD = ("held_topic", "held_partition", "held_since")


# How many rebalances a run saw: counted, or one where it saw one under way or its effect.
_IS_REBALANCING = " OR ".join(
    (*(f"group_state = '{state}'" for state in REBALANCING_STATES), "owners_changed > 0")
)
_REBALANCES = f"coalesce(rebalances, IF({_IS_REBALANCING}, 1, 0))"
_TRANSACTION = "unix_seconds(taken_at) - unix_seconds(open_transaction_since)"


def _held(name: str) -> str:
    return where_read(f"IF({_TRANSACTION} >= {LONG_TRANSACTION_SECONDS}, {name}, NULL)")


_SKIPS = f"incident_id IS NULL AND skipped_at = taken_at AND skip_reason <> '{GONE}'"
# What each run says of a group; of one that did not read it, nothing but that and the lag.
_GROUP_RUN = {
    "group": "consumer_group",
    "at": "unix_seconds(taken_at)",
    "unread": "unread_reason",
    "lag": "lag",
    "gone": f"status_reason <=> '{GONE}'",
    "moving": _is(where_read(f"{_REBALANCES} > 0")),
    "rebalanced": where_read(_REBALANCES),
    "held_topic": _held("open_transaction_topic"),
    "held_partition": _held("open_transaction_partition"),
    "held_since": _held("unix_seconds(open_transaction_since)"),
    "held_records": _held("held_up_records"),
    "losing": _is(where_read("incident_id IS NULL AND records_lost > 0")),
    "lost": where_read("records_lost"),
    "skipped": where_read(f"IF({_SKIPS}, records_skipped, NULL)"),
    "skip_reason": where_read(f"IF({_SKIPS}, skip_reason, NULL)"),
}
# What is worth a spell, beside one of too many runs with a rebalance.
_BAD = "unread IS NOT NULL OR gone OR held_since IS NOT NULL OR losing OR skip_reason IS NOT NULL"


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
    there = [one for one in fields(kind) if one.name in frame.columns]  # type: ignore[arg-type]
    found = worst_spells(frame.select(*(one.name for one in there))).collect()
    made = [kind(**{one.name: _value(one, row[one.name]) for one in there}) for row in found]
    return tuple(sorted(made, key=lambda one: (one.first, repr(one))))  # type: ignore[attr-defined]


def _value(of: Field[Any], value: Any) -> Any:
    is_time = str(of.type).startswith("datetime")
    return _moment(value) if is_time and value is not None else value
