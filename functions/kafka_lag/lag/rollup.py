# SPDX-License-Identifier: Apache-2.0
"""The roll-up of group-partitions to topics and groups, by the columns of their snapshot rows.

Metrics, page and /metrics all use it, so that one run says the same in each. Sums need every part;
the oldest age does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.carry_over import Seconds
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import AnyColumn, Frame, locate
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.offset_lag import OffsetLag
from kafka_lag.lag.retention import risk_bound
from kafka_lag.lag.rules import Rules
from kafka_lag.lag.sets import Sets, distinct
from kafka_lag.lag.status import changed, inactive
from kafka_lag.lag.time_lag import Ages


@dataclass(frozen=True, slots=True)
class Counts:
    """What each row counts for: as it was read, or for one window as it was last read.

    `age` in seconds. `missing` rows make the sums of their sets unknown, `uncommitted` ones are
    counted apart, `ignored` ones belong to no set. The age of an `unbounded` row may be any more
    than it says.
    """

    lag: Column
    age: Column
    missing: Mask
    uncommitted: Mask
    ignored: Mask
    unbounded: Mask

    def sets(self, every: Sets) -> Sets:
        """These sets without the rows that are ignored."""
        return every.without(self.ignored)


def counts_of(rows: Frame) -> Counts:
    """Of rows of `group_partitions`, stamped with `taken_at`."""
    why = rows.strings("uncounted")
    uncommitted = why.is_in([contract.UNCOMMITTED])
    lag = rows.numbers("lag").or_else(rows.numbers("last_lag"))
    missing = why.is_in([contract.UNKNOWN]) | (~lag.known & ~uncommitted)
    return Counts(
        lag=lag.only(~missing),
        age=_age(rows).only(~missing),
        missing=missing,
        uncommitted=uncommitted,
        ignored=why.is_in([contract.IGNORED]),
        unbounded=~rows.numbers("time_lag_error_seconds").known & ~uncommitted,
    )


def unread_seconds(rows: Frame) -> Column:
    """How long before its run a row was last read; unknown of one that was read in its run."""
    taken_at, read_at = rows.numbers("taken_at"), rows.numbers("read_at")
    known = taken_at.known & read_at.known & rows.strings("unread_reason").known
    passed = np.where(known, taken_at.values - read_at.values, 0) / 1_000
    return Column(np.maximum(passed, 0.0), known)


def totals(sets: Sets, counts: Counts) -> dict[str, Column]:
    """lag, max_lag and time_lag_seconds of each set."""
    return {
        "lag": sets.total(counts.lag, counts.missing),
        "max_lag": sets.maximum(counts.lag, counts.missing),
        "time_lag_seconds": _oldest(sets, counts),
    }


def group_topics(rows: Frame) -> Frame:
    """A row per group and topic, with `totals` and the sum of its commits.

    A topic of which the user wants every partition ignored has none.
    """
    groups, topics, counts = rows.strings("consumer_group"), rows.strings("topic"), counts_of(rows)
    every, first = distinct(groups.codes.values, topics.codes.values)
    sets, committed = counts.sets(every), rows.numbers("committed_offset")
    pairs = Frame.of(
        {
            "consumer_group": groups.take(first),
            "topic": topics.take(first),
            "committed_offset": sets.total(committed, counts.missing),
            **totals(sets, counts),
        }
    )
    return pairs.where(sets.rows().values > 0)


def _age(rows: Frame) -> Column:
    """An age grows while its row is not read; that of a row that lagged by nothing stays 0."""
    last, passed = rows.numbers("last_time_lag_seconds"), unread_seconds(rows).values
    # A record that is dated is unread, though it may have been appended just then.
    behind = (last.values > 0) | rows.numbers("next_record_before").known
    grown = np.where(behind, last.values + passed, last.values)
    return rows.numbers("time_lag_seconds").or_else(Column(grown, last.known))


def _oldest(sets: Sets, counts: Counts) -> Column:
    """The largest age, s; unknown also where it would be 0 beside an unknown one."""
    largest = sets.maximum(counts.age)
    blind = sets.have(~counts.age.known & ~counts.uncommitted)
    return largest.only(~blind | (largest.values > 0))


@dataclass(frozen=True, slots=True)
class Counted:
    """A row per group-partition.

    `ages` proves bounds, of rows that were read now only. `surplus` is the lag beyond what is
    allowed, known as the lag is. `produce_rate` (records/s) is the partition's. `until_loss` (s)
    is known of rows at risk, 0 where records were lost; `risk_known` also marks those at none.
    """

    counts: Counts
    ages: Ages
    surplus: Column
    produce_rate: Column
    until_loss: Column
    risk_known: Mask

    def lagging(self) -> Mask:
        """Rows that lag by more than is allowed; a lag that is not known is none."""
        mask: Mask = self.surplus.known & (self.surplus.values > 0)
        return mask


_UNCOUNTED = Strings.of([contract.IGNORED, contract.UNCOMMITTED, contract.UNKNOWN, None])


def add_uncounted(rows: Frame, lags: OffsetLag, taken_at: int, rules: Rules) -> Frame:
    """`taken_at`, and `uncounted`: why a row adds nothing to the sums of its group and topic.

    A row that was not read counts as it was for one window after it was; then it is unknown.
    """
    unread, read_at = rows.strings("unread_reason").known, rows.numbers("read_at")
    lately = read_at.known & (read_at.values >= taken_at - rules.window_ms)
    valid = ~unread | lately
    uncommitted, known = lags.uncommitted & valid, lags.lag.known & valid
    none = np.zeros(len(rows), bool)
    ignored = inactive(rows, taken_at) if rules.ignore_inactive else none
    why = np.select([ignored, uncommitted, ~known], [0, 1, 2], default=3)
    now = Column.of(np.full(len(rows), taken_at, np.int64))
    return rows.with_columns(taken_at=now, uncounted=_UNCOUNTED.take(why))


def count_rows(rows: Frame, topics: Frame, allowed: Column, ages: Ages, rules: Rules) -> Counted:
    """Of rows that say what is `uncounted`; `topics` and `allowed` (records) are each row's."""
    counts = counts_of(rows)
    surplus = np.maximum(counts.lag.values - allowed.values, 0)
    risk = rows.strings("retention_risk").only(~counts.missing)
    return Counted(
        counts=counts,
        ages=ages,
        surplus=Column(surplus, counts.lag.known),
        produce_rate=topics.numbers("produce_rate"),
        until_loss=_until_loss(rows, risk, risk_bound(topics, rules)),
        risk_known=risk.known,
    )


def _until_loss(rows: Frame, risk: Strings, bound: Seconds) -> Column:
    """Seconds of rows at risk, less by the time that went by since an unread row said so.

    0 where records were lost. A row that is not read may come to be at risk meanwhile, nearer to a
    loss than its `bound` (s).
    """
    seconds, lost = rows.numbers("seconds_until_loss"), risk.is_in([contract.LOST])
    passed = unread_seconds(rows)
    left = np.where(lost, 0.0, np.maximum(seconds.values - passed.values, 0.0))
    comes = passed.known & (seconds.values < contract.NO_LOSS_SECONDS) & (left < bound)
    comes &= risk.codes.known
    return Column(left, lost | ((risk.is_in([contract.AT_RISK]) | comes) & seconds.known))


_GROUP = ("consumer_group",)


def roll_up_groups(
    groups: Frame, rows: Frame, counted: Counted, before: Snapshot, rules: Rules
) -> Frame:
    """The `groups` dataset as far as one run can tell it; what lasts is added by `held`.

    Counts are as the metrics have them. Each row's group must be among the groups.
    """
    every = Sets(locate(rows, groups, _GROUP), len(groups))
    sets = counted.counts.sets(every)
    sums = totals(sets, counted.counts)
    rolled = groups.with_columns(
        **_decided(groups, rules),
        **_sizes(groups, rows, every, before),
        **_partitions(sets, rows, counted),
        **sums,
        **errors(sets, counted, sums["time_lag_seconds"]),
        **speeds(sets, rows, counted),
        seconds_until_loss=until_loss(sets, counted),
        **statuses(sets, rows, counted),
    )
    left = (every.rows().values > 0) & (sets.rows().values == 0)
    inactive = Strings.constant(contract.INACTIVE, len(groups)).only(left)
    return rolled.with_columns(status_reason=rolled.strings("status_reason").or_else(inactive))


def scaling(groups: Frame, rows: Frame, counted: Counted) -> Frame:
    """A row per group: consumer_group, scaling_lag; known only of a group that was read whole.

    A last known value is good enough to be shown, but a service must not be scaled by it.
    """
    counts = counted.counts
    sets = counts.sets(Sets(locate(rows, groups, _GROUP), len(groups)))
    stalled = status_of(rows).is_in([contract.STALL])
    # A record that stalls one consumer would stall them all.
    lag = Column(np.where(stalled, 0, counted.surplus.values), counted.surplus.known)
    unknown = counts.missing | rows.strings("unread_reason").known
    return Frame.of(
        {
            "consumer_group": groups.strings("consumer_group"),
            "scaling_lag": sets.total(lag, unknown),
        }
    )


def _decided(groups: Frame, rules: Rules) -> dict[str, AnyColumn]:
    """What the user says of a group, by its name."""
    names = groups.strings("consumer_group")
    owners = Strings.of(rules.owners.get(name) for name in names.categories)
    limits = Column.optional([rules.sla_seconds.get(n) for n in names.categories], np.float64)
    at = np.where(names.known, names.codes.values, -1).astype(np.int64)
    return {"owner": owners.take(at), "sla_seconds": limits.take(at)}


def _sizes(groups: Frame, rows: Frame, every: Sets, before: Snapshot) -> dict[str, AnyColumn]:
    """How many topics and partitions there are, and how many members took or left one."""
    codes = rows.strings("consumer_group").codes.values, rows.strings("topic").codes.values
    heard = ~groups.strings("unread_reason").known & groups.numbers("members").known
    return {
        "topics": Sets(every.of_row[distinct(*codes)[1]], every.count).rows(),
        "partitions": every.rows(),
        "owners_changed": every.rows(changed(rows, before)).only(heard),
    }


def _partitions(sets: Sets, rows: Frame, counted: Counted) -> dict[str, AnyColumn]:
    """How many partitions no lag counts, and how many records were lost."""
    counts, unread = counted.counts, rows.strings("unread_reason").known
    return {
        "partitions_unknown": sets.rows(unread | counts.missing),
        "partitions_uncommitted": sets.rows(counts.uncommitted),
        "records_lost": sets.total(rows.numbers("records_lost")),
    }


# From good to bad: each stands where its number says.
GROUP_STATUSES = tuple(contract.GROUP_STATUS_VALUES)


def statuses(sets: Sets, rows: Frame, counted: Counted) -> dict[str, AnyColumn]:
    """Status, its reason, how complete it is, and the worst partition with member and leader.

    The status is unknown where no partition with a lag was read now, and where all is well but
    for one that lags and has no status yet; it has the worst partition's reason, or while there is
    none yet that nobody is there to read. `complete` is 0 where none was read, unknown where none
    has a commit.
    """
    read = ~rows.strings("unread_reason").known
    severity = _severities(status_of(rows))
    seen = sets.have(read & counted.counts.lag.known)
    worst_known = sets.maximum(severity)
    # One that lags and cannot be judged yet may be anything: OK would be a guess.
    guess = sets.have(counted.lagging() & ~severity.known) & (worst_known.values == 0)
    status = Strings(worst_known.only(seen & ~guess), GROUP_STATUSES)
    worst = rows.take(_worst(sets, rows, counted, severity))
    reasons = rows.strings("status_reason")
    abandoned = sets.have(read & ~severity.known & reasons.is_in([contract.NO_MEMBER]))
    no_member = Strings.constant(contract.NO_MEMBER, sets.count).only(abandoned & ~status.known)
    return {
        "status": status,
        "status_reason": worst.strings("status_reason").only(status.known).or_else(no_member),
        "complete": _complete(sets, rows, counted, read),
        "worst_topic": worst.strings("topic"),
        "worst_partition": worst.numbers("partition_id"),
        "worst_member": worst.strings("member_id"),
        "worst_leader": worst.numbers("leader"),
    }


def status_of(rows: Frame) -> Strings:
    """Each row's status, its last one where it was not read."""
    unread = rows.strings("unread_reason").known
    return rows.strings("status").or_else(rows.strings("last_status").only(unread))


def _severities(status: Strings) -> Column:
    codes = status.codes_in(tuple(contract.PARTITION_SEVERITIES))
    severities = np.array(tuple(contract.PARTITION_SEVERITIES.values()), np.int32)
    return Column(severities[codes.values], codes.known)


def _worst(sets: Sets, rows: Frame, counted: Counted, severity: Column) -> Rows:
    """The row with the worst status, then the oldest, then with most lag, then the first.

    None where all is well, nor where all is well but for a row not heard of, which may be worse.
    A topic that the group left is less to blame than one it reads, at the same severity.
    """
    left = rows.strings("status_reason").is_in([contract.INACTIVE])
    rank = np.where(severity.known & (severity.values > 0), 2 * severity.values - left, 0)
    age, lag = _or_less(counted.counts.age), _or_less(counted.counts.lag)
    bad = rank > 0
    at = sets.first_at_maximum(bad | counted.lagging(), rank, age, lag)
    sure = ~sets.have(counted.counts.missing) | sets.have(bad)
    return np.where(sure, at, -1)


def _or_less(column: Column) -> Rows:
    """Unknown below all that is known."""
    return np.where(column.known, column.values, -1)


def _complete(sets: Sets, rows: Frame, counted: Counted, read: Mask) -> Column:
    """The share read of the partitions that have a commit, or may have one nobody told."""
    committed = rows.numbers("committed_offset").known
    whole = sets.rows(committed | counted.counts.missing).values
    share = sets.rows(committed & read).values / np.maximum(whole, 1)
    return Column(share, whole > 0)


def errors(sets: Sets, counted: Counted, estimate: Column) -> dict[str, AnyColumn]:
    """How far the time lag of each set may be off, and how it was found.

    `estimate` is the time lag. The true one lies between the largest lower and the largest upper
    bound. A row that has no upper bound, or was not read now, may be older than all: at_least, the
    error unknown.
    """
    bounds, age = counted.ages, counted.counts.age
    least = sets.maximum(bounds.least)
    most = sets.maximum(bounds.most, counted.counts.unbounded).only(estimate.known)
    below = np.maximum(estimate.values - np.where(least.known, least.values, 0.0), 0.0)
    error = np.maximum(most.values - estimate.values, below)
    method = bounds.method.take(sets.first_at_maximum(age.known, age.values))
    at_least = Strings.constant(contract.METHOD_AT_LEAST, sets.count)
    return {
        "time_lag_error_seconds": Column(error, most.known),
        "time_lag_method": method.only(most.known).or_else(at_least.only(estimate.known)),
    }


def speeds(sets: Sets, rows: Frame, counted: Counted) -> dict[str, AnyColumn]:
    """Records a second, summed, and the longest drain time, s.

    A rate is unknown where one of its parts is; nothing is consumed of a partition without a
    commit. Nothing behind drains in 0; a row behind that is not catching up, or whose lag is
    missing, makes it unknown.
    """
    lagging, drain = counted.lagging(), rows.numbers("drain_seconds")
    needed, missing = np.where(lagging, drain.values, 0.0), counted.counts.missing
    produced, consumed = counted.produce_rate, rows.numbers("consume_rate")
    moving = rows.numbers("committed_offset").known
    endless = missing | (lagging & ~drain.known)
    return {
        "produce_rate": sets.total(produced, missing | ~produced.known),
        "consume_rate": sets.total(consumed, missing | (moving & ~consumed.known)),
        "drain_seconds": sets.maximum(Column(needed, counted.counts.lag.known), endless),
    }


def until_loss(sets: Sets, counted: Counted) -> Column:
    """Least time to a loss, s, among rows known to be at risk, whatever is unknown beside them.

    Where there is none it is the longest told, if the risk of every row that may lag is known.
    """
    unsure = sets.have(~counted.risk_known & ~counted.counts.uncommitted)
    safe = sets.have(counted.risk_known) & ~unsure
    longest = Column(np.full(sets.count, contract.NO_LOSS_SECONDS), safe)
    return sets.minimum(counted.until_loss).or_else(longest)
