# SPDX-License-Identifier: Apache-2.0
"""One run: from a cluster reading and previous runs to the lag report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag import carry_over
from kafka_lag.lag.append_time import estimate_append_times
from kafka_lag.lag.capacity import add_capacity
from kafka_lag.lag.carry_over import add_deleted_groups, add_last_rows
from kafka_lag.lag.causes import add_causes
from kafka_lag.lag.columns import Column, Rows
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.group_settings import EARLIEST, Rules
from kafka_lag.lag.incidents import track_incidents
from kafka_lag.lag.left_topics import add_left, describe_left, find_left
from kafka_lag.lag.model import ClusterReading, LagReport, PreviousRuns, Snapshot
from kafka_lag.lag.movement import add_movement
from kafka_lag.lag.offset_lag import OffsetLag, compute_offset_lag
from kafka_lag.lag.ownership import add_owners
from kafka_lag.lag.positions import is_compacted
from kafka_lag.lag.previous_rows import (
    PreviousRows,
    is_read,
    match_previous,
    match_previous_groups,
    set_where_read,
)
from kafka_lag.lag.rates import add_produce_rate, add_rates
from kafka_lag.lag.rebalances import add_rebalances
from kafka_lag.lag.rests import (
    add_rests,
    find_off_by_one,
    forget_rests,
    name_off_by_one,
    skip_markers,
)
from kafka_lag.lag.retention import add_retention
from kafka_lag.lag.rollup import (
    Counted,
    add_uncounted,
    count_rows,
    roll_up_group_topics,
    roll_up_groups,
    roll_up_scaling,
)
from kafka_lag.lag.skips import add_skips
from kafka_lag.lag.status import add_status
from kafka_lag.lag.tasks_needed import add_tasks_needed
from kafka_lag.lag.time_index import LookUp, no_look_up
from kafka_lag.lag.time_lag import (
    Ages,
    add_time_lag,
    estimate_time_lag,
    widen_for_short_rests,
)
from kafka_lag.lag.transactions import (
    add_held_up,
    add_open_transactions,
    add_transactions,
    find_held_up,
    find_transactional,
    name_held_up,
)
from kafka_lag.lag.unwatched import Unwatched, find_unwatched, mark_unwatched
from kafka_lag.lag.usual_lag import add_unusual

_GROUP, _PARTITION = ("consumer_group",), ("topic", "partition_id")
_NAMED = 5


def evaluate(
    reading: ClusterReading,
    previous_runs: PreviousRuns,
    rules: Rules,
    taken_at: int,
    look_up: LookUp = no_look_up,
) -> LagReport:
    """Returns the lag report of one run; `taken_at` is the scheduled time, ms UTC.

    Pure apart from `look_up`: the same inputs and the same answers give the same report.
    """
    newest = previous_runs.newest
    topics = _carry_topics(reading, newest, rules, taken_at)
    groups = carry_over.carry_groups(reading, newest, rules, taken_at)
    old_groups = match_previous_groups(groups, newest)
    groups = add_rebalances(groups, old_groups, rules)
    rows = carry_over.carry_group_partitions(reading, newest, rules, taken_at, topics)
    at_group = locate(rows, groups, _GROUP)
    rows, at_group = rows.where(at_group >= 0), at_group[at_group >= 0]

    at_topic = locate(rows, topics, _PARTITION)
    of_topic, of_group = topics.lazy_take(at_topic), groups.lazy_take(at_group)
    rows = add_owners(_join_offsets(rows, of_topic), of_group, newest, taken_at)
    previous = match_previous(rows, newest)
    lags = _offset_lags(rows, rules)
    aged = _add_ages(
        rows, lags, topics, at_topic, previous, previous_runs, rules, taken_at, look_up
    )
    rows, unreadable = aged.rows, aged.unreadable
    # Joined columns take as much memory as a result: drop them once their steps are done.
    previous, of_topic, of_group = previous.untaken(), of_topic.untaken(), of_group.untaken()
    rows = add_movement(rows, previous, taken_at, rules)
    of_old_group = old_groups.lazy_take(at_group)
    rows = add_skips(rows, previous, of_topic, of_group, of_old_group, taken_at, rules)
    del of_old_group
    rows = add_rates(rows, previous, of_topic.numbers("produce_rate"), unreadable, rules)
    rows = add_retention(
        rows, of_topic, _read_at(rows), previous.rows.numbers("commit_gap_seconds"), taken_at, rules
    )
    rows = add_status(rows, of_group, previous, aged.dated, unreadable, taken_at, rules)
    previous, of_topic = previous.untaken(), of_topic.untaken()
    del of_group
    rows = name_held_up(rows, of_topic, taken_at)
    rows = name_off_by_one(rows, find_transactional(topics))
    rows = add_uncounted(rows, lags, taken_at, rules)

    counts = count_rows(rows, of_topic, unreadable, aged.ages, rules)
    unwatched = find_unwatched(reading, newest, rules, taken_at)
    groups = _judge_groups(
        groups,
        old_groups,
        rows,
        of_topic,
        counts,
        previous,
        previous_runs,
        unwatched,
        taken_at,
        rules,
    )
    left = find_left(rows, topics, groups, newest, rules)
    groups = add_left(groups, old_groups, left, taken_at, rules)
    groups = add_deleted_groups(groups, reading, newest, taken_at)
    groups = add_last_rows(groups, unwatched.groups, contract.UNWATCHED)
    frames = (_finish(frame, taken_at) for frame in (topics, rows, groups))
    return LagReport(
        snapshot=Snapshot(taken_at, *frames),
        group_topics=roll_up_group_topics(rows, counts.counts),
        scaling=roll_up_scaling(groups, rows, counts),
        lags_clamped=int((lags.beyond_end & is_read(rows)).sum()),
        look_ups=aged.look_ups,
        problems=reading.problems,
        warnings=(
            *_warnings(rows, previous, aged.contradicted),
            *unwatched.sentences(),
            *describe_left(left),
        ),
        notes=reading.notes,
    )


def _carry_topics(reading: ClusterReading, newest: Snapshot, rules: Rules, taken_at: int) -> Frame:
    topics = carry_over.carry_topic_partitions(reading, newest, rules, taken_at)
    topics = add_produce_rate(topics, newest, rules)
    return add_transactions(topics, newest, taken_at)


def _judge_groups(
    groups: Frame,
    old_groups: Frame,
    rows: Frame,
    of_topic: Frame,
    counts: Counted,
    previous: PreviousRows,
    previous_runs: PreviousRuns,
    unwatched: Unwatched,
    taken_at: int,
    rules: Rules,
) -> Frame:
    """Returns the groups with all columns derived from their rows; each step uses earlier ones."""
    newest = previous_runs.newest
    groups = roll_up_groups(groups, rows, counts, newest, rules)
    groups = add_open_transactions(groups, rows, of_topic)
    groups = add_capacity(groups, old_groups, rows, previous, previous_runs, taken_at, rules)
    groups = add_tasks_needed(groups, old_groups, rows, counts, previous, taken_at, rules)
    groups = mark_unwatched(groups, old_groups, unwatched)
    groups = track_incidents(groups, newest, taken_at, rules)
    groups = add_unusual(
        groups,
        previous_runs.usual,
        newest.groups,
        taken_at,
        rules,
        beside=previous_runs.usual_beside,
    )
    return add_causes(
        groups,
        old_groups,
        rows,
        of_topic,
        counts.counts,
        counts.lagging(),
        previous,
        taken_at,
        rules,
    )


@dataclass(frozen=True, slots=True)
class _Aged:
    """Rows with their lag and time lag, and the values that later steps need.

    `unreadable`: a lag of at most this many records holds nothing to read. `dated`: time lags from
    the estimates alone; `ages`: the same with bounds widened for log cleaning and rests.
    `look_ups`: how many were sent. `contradicted`: how many log ends were left out.
    """

    rows: Frame
    unreadable: Column
    dated: Ages
    ages: Ages
    look_ups: int
    contradicted: int


def _add_ages(
    rows: Frame,
    lags: OffsetLag,
    topics: Frame,
    at_topic: Rows,
    previous: PreviousRows,
    previous_runs: PreviousRuns,
    rules: Rules,
    taken_at: int,
    look_up: LookUp,
) -> _Aged:
    """Returns the rows with lag and time lag; `at_topic`: the row of `topics` of each, or -1."""
    transactional = find_transactional(topics)
    of_topic = topics.lazy_take(at_topic)
    rows = _add_reads_remote(_add_lag(rows, lags), of_topic, lags.position)
    lag, read_at = rows.numbers("lag"), _read_at(rows)

    rows = add_rests(rows, previous.rows, transactional, taken_at, rules)
    off_by_one = find_off_by_one(rows, transactional).astype(np.int64)
    no_lag = _allowed_lag(rows, rules)
    allowed = no_lag.clip(off_by_one)
    resting = forget_rests(rows, transactional)
    committed = rows.numbers("committed_offset")
    passed = (skip_markers(resting, committed) - committed).clip(off_by_one)
    # Deleting no more records than the allowed lag is not a loss.
    lost = (lags.lost - passed).clip(0) * (lags.lost > no_lag).astype(np.int64)
    rows = rows.with_columns(records_lost=lost)
    rested = forget_rests(previous.rows, find_transactional(previous_runs.newest.topic_partitions))
    position = skip_markers(resting, lags.position)
    markers = (lag > 0) & (position >= rows.numbers("end_offset"))
    held_up = find_held_up(rows, position)
    rows = add_held_up(rows, previous.rows, held_up, taken_at)
    # A lag of at most this many records holds nothing to read.
    unreadable = lag.where((markers | held_up) & (lag > allowed), allowed)

    unread = position.only((lag > allowed) & ~markers)
    estimates = estimate_append_times(
        rows, topics, at_topic, unread, rested, previous_runs, rules, taken_at, look_up
    )
    dated = estimate_time_lag(rows, lag, allowed, markers, estimates.times, read_at)
    below = lags.position.only((lag > allowed) & (position > lags.position) & read_at.known)
    ages = widen_for_short_rests(
        dated.after_cleaning(is_compacted(of_topic)),
        rows,
        topics,
        at_topic,
        below,
        position - below,
        previous.rows,
        previous_runs,
        rules,
        taken_at,
    )
    return _Aged(
        rows=add_time_lag(rows, ages, estimates.times),
        unreadable=unreadable,
        dated=dated,
        ages=ages,
        look_ups=estimates.look_ups,
        contradicted=estimates.contradicted,
    )


def _read_at(rows: Frame) -> Column:
    """Returns when each row was read, ms; unknown if it was not read in this run."""
    return rows.numbers("read_at").only(is_read(rows))


def _join_offsets(rows: Frame, topics: Frame) -> Frame:
    """Returns each row with its partition's leader, topic id and offsets.

    An unread row keeps the offsets and the topic id of its last reading, because its old commit and
    a new end would give a lag that never existed.
    """
    unread, listed = ~is_read(rows), topics.strings("topic").known

    def offset(name: str) -> Column:
        return rows.numbers(name).only(unread).or_else(topics.numbers(name))

    return rows.with_columns(
        topic_id=rows.strings("topic_id").only(unread).or_else(topics.strings("topic_id")),
        leader=topics.numbers("leader").or_else(rows.numbers("leader").only(~listed)),
        start_offset=offset("start_offset"),
        end_offset=offset("end_offset"),
        stable_offset=offset("stable_offset"),
    )


def _offset_lags(rows: Frame, rules: Rules) -> OffsetLag:
    names = rows.strings("consumer_group")
    from_start = [name for name in names.categories if rules.uncommitted.get(name) == EARLIEST]
    return compute_offset_lag(
        rows.numbers("committed_offset"),
        rows.numbers("start_offset"),
        rows.numbers("end_offset"),
        from_start=names.is_in(from_start),
    )


def _allowed_lag(rows: Frame, rules: Rules) -> Column:
    """Returns how many records count as no lag, by each row's topic; 0 if not configured."""
    topics = rows.strings("topic")
    records = [rules.allowed_lag.get(name) or 0 for name in topics.categories]
    return Column.of(np.array(records or [0], np.int64)[topics.codes.fill(0)])


def _add_lag(rows: Frame, lags: OffsetLag) -> Frame:
    """Returns the rows with their lag; unread rows with `last_lag` and `last_time_lag_seconds`."""
    read = is_read(rows)
    last_read = ~read & rows.numbers("read_at").known
    age, last_age = rows.numbers("time_lag_seconds"), rows.numbers("last_time_lag_seconds")
    return rows.with_columns(
        lag=lags.lag.only(read),
        last_lag=lags.lag.only(last_read),
        last_time_lag_seconds=age.or_else(last_age).only(last_read),
        retention_margin=lags.margin,
    )


def _add_reads_remote(rows: Frame, topics: Frame, position: Column) -> Frame:
    """Returns the rows with `reads_remote`: true if the next record, at `position`, is no longer on
    the leader's own disks. It is known only if a group lags on a tiered topic.

    `topics` holds each row's partition.
    """
    local = topics.numbers("local_start_offset")
    known = local.known & (rows.numbers("lag") > 0)
    return set_where_read(rows, reads_remote=Column(position < local, known))


def _warnings(rows: Frame, previous: PreviousRows, contradicted: int) -> Iterator[str]:
    """Yields sentences about data of previous runs that was not used."""
    topics = sorted(set(rows.strings("topic").only(previous.recreated).pruned().categories))
    for topic in topics[:_NAMED]:
        yield f"topic {topic!r} was recreated or truncated: its history starts anew"
    if len(topics) > _NAMED:
        yield f"and {len(topics) - _NAMED} more topics were recreated or truncated"
    if contradicted:
        yield (
            f"{contradicted} earlier readings of log ends were left out, as their clocks "
            "contradict each other or this run's"
        )


def _finish(frame: Frame, taken_at: int) -> Frame:
    """Returns the frame with `taken_at`, in as little memory as possible.

    Unused categories are dropped, because they would pile up from run to run.
    """
    now = Column.constant(taken_at, len(frame))
    return frame.with_columns(taken_at=now).compacted()
