# SPDX-License-Identifier: Apache-2.0
"""The roll-up of group-partitions to topics and groups, by the columns of their snapshot rows.

Metrics, status page and /metrics all use it, so they agree about a run. A sum is unknown if a part
of it is; the oldest age is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.contract.mute_windows import find_mute
from kafka_lag.lag.columns import Column, Mask, Rows, Seconds, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Columns, Frame
from kafka_lag.lag.ownership import find_owner_changes
from kafka_lag.lag.previous_rows import is_read, last_known_lag
from kafka_lag.lag.rates import estimate_time_since
from kafka_lag.lag.retention import find_risk_bound
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets, distinct
from kafka_lag.lag.status import find_inactive
from kafka_lag.lag.time_lag import Ages


@dataclass(frozen=True, slots=True)
class Counts:
    """The values that each row adds to the sums of its group and topic, per group-partition.

    An unread row counts with the values of its last reading, for one window after that.
    `lag` in records, `age` in seconds. `surplus`: records beyond the allowed lag; in a stored run,
    which does not know that, all. A `missing` row makes the sums of its sets unknown.
    `uncommitted` rows are counted separately, `ignored` rows in no set. The true age of an
    `unbounded` row may be larger than `age` by any amount.
    """

    lag: Column
    age: Column
    missing: Mask
    uncommitted: Mask
    ignored: Mask
    unbounded: Mask
    surplus: Column

    def lagging(self) -> Mask:
        """Marks rows that lag by more than is allowed, not those with an unknown lag."""
        return self.surplus > 0

    def sets(self, every: Sets) -> Sets:
        """Returns these sets without the ignored rows."""
        return every.without(self.ignored)


def counts_of(rows: Frame, allowed: Column | None = None) -> Counts:
    """Returns the counts of rows of `group_partitions` that have `taken_at` and `uncounted`.

    `allowed`: records that count as no lag.
    """
    why = rows.strings("uncounted")
    uncommitted = why.is_in([contract.UNCOMMITTED])
    lag = last_known_lag(rows)
    missing = why.is_in([contract.UNKNOWN]) | (~lag.known & ~uncommitted)
    lag = lag.only(~missing)
    return Counts(
        lag=lag,
        age=_grow_age(rows).only(~missing),
        missing=missing,
        uncommitted=uncommitted,
        ignored=why.is_in([contract.IGNORED]),
        unbounded=~rows.numbers("time_lag_error_seconds").known & ~uncommitted,
        surplus=lag if allowed is None else (lag - allowed).clip(0),
    )


def unread_seconds(rows: Frame) -> Column:
    """Returns the seconds from a row's last reading to its run; unknown if that run read it."""
    taken_at, read_at = rows.numbers("taken_at"), rows.numbers("read_at")
    return ((taken_at - read_at) / 1_000).clip(0.0).only(~is_read(rows))


def totals(sets: Sets, counts: Counts) -> dict[str, Column]:
    """Returns `lag`, `max_lag` and `time_lag_seconds` of each set."""
    return {
        "lag": sets.total(counts.lag, counts.missing),
        "max_lag": sets.maximum(counts.lag, counts.missing),
        "time_lag_seconds": _find_oldest(sets, counts),
    }


def roll_up_group_topics(rows: Frame, counts: Counts) -> Frame:
    """Returns a row per group and topic, with `totals` and the sum of its commits.

    The sum leaves out commits beyond the end of their log. A topic whose partitions are all ignored
    has no row.
    """
    groups, topics = rows.strings("consumer_group"), rows.strings("topic")
    every, first = distinct(groups.codes, topics.codes)
    sets, committed = counts.sets(every), rows.numbers("committed_offset")
    committed = committed.only(~(committed > rows.numbers("end_offset")))
    pairs = Frame.of(
        {
            "consumer_group": groups.take(first),
            "topic": topics.take(first),
            "committed_offset": sets.total(committed, counts.missing),
            **totals(sets, counts),
        }
    )
    return pairs.where(sets.rows() > 0)


def _grow_age(rows: Frame) -> Column:
    """Returns ages, s; that of an unread row that lagged grows from its last reading on."""
    last, passed = rows.numbers("last_time_lag_seconds"), unread_seconds(rows).fill(0.0)
    # A row with bounds for its next record lags, even if its age was 0 at that moment; but a
    # record that waits for its delay need not be due by now.
    waits = rows.numbers("delay_seconds").known
    behind = (last > 0) | (rows.numbers("next_record_before").known & ~waits)
    return rows.numbers("time_lag_seconds").or_else((last + passed).where(behind, last))


def _find_oldest(sets: Sets, counts: Counts) -> Column:
    """Returns the largest known age of each set, s; unknown if that is 0 and another is unknown."""
    largest = sets.maximum(counts.age)
    blind = sets.have(~counts.age.known & ~counts.uncommitted)
    return largest.only(~blind | (largest > 0))


_UNCOUNTED = Strings.of([contract.IGNORED, contract.UNCOMMITTED, contract.UNKNOWN, None])


def add_uncounted(e: Evaluation) -> Frame:
    """Returns the rows with `taken_at` and `uncounted`: why a row adds nothing to sums.

    It is unknown if the row counts. An unread row counts for one window after its last reading;
    then its lag is unknown.
    """
    rows, run = e.rows, e.run
    unread, read_at = ~is_read(rows), rows.numbers("read_at")
    lately = read_at >= run.taken_at - run.rules.window_ms
    valid = ~unread | lately
    uncommitted, known = e.lags.uncommitted & valid, e.lags.lag.known & valid
    none = np.zeros(len(rows), bool)
    ignored = find_inactive(rows, run) if run.rules.ignore_inactive else none
    why = np.select([ignored, uncommitted, ~known], [0, 1, 2], default=3)
    now = run.now(len(rows))
    return rows.with_columns(taken_at=now, uncounted=_UNCOUNTED.take(why))


def _find_until_loss(rows: Frame, risk: Strings, bound: Seconds) -> Column:
    """Returns the seconds until a loss for rows at risk; 0 if records were lost.

    The time since the last reading of an unread row is subtracted. The row is at risk once less
    than its `bound`, s, is left.
    """
    seconds, lost = rows.numbers("seconds_until_loss"), risk.is_in([contract.LOST])
    passed = unread_seconds(rows)
    left = (seconds - passed.fill(0.0)).clip(0.0)
    comes = passed.known & risk.known & (seconds < contract.NO_LOSS_SECONDS) & (left < bound)
    nothing = Column.constant(0.0, len(rows), np.float64)
    return nothing.only(lost).or_else(left.only(risk.is_in([contract.AT_RISK]) | comes))


def roll_up_groups(e: Evaluation) -> Frame:
    """Returns the groups with all columns that follow from one run; later steps add the others."""
    groups, rows, topics, run = e.groups, e.rows, e.of_topic, e.run
    e.counts = counts = counts_of(rows, e.undue.where(e.undue > e.unreadable, e.unreadable))
    every = Sets(e.at_group, len(groups))
    sets = counts.sets(every)
    sums = totals(sets, counts)
    produced = topics.numbers("produce_rate")
    rolled = groups.with_columns(
        **_find_settings(groups, run),
        **_count_holdings(e, every),
        **_count_partitions(sets, rows, counts, run),
        **sums,
        **_roll_up_errors(sets, counts, e.ages, sums["time_lag_seconds"]),
        **_roll_up_rates(sets, rows, counts, produced),
        seconds_until_loss=_roll_up_until_loss(sets, rows, counts, find_risk_bound(topics, run)),
        **_roll_up_statuses(sets, rows, counts, produced, run),
    )
    left = (every.rows() > 0) & (sets.rows() == 0)
    inactive = Strings.constant(contract.INACTIVE, len(groups)).only(left)
    return rolled.with_columns(status_reason=rolled.strings("status_reason").or_else(inactive))


def roll_up_scaling(e: Evaluation, groups: Frame) -> Frame:
    """Returns a row per group: `consumer_group`, `scaling_lag` (records beyond the allowed lag).

    It is known only if this run read every partition: a value of an earlier run may be shown, but
    must not scale a service.
    """
    rows, counts = e.rows, e.counts
    sets = counts.sets(Sets(e.at_group, len(groups)))
    stalled = fill_last_status(rows).is_in([contract.STALL])
    # A record that stalls one consumer would stall any other, so its partition is left out.
    lag = counts.surplus * ~stalled
    unknown = counts.missing | ~is_read(rows)
    return Frame.of(
        {
            "consumer_group": groups.strings("consumer_group"),
            "scaling_lag": sets.total(lag, unknown),
        }
    )


def _find_settings(groups: Frame, run: Run) -> Columns:
    """Returns `owner`, `runbook_url`, `sla_seconds`, the SLO and `muted` for a group's name."""
    names, rules = groups.strings("consumer_group"), run.rules
    objectives = names.words_of(rules.objectives.get)
    return {
        "muted": names.words_of(lambda name: _find_mute(name, run)),
        "owner": names.words_of(rules.owners.get),
        "runbook_url": names.words_of(rules.runbook_of),
        "sla_seconds": names.numbers_of(rules.sla_seconds.get),
        "slo_age_seconds": objectives.numbers_of(lambda each: each.age_seconds),
        "slo_target": objectives.numbers_of(lambda each: each.target),
        "slo_days": objectives.numbers_of(lambda each: each.days, np.int32),
    }


def _find_mute(group: str, run: Run) -> str | None:
    mute = find_mute(run.rules.mutes, group, run.taken_at)
    return mute.to_text() if mute else None


def _count_holdings(e: Evaluation, every: Sets) -> Columns:
    """Returns the counts of topics, of partitions, and of partitions whose owner changed.

    Owner changes are unknown if the group's members could not be read.
    """
    rows, groups = e.rows, e.groups
    codes = rows.strings("consumer_group").codes, rows.strings("topic").codes
    described = is_read(groups) & groups.numbers("members").known
    return {
        "topics": Sets(every.of_row[distinct(*codes)[1]], every.count).rows(),
        "partitions": every.rows(),
        "owners_changed": every.rows(find_owner_changes(rows, e.newest)).only(described),
    }


def _count_partitions(sets: Sets, rows: Frame, counts: Counts, run: Run) -> Columns:
    """Returns the counts of partitions with an unknown lag or without a commit, and of records.

    The records were lost, will be read again after a rewind, or were skipped.
    """
    unread = ~is_read(rows)
    again = rows.numbers("rewound_from") - rows.numbers("committed_offset")
    return {
        "partitions_unknown": sets.rows(unread | counts.missing),
        "partitions_uncommitted": sets.rows(counts.uncommitted),
        "records_lost": sets.total(rows.numbers("records_lost")),
        "records_rewound": sets.total(again),
        **_sum_skips(sets, rows, run),
    }


def _sum_skips(sets: Sets, rows: Frame, run: Run) -> Columns:
    """Returns `records_skipped` within the window, the last run, ms, that saw a skip, and why.

    If skips differ in reason, only those with the first of SKIP_REASONS count, because certain and
    uncertain skips must not be added. All are unknown if the group skipped nothing.
    """
    at = rows.numbers("skipped_at")
    at = at.only(rows.numbers("taken_at") - at <= run.rules.window_ms)
    if not at.known.any():
        none = Column.unknown(sets.count)
        reason = Strings.unknown(sets.count)
        return {"records_skipped": none, "skipped_at": none, "skip_reason": reason}
    # Rows of earlier releases have no reason: those releases knew only SET_AHEAD.
    codes = rows.strings("skip_reason").codes_in(contract.SKIP_REASONS).fill(0)
    reason = Strings(sets.minimum(Column(codes, at.known)), contract.SKIP_REASONS)
    of_set = reason.codes.take(np.where(sets.of_row < sets.count, sets.of_row, -1))
    counted = at.known & (of_set == codes)
    records = rows.numbers("skipped_to") - rows.numbers("skipped_from")
    return {
        "records_skipped": sets.total(records.only(counted)),
        "skipped_at": sets.maximum(at.only(counted)),
        "skip_reason": reason,
    }


# From good to bad, so that the index of a status is its severity.
GROUP_STATUSES = tuple(contract.GROUP_STATUS_VALUES)


def _roll_up_statuses(
    sets: Sets, rows: Frame, counts: Counts, produced: Column, run: Run
) -> Columns:
    """Returns status, reason, completeness, and the worst partition with member and leader.

    The status is that of the worst partition. It is unknown if this run read no partition with a
    known lag, or if all known statuses are OK and that of a partition that lags or was not read is
    unknown. The reason is that of the worst partition. Without a status it can only be no_member; a
    group that is OK has off_by_one if any partition has. `complete` is the share of partitions that
    were read: 0 if none was, unknown if none has a commit.
    """
    read = is_read(rows)
    severity = _rank_statuses(fill_last_status(rows))
    # Among unread rows, those without a leader have a status.
    seen = sets.have((read & counts.lag.known) | (~read & rows.strings("status").known))
    worst_known = sets.maximum(severity)
    # A partition without a status may be in any state, so OK would be a guess.
    unjudged = (counts.lag.known | counts.missing) & ~severity.known
    guess = sets.have(unjudged) & (worst_known == 0)
    status = Strings(worst_known.only(seen & ~guess), GROUP_STATUSES)
    worst = rows.lazy_take(_find_worst(sets, rows, counts, severity))
    reasons = rows.strings("status_reason")
    abandoned = sets.have(read & ~severity.known & reasons.is_in([contract.NO_MEMBER]))
    no_member = Strings.constant(contract.NO_MEMBER, sets.count).only(abandoned & ~status.known)
    is_off = sets.have(reasons.is_in([contract.OFF_BY_ONE])) & (status == contract.OK)
    off_by_one = Strings.constant(contract.OFF_BY_ONE, sets.count).only(is_off)
    reason = worst.strings("status_reason").only(status.known)
    return {
        "status": status,
        "status_reason": reason.or_else(no_member).or_else(off_by_one),
        "complete": _share_read(sets, rows, counts, read),
        "worst_topic": worst.strings("topic"),
        "worst_partition": worst.numbers("partition_id"),
        "worst_member": worst.strings("member_id"),
        "worst_leader": worst.numbers("leader"),
        **_find_worst_status(sets, rows, counts, produced, run),
    }


# A backlog clearly grows if it does so by at least this share of the produce rate. The second
# number, records/s, stands in for a produce rate of 0.
_CLEAR_GROWTH, _LEAST_RATE = 0.05, 1e-9
# Columns with the time at which a consumer status began, if a run saw that moment.
_BEGINNINGS = (
    (contract.STOPPED, "commit_changed_at"),
    (contract.STALLED, "commit_changed_at"),
    (contract.REWOUND, "rewound_at"),
    (contract.UNAVAILABLE, "read_at"),
    (contract.NO_MEMBER, "owned_at"),
    # If no run saw an owner.
    (contract.NO_MEMBER, "commit_changed_at"),
)


def _find_worst_status(
    sets: Sets, rows: Frame, counts: Counts, produced: Column, run: Run
) -> Columns:
    """Returns the consumer status of each set's worst partition and since when.

    It is unknown if all is OK. The partition is ordered as in `_find_worst`, but by consumer status
    alone. So it is another one only if the worst one merely lost records: then a stop elsewhere
    must still be reported. A partition that was not read counts with the status of its last
    reading.
    """
    words = rows.strings("consumer_status")
    codes = words.codes_in(tuple(contract.CONSUMER_STATUS_SEVERITIES))
    since = Column.unknown(sets.count)
    if not codes.known.any():
        return {"worst_status": Strings.unknown(sets.count), "worst_status_since": since}
    severity = codes.decoded(tuple(contract.CONSUMER_STATUS_SEVERITIES.values()))
    # At the same severity, age and lag the word decides, else the order of the rows would.
    at = sets.first_at_maximum(*_order_worst(rows, counts, severity), codes.fill(-1))
    worst = words.take(at)
    for word, name in _BEGINNINGS:
        since = since.or_else(rows.numbers(name).take(at).only(worst.is_in([word])))
    there = rows.lazy_take(at)
    begun = _estimate_beginning(there, counts.lag.take(at), produced.take(at), run)
    since = since.or_else(begun.only(worst.is_in([contract.FALLING_BEHIND])))
    written = _find_oldest_written(there, counts.age.take(at))
    since = since.or_else(written.only(worst.is_in([contract.SLOW])))
    return {"worst_status": worst, "worst_status_since": since}


def _estimate_beginning(rows: Frame, lag: Column, produced: Column, run: Run) -> Column:
    """Returns the run, ms, in which a growing backlog was 0 if it has grown evenly since then.

    It is never before `not_catching_up_since`, because the group caught up until then. It is
    unknown if growth is less than _CLEAR_GROWTH of the produce rate, because that may be noise.
    """
    growth = produced - rows.numbers("consume_rate")
    seconds = lag / growth.only(growth > produced.clip(_LEAST_RATE) * _CLEAR_GROWTH)
    since = estimate_time_since(seconds, run.rules) * 1_000
    begun = (
        rows.numbers("taken_at") - (since / run.rules.interval_ms).rint() * run.rules.interval_ms
    )
    return begun.clip(rows.numbers("not_catching_up_since"))


def _find_oldest_written(rows: Frame, age: Column) -> Column:
    """Returns when the oldest unread record was written, ms; the backlog is at least that old."""
    return (rows.numbers("taken_at") - age * 1_000).rint()


def fill_last_status(rows: Frame) -> Strings:
    """Returns each row's status, or its last status if this run did not read it."""
    unread = ~is_read(rows)
    return rows.strings("status").or_else(rows.strings("last_status").only(unread))


def _rank_statuses(status: Strings) -> Column:
    codes = status.codes_in(tuple(contract.PARTITION_SEVERITIES))
    return codes.decoded(tuple(contract.PARTITION_SEVERITIES.values()))


def _find_worst(sets: Sets, rows: Frame, counts: Counts, severity: Column) -> Rows:
    """Returns each set's row with the worst status, then the largest age, then the largest lag.

    It is -1 if no row is bad or lags, or if none is bad and one is missing, which may be worse. At
    the same severity, a topic that the group has left comes second.
    """
    bad, *keys = _order_worst(rows, counts, severity)
    at = sets.first_at_maximum(bad | counts.lagging(), *keys)
    sure = ~sets.have(counts.missing) | sets.have(bad)
    return np.where(sure, at, -1)


def _order_worst(rows: Frame, counts: Counts, severity: Column) -> tuple[Mask, Rows, Rows, Rows]:
    """Returns which rows are bad, and keys to order rows by; the worst row has the largest."""
    left = rows.strings("status_reason").is_in([contract.INACTIVE])
    rank = (2 * severity - left).only(severity > 0).fill(0)
    # Unknown values come last.
    return rank > 0, rank, counts.age.fill(-1), counts.lag.fill(-1)


def _share_read(sets: Sets, rows: Frame, counts: Counts, read: Mask) -> Column:
    """Returns the share that was read, 0 to 1, of partitions that have, or may have, a commit."""
    committed = rows.numbers("committed_offset").known
    return sets.rows(committed & read) / sets.rows(committed | counts.missing)


def _roll_up_errors(sets: Sets, counts: Counts, ages: Ages, estimate: Column) -> Columns:
    """Returns `time_lag_error_seconds` and `time_lag_method` of sets with time lag `estimate`, s.

    The true time lag lies between the largest lower and the largest upper bound of the rows. A row
    without an upper bound, such as an unread one, may be older than all others: then the method is
    at_least and the error unknown.
    """
    least = sets.maximum(ages.least)
    most = sets.maximum(ages.most, counts.unbounded).only(estimate.known)
    below = (estimate - least.fill(0.0)).clip(0.0)
    method = ages.method.take(sets.first_at_maximum(counts.age.known, counts.age.fill(0.0)))
    at_least = Strings.constant(contract.METHOD_AT_LEAST, sets.count)
    return {
        "time_lag_error_seconds": (most - estimate).clip(below),
        "time_lag_method": method.only(most.known).or_else(at_least.only(estimate.known)),
    }


def _roll_up_rates(sets: Sets, rows: Frame, counts: Counts, produced: Column) -> Columns:
    """Returns each set's rates, records/s, summed over its rows, and its longest drain time, s.

    A rate is unknown if that of a row is; a partition without a commit needs no consume rate. A set
    without lag drains in 0 s. The drain time is unknown if a row lags and is not catching up, or if
    its lag is missing.
    """
    lagging, drain = counts.lagging(), rows.numbers("drain_seconds")
    needed, missing = Column.of(drain.only(lagging).fill(0.0)), counts.missing
    consumed = rows.numbers("consume_rate")
    moving = rows.numbers("committed_offset").known
    endless = missing | (lagging & ~drain.known)
    return {
        "produce_rate": sets.total(produced, missing | ~produced.known),
        "consume_rate": sets.total(consumed, missing | (moving & ~consumed.known)),
        "drain_seconds": sets.maximum(needed.only(counts.lag.known), endless),
    }


def _roll_up_until_loss(sets: Sets, rows: Frame, counts: Counts, bound: Seconds) -> Column:
    """Returns the seconds to the nearest loss among rows known to be at risk.

    If no row is at risk, it is NO_LOSS_SECONDS, or unknown if the risk of a row is unknown.
    """
    risk = rows.strings("retention_risk").only(~counts.missing)
    unsure = sets.have(~risk.known & ~counts.uncommitted)
    safe = sets.have(risk.known) & ~unsure
    longest = Column(np.full(sets.count, contract.NO_LOSS_SECONDS), safe)
    return sets.minimum(_find_until_loss(rows, risk, bound)).or_else(longest)
