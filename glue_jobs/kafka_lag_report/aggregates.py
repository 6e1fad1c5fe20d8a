# SPDX-License-Identifier: Apache-2.0
"""A day's rows reduced to small frames, of partitions and of runs: all that tables derive from.

Partitions and runs are a scan each, of the columns that they need (`segments` says which).
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame

from kafka_lag_report.findings import STALLED, STOPPED
from kafka_lag_report.partials import DayRows, Lay, as_they_lie, reduce_rows
from kafka_lag_report.run_weights import RunWeights, run_weights
from kafka_lag_report.segments import (
    GROUP_RUNS,
    GROUP_SEGMENTS,
    GROUP_TOPIC,
    TOPIC,
    TOPIC_RUNS,
    TOPIC_SEGMENTS,
)
from kafka_lag_report.skew import grouped, skewed, with_columns
from kafka_lag_report.thresholds import LAG_EXCESS, RATE_EXCESS, RATE_FORGETS_SECONDS

GROUP = ("consumer_group",)

# Of a group's row what tables, incidents and curves are made of: a third, and it is kept.
_GROUPS = (
    *("consumer_group", "taken_at", "unread_reason", "group_state", "owner", "members"),
    *("read_at", "status", "status_reason", "worst_status", "sla_seconds", "lag"),
    *("time_lag_seconds", "time_lag_error_seconds", "produce_rate"),
    *("rebalances", "rebalancing_share", "owners_changed", "tasks_needed", "tasks_needed_reason"),
    *("slo_age_seconds", "slo_target", "slo_days"),
    *("worst_topic", "worst_partition", "worst_leader", "worst_member"),
    *("held_up_records", "open_transaction_since"),
    *("open_transaction_topic", "open_transaction_partition"),
    *("records_lost", "seconds_until_loss", "records_rewound"),
    *("records_skipped", "skipped_at", "skip_reason"),
    *("cause", "cause_since", "cause_evidence"),
    *("incident_id", "incident_since", "incident_from", "incident_until"),
    *("incident_worst_status", "incident_worst_status_since", "incident_cause"),
    *("incident_peak_lag", "incident_peak_lag_at", "incident_lost", "incident_skipped"),
    *("incident_sla_broken_since", "incident_at_risk_since"),
)

PARTITION = (*GROUP_TOPIC, "partition_id")
MEMBER = ("member_id", "client_id", "client_host")

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

    def lay(self, keys: Sequence[str], frame: DataFrame) -> DataFrame:
        """The same rows, those alike in `keys` together, in as many partitions as tasks at once.

        What is grouped or ranked by these keys, and by more, then needs no other exchange. Spark
        does not merge the small partitions of a kept frame by itself: 200 tasks a step.
        """
        if self._few_rows:
            return frame
        return frame.repartition(frame.sparkSession.sparkContext.defaultParallelism, *keys)

    def keep(self, frame: DataFrame, *order: str) -> DataFrame:
        """The same rows, in one partition if they are `small`.

        Others are in this order within each partition, which is then no work for who needs it.
        """
        if self._few_rows:
            # Spark looks no more at what they came from, at each step that follows
            return frame.coalesce(1).localCheckpoint()
        kept = (frame.sortWithinPartitions(*order) if order else frame).persist()
        self._kept.append(kept)
        return kept.coalesce(1) if kept.count() <= self._small else kept

    def release(self) -> None:
        """Give back the memory of all that was kept."""
        while self._kept:
            self._kept.pop().unpersist()


def reduce_day(
    groups: DataFrame, group_rows: DayRows, topic_rows: DayRows, keeper: Keeper
) -> DayAggregates:
    """Reduce the rows of `groups`, `group_partitions` and `topic_partitions`."""
    with ThreadPoolExecutor() as pool:
        # three scans at once: one plans and exchanges while the others compute
        of_groups = pool.submit(_of_groups, groups, keeper)
        of_partitions = pool.submit(_of_partitions, group_rows, keeper)
        of_topics = pool.submit(_of_topics, topic_rows, keeper)
    return DayAggregates(*of_groups.result(), *of_partitions.result(), *of_topics.result())


def _of_groups(groups: DataFrame, keeper: Keeper) -> tuple[DataFrame, RunWeights]:
    rows = keeper.lay(GROUP, groups.select(*_GROUPS, "consume_rate"))
    rows = rows.selectExpr(*_GROUPS, f"{without_losses(GROUP)} AS consume_rate")
    kept = keeper.keep(rows, *GROUP, "taken_at")
    return kept, run_weights(kept)


def _of_partitions(rows: DayRows, keeper: Keeper) -> tuple[DataFrame, DataFrame]:
    lay = partial(keeper.lay, GROUP_TOPIC)
    segments = keeper.keep(group_segments(rows, lay))
    return segments, keeper.keep(group_runs(rows, lay), *GROUP_TOPIC, "taken_at")


def _of_topics(rows: DayRows, keeper: Keeper) -> tuple[DataFrame, DataFrame]:
    lay = partial(keeper.lay, TOPIC)
    return keeper.keep(topic_segments(rows, lay)), keeper.keep(topic_runs(rows, lay))


@contextmanager
def keeping(*, few_rows: bool = False) -> Iterator[Keeper]:
    """A keeper that lets go of everything in the end."""
    keeper = Keeper(few_rows=few_rows)
    try:
        yield keeper
    finally:
        keeper.release()


def group_segments(group_partitions: DayRows, lay: Lay = as_they_lie) -> DataFrame:
    """What each partition's day was like, per leader and owner; null: never known.

    Times (`*_at`) are seconds of the UTC day. `margin` and `loss_seconds` are the least of the day,
    each with its first moment, to the millisecond of `loss_seconds`. `stalled_lag` and
    `stopped_lag` are the parts of `lag_sum` seen while the commit stood.
    """
    hidden = ("margin_order", "loss_order")
    names = [name for name in GROUP_SEGMENTS.measures if name not in hidden]
    return reduce_rows(group_partitions, GROUP_SEGMENTS, {name: name for name in names}, lay)


def group_runs(group_partitions: DayRows, lay: Lay = as_they_lie) -> DataFrame:
    """Lag, time lag and consume rate of each group's topic at each run, over its partitions.

    Lag and time lag are null where a partition was not read: what is missing may be the worst.
    `time_lag_is_least`: any of its ages is a least one.
    """
    columns = {
        "lag": "IF(read, lag, NULL)",
        "time_lag": "IF(read, time_lag, NULL)",
        "time_lag_is_least": "IF(read, is_least, NULL)",
        "consume_rate": "consume_rate",
        "records_lost": "records_lost",
        "skewed": skewed("lag_max", "lag", "lags", LAG_EXCESS),
    }
    return reduce_rows(group_partitions, GROUP_RUNS, columns, lay)


def without_losses(keys: Sequence[str]) -> str:
    """SQL: `consume_rate` of runs alike in `keys`, unknown after records were lost.

    A commit that passes over what was deleted looks like reading, and the rate is a moving average.
    """
    so_far = f"PARTITION BY {', '.join(keys)} ORDER BY taken_at"
    # of all runs so far, which Spark counts on from row to row; an hour's it adds up anew for each
    lost_at = f"max(IF(records_lost > 0, unix_seconds(taken_at), NULL)) OVER ({so_far})"
    lately = f"unix_seconds(taken_at) - {lost_at} <= {RATE_FORGETS_SECONDS}"
    return f"IF(coalesce({lately}, false), NULL, consume_rate)"


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


def topic_segments(topic_partitions: DayRows, lay: Lay = as_they_lie) -> DataFrame:
    """What each partition's day was like under each leader; times are seconds of the UTC day.

    `retention_seconds` is the newest known, at `retention_known_at`; null: unlimited, or unknown.
    `retention_unlimited` is the newest known, at `unlimited_known_at`: nothing is deleted for age.
    """
    columns = {name: name for name in TOPIC_SEGMENTS.measures if name != "retention_ms"}
    columns["retention_seconds"] = "IF(retention_ms >= 0, retention_ms / 1000, NULL)"
    return reduce_rows(topic_partitions, TOPIC_SEGMENTS, columns, lay)


def topic_runs(topic_partitions: DayRows, lay: Lay = as_they_lie) -> DataFrame:
    """Whether production was skewed at each run, by the partitions' produce rates."""
    uneven = skewed("top", "total", "count", RATE_EXCESS)
    return reduce_rows(topic_partitions, TOPIC_RUNS, {"skewed": uneven}, lay)


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
