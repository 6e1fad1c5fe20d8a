# SPDX-License-Identifier: Apache-2.0
"""Jumps of a commit over records that nobody can have read meanwhile: somebody reset it.

A commit says where a group reads on, not what it has read. A jump counts as a skip, however small,
if another made it than the group's own client: that one writes the leader epoch of the last
record beside the offset [KIP-320], and what sets offsets for a group without members has read none.
A jump also counts as a skip if it is more than a client reads of one partition and far beyond what
is usual there. If a group that usually has members may have had none between two runs, and its
commit passed all that was unread, nobody knows whether the group read it: the jump is
`read_or_skipped`. Records that are written below a commit that lies beyond the end of the log are
skipped as well, once the end has passed the commit. docs/why.md has the limits and what they were
tried on.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Seconds, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.movement import is_within_window, most_observations
from kafka_lag.lag.previous_rows import (
    PreviousRows,
    is_read,
    last_known_lag,
    seconds_between,
    set_where_read,
)

# Records a second of one partition that any client may read, whatever is usual for it.
_READABLE = 10_000.0
# Whoever was away catches up at ten or a hundred times the usual rate, at times at more.
_TIMES_USUAL = 300.0
# A jump within this factor of the last one, or of the usual rate, is the way in which this group
# reads.
_ALIKE = 3.0
# Whoever reads on at this share of the speed of a jump has read that as well.
_GOES_ON = 0.1
# A group that commits less often than this many intervals is not stopped between two commits.
_SELDOM_INTERVALS = 1.5
_COMPACT = "compact"


def add_skips(
    rows: Frame,
    previous: PreviousRows,
    topics: Frame,
    groups: Frame,
    old_groups: Frame,
    taken_at: int,
    rules: Rules,
) -> Frame:
    """The rows with what their commits last jumped over without reading it.

    `topics` holds the partition of each row, `groups` its group, and `old_groups` that group as
    the previous run left it. `skipped_from` and `skipped_to`:
    the commits before and after it. `skipped_at`: the run, ms, that first saw the latter.
    `skip_reason`: one of SKIP_REASONS. All are unknown without such a jump, and again if the group
    read on as fast within a window: then it was no skip, unless somebody was seen to set the
    commit. While a commit lies beyond the end, `skipped_at` is unknown: the end of the log as it
    was first seen there and the commit are the others, and records between them will be skipped
    unless the commit goes back. A compacted topic has none, as its offsets are not all records; nor
    has a topic whose clean-up policy is unknown. A row with too few readings to know what is usual
    for it has only jumps that do not depend on that.
    """
    old, seconds = previous.rows, seconds_between(rows, previous.rows)
    now, then = rows.numbers("committed_offset"), old.numbers("committed_offset")
    backlog = last_known_lag(old)
    position = old.numbers("end_offset") - backlog
    # What was written since the last reading may have been read as fast as it was written.
    jumped = (now - position).clip(0, most=backlog)
    records = _offsets_are_records(topics) & (now <= rows.numbers("end_offset"))
    was_set = (now > position) & records & _was_set(rows, old, groups)
    if was_set.any():
        may_read = _may_have_read(old, old_groups, taken_at, rules)
        was_set &= ~may_read | (
            (jumped > 0) & ~_may_be_a_last_commit(jumped / seconds, old, topics)
        )
    unsure = (jumped > 0) & (jumped == backlog) & records
    if unsure.any():
        unsure &= _may_have_been_set(rows, old, groups, old_groups, unsure, taken_at, rules)
    fast = jumped / seconds > _READABLE
    is_beyond = now > rows.numbers("end_offset")
    if not (fast | was_set | unsure | is_beyond | old.numbers("skipped_from").known).any():
        # What was not read in this run keeps what it has, and no other row has anything.
        return rows
    rows = _add_skips_beyond_end(rows, previous, topics, taken_at)
    size = old.numbers("skipped_to") - old.numbers("skipped_from")
    size = size.only(old.numbers("skipped_at").known)
    limit = np.maximum(_READABLE, _TIMES_USUAL * _usual_rate(old, topics))
    judged = records & (old.numbers("observations") >= most_observations(rules))
    far = judged & (jumped / seconds > limit)
    lately = is_within_window(old.numbers("skipped_at"), taken_at, rules)
    speed = size / (rules.interval_ms / 1_000)
    # A slower one was no guess.
    written = topics.numbers("produce_rate").fill(0.0)
    guessed = lately & (speed > np.maximum(_READABLE, _TIMES_USUAL * written))
    goes_on = guessed & (jumped / seconds >= speed * _GOES_ON)
    alike = (jumped <= size * _ALIKE) & (size <= jumped * _ALIKE)
    certain = was_set | (far & ~goes_on & ~alike)
    skipped = certain | unsure
    this_run = Column.of(np.full(len(rows), taken_at, np.int64))
    reason = Strings.of([contract.SET_AHEAD, contract.READ_OR_SKIPPED])
    reason = reason.take(np.where(certain, 0, 1))
    return set_where_read(
        rows,
        skipped_from=then.where(skipped, rows.numbers("skipped_from").only(~goes_on)),
        skipped_to=now.where(skipped, rows.numbers("skipped_to").only(~goes_on)),
        skipped_at=this_run.where(skipped, rows.numbers("skipped_at").only(~goes_on)),
        skip_reason=reason.where(skipped, rows.strings("skip_reason").only(~goes_on)),
    )


def has_skipped(rows: Frame, old: Frame) -> Mask:
    """Rows whose commit jumped over records since the previous run that it may not have read."""
    at = rows.numbers("skipped_at")
    jumped = ~rows.strings("skip_reason").is_in(contract.SKIPPED_BEYOND_END)
    mask: Mask = at.known & jumped & ~(at == old.numbers("skipped_at"))
    return mask


def _add_skips_beyond_end(
    rows: Frame, previous: PreviousRows, topics: Frame, taken_at: int
) -> Frame:
    """The rows with the skips of the previous run, and those of commits beyond the end.

    One reading of such a commit is no proof unless the log was seen to become shorter: the commit
    and the end are read at different moments.
    """
    old, now = previous.rows, rows.numbers("committed_offset")
    end, old_end = rows.numbers("end_offset"), old.numbers("end_offset")
    since, until, at = (old.numbers(f"skipped_{name}") for name in ("from", "to", "at"))
    reason = old.strings("skip_reason")
    waits = ~at.known & reason.is_in(contract.SKIPPED_BEYOND_END)
    beyond = (now > end) & _offsets_are_records(topics)
    again = beyond & (old.numbers("committed_offset") > old_end)
    begins = (beyond & previous.recreated) | (again & ~waits)
    first_end = rows.numbers("start_offset").where(previous.made_anew, end)
    first_end = first_end.where(previous.recreated, old_end)
    kind = np.select(
        [previous.made_anew, previous.recreated & rows.strings("topic_id").known], [1, 0], default=2
    )
    kinds = Strings.of(contract.SKIPPED_BEYOND_END).take(kind)
    skipped = waits & (now <= end) & (now >= until)
    kept = begins | (beyond & waits) | skipped | ~waits
    this_run = Column.of(np.full(len(rows), taken_at, np.int64))
    return set_where_read(
        rows,
        skipped_from=first_end.where(begins, since).only(kept),
        skipped_to=now.where(beyond & (begins | waits), until).only(kept),
        skipped_at=this_run.where(skipped, at.only(~begins)),
        skip_reason=kinds.where(begins, reason).only(kept),
    )


def _was_set(rows: Frame, old: Frame, groups: Frame) -> Mask:
    """Rows whose commit has no leader epoch any more, of a group that has no member.

    Where members are, a new release of theirs may have ceased to write it.
    """
    ceased = old.numbers("commit_epoch").known & ~rows.numbers("commit_epoch").known
    mask: Mask = ceased & is_read(rows) & (groups.numbers("members") == 0)
    return mask


def _may_have_read(old: Frame, old_groups: Frame, taken_at: int, rules: Rules) -> Mask:
    """Rows whose group may have read on after the last reading: it had members then, or commits
    without being a member, as consumers do that assign partitions themselves.
    """
    moved = is_within_window(old.numbers("commit_changed_at"), taken_at, rules)
    assigns = ~old.numbers("owned_at").known & moved & (old.numbers("consume_rate") > 0)
    mask: Mask = ~(old_groups.numbers("members") == 0) | assigns
    return mask


def _may_be_a_last_commit(speed: Column, old: Frame, topics: Frame) -> Mask:
    """Rows of which a reader may have read on at this `speed`, records/s, until it left.

    Some clients commit as they close by another call than before, which writes no epoch.
    """
    unknown = ~old.numbers("consume_rate").known
    mask: Mask = unknown | (speed <= _ALIKE * _usual_rate(old, topics))
    return mask


def _may_have_been_set(
    rows: Frame,
    old: Frame,
    groups: Frame,
    old_groups: Frame,
    among: Mask,
    taken_at: int,
    rules: Rules,
) -> Mask:
    """Rows among those given of a group with members that may have had none since the last reading,
    so that somebody may have set its commit.

    The group had no member in that reading, or it was late and each of its members is another now.
    A group of which no member was ever seen to own the partition, one whose client writes no epoch
    and one that comes and goes as a job does have no such row.
    """
    interval = rules.interval_ms / 1_000
    gap = old.numbers("commit_gap_seconds").fill(interval)
    stood = (taken_at - old.numbers("commit_changed_at")) / 1_000
    since_last = (taken_at - old.numbers("skipped_at")) / 1_000
    pauses = old.strings("status_reason").is_in([contract.PAUSING])
    pauses |= (gap > _SELDOM_INTERVALS * interval) & (stood <= gap * _ALIKE)
    pauses |= since_last <= stood * _ALIKE
    mask: Mask = among & is_read(rows) & (groups.numbers("members") > 0) & ~pauses
    mask &= old.numbers("commit_epoch").known & old.numbers("owned_at").known
    late = old.numbers("time_lag_seconds") > np.maximum(gap, interval) * _ALIKE
    empty = old_groups.numbers("members") == 0
    return (mask & empty) | _have_other_members(rows, old, mask & ~empty & late)


def _have_other_members(rows: Frame, old: Frame, among: Mask) -> Mask:
    """Those of the rows `among` in whose group no owner of the previous run owns anything now."""
    if not among.any():
        return among
    names = rows.strings("consumer_group")
    at = np.flatnonzero(names.is_in(set(names.take(np.flatnonzero(among)).to_list())))
    owners: tuple[dict[str | None, set[str]], ...] = (defaultdict(set), defaultdict(set))
    for found, frame in zip(owners, (rows, old), strict=True):
        members = frame.strings("member_id").take(at).to_list()
        for name, member in zip(names.take(at).to_list(), members, strict=True):
            if member is not None:
                found[name].add(member)
    now, then = owners
    others = [name for name in then if now[name] and now[name].isdisjoint(then[name])]
    return among & names.is_in(name for name in others if name is not None)


def _usual_rate(old: Frame, topics: Frame) -> Seconds:
    """Records/s: the greatest known speed of producing, consuming, and of what made the backlog.

    An age without an upper bound says nothing of the last one.
    """
    dated = old.numbers("time_lag_error_seconds").known
    backlog = (old.numbers("lag") / old.numbers("time_lag_seconds")).only(dated)
    known = (topics.numbers("produce_rate"), old.numbers("consume_rate"), backlog)
    rate: Seconds = np.maximum.reduce([column.fill(0.0) for column in known])
    return rate


def _offsets_are_records(topics: Frame) -> Mask:
    policy = topics.strings("cleanup_policy")
    compacted = policy.is_in([word for word in policy.categories if _COMPACT in word])
    mask: Mask = policy.known & ~compacted
    return mask
