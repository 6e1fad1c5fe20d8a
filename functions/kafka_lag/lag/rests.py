# SPDX-License-Identifier: Apache-2.0
"""Rests: a consumer has read all records and still lags, because its commit stays below the end.

A transaction marker takes an offset that no consumer can read, and many consumers commit the offset
after the last record, so their commit rests one or several markers below the end. Brokers do not
say which offsets are markers. But such a consumer moves past them with the next record, and never
commits one of them. So offsets below which it rested twice, while nothing was written, are taken
for markers if the log then moved on.

Rests count only on topics in which a transaction was seen open, because a job that always leaves
some records to its next run looks the same. They are learnt before that, because the first
transaction that is seen may stay open.

On other topics a consumer that rests exactly one record below the end, again and again, and never
reaches the end, commits the offset of its last record instead of the next one.
"""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.previous_rows import is_read, set_where_read
from kafka_lag.lag.run import Run
from kafka_lag.lag.share_groups import drop_rests, is_shared

# At most this many offsets are taken for markers and aborted records.
_MOST_RECORDS = 10
# A consumer is known to rest after this many rests.
_NEEDED = 2
# A rest lasts longer than this many intervals.
_INTERVALS = 2
# Rests of one record on topics without transactions need more proof, because a consumer that waits
# while a broker fails looks the same: this many rests, each longer than the window divided by the
# second number. Two short rests made 33 of 7,855 ages wrong in a minute of faults on real brokers.
_NEEDED_BY_ONE, _SHARE_BY_ONE = 3, 2


def add_rests(e: Evaluation) -> Frame:
    """Returns the rows with the columns of their rests; unread rows are unchanged.

    `rest_end`: the readable end when this commit was first seen, if the commit was just below it;
    it moves on with further markers once rests are known. `rest_left_at`: the first run, ms, with
    more to read. `rests_seen`: rests in a row that ended with a commit beyond `rest_end`; a commit
    below it was not a rest, and the count begins again. `rest_records`: the longest rest, in
    records.

    On topics without transactions a rest of one record may also end with a commit at `rest_end`,
    the first rest of one record after longer ones begins the count again, and a commit that reaches
    the end ends it.
    """
    rows, old, transactional, run = e.rows, e.previous.rows, e.transactional, e.run
    commit, then = rows.numbers("committed_offset"), old.numbers("committed_offset")
    readable = find_readable_end(rows)
    forward, same = commit > then, commit == then
    rest, left_at = old.numbers("rest_end"), old.numbers("rest_left_at")
    unmoved = left_at.or_else(run.now(len(rows))) - old.numbers("commit_changed_at")
    # One record below the end of a topic without transactions.
    plain = ~rows.strings("topic").is_in(transactional)
    by_one = plain & (rest - then == 1)
    lasted = unmoved > _INTERVALS * run.rules.interval_ms
    lasted &= ~by_one | (unmoved > run.rules.window_ms // _SHARE_BY_ONE)
    ended = forward & rest.known & lasted
    rested = (commit > rest) | (by_one & (commit == rest))
    longest = old.numbers("rest_records")
    first = ended & by_one & (longest > 1)
    seen = np.where(first, 0, old.numbers("rests_seen").fill(0)) + (ended & rested)
    longest = longest.only(~first)
    longest = longest.where(longest >= rest - then, rest - then).where(ended, longest)
    at_end = plain & (commit >= rows.numbers("end_offset"))
    gone = (ended & ~rested) | (commit < then) | at_end
    most = np.where(plain, _NEEDED_BY_ONE, _NEEDED)
    seen, longest = np.where(gone, 0, np.minimum(seen, most)), longest.only(~gone)
    known = longest.only(seen >= _NEEDED)

    more = readable > rest
    grows = more & (readable - commit <= known)
    left = left_at.or_else(run.now(len(rows))).only(same & more & ~grows & rest.known)
    passed = (run.taken_at - left > run.rules.window_ms) & ~(rest - commit <= known)
    near = (readable - commit >= 1) & (readable - commit <= _MOST_RECORDS)
    rest = readable.where(grows, rest).only(~passed).where(same, readable.only(near))
    rows = set_where_read(
        rows,
        rest_end=rest,
        rest_left_at=left.only(rest.known),
        rests_seen=Column(seen.astype(np.int32), seen > 0),
        rest_records=longest.only(seen > 0),
    )
    return drop_rests(rows, is_shared(e.of_group))


def find_readable_end(rows: Frame) -> Column:
    """Returns the offset up to which a consumer of committed records can read, at most the end."""
    end = rows.numbers("end_offset")
    return rows.numbers("stable_offset").or_else(end).clip(most=end)


def forget_rests(rows: Frame, transactional: frozenset[str]) -> Frame:
    """Returns the rows without rests on topics that are not `transactional`.

    Known rests of one record are kept.
    """
    counts = rows.strings("topic").is_in(transactional) | find_off_by_one(rows, transactional)
    return rows.with_columns(rests_seen=rows.numbers("rests_seen").only(counts))


def find_off_by_one(rows: Frame, transactional: frozenset[str]) -> Mask:
    """Marks rows of consumers that commit the offset of their last record, not of the next one."""
    known = (rows.numbers("rests_seen") >= _NEEDED_BY_ONE) & (rows.numbers("rest_records") == 1)
    mask: Mask = known & ~rows.strings("topic").is_in(transactional)
    return mask


def name_off_by_one(rows: Frame, transactional: frozenset[str]) -> Frame:
    """Returns the rows with the reason `off_by_one` for consumers in OK that commit one too low."""
    named = find_off_by_one(rows, transactional) & is_read(rows)
    named &= rows.strings("status") == contract.OK
    if not named.any():
        return rows
    reason = Strings.constant(contract.OFF_BY_ONE, len(rows)).only(named)
    return rows.with_columns(status_reason=rows.strings("status_reason").or_else(reason))


def skip_markers(rows: Frame, position: Column) -> Column:
    """Returns each row's `position`, moved past the markers below which it rests."""
    rest, commit = rows.numbers("rest_end"), rows.numbers("committed_offset")
    known = rows.numbers("rest_records").only(rows.numbers("rests_seen") >= _NEEDED)
    return rest.where((rest - commit <= known) & (rest > position), position)


def find_short_rests(rows: Frame, old: Frame, seen: Column, run: Run) -> Mask:
    """Marks rows that may be about to read the offsets taken for markers.

    `old` holds each row's previous row; `seen` is when a run first saw the last of these offsets,
    ms. A consumer that rests has not read them for as long as a rest lasts.
    """
    now = run.now(len(rows))
    same = rows.numbers("committed_offset") == old.numbers("committed_offset")
    since = old.numbers("commit_changed_at").only(same).or_else(now)
    since = seen.where(seen > since, since)
    left = rows.numbers("rest_left_at").or_else(now)
    mask: Mask = ~(left - since > _INTERVALS * run.rules.interval_ms)
    return mask
