# SPDX-License-Identifier: Apache-2.0
"""The status of each group-partition: Burrow's words, with limits in time instead of runs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.carry_over import PreviousRows, Seconds, is_read, seconds_between, set_where_read
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.movement import is_still, is_within_window
from kafka_lag.lag.ownership import find_unowned
from kafka_lag.lag.pauses import find_usual_pauses
from kafka_lag.lag.sets import distinct

# The rows it fits, and the status and reason that it gives them.
StatusRule: TypeAlias = tuple[Mask, str | None, str | None]

_INACTIVE_MS = 24 * 3_600_000
# One reading shows no movement.
_READINGS = 2
# A backlog is not being caught up with if it takes more than so many times its age to drain. After
# WARN it must drain within the second, smaller number, so that noise does not flip the status.
_LONG, _SURE = 10.0, 3.0


def add_status(
    rows: Frame,
    groups: Frame,
    previous: PreviousRows,
    ages: Column,
    allowed: Column,
    taken_at: int,
    rules: Rules,
) -> Frame:
    """The rows with `status`, `last_status` and `status_reason`, by the first rule that fits.

    `groups` holds each row's group. `ages` is the proven lower bound of the time lag, s; an unknown
    one counts as 0. `allowed` is the lag, in records, that is still OK. An unread row has no
    `status`, and keeps its `last_status` and reason. A row without a lag, because nothing is
    committed, has neither status nor reason. The first reading gives at most a reason. `inactive`
    stands in for the reason of any status of a group and topic that `find_inactive` finds.
    """
    old, window = previous.rows, rules.window_ms / 1_000
    lag, age = rows.numbers("lag"), ages.fill(0.0)
    first = rows.numbers("observations") < _READINGS
    is_unowned, moved = find_unowned(rows, groups), _has_moved(rows, old)
    owned_lately = is_within_window(rows.numbers("owned_at"), taken_at, rules)
    went_back = is_within_window(rows.numbers("rewound_at"), taken_at, rules)
    still = is_still(rows, taken_at, rules)
    pausing = find_usual_pauses(rows, ages, still, taken_at, rules)
    since = _not_catching_up_since(rows, old, age, taken_at, rules)
    not_catching_up = _is_not_catching_up(rows, old, age, since, taken_at, rules)
    rules_in_order: list[StatusRule] = [
        (~is_read(rows), None, None),
        (rows.numbers("records_lost") > 0, contract.ERR, contract.RECORDS_LOST),
        (_beyond_end(rows, previous), contract.ERR, contract.BEYOND_END),
        # Nothing is committed.
        (~lag.known, None, None),
        (lag <= allowed, contract.OK, None),
        # One reading shows no movement, only that nobody is there to read what is old.
        (first & is_unowned & (age > window), None, contract.NO_MEMBER),
        (first, None, None),
        (went_back, contract.REWIND, None),
        # When it last moved, it kept up.
        (_age_after_last_move(rows, age, still, taken_at) <= window, contract.OK, None),
        (still & pausing, contract.OK, contract.PAUSING),
        (pausing, contract.OK, None),
        # It has not moved for a window, with a member that owns it, or without.
        (still & owned_lately, contract.STALL, None),
        (still, contract.STOP, None),
        # It moves, and is behind.
        (~not_catching_up, contract.OK, None),
        (is_unowned & ~moved, contract.WARN, contract.NO_MEMBER),
        (rows.numbers("drain_seconds").known, contract.WARN, contract.SLOW),
        (np.ones(len(rows), bool), contract.WARN, contract.FALLING_BEHIND),
    ]
    fits = np.select([where for where, _, _ in rules_in_order], list(range(len(rules_in_order))))
    status = Strings.of(status for _, status, _ in rules_in_order).take(fits)
    reason = Strings.of(reason for _, _, reason in rules_in_order).take(fits)
    idle = Strings.constant(contract.INACTIVE, len(rows)).only(find_inactive(rows, taken_at))
    rows = set_where_read(
        rows,
        last_status=status,
        status_reason=idle.or_else(reason),
        not_catching_up_since=since,
    )
    return rows.with_columns(status=status)


def find_inactive(rows: Frame, taken_at: int) -> Mask:
    """Rows of a group and topic that the group has left.

    That is, in the last 24 h no member owned a partition of the topic and no commit of the group on
    it changed. An unread row counts with the owner and commit of its last reading. A group that has
    committed nothing on a topic has not left it.
    """
    owned, moved = rows.numbers("owned_at"), rows.numbers("commit_changed_at")
    since = taken_at - _INACTIVE_MS
    alive = (owned > since) | (moved > since)
    if not (moved.known & ~alive).any():
        return np.zeros(len(rows), bool)
    codes = rows.strings("consumer_group").codes.values, rows.strings("topic").codes.values
    pairs, _ = distinct(*codes)
    left = (pairs.rows(alive).values == 0) & (pairs.rows(moved.known).values > 0)
    mask: Mask = left[pairs.of_row]
    return mask


def _beyond_end(rows: Frame, previous: PreviousRows) -> Mask:
    """Commits past the end of the log: of a recreated topic, or seen there in two runs.

    One run is no proof: the commit and the end are read at different moments.
    """
    again = _past_end(previous.rows) & ~_has_moved(rows, previous.rows)
    mask: Mask = _past_end(rows) & (previous.recreated | again)
    return mask


def _past_end(rows: Frame) -> Mask:
    return rows.numbers("committed_offset") > rows.numbers("end_offset")


def _age_after_last_move(rows: Frame, age: Seconds, still: Mask, taken_at: int) -> Seconds:
    """The age, s, that was left when the commit last moved; the age itself of a still commit.

    Between two moves the age of any consumer grows. Only what a move leaves over shows whether it
    keeps up.
    """
    since_move = (taken_at - rows.numbers("commit_changed_at")) / 1_000
    left_over: Seconds = age - since_move.only(~still).fill(0.0)
    return left_over


def _has_moved(rows: Frame, old: Frame) -> Mask:
    """Rows whose commit is another than in the previous run.

    Consumers that assign partitions themselves commit without being members of the group.
    """
    return rows.numbers("committed_offset") != old.numbers("committed_offset")


def _not_catching_up_since(
    rows: Frame, old: Frame, age: Seconds, taken_at: int, rules: Rules
) -> Column:
    """Since when, ms, no run has proven that the backlog is being worked off; unknown if this does.

    A first reading shows no movement. It counts as if that were so for a whole window.
    """
    first = rows.numbers("observations") < _READINGS
    begun = Column.of(np.where(first, taken_at - rules.window_ms, taken_at))
    since = old.numbers("not_catching_up_since").or_else(begun)
    return since.only(~_worked_off(rows, old, age * _SURE))


def _is_not_catching_up(
    rows: Frame, old: Frame, age: Seconds, since: Column, taken_at: int, rules: Rules
) -> Mask:
    """Rows that are not catching up now, and did not for the window up to now, or were WARN before.

    `since` is `not_catching_up_since`; the window ends with this run, so it is one interval
    shorter between the first such run and this one. It is waited for because after a burst of
    records no consumer seems to catch up for some minutes. To drain within _LONG ages is enough
    not to become WARN; to cease to be WARN takes _SURE ages, by the rates alone.
    """
    was_warn = _was_warn(old)
    lasted = taken_at - since >= rules.window_ms - rules.interval_ms
    limit = age * np.where(was_warn, _SURE, _LONG)
    mask: Mask = since.known & (lasted | was_warn) & ~_worked_off(rows, old, limit)
    return mask


def _worked_off(rows: Frame, old: Frame, limit: Seconds) -> Mask:
    """Rows whose backlog will be gone within `limit`, s, by their rates or since the last reading.

    The rates are averages: they show a burst for minutes after it has ended. The change since the
    last reading does not. It does not count for rows that were WARN: these must drain by the rates.
    """
    lag, seconds = rows.numbers("lag"), seconds_between(rows, old)
    shrank_by = old.numbers("lag") - lag
    shrank = (seconds > 0) & (shrank_by * limit >= lag * seconds)
    mask: Mask = (rows.numbers("drain_seconds") <= limit) | (shrank & ~_was_warn(old))
    return mask


def _was_warn(old: Frame) -> Mask:
    """Rows that the previous run called WARN."""
    return old.strings("last_status").is_in([contract.WARN])
