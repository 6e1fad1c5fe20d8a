# SPDX-License-Identifier: Apache-2.0
"""Capacity: records a second that one member of a group reads while it has a backlog.

It is measured only on a member that always had records to read: one with more to read, when its
commits last moved, than it has read since. A consumer that catches up at each commit has less then,
however seldom it commits, because until the next commit it reads all unread and all new records.

The members of a share group read the same partitions, so they are measured as one, and each counts
with an even part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import PreviousRuns
from kafka_lag.lag.previous_rows import is_read, seconds_between
from kafka_lag.lag.recent import Recent
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets, distinct
from kafka_lag.lag.share_groups import is_shared
from kafka_lag.lag.shared_limit import add_shared_limit
from kafka_lag.lag.skips import has_skipped

# Samples that are stored: a capacity that falls is their median after eight of them.
MOST_SAMPLES = 15
# A single sample may come from a minute in which the member did something else.
_FEWEST_SAMPLES = 3
# The backlog must be this many times the records read, because a commit may trail the records read
# by some seconds, as with checkpoints. Commits once a run then seem to leave all that was read.
_BACKLOG_TO_READ = 1.25
# And it must be this many records more, because a few may come by chance.
_FEWEST_RECORDS = 10
# Causes that make members slower than they can be.
_NO_SAMPLES = (contract.SLOW_MEMBER, contract.SLOW_MEMBERS, *contract.NOT_OF_CONSUMERS)
# Half the width of the interval in standard deviations: 95 %.
_SPREAD = 1.96


def add_capacity(e: Evaluation) -> Frame:
    """Returns the rolled-up groups with `capacity`, its interval and samples, and the shared limit.

    The columns of the limit are those of `add_shared_limit`.

    `settled_since`: the first known run, ms, since which the members own the same partitions;
    unknown while they wait for an assignment. `capacity`: records/s of one member, as configured,
    else the upper median of the samples. It is unknown while there are fewer than three samples. It
    is also unknown while the cause of an incident is one that consumers can do nothing about,
    because its first runs gave samples, too. `capacity_low`, `capacity_high`: the 95 % confidence
    interval of the median, by the order of the samples; unknown likewise. `capacity_samples`: the
    last 15, a value per interval in which a member was saturated.
    """
    old, run = e.old_groups, e.run
    groups = e.groups.with_columns(settled_since=_find_settled_since(e.groups, old, run))
    sample, runs = _sample(e, groups)
    if not (sample.known | old.strings("capacity_samples").known).any():
        return _without_samples(groups, run)
    samples = Recent.of(old.strings("capacity_samples"), MOST_SAMPLES).appended(sample, runs)
    enough = samples.count >= _FEWEST_SAMPLES
    enough &= ~old.strings("cause").is_in(contract.NOT_OF_CONSUMERS)
    margin = np.floor((samples.count - _SPREAD * np.sqrt(samples.count)) / 2)
    low = np.maximum(margin, 0).astype(np.int64)
    groups = add_shared_limit(groups, old, sample, runs, samples, run)
    return groups.with_columns(
        capacity=_find_configured(groups, run).or_else(samples.upper_median().only(enough)),
        capacity_low=samples.sorted_value(low).only(enough),
        capacity_high=samples.sorted_value(samples.count - 1 - low).only(enough),
        capacity_samples=samples.to_lists(),
    )


def _find_settled_since(groups: Frame, old: Frame, run: Run) -> Column:
    waiting = groups.strings("group_state").is_in(contract.REBALANCING_STATES) & is_read(groups)
    moved = (groups.numbers("rebalances") > 0) | (groups.numbers("owners_changed") > 0)
    moved |= is_shared(groups) & (groups.numbers("members") != old.numbers("members"))
    now = run.now(len(groups))
    return now.where(moved, old.numbers("settled_since").or_else(now)).only(~waiting)


def _without_samples(groups: Frame, run: Run) -> Frame:
    unknown, no_list = Column.unknown(len(groups), np.float64), Strings.unknown(len(groups))
    return groups.with_columns(
        capacity=_find_configured(groups, run),
        capacity_low=unknown,
        capacity_high=unknown,
        capacity_samples=no_list,
        capacity_members=no_list,
        shared_limit_members=Column.unknown(len(groups), np.int32),
        shared_limit_rate=unknown,
        shared_limit_since=Column.unknown(len(groups)),
    )


def _find_configured(groups: Frame, run: Run) -> Column:
    if not run.rules.tasks.choices:
        return Column.unknown(len(groups), np.float64)
    names = groups.strings("consumer_group")
    return names.numbers_of(lambda name: run.rules.tasks_of(name).capacity)


@dataclass(frozen=True, slots=True)
class _Members:
    """Members, and their rows for partitions that they also owned in the previous run.

    `since`: the last run before this one, ms, that saw their commits move.
    """

    sets: Sets
    group: Rows
    since: Column

    def at_row(self, column: Column) -> Column:
        """Returns a member's value at each of its rows."""
        return column.take(np.where(self.sets.of_row < self.sets.count, self.sets.of_row, -1))

    def in_groups(self, chosen: Mask, groups: int) -> Sets:
        """Returns the chosen members as sets, one for each of so many groups."""
        return Sets(np.where(chosen, self.group, groups).astype(np.int64), groups)


def _sample(e: Evaluation, groups: Frame) -> tuple[Column, Rows]:
    """Returns records/s of a saturated member of each group, on average, and over how many runs.

    A member that is slow beside others gives no sample: the one that the previous run named as the
    cause, and one that reads less than half of what another reads without a backlog. Neither does
    one with slow partitions, nor a group that a broker or a transaction makes slow, or whose
    commits pass deleted records.
    """
    rows, old, at_group = _select(e)
    if not len(rows):
        return Column.unknown(len(groups), np.float64), np.ones(len(groups), np.int64)
    members = _find_members(groups, rows, old, at_group)
    moved = _has_moved(rows, old) & (members.sets.of_row < members.sets.count)
    of_row = _count_read(rows, old).only(moved)
    read = members.sets.total(of_row)
    earlier = (e.newest.taken_at - members.since) / 1_000
    seconds = members.sets.maximum(seconds_between(rows, old)) + earlier
    settled_since = groups.numbers("settled_since").take(members.group)
    lasts = (members.since >= settled_since) & (read > 0) & (seconds > 0)
    left_over = _find_left_over(rows, old, members, lasts, e.previous_runs).only(moved)
    backlog = members.sets.total(left_over, moved & ~left_over.known)
    saturated = lasts & (backlog >= read * _BACKLOG_TO_READ + _FEWEST_RECORDS)
    rate = read / seconds
    fastest = members.in_groups(lasts & ~saturated, len(groups)).maximum(rate.only(lasts))
    has_slow = e.old_groups.strings("cause").is_in(_NO_SAMPLES)[members.group]
    is_slow = rate < fastest.take(members.group) * contract.TOO_SLOW_SHARE
    saturated &= ~has_slow & ~is_slow & ~_have_slow_partitions(members.sets, of_row, left_over)
    of_group = members.in_groups(saturated, len(groups))
    number = of_group.rows()
    runs = of_group.total(seconds.only(saturated)) / number / e.run.interval_seconds
    counted = np.maximum(np.round(runs.fill(0.0)), 1).astype(np.int64)
    reading = groups.numbers("members").where(is_shared(groups), number)
    return of_group.total(rate.only(saturated)) / reading, counted


def _have_slow_partitions(members: Sets, read: Column, backlog: Column) -> Mask:
    """Marks members that read fewer records of each partition with a backlog than of each other
    one: the records of these partitions take longer, and the members wait for them.
    """
    lags = backlog > read * _BACKLOG_TO_READ
    others = read.known & ~lags
    of_lagging = members.total(read.only(lags)) / members.rows(lags)
    of_others = members.total(read.only(others)) / members.rows(others)
    mask: Mask = of_lagging < of_others
    return mask


def _select(e: Evaluation) -> tuple[Frame, Frame, Rows]:
    """Returns the rows of groups that may have a saturated member, usually few, and their groups.

    A backlog in the previous run is at least that after the last move of the commits.
    """
    rows, old = e.rows, e.previous.rows
    behind = old.numbers("lag") >= _count_read(rows, old) * _BACKLOG_TO_READ
    # What waits for its delay is no backlog, and looks as if it were one.
    waits = rows.numbers("delay_seconds").known
    behind &= _has_moved(rows, old) & ~waits
    if not behind.any():
        nothing = np.zeros(0, np.int64)
        return rows.lazy_take(nothing), old.lazy_take(nothing), nothing
    few = Sets(e.at_group, len(e.groups)).have(behind)
    chosen = np.flatnonzero(few[e.at_group] & ~waits)
    return rows.lazy_take(chosen), old.lazy_take(chosen), e.at_group[chosen]


def _count_read(rows: Frame, old: Frame) -> Column:
    return rows.numbers("committed_offset") - old.numbers("committed_offset")


def _has_moved(rows: Frame, old: Frame) -> Mask:
    passes_lost = old.numbers("records_lost") > 0
    mask: Mask = (_count_read(rows, old) > 0) & ~has_skipped(rows, old) & ~passes_lost
    return mask


def _find_members(groups: Frame, rows: Frame, old: Frame, at_group: Rows) -> _Members:
    owner = rows.strings("member_id")
    same = is_read(rows) & is_read(old) & (owner == old.strings("member_id"))
    same &= groups.numbers("members").take(at_group).known
    every, first = distinct(
        np.where(same, at_group + 1, 0), np.where(same, owner.codes.fill(0) + 1, 0)
    )
    # If a commit was never seen to move, its time is not known.
    since = old.numbers("commit_changed_at").only(old.numbers("commit_gap_seconds").known)
    sets = every.without(~same)
    return _Members(sets, at_group[first], sets.maximum(since))


def _find_left_over(
    rows: Frame, old: Frame, members: _Members, wanted: Mask, previous_runs: PreviousRuns
) -> Column:
    """Returns each row's lag in the last run before this one in which its member's commits moved.

    It is the lag of the previous run, or if they moved earlier, it is computed from the log end of
    that run; unknown if that run is not available.
    """
    newest = previous_runs.newest.taken_at
    since = members.at_row(members.since.only(wanted))
    found = old.numbers("lag").only(since == newest)
    for scheduled, ends in zip(previous_runs.scheduled, previous_runs.ends, strict=False):
        of_run = since == scheduled
        if scheduled == newest or not of_run.any():
            continue
        at = np.flatnonzero(of_run)
        partitions = Frame.of(
            {name: rows.columns[name].take(at) for name in contract.PARTITION_KEY}
        )
        there = ends.numbers("end_offset").take(locate(partitions, ends, contract.PARTITION_KEY))
        end = Column.unknown(len(rows)).put(at, there)
        found = found.or_else((end - old.numbers("committed_offset")).clip(0))
    return found
