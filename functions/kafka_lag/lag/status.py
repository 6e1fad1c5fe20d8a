# SPDX-License-Identifier: Apache-2.0
"""The status of each group-partition: Burrow's words, with limits in time instead of runs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.batches import find_expected_batches
from kafka_lag.lag.columns import Mask, Seconds, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.movement import is_first_reading, is_still
from kafka_lag.lag.ownership import find_unowned
from kafka_lag.lag.pauses import find_usual_pauses
from kafka_lag.lag.previous_rows import PreviousRows, is_read, set_where_read
from kafka_lag.lag.progress import add_progress, is_not_catching_up, was_warned
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import distinct
from kafka_lag.lag.time_lag import Ages

# The rows that a rule fits, and the status and reason that it gives them.
StatusRule: TypeAlias = tuple[Mask, str | None, contract.StatusReason | None]

# The consumer status for partition statuses that have one of their own.
_WORDS = {
    contract.STOP: contract.STOPPED,
    contract.STALL: contract.STALLED,
    contract.REWIND: contract.REWOUND,
}
_INACTIVE_MS = 24 * 3_600_000
# An estimated age is used if its bounds are no farther apart than this share of the window; else
# its lower bound is used.
_NARROW_SHARE = 0.5
# After WARN the age must be at most this share of the window, so that noise does not flip it.
_CALM_SHARE = 0.9


def add_status(e: Evaluation) -> Frame:
    """Returns the rows with `status`, `last_status`, `status_reason` and `consumer_status`.

    The first rule that fits decides. A loss is always ERR; `consumer_status` then still says what
    the consumer does, by the same rules. It is unknown if nothing is wrong with the consumer.
    An unread row has no `status`, and keeps its `last_status` and reason. A row without a lag,
    because nothing is committed, has neither status nor reason. The first reading of a partition
    gives at most a reason, and the first reading of a commit beyond the end gives nothing. A row
    has no status either if nothing proves that its next record came within the window: its commit
    has not moved since the previous run, and only a lower bound of its age is known. Rows marked by
    `find_inactive` have the reason `inactive`, whatever their status.
    """
    run = e.run
    rows = add_progress(e, _judged_age(e.estimated, run.window_seconds))
    in_order = _list_rules(e, rows)
    fits = np.select([where for where, _, _ in in_order], list(range(len(in_order))))
    # A loss overrides the status and reason of every rule, so it has a place after them.
    losing = _is_losing(rows)
    judged = np.where(losing, len(in_order), fits)
    in_order.append((losing, contract.ERR, contract.RECORDS_LOST))
    status = Strings.of(status for _, status, _ in in_order).take(judged)
    reason = Strings.of(reason for _, _, reason in in_order).take(judged)
    consumer = Strings.of(_name_consumer_status(*rule[1:]) for rule in in_order).take(fits)
    idle = Strings.constant(contract.INACTIVE, len(rows)).only(find_inactive(rows, run))
    rows = set_where_read(
        rows,
        last_status=status,
        status_reason=idle.or_else(reason),
        consumer_status=consumer,
    )
    return rows.with_columns(status=status)


def _list_rules(e: Evaluation, rows: Frame) -> list[StatusRule]:
    """Returns the rules for what a consumer does; the first that fits counts, the last fits all.

    `rows` must have the columns of `add_progress`.
    """
    run, ages, old, window = e.run, e.estimated, e.previous.rows, e.run.window_seconds
    lag, age = rows.numbers("lag"), _judged_age(ages, window)
    first = is_first_reading(rows)
    is_unowned, warned = find_unowned(rows, e.of_group), was_warned(old)
    owned_lately = run.within_window(rows.numbers("owned_at"))
    went_back = run.within_window(rows.numbers("rewound_at"))
    # A commit could not move while an open transaction held it up.
    was_held_up = run.within_window(rows.numbers("held_up_at"))
    still = is_still(rows, run) & ~was_held_up
    stuck = _was_stuck(old) & ~_has_moved(rows, old)
    had_stopped = old.strings("last_status").is_in([contract.STOP])
    pauses = find_usual_pauses(rows, ages.least, still, warned, run)
    batches = find_expected_batches(rows, ages.least, still, run)
    is_explained = batches.is_explained | (pauses.explain & ~batches.known)
    usual = pauses.usual & ~batches.known
    oldest = ages.most.fill(np.inf)
    left_over = _age_after_last_move(rows, np.where(warned, oldest, age), still, run)
    # If a log deletes unread records, those that remain are young, however late the group is.
    losing = _is_losing(rows)
    kept_up = (left_over <= window * np.where(warned, _CALM_SHARE, 1.0)) & ~losing
    # Without an upper bound, the next record of a commit that has not moved may be of any age.
    unproven = ~ages.most.known & ~_has_moved(rows, old)
    nothing_left = (lag <= e.unreadable) & ~(losing & still & ~owned_lately)
    return [
        (~is_read(rows), None, None),
        (_is_beyond_end(rows, e.previous), contract.ERR, contract.BEYOND_END),
        (_is_past_end(rows), None, None),
        # Nothing is committed.
        (~lag.known, None, None),
        (nothing_left, contract.OK, None),
        # One reading shows no movement, only that old records have no member to read them.
        (first & is_unowned & ((age > window) | losing), None, contract.NO_MEMBER),
        (first, None, None),
        (went_back, contract.REWIND, None),
        # Only a commit ends a stop: the age also falls if log cleaning removes the next record.
        # The owner left longer ago than the window was when the group stopped.
        (stuck & is_unowned & had_stopped, contract.STOP, None),
        (stuck & owned_lately, contract.STALL, None),
        (stuck, contract.STOP, None),
        # The group kept up when the commit last moved.
        (kept_up & ~unproven, contract.OK, None),
        (still & is_explained, contract.OK, contract.PAUSING),
        (is_explained, contract.OK, None),
        (kept_up, None, None),
        # The commit has not moved for a window, with a member that owns the partition or without.
        (still & ~usual & owned_lately, contract.STALL, None),
        (still & ~usual, contract.STOP, None),
        # The commit moves, and the group is behind.
        (~is_not_catching_up(rows, old, age, run), contract.OK, None),
        (is_unowned & ~_moves_lately(rows, run), contract.WARN, contract.NO_MEMBER),
        *_list_warnings(rows, old),
    ]


def _list_warnings(rows: Frame, old: Frame) -> list[StatusRule]:
    """Returns the rules for a group that is behind and does not catch up."""
    # Rates fall between two commits; that shows nothing new about a group that is slow.
    between, reasons = was_warned(old) & ~_has_moved(rows, old), _find_warning_reasons(old)
    was_slow = between & reasons.is_in([contract.SLOW])
    was_behind = between & reasons.is_in([contract.FALLING_BEHIND])
    return [
        (was_slow, contract.WARN, contract.SLOW),
        (was_behind, contract.WARN, contract.FALLING_BEHIND),
        (rows.numbers("drain_seconds").known, contract.WARN, contract.SLOW),
        (np.ones(len(rows), bool), contract.WARN, contract.FALLING_BEHIND),
    ]


def _is_losing(rows: Frame) -> Mask:
    """Marks rows whose records were deleted before they were committed."""
    mask: Mask = is_read(rows) & (rows.numbers("records_lost") > 0)
    return mask


def _name_consumer_status(status: str | None, reason: str | None) -> str | None:
    """Returns the consumer status for a rule's status and reason; None if nothing is wrong."""
    return _WORDS.get(status or "") or (
        reason if reason in contract.CONSUMER_STATUS_SEVERITIES else None
    )


def find_inactive(rows: Frame, run: Run) -> Mask:
    """Marks rows of a topic that their group has left.

    In the last 24 h no member owned a partition of the topic and no commit of the group on it
    changed. An unread row counts with the owner and commit of its last reading. A group that has
    committed nothing on a topic has not left it.
    """
    owned, moved = rows.numbers("owned_at"), rows.numbers("commit_changed_at")
    since = run.taken_at - _INACTIVE_MS
    alive = (owned > since) | (moved > since)
    if not (moved.known & ~alive).any():
        return np.zeros(len(rows), bool)
    codes = rows.strings("consumer_group").codes, rows.strings("topic").codes
    pairs, _ = distinct(*codes)
    left = (pairs.rows(alive) == 0) & (pairs.rows(moved.known) > 0)
    mask: Mask = left[pairs.of_row]
    return mask


def find_leaderless(rows: Frame, run: Run) -> Mask:
    """Marks rows without a leader in this run and the previous one: no election takes that long."""
    reason = rows.strings("unread_reason").is_in([contract.NO_LEADER])
    if not reason.any():
        return reason
    return reason & (run.taken_at - rows.numbers("read_at") > 1.5 * run.rules.interval_ms)


def name_unavailable(rows: Frame, run: Run) -> Frame:
    """Returns the rows; those without a leader, which nobody can read, are WARN, unavailable.

    Rows with a worse last status keep it, and so do topics that the group has left.
    """
    leaderless = find_leaderless(rows, run)
    if not leaderless.any():
        return rows
    named = leaderless & ~find_inactive(rows, run)
    named &= rows.strings("last_status").is_in([contract.OK, contract.WARN]) | (
        ~rows.strings("last_status").known & rows.numbers("committed_offset").known
    )
    word = Strings.constant(contract.UNAVAILABLE, len(rows)).only(named)
    return rows.with_columns(
        status=Strings.constant(contract.WARN, len(rows))
        .only(named)
        .or_else(rows.strings("status")),
        status_reason=word.or_else(rows.strings("status_reason")),
        consumer_status=word.or_else(rows.strings("consumer_status")),
    )


def _is_beyond_end(rows: Frame, previous: PreviousRows) -> Mask:
    """Marks commits past the end of the log: on a recreated topic, or seen there in two runs.

    One run proves nothing, because the commit and the end are read at different moments.
    """
    again = _is_past_end(previous.rows) & ~_has_moved(rows, previous.rows)
    mask: Mask = _is_past_end(rows) & (previous.recreated | again)
    return mask


def _is_past_end(rows: Frame) -> Mask:
    return rows.numbers("committed_offset") > rows.numbers("end_offset")


def _age_after_last_move(rows: Frame, age: Seconds, still: Mask, run: Run) -> Seconds:
    """Returns the age, s, that was left when the commit last moved; `age` if the commit is still.

    Between two commits the age of any consumer grows. Only the age left by a commit shows whether
    the consumer keeps up.
    """
    since_move = run.seconds_since(rows.numbers("commit_changed_at"))
    left_over: Seconds = age - since_move.only(~still).fill(0.0)
    return left_over


def _has_moved(rows: Frame, old: Frame) -> Mask:
    """Marks rows whose commit differs from the previous run's."""
    return rows.numbers("committed_offset") != old.numbers("committed_offset")


def _moves_lately(rows: Frame, run: Run) -> Mask:
    """Marks rows whose commit was seen to move within the window.

    Consumers that assign partitions themselves commit without being members of the group. The rate
    tells a commit that moved from one that was merely first seen within the window.
    """
    changed = run.within_window(rows.numbers("commit_changed_at"))
    mask: Mask = changed & (rows.numbers("consume_rate") > 0)
    return mask


def _was_stuck(old: Frame) -> Mask:
    """Marks rows whose status was last STOP or STALL."""
    return old.strings("last_status").is_in([contract.STOP, contract.STALL])


def _find_warning_reasons(old: Frame) -> Strings:
    """Returns why rows were WARN in the previous run, or would have been without a loss."""
    return old.strings("consumer_status").or_else(old.strings("status_reason"))


def _judged_age(ages: Ages, window: float) -> Seconds:
    """Returns the age, s, by which a row is judged; an unknown age counts as 0.

    It is the estimate if its bounds are close, else the lower bound. The lower bound jumps by the
    distance of two known log ends if look-ups are missing.
    """
    narrow = ages.most - ages.least <= window * _NARROW_SHARE
    age: Seconds = ages.seconds.where(narrow, ages.least).fill(0.0)
    return age
