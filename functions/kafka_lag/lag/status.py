# SPDX-License-Identifier: Apache-2.0
"""One word for how a group does on a partition: Burrow's words, bounded in time, not in runs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.carry_over import PreviousRows, Seconds, is_read, seconds_between, set_where_read
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.movement import lately, lies_still, usual
from kafka_lag.lag.rules import Rules
from kafka_lag.lag.sets import distinct

# Where it holds, and the status and reason that it gives.
StatusRule: TypeAlias = tuple[Mask, str | None, str | None]

_INACTIVE_MS = 24 * 3_600_000
# A first reading shows no movement.
_READINGS = 2
# A backlog that takes longer than so many times its age is not being worked off; one that was
# slow must do better than that to count as worked off again, or noise in the rates would flip it.
_SLOW, _SURE = 10.0, 3.0


def add_status(
    rows: Frame,
    groups: Frame,
    previous: PreviousRows,
    ages: Column,
    allowed: Column,
    taken_at: int,
    rules: Rules,
) -> Frame:
    """`status`, `last_status` and `status_reason` of each row, by the first rule that fits.

    `groups` holds each row's group; `ages` is what is proven of the time lag, in seconds: at least
    so old, unknown is 0. A row that was not read has no status and keeps the last one with its
    reason; one without a lag, as nothing is committed, has neither. At the first reading there may
    be a reason without a status.
    """
    old, window = previous.rows, rules.window_ms / 1_000
    lag, age = rows.numbers("lag"), ages.fill(0.0)
    first = rows.numbers("observations") < _READINGS
    alone, moved = unowned(rows, groups), _moved(rows, old)
    owned_lately = lately(rows.numbers("owned_at"), taken_at, rules)
    went_back = lately(rows.numbers("rewound_at"), taken_at, rules)
    still = lies_still(rows, taken_at, rules)
    pausing = usual(rows, ages, still, taken_at, rules)
    not_catching_up = _not_catching_up_since(rows, old, age, taken_at, rules)
    slow = _slow(rows, old, age, not_catching_up, taken_at, rules)
    rules_in_order: list[StatusRule] = [
        (~is_read(rows), None, None),
        (rows.numbers("records_lost") > 0, contract.ERR, contract.RECORDS_LOST),
        (_beyond_end(rows, previous), contract.ERR, contract.BEYOND_END),
        (~lag.known, None, None),
        (lag <= allowed, contract.OK, None),
        (first & alone & (age > window), None, contract.NO_MEMBER),
        (first, None, None),
        (went_back, contract.REWIND, None),
        (_age_after_last_move(rows, age, still, taken_at) <= window, contract.OK, None),
        (still & pausing, contract.OK, contract.PAUSING),
        (pausing, contract.OK, None),
        (still & owned_lately, contract.STALL, None),
        (still, contract.STOP, None),
        (~slow, contract.OK, None),
        (alone & ~moved, contract.WARN, contract.NO_MEMBER),
        (rows.numbers("drain_seconds").known, contract.WARN, contract.SLOW),
        (np.ones(len(rows), bool), contract.WARN, contract.FALLING_BEHIND),
    ]
    fits = np.select([where for where, _, _ in rules_in_order], list(range(len(rules_in_order))))
    status = Strings.of(status for _, status, _ in rules_in_order).take(fits)
    reason = Strings.of(reason for _, _, reason in rules_in_order).take(fits)
    idle = Strings.constant(contract.INACTIVE, len(rows)).only(inactive(rows, taken_at))
    rows = set_where_read(
        rows,
        last_status=status,
        status_reason=idle.or_else(reason),
        not_catching_up_since=not_catching_up,
    )
    return rows.with_columns(status=status)


def inactive(rows: Frame, taken_at: int) -> Mask:
    """Rows of groups and topics where in 24 h nobody owned a partition and no commit moved.

    Silent rows count as they were last seen. Where nothing is committed, nothing lies still.
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
    """A commit past the end of a recreated topic, or one seen there twice.

    Seen once it may be a commit of the moment: commits are read before the ends.
    """
    again = _past_end(previous.rows) & ~_moved(rows, previous.rows)
    mask: Mask = _past_end(rows) & (previous.recreated | again)
    return mask


def _past_end(rows: Frame) -> Mask:
    return rows.numbers("committed_offset") > rows.numbers("end_offset")


def _age_after_last_move(rows: Frame, age: Seconds, still: Mask, taken_at: int) -> Seconds:
    """The age, in seconds; of a commit that moved within the window, what it was just after.

    It grows from one move to the next: only what a move leaves over says who keeps up.
    """
    since_move = (taken_at - rows.numbers("commit_changed_at")) / 1_000
    left_over: Seconds = age - since_move.only(~still).fill(0.0)
    return left_over


def _moved(rows: Frame, old: Frame) -> Mask:
    """The commit is another than in the run before: somebody reads, as who is no member may."""
    return rows.numbers("committed_offset") != old.numbers("committed_offset")


def _not_catching_up_since(
    rows: Frame, old: Frame, age: Seconds, taken_at: int, rules: Rules
) -> Column:
    """Since when, ms, no run saw for sure that the backlog was being worked off.

    A first reading shows no movement, so it counts as a whole window of that.
    """
    first = rows.numbers("observations") < _READINGS
    begun = Column.of(np.where(first, taken_at - rules.window_ms, taken_at))
    since = old.numbers("not_catching_up_since").or_else(begun)
    return since.only(~_worked_off(rows, old, age * _SURE))


def _slow(
    rows: Frame, old: Frame, age: Seconds, since: Column, taken_at: int, rules: Rules
) -> Mask:
    """Not catching up, and for all the readings of a window not for sure; or slow before.

    To a consumer that works off bursts of records each looks like that for some minutes.
    """
    slow = old.strings("last_status").is_in([contract.WARN])
    lasted = taken_at - since >= rules.window_ms - rules.interval_ms
    limit = age * np.where(slow, _SURE, _SLOW)
    mask: Mask = since.known & (lasted | slow) & ~_worked_off(rows, old, limit)
    return mask


def _worked_off(rows: Frame, old: Frame, limit: Seconds) -> Mask:
    """Whether the backlog would be gone within the limit, by the rates or by what the last
    reading saw.

    The rates remember a burst for minutes after it ended, hence the last reading. It is not
    asked of rows that were slow: they have caught up when the rates say so.
    """
    slow = old.strings("last_status").is_in([contract.WARN])
    lag, seconds = rows.numbers("lag"), seconds_between(rows, old)
    shrank_by = old.numbers("lag") - lag
    shrank = (seconds > 0) & (shrank_by * limit >= lag * seconds)
    mask: Mask = (rows.numbers("drain_seconds") <= limit) | (shrank & ~slow)
    return mask


_OWNED = ("consumer_group", "topic", "partition_id")


def add_owners(rows: Frame, groups: Frame, before: Snapshot, taken_at: int) -> Frame:
    """`owned_at`: the last run, ms, in which a live member owned the partition; else unknown.

    `groups` holds each row's group: one that told no members may have none of those remembered.
    """
    old = before.group_partitions
    remembered = old.numbers("owned_at").take(locate(rows, old, _OWNED))
    now = Column(np.full(len(rows), taken_at, np.int64), _owned_now(rows, groups))
    return rows.with_columns(owned_at=now.or_else(remembered))


def unowned(rows: Frame, groups: Frame) -> Mask:
    """Rows that no live member owns, as far as is known; not while partitions are being assigned.

    `groups` holds each row's group. One that could not be described may have members.
    """
    members = groups.numbers("members")
    waiting = groups.strings("group_state").is_in(contract.REBALANCING_STATES) & (
        members.values > 0
    )
    read = ~rows.strings("unread_reason").known
    mask: Mask = read & members.known & ~rows.strings("member_id").known & ~waiting
    return mask


def changed(rows: Frame, before: Snapshot) -> Mask:
    """Rows read now and before whose member is another, or came, or went."""
    old = before.group_partitions
    at = locate(rows, old, _OWNED)
    theirs = old.strings("member_id").take(at)
    members = tuple(dict.fromkeys(theirs.categories + rows.strings("member_id").categories))
    ours = rows.strings("member_id").codes_in(members)
    same = (ours.known == theirs.known) & (~ours.known | (ours.values == theirs.codes.values))
    read = ~rows.strings("unread_reason").known
    mask: Mask = (at >= 0) & read & ~same
    return mask


def _owned_now(rows: Frame, groups: Frame) -> Mask:
    told = groups.numbers("members").known & ~rows.strings("unread_reason").known
    mask: Mask = rows.strings("member_id").known & told
    return mask
