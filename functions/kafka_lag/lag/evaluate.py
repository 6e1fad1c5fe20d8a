# SPDX-License-Identifier: Apache-2.0
"""From a reading and what earlier runs left behind to everything a run says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_lag.lag import carry_over
from kafka_lag.lag.append_time import AppendTimeEstimates, Unread, estimate_append_times
from kafka_lag.lag.carry_over import PreviousRows, add_deleted_groups, match_previous
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.incidents import track_incidents
from kafka_lag.lag.model import ClusterReading, LagReport, PreviousRuns, Snapshot
from kafka_lag.lag.movement import add_movement
from kafka_lag.lag.offset_lag import OffsetLag, offset_lag
from kafka_lag.lag.rates import add_produce_rate, add_rates
from kafka_lag.lag.retention import add_retention
from kafka_lag.lag.rollup import add_uncounted, count_rows, group_topics, roll_up_groups, scaling
from kafka_lag.lag.rules import EARLIEST, Rules
from kafka_lag.lag.status import add_owners, add_status
from kafka_lag.lag.time_index import LookUp, nobody
from kafka_lag.lag.time_lag import add_time_lag, estimate_time_lag

_GROUP, _PARTITION = ("consumer_group",), ("topic", "partition_id")
_NAMED = 5


def evaluate(
    reading: ClusterReading,
    past: PreviousRuns,
    rules: Rules,
    taken_at: int,
    look_up: LookUp = nobody,
) -> LagReport:
    """The lag report of one run; `taken_at` is the scheduled time, ms UTC.

    Pure but for `look_up`: the same reading, past, rules and answers always say the same.
    """
    before = past.newest
    topics, groups, rows = _read_or_carried(reading, before, rules, taken_at)
    at = locate(rows, topics, _PARTITION)
    of_rows, states = topics.take(at), groups.take(locate(rows, groups, _GROUP))
    rows = add_owners(_joined(rows, of_rows), states, before, taken_at)
    previous, lags, allowed = (
        match_previous(rows, before),
        _lags(rows, rules),
        _allowed(rows, rules),
    )
    rows, now = _with_lag(rows, lags), _now(rows)
    unread = _unread(rows, lags.position, allowed, at)
    dates = estimate_append_times(
        rows, topics, unread, previous.rows, past, rules, taken_at, look_up
    )
    ages = estimate_time_lag(rows, rows.numbers("lag"), allowed, dates.dates, now)
    rows = add_time_lag(rows, ages, dates.dates)
    rows = add_movement(rows, previous, taken_at, rules)
    rows = add_rates(rows, previous, of_rows.numbers("produce_rate"), allowed, rules)
    rows = add_retention(rows, of_rows, now, taken_at, rules)
    rows = add_status(rows, states, previous, ages.least, allowed, taken_at, rules)
    rows = add_uncounted(rows, lags, taken_at, rules)
    counts = count_rows(rows, of_rows, allowed, ages, rules)
    groups = track_incidents(
        roll_up_groups(groups, rows, counts, before, rules), before, taken_at, rules
    )
    frames = topics, rows, add_deleted_groups(groups, reading, before)
    return LagReport(
        Snapshot(taken_at, *(_finished(frame, taken_at) for frame in frames)),
        *(group_topics(rows), scaling(groups, rows, counts)),
        lags_clamped=int((lags.beyond_end & ~rows.strings("unread_reason").known).sum()),
        look_ups=dates.look_ups,
        problems=reading.problems,
        remarks=tuple(_remarks(rows, previous, dates)),
    )


def _read_or_carried(
    reading: ClusterReading, before: Snapshot, rules: Rules, taken_at: int
) -> tuple[Frame, Frame, Frame]:
    """Partitions of topics with their rates, groups, and partitions of these groups."""
    topics = carry_over.topic_partitions(reading, before, rules, taken_at)
    topics = add_produce_rate(topics, before, rules)
    groups = carry_over.groups(reading, before, rules, taken_at)
    rows = carry_over.group_partitions(reading, before, rules, taken_at, topics)
    return topics, groups, rows.where(locate(rows, groups, _GROUP) >= 0)


def _joined(rows: Frame, topics: Frame) -> Frame:
    """Each row with its partition's leader, topic id and offsets.

    A silent group keeps the offsets and the topic id of when it was last read: its old commit
    against a new end would be a lag that nobody saw.
    """
    silent, listed = rows.strings("unread_reason").known, topics.strings("topic").known
    start, end = (_offset(rows, topics, name, silent) for name in ("start_offset", "end_offset"))
    return rows.with_columns(
        topic_id=rows.strings("topic_id").only(silent).or_else(topics.strings("topic_id")),
        leader=topics.numbers("leader").or_else(rows.numbers("leader").only(~listed)),
        start_offset=start,
        end_offset=end,
    )


def _offset(rows: Frame, topics: Frame, name: str, silent: Mask) -> Column:
    return rows.numbers(name).only(silent).or_else(topics.numbers(name))


def _lags(rows: Frame, rules: Rules) -> OffsetLag:
    names = rows.strings("consumer_group")
    chosen = [name for name in names.categories if rules.uncommitted.get(name) == EARLIEST]
    return offset_lag(
        rows.numbers("committed_offset"),
        rows.numbers("start_offset"),
        rows.numbers("end_offset"),
        from_start=names.is_in(chosen),
    )


def _allowed(rows: Frame, rules: Rules) -> Column:
    """Records that are no lag, by each row's topic; 0 where the user says nothing."""
    topics = rows.strings("topic")
    records = [rules.allowed_lag.get(name) or 0 for name in topics.categories]
    return Column.of(np.array(records or [0], np.int64)[topics.codes.values])


def _with_lag(rows: Frame, lags: OffsetLag) -> Frame:
    """A row that was not read has no lag, but what it had when it last was."""
    unread = rows.strings("unread_reason").known
    once = unread & rows.numbers("read_at").known
    age, last_age = rows.numbers("time_lag_seconds"), rows.numbers("last_time_lag_seconds")
    return rows.with_columns(
        lag=lags.lag.only(~unread),
        last_lag=lags.lag.only(once),
        last_time_lag_seconds=age.or_else(last_age).only(once),
        records_lost=lags.lost,
        retention_margin=lags.margin,
    )


def _now(rows: Frame) -> Column:
    """The clock of each row's own reading, ms; unknown of a row that was not read."""
    return rows.numbers("read_at").only(~rows.strings("unread_reason").known)


def _unread(rows: Frame, position: Column, allowed: Column, part: Rows) -> Unread:
    """Rows read now that lag by more than is allowed, and where their next record is."""
    lag = rows.numbers("lag")
    return Unread(lag.known & (lag.values > allowed.values), part, position, lag)


def _remarks(rows: Frame, previous: PreviousRows, dates: AppendTimeEstimates) -> Iterator[str]:
    """What a person should know of the past that was not used."""
    topics = sorted(set(rows.strings("topic").only(previous.recreated).pruned().categories))
    for topic in topics[:_NAMED]:
        yield f"topic {topic!r} was recreated or truncated: its history starts anew"
    if len(topics) > _NAMED:
        yield f"and {len(topics) - _NAMED} more topics were recreated or truncated"
    if dates.contradicted:
        yield (
            f"{dates.contradicted} earlier readings of log ends were left out, as their clocks "
            "contradict each other or this run's"
        )


def _finished(frame: Frame, taken_at: int) -> Frame:
    """Stamped, without the words no row uses: carried from run to run, they would pile up."""
    words = {n: c.pruned() for n, c in frame.columns.items() if isinstance(c, Strings)}
    frame = frame.with_columns(**words)
    return frame.with_columns(taken_at=Column.of(np.full(len(frame), taken_at, np.int64)))
