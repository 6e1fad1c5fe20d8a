# SPDX-License-Identifier: Apache-2.0
"""A day's rows reduced to small frames, of partitions and of runs: all that tables derive from.

Partitions and runs are a scan each, of the columns that they need.

A segment is a partition as one leader led it and, of a group, as one member owned it. Rows with an
`unread_reason` repeat what an earlier run saw, possibly the day before, and count as unknown here.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame

from kafka_lag.contract import AT_RISK, LOST, SAFE, STALL, STOP
from kafka_lag_report.findings import STALLED, STOPPED
from kafka_lag_report.moments import CLOCK, at_first_least, first_and_last
from kafka_lag_report.rises import READ_OFFSET, with_rises
from kafka_lag_report.run_weights import RunWeights, run_weights
from kafka_lag_report.skew import grouped, skewed, with_columns
from kafka_lag_report.thresholds import (
    LAG_EXCESS,
    RATE_EXCESS,
    RATE_FORGETS_SECONDS,
    STILL_SECONDS,
)

GROUP = ("consumer_group",)
GROUP_TOPIC = ("consumer_group", "topic")
GROUP_SEGMENT = ("topic_id", "partition_id", "leader", "client_id", "client_host", "member_id")

_READ = ("lag", "time_lag_seconds", "consume_rate")
_OWN = (
    "records_lost",
    "end_offset",
    "retention_risk",
    "seconds_until_loss",
    "rewound_from",
)

# Of a group's row what tables, incidents and curves are made of: a third, and it is kept.
_GROUPS = (
    *("consumer_group", "taken_at", "unread_reason", "group_state", "owner", "members"),
    *("status", "status_reason", "incident_since", "sla_seconds", "records_lost", "lag"),
    *("time_lag_seconds", "time_lag_error_seconds", "produce_rate"),
    *("rebalances", "rebalancing_share", "owners_changed", "tasks_needed", "tasks_needed_reason"),
    *("slo_age_seconds", "slo_target", "slo_days"),
    *("worst_topic", "worst_partition", "worst_leader", "worst_member"),
    *("held_up_records", "open_transaction_since"),
    *("open_transaction_topic", "open_transaction_partition"),
    *("cause", "cause_since", "cause_evidence"),
)

# What the collector calls a commit that stands, with an owner and without one.
_STANDS = {"stalled_lag": STALL, "stopped_lag": STOP}

# Longer than the snapshots' own limit of 30 days, and short enough to count in milliseconds.
_LOSS_SECONDS = "least(seconds_until_loss, 1e7D)"

# Whether the age of a row is a least one: its record is as old, and maybe older.
IS_AGE_LEAST = "(time_lag_seconds IS NOT NULL AND time_lag_error_seconds IS NULL)"
# The age of a row that has an upper bound; null: it has none, or is not known.
DATED_AGE = f"IF({IS_AGE_LEAST}, NULL, time_lag_seconds)"
# STALL or STOP where a commit stood, with an owner or without; null: it moved, or none lagged. The
# status says first that records are lost: behind that, a commit that is as old as a status' usual
# window stands.
STANDING = (
    f"CASE WHEN status IN ('{STALL}', '{STOP}') THEN status WHEN records_lost > 0"
    f" AND unix_seconds(taken_at) - unix_seconds(commit_changed_at) >= {STILL_SECONDS}"
    f" THEN IF(member_id IS NULL, '{STOP}', '{STALL}') END"
)
# Records between the log start and the commit, 0 at least; null when either is unknown: greatest()
# skips nulls and would call an unknown margin 0, the worst there is.
_DISTANCE = "committed_offset - start_offset"
_MARGIN = f"coalesce(retention_margin, IF({_DISTANCE} IS NULL, NULL, greatest({_DISTANCE}, 0)))"
# Null unless one setting says so, or both say no.
_UNLIMITED = "(retention_ms < 0 OR NOT contains(cleanup_policy, 'delete'))"

PARTITION = (*GROUP_TOPIC, "partition_id")
MEMBER = ("member_id", "client_id", "client_host")

TOPIC = ("topic",)
TOPIC_SEGMENT = ("topic_id", "partition_id", "leader", "leader_rack")

# Rows that lie in one partition: to group, rank or join them there Spark needs no exchange, and its
# planning costs more than a second task would save.
SMALL = 100_000


@dataclass(frozen=True, slots=True)
class DayAggregates:
    """A day's rows as the small frames that all reports are derived from."""

    groups: DataFrame
    weights: RunWeights
    segments: DataFrame
    runs: DataFrame
    topic_segments: DataFrame
    topic_runs: DataFrame


class Keeper:
    """Computes frames now, and keeps them until they are released; from any thread.

    Those of `few_rows` Java gives back by itself, once nobody has them.
    """

    def __init__(self, small: int = SMALL, *, few_rows: bool = False) -> None:
        self._small, self._few_rows = small, few_rows
        self._kept: list[DataFrame] = []

    def keep(self, frame: DataFrame, *keys: str) -> DataFrame:
        """The same rows, those alike in `keys` together; in one partition if they are `small`.

        Else in as few partitions as there are tasks at once.
        """
        if self._few_rows:
            # Spark looks no more at what they came from, at each step that follows
            return frame.coalesce(1).localCheckpoint()
        # Spark does not merge the small partitions of a kept frame by itself: 200 tasks a step
        tasks = frame.sparkSession.sparkContext.defaultParallelism
        kept = (frame.repartition(tasks, *keys) if keys else frame.coalesce(tasks)).persist()
        self._kept.append(kept)
        return kept.coalesce(1) if kept.count() <= self._small else kept

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


def _of_groups(groups: DataFrame, keeper: Keeper) -> tuple[DataFrame, RunWeights]:
    rows = groups.selectExpr(*_GROUPS, f"{without_losses(GROUP)} AS consume_rate")
    kept = keeper.keep(rows, *GROUP)
    return kept, run_weights(kept)


def _of_partitions(rows: DataFrame, keeper: Keeper) -> tuple[DataFrame, DataFrame]:
    segments, runs = group_segments(rows), group_runs(rows)
    return keeper.keep(segments, *GROUP_TOPIC), keeper.keep(runs, *GROUP_TOPIC)


def _of_topics(rows: DataFrame, keeper: Keeper) -> tuple[DataFrame, DataFrame]:
    return keeper.keep(topic_segments(rows), *TOPIC), keeper.keep(topic_runs(rows), *TOPIC)


@contextmanager
def keeping(*, few_rows: bool = False) -> Iterator[Keeper]:
    """A keeper that lets go of everything in the end."""
    keeper = Keeper(few_rows=few_rows)
    try:
        yield keeper
    finally:
        keeper.release()


def group_segments(group_partitions: DataFrame) -> DataFrame:
    """What each partition's day was like, per leader and owner; null: never known.

    Times (`*_at`) are seconds of the UTC day. `margin` and `loss_seconds` are the least of the day,
    each with its first moment, to the millisecond of `loss_seconds`. `stalled_lag` and
    `stopped_lag` are the parts of `lag_sum` seen while the commit stood. All aggregates are over
    numbers, whose buffers Spark keeps in a hash table: one over text or a struct would make it
    sort all rows.
    """
    rows = _was_read(with_rises(group_partitions, "group_partitions")).selectExpr(
        *GROUP_TOPIC,
        *GROUP_SEGMENT,
        f"{CLOCK} AS second",
        "consumed",
        *_READ,
        *_OWN,
        f"{DATED_AGE} AS dated",
        f"{READ_OFFSET} AS read_offset",
        f"{_MARGIN} AS margin",
        f"CAST({_LOSS_SECONDS} * 1000 AS bigint) AS loss_millis",
        *(f"IF({STANDING} = '{status}', lag, NULL) AS {name}" for name, status in _STANDS.items()),
        "skipped_at = taken_at AS skipped",
    )
    measures = {
        "reads": "count(second)",
        "lags": "count(lag)",
        "lag_sum": "sum(lag)",
        **{name: f"sum({name})" for name in _STANDS},
        "time_lag_max": "max(time_lag_seconds)",
        "dated_max": "max(dated)",
        "records_lost": "max(records_lost)",
        "consume_rate": "sum(consume_rate)",
        "consumed": "sum(consumed)",
        "rewinds": "count(rewound_from)",
        "skips": "count_if(skipped)",
        "margin": "min(margin)",
        "margin_at": at_first_least("second", "margin"),
        "lag_at_margin": at_first_least("lag", "margin"),
        "loss_seconds": "min(seconds_until_loss)",
        "loss_at": at_first_least("second", "loss_millis"),
        "lost": f"bool_or(retention_risk = '{LOST}')",
        "at_risk": f"bool_or(retention_risk = '{AT_RISK}')",
        "safe": f"bool_or(retention_risk = '{SAFE}')",
        "first_at": "min(second)",
        "last_at": "max(second)",
        **_named("end", "ends", "end_offset"),
        **_named("committed", "commits", "read_offset"),
    }
    return grouped(rows, (*GROUP_TOPIC, *GROUP_SEGMENT), measures)


def group_runs(group_partitions: DataFrame) -> DataFrame:
    """Lag, time lag and consume rate of each group's topic at each run, over its partitions.

    Lag and time lag are null where a partition was not read: what is missing may be the worst.
    `time_lag_is_least`: any of its ages is a least one.
    """
    rows = group_partitions.selectExpr(
        *GROUP_TOPIC,
        "taken_at",
        "unread_reason IS NULL AS read",
        *(f"{where_read(name)} AS {name}" for name in (*_READ, "records_lost")),
        f"{IS_AGE_LEAST} AS is_least",
    )
    measures = {
        "lag": "IF(bool_and(read), sum(lag), NULL)",
        "time_lag": "IF(bool_and(read), max(time_lag_seconds), NULL)",
        "time_lag_is_least": "IF(bool_and(read), bool_or(is_least), NULL)",
        "consume_rate": "sum(consume_rate)",
        "records_lost": "max(records_lost)",
        "skewed": skewed("max(lag)", "sum(lag)", "count(lag)", LAG_EXCESS),
    }
    return grouped(rows, (*GROUP_TOPIC, "taken_at"), measures)


def without_losses(keys: Sequence[str]) -> str:
    """SQL: `consume_rate` of runs alike in `keys`, unknown after records were lost.

    A commit that passes over what was deleted looks like reading, and the rate is a moving average.
    """
    lately = (
        f"PARTITION BY {', '.join(keys)} ORDER BY unix_seconds(taken_at)"
        f" RANGE BETWEEN {RATE_FORGETS_SECONDS} PRECEDING AND CURRENT ROW"
    )
    return f"IF(coalesce(max(records_lost) OVER ({lately}), 0) = 0, consume_rate, NULL)"


def where_read(value: str) -> str:
    """SQL: the value, null where the run did not read the row."""
    return f"IF(unread_reason IS NULL, {value}, NULL)"


def is_age_kept(age: str, promised: str) -> str:
    """SQL: whether the age of a run is within what is promised; null: it is not known.

    An age without an error is a least one: a promise broken for certain, or not known.
    """
    return (
        f"CASE WHEN {age} > {promised} THEN false"
        f" WHEN {age} <= {promised} AND time_lag_error_seconds IS NOT NULL THEN true END"
    )


def _was_read(rows: DataFrame) -> DataFrame:
    return rows.where("unread_reason IS NULL")


def _named(prefix: str, times: str, value: str) -> dict[str, str]:
    found = first_and_last(value)
    return {times if name == "times" else f"{prefix}_{name}": c for name, c in found.items()}


def group_partition_days(segments: DataFrame) -> DataFrame:
    """`mean_lag` per group, topic and partition, with the `leader` and the member it stood under.

    `stands` is `stalled` or `stopped` where at least half of the lag was seen while the commit
    stood. The mean is over the runs that knew the lag; null: none did. Leader and member are those
    whose segments hold most of the day's lag, of equals those seen most often.
    """
    partition, member = ", ".join(PARTITION), ", ".join(MEMBER)
    rows = with_columns(
        segments,
        {
            f"{owner}_{name}": f"coalesce(sum({of}) OVER (PARTITION BY {partition}, {names}), 0)"
            for owner, names in (("leader", "leader"), ("member", member))
            for name, of in (("lag", "lag_sum"), ("reads", "reads"))
        },
    )
    in_order = ", ".join(f"{name} NULLS LAST" for name in MEMBER)
    rows = with_columns(
        rows,
        {
            "main_leader": f"first(leader) OVER (PARTITION BY {partition}"
            " ORDER BY leader_lag DESC, leader_reads DESC, leader NULLS LAST)",
            "main_member": f"first(struct({member})) OVER (PARTITION BY {partition}"
            f" ORDER BY member_lag DESC, member_reads DESC, {in_order})",
        },
    )
    days = grouped(
        rows,
        PARTITION,
        {
            "lag": "sum(lag_sum)",
            "mean_lag": "try_divide(double(sum(lag_sum)), sum(lags))",
            "stalled": "coalesce(sum(stalled_lag), 0)",
            "stopped": "coalesce(sum(stopped_lag), 0)",
            "leader": "first(main_leader)",
            "member": "first(main_member)",
        },
    )
    stands = (
        "CASE WHEN stalled + stopped > 0 AND 2 * (stalled + stopped) >= coalesce(lag, 0)"
        f" THEN IF(stopped > stalled, '{STOPPED}', '{STALLED}') END AS stands"
    )
    return days.selectExpr(*PARTITION, "mean_lag", "leader", "member.*", stands)


def topic_segments(topic_partitions: DataFrame) -> DataFrame:
    """What each partition's day was like under each leader; times are seconds of the UTC day.

    `retention_seconds` is the newest known, at `retention_known_at`; null: unlimited, or unknown.
    `retention_unlimited` is the newest known, at `unlimited_known_at`: nothing is deleted for age.
    """
    rows = _was_read(with_rises(topic_partitions, "topic_partitions")).selectExpr(
        *TOPIC,
        *TOPIC_SEGMENT,
        f"{CLOCK} AS second",
        "produced",
        "end_offset",
        "retention_ms",
        f"{_UNLIMITED} AS unlimited",
    )
    known = "IF(retention_ms IS NULL, NULL, second)"
    judged = "IF(unlimited IS NULL, NULL, second)"
    newest = f"max_by(retention_ms, {known})"
    measures = {
        "reads": "count(second)",
        "produced": "sum(produced)",
        "first_at": "min(second)",
        "last_at": "max(second)",
        "retention_seconds": f"IF({newest} >= 0, {newest} / 1000, NULL)",
        "retention_known_at": f"max({known})",
        "retention_unlimited": f"max_by(unlimited, {judged})",
        "unlimited_known_at": f"max({judged})",
        **_named("end", "ends", "end_offset"),
    }
    return grouped(rows, (*TOPIC, *TOPIC_SEGMENT), measures)


def topic_runs(topic_partitions: DataFrame) -> DataFrame:
    """Whether production was skewed at each run, by the partitions' produce rates."""
    top, total, count = (f"{how}(produce_rate)" for how in ("max", "sum", "count"))
    uneven = skewed(top, total, count, RATE_EXCESS)
    return grouped(_was_read(topic_partitions), (*TOPIC, "taken_at"), {"skewed": uneven})


def records_produced(segments: DataFrame) -> DataFrame:
    """Records `produced` in the day per topic and partition; null: seen fewer than twice.

    How far the end offset rose within each topic id: a recreated topic starts anew, and an end
    that went back (unclean leader election) is not negative production. What was there at the
    first sight of a topic id is nobody's day and does not count.
    """
    by_id = grouped(
        segments, (*TOPIC, "topic_id", "partition_id"), {"rise": net_rise("end", "ends")}
    )
    return grouped(by_id, (*TOPIC, "partition_id"), {"produced": "sum(rise)"})


def net_rise(offset: str, times: str) -> str:
    """SQL, an aggregate over segments: records from the first to the last known `offset`.

    Going back counts as 0, not as negative. Null when it was known less than twice (`times`).
    """
    first = f"min_by({offset}_first, {offset}_first_at)"
    last = f"max_by({offset}_last, {offset}_last_at)"
    return f"IF(sum({times}) > 1, greatest({last} - {first}, 0), NULL)"
