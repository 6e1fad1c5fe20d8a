# SPDX-License-Identifier: Apache-2.0
"""Skips: a commit passed records that the group cannot have read, because its offsets were reset.

A commit says where a group reads on, not what it has read. A jump of any size is a skip if the
group's own client did not make it: a client writes the leader epoch of the last record beside the
offset [KIP-320], and a tool that sets offsets for a group without members has read no record.
A jump is also a skip if it is more than a client can read from one partition and far beyond what
is usual there. If a group that usually has members may have had none between two runs, and its
commit passed all unread records, the group may or may not have read them: the jump is
`read_or_skipped`. Records written below a commit that lies beyond the end of the log are skipped as
well, once the end has passed the commit. docs/metrics.md has the limits.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Seconds, Strings
from kafka_lag.lag.delays import find_oldest_age
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.movement import most_observations
from kafka_lag.lag.positions import is_compacted
from kafka_lag.lag.previous_rows import (
    PreviousRows,
    is_read,
    last_known_lag,
    seconds_between,
    set_where_read,
)
from kafka_lag.lag.run import Run

# Any client may read this many records a second from one partition, whatever is usual for it.
_READABLE = 10_000.0
# A group that was away catches up at ten or a hundred times the usual rate, sometimes at more.
_TIMES_USUAL = 300.0
# A jump within this factor of the last one, or of the usual rate, is how this group reads.
_ALIKE = 3.0
# A group that reads on at this share of a jump's speed has read the records of the jump as well.
_GOES_ON = 0.1
# A group whose commits are farther apart than this many intervals does not stop between them.
_SELDOM_INTERVALS = 1.5


def add_skips(e: Evaluation) -> Frame:
    """Returns the rows with the last skip of their commits.

    `skipped_from` and `skipped_to`: the commits before and after the skip. `skipped_at`: the first
    run, ms, that saw the commit after it. `skip_reason`: one of SKIP_REASONS. All are unknown
    without a skip. They become unknown again if the group reads on as fast within a window: then
    the jump was no skip, unless the commit was seen to be set.
    While a commit lies beyond the end of the log, `skipped_at` is unknown, `skipped_from` is the
    end when the commit was first seen there, and `skipped_to` is the commit: records between them
    will be skipped unless the commit goes back. A compacted topic has no skips, because not each of
    its offsets is a record; nor has a topic with an unknown clean-up policy. A row with too few
    readings to know its usual rate has only skips that do not depend on that rate.
    """
    rows, topics, run = e.rows, e.of_topic, e.run
    old, seconds = e.previous.rows, seconds_between(rows, e.previous.rows)
    now, then = rows.numbers("committed_offset"), old.numbers("committed_offset")
    backlog = last_known_lag(old)
    position = old.numbers("end_offset") - backlog
    # Records written since the last reading may have been read as fast as they were written.
    jumped = (now - position).clip(0, most=backlog)
    records = _offsets_are_records(topics) & (now <= rows.numbers("end_offset"))
    was_set = (now > position) & records & _was_set(rows, old, e.of_group)
    if was_set.any():
        may_read = _may_have_read(old, e.of_old_group, run)
        was_set &= ~may_read | (
            (jumped > 0) & ~_may_be_a_last_commit(jumped / seconds, old, topics)
        )
    unsure = (jumped > 0) & (jumped == backlog) & records
    if unsure.any():
        unsure &= _may_have_been_set(e, unsure)
    fast = jumped / seconds > _READABLE
    is_beyond = now > rows.numbers("end_offset")
    if not (fast | was_set | unsure | is_beyond | old.numbers("skipped_from").known).any():
        # Unread rows keep their columns, and no other row has a skip.
        return rows
    rows = _add_skips_beyond_end(rows, e.previous, topics, run)
    size = old.numbers("skipped_to") - old.numbers("skipped_from")
    size = size.only(old.numbers("skipped_at").known)
    limit = np.maximum(_READABLE, _TIMES_USUAL * _usual_rate(old, topics))
    judged = records & (old.numbers("observations") >= most_observations(run))
    far = judged & (jumped / seconds > limit)
    lately = run.within_window(old.numbers("skipped_at"))
    speed = size / run.interval_seconds
    # A slower jump was not found by its speed.
    written = topics.numbers("produce_rate").fill(0.0)
    guessed = lately & (speed > np.maximum(_READABLE, _TIMES_USUAL * written))
    goes_on = guessed & (jumped / seconds >= speed * _GOES_ON)
    alike = (jumped <= size * _ALIKE) & (size <= jumped * _ALIKE)
    certain = was_set | (far & ~goes_on & ~alike)
    skipped = certain | unsure
    this_run = run.now(len(rows))
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
    """Marks rows whose commit has passed, since the previous run, records that may be unread."""
    at = rows.numbers("skipped_at")
    jumped = ~rows.strings("skip_reason").is_in(contract.SKIPPED_BEYOND_END)
    mask: Mask = at.known & jumped & ~(at == old.numbers("skipped_at"))
    return mask


def _add_skips_beyond_end(rows: Frame, previous: PreviousRows, topics: Frame, run: Run) -> Frame:
    """Returns the rows with the skips of the previous run and those of commits beyond the end.

    One reading of such a commit proves nothing unless the topic was recreated or truncated, because
    the commit and the end are read at different moments.
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
    this_run = run.now(len(rows))
    return set_where_read(
        rows,
        skipped_from=first_end.where(begins, since).only(kept),
        skipped_to=now.where(beyond & (begins | waits), until).only(kept),
        skipped_at=this_run.where(skipped, at.only(~begins)),
        skip_reason=kinds.where(begins, reason).only(kept),
    )


def _was_set(rows: Frame, old: Frame, groups: Frame) -> Mask:
    """Marks rows whose commit lost its leader epoch, in groups without members.

    If a group has members, a new version of their client may have stopped writing the epoch.
    """
    ceased = old.numbers("commit_epoch").known & ~rows.numbers("commit_epoch").known
    mask: Mask = ceased & is_read(rows) & (groups.numbers("members") == 0)
    return mask


def _may_have_read(old: Frame, old_groups: Frame, run: Run) -> Mask:
    """Marks rows whose group may have read on after the last reading.

    It had members then, or its consumers commit without being members, because they assign
    partitions themselves.
    """
    moved = run.within_window(old.numbers("commit_changed_at"))
    assigns = ~old.numbers("owned_at").known & moved & (old.numbers("consume_rate") > 0)
    mask: Mask = ~(old_groups.numbers("members") == 0) | assigns
    return mask


def _may_be_a_last_commit(speed: Column, old: Frame, topics: Frame) -> Mask:
    """Marks rows that a member may have read at this `speed`, records/s, until it left.

    Some clients, when they close, commit by another call than before, which writes no epoch.
    """
    unknown = ~old.numbers("consume_rate").known
    mask: Mask = unknown | (speed <= _ALIKE * _usual_rate(old, topics))
    return mask


def _may_have_been_set(e: Evaluation, among: Mask) -> Mask:
    """Marks rows, of those in `among`, whose commit may have been set.

    Their group has members, but may have had none since the last reading: it had no member in that
    reading, or it was late and has only other members now. Rows are not marked if no member was
    ever seen to own the partition, if the client writes no epoch, or if the group comes and goes
    like a job.
    """
    rows, old, run, interval = e.rows, e.previous.rows, e.run, e.run.interval_seconds
    gap = old.numbers("commit_gap_seconds").fill(interval)
    stood = run.seconds_since(old.numbers("commit_changed_at"))
    since_last = run.seconds_since(old.numbers("skipped_at"))
    pauses = old.strings("status_reason").is_in([contract.PAUSING])
    pauses |= (gap > _SELDOM_INTERVALS * interval) & (stood <= gap * _ALIKE)
    pauses |= since_last <= stood * _ALIKE
    mask: Mask = among & is_read(rows) & (e.of_group.numbers("members") > 0) & ~pauses
    mask &= old.numbers("commit_epoch").known & old.numbers("owned_at").known
    late = old.numbers("time_lag_seconds") > np.maximum(gap, interval) * _ALIKE
    empty = e.of_old_group.numbers("members") == 0
    return (mask & empty) | _have_other_members(rows, old, mask & ~empty & late)


def _have_other_members(rows: Frame, old: Frame, among: Mask) -> Mask:
    """Marks rows, of those in `among`, whose group has owners but none of the previous run's."""
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
    """Returns the greatest known rate, records/s: produced, consumed, or that made the backlog.

    The last is known only if the age has an upper bound.
    """
    dated = old.numbers("time_lag_error_seconds").known
    backlog = (old.numbers("lag") / find_oldest_age(old)).only(dated)
    known = (topics.numbers("produce_rate"), old.numbers("consume_rate"), backlog)
    rate: Seconds = np.maximum.reduce([column.fill(0.0) for column in known])
    return rate


def _offsets_are_records(topics: Frame) -> Mask:
    return topics.strings("cleanup_policy").known & ~is_compacted(topics)
