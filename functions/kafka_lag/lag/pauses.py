# SPDX-License-Identifier: Apache-2.0
"""Recurring pauses of a consumer, such as those of a batch job, are learnt, not reported as stops.

A pause is a time in which the commit does not move. The last pauses of a row are kept, each with
the work before it and the lag at its end. There are two kinds of jobs:

- A job by the clock works for about the same time between its pauses, and not much longer than it
  pauses; an outage follows any work. So a pause is usual if the work before it was as long as
  before earlier pauses, up to twice their median length. Some pauses may be longer, such as the
  weekends of a job that also pauses every night. They are usual at their own distance.
- A job that begins once enough records have come pauses for minutes by day and hours by night, and
  its pauses end at about the same lag. So a pause is usual while the lag is not much larger.

A job's first three pauses are reported as stops: an hourly job is known after some three hours.
Times are in seconds, by the reporter's clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Column, Mask, Rows, Seconds, Strings
from kafka_lag.lag.frame import Columns, Frame
from kafka_lag.lag.previous_rows import is_read
from kafka_lag.lag.recent import Matrix, Recent
from kafka_lag.lag.run import Run
from kafka_lag.lag.transactions import find_readable_time_lag

# Pauses that are kept of a row: two weekends of a job that also pauses on four nights a week. Each
# has four numbers: its length, s, the work before it, s, the age of the next record as it began, s,
# and the lag at its end, records.
_KEPT, _NUMBERS = 10, 4
# A run is missing between two that are more than half a window and this many intervals apart.
_HOLE_INTERVALS = 1.5
# Pauses recur once this many of them had similar work before them. The third pause is the second
# that counts, because the work before the first is unknown. So the fourth is not reported.
_NEEDED = 2
# A job is well known after this many. One that then pauses most of the time may work for any time.
_WELL_KNOWN = 4
# Work that lasts more than this many times the pause after it does not belong to a rhythm.
_RATIO = 4.0
# Two times are alike if they differ by at most this many windows, or by this share.
_WINDOWS, _SHARE = 3.0, 0.15
# A pause may last this many times the usual one.
_LIMIT_RATIO = 2.0
# A job begins by count if so many pauses, and this share of all, ended at a similar lag, and the
# longest of them took so many times the shortest. A batch is at most this many times the usual one.
_FEWEST_BATCHES, _MOST_BATCHES, _UNLIKE, _MORE = 3, 0.75, 1.5, 1.25


def learn_pauses(old: Frame, forward: Mask, back: Mask, run: Run) -> Columns:
    """Returns `pauses_lately` and `work_since_pause` after this run.

    `old` holds each row's previous row; `forward` and `back` mark commits that moved. A move
    teaches nothing if runs are missing before it. Hours in which nothing is produced are not a
    pause: it lasts no longer than the age of the next record.
    """
    since, seen = old.numbers("commit_changed_at"), _find_last_seen(old)
    age, still_for = find_readable_time_lag(old), (seen - since) / 1_000
    near = max(run.window_seconds / 2, _HOLE_INTERVALS * run.interval_seconds)
    observed = forward & age.known & (run.seconds_since(seen) <= near) & since.known
    pause = still_for.clip(most=age)
    ended = observed & (pause > run.window_seconds)
    worked, took = old.numbers("work_since_pause"), run.seconds_since(since)
    lasts = (worked + took).where(~ended, Column.constant(0, len(old), np.float64))
    changed = forward | back
    lately = old.strings("pauses_lately")
    rows = np.flatnonzero(ended & worked.known & old.numbers("lag").known)
    if len(rows):
        left = (age - still_for).clip(0.0, worked)
        numbers = (pause, worked, left, old.numbers("lag"))
        new = np.stack([each.take(rows).fill(0.0) for each in numbers], 1).round().tolist()
        lists = zip(lately.take(rows).to_list(), new, strict=True)
        lately = lately.put(rows, Strings.of(_append(*each) for each in lists))
    return {
        "pauses_lately": lately,
        "work_since_pause": lasts.only(observed).where(changed, worked),
    }


def _append(lately: tuple[float, ...] | None, pause: list[float]) -> tuple[float, ...]:
    """Returns the pauses with one more; if there are too many, the oldest goes, but the longest
    stays: a job by count may pause that long again tonight."""
    pauses = [*(lately or ()), *pause]
    if len(pauses) > _KEPT * _NUMBERS:
        first = _NUMBERS if pauses[0] == max(pauses[::_NUMBERS]) else 0
        del pauses[first : first + _NUMBERS]
    return tuple(pauses)


def _find_last_seen(old: Frame) -> Column:
    """Returns the scheduled time, ms, of the run that last read each row.

    Commits are dated by scheduled times, and must not be compared with a run's clock, which may be
    wrong or late. An unread row was last read earlier; for it only the clock is known.
    """
    taken_at, read_at = old.numbers("taken_at"), old.numbers("read_at")
    return taken_at.where(is_read(old), read_at.clip(most=taken_at))


@dataclass(frozen=True, slots=True)
class UsualPauses:
    """Rows in a pause of a usual length, and rows whose age such pauses `explain`.

    If a group reads less than is written, its pauses are as long as usual and explain nothing.
    """

    usual: Mask
    explain: Mask


def find_usual_pauses(
    rows: Frame, ages: Column, still: Mask, warned: Mask, run: Run
) -> UsualPauses:
    """Finds the rows in a usual pause, and those whose age it explains.

    `ages` (s) stand in for an unknown `time_lag_seconds`; `still` marks commits that have not moved
    for a window, `warned` rows that were WARN. The lesser of pause and age counts for still rows: a
    group with an old backlog may pause as well.
    """
    found = UsualPauses(np.zeros(len(rows), bool), np.zeros(len(rows), bool))
    age, window = rows.numbers("time_lag_seconds").or_else(ages).fill(np.inf), run.window_seconds
    at = np.flatnonzero(rows.strings("pauses_lately").known & (age > window / 2))
    if not len(at):
        return found
    rhythms, age = _Rhythms.of(rows, at, still[at], window), age[at]
    unmoved = run.seconds_since(rows.numbers("commit_changed_at").take(at)).fill(np.inf)
    in_time = np.where(
        still[at],
        np.minimum(age, unmoved) <= rhythms.limit,
        age <= rhythms.limit + _LIMIT_RATIO * rhythms.left,
    )
    more = np.maximum(window, (_LIMIT_RATIO - 1.0) * rhythms.left)
    left_as_usual = age - unmoved <= rhythms.left + more
    usual = (rhythms.limit > 0) & in_time & ~rhythms.by_count
    behind = (still | warned)[at] & ~left_as_usual
    full = rows.numbers("lag").take(at) > _MORE * rhythms.records
    found.usual[at] = usual
    found.explain[at] = (usual & ~behind) | (rhythms.by_count & ~full)
    return found


def find_due_pause(rows: Frame, run: Run) -> Column:
    """Returns how long, s, the pause usually is that each row may be in.

    It applies to commits that do not move. It is unknown if no pause is learnt, or if the work
    before was not as long as usual.
    """
    at = np.flatnonzero(rows.strings("pauses_lately").known & (rows.numbers("lag") > 0))
    limit = _Rhythms.of(rows, at, np.ones(len(at), bool), run.window_seconds).limit
    due = Column.of(limit / _LIMIT_RATIO, limit > 0)
    return Column.unknown(len(rows), np.float64).put(at, due)


@dataclass(frozen=True, slots=True)
class _Rhythms:
    """The rhythm of rows with pauses.

    `limit`: how long, s, the pause may last that a row may be in, 0 if none is due. `left`: the
    usual age of the next record as a pause begins, s. `by_count` marks jobs that begin at about so
    many `records`.
    """

    limit: Seconds
    left: Seconds
    by_count: Mask
    records: Seconds

    @classmethod
    def of(cls, rows: Frame, at: Rows, still: Mask, window: float) -> _Rhythms:
        """Returns the rhythms of the rows at `at`; while a commit moves, work may be shorter."""
        lately = Recent.of(rows.strings("pauses_lately").take(at), _KEPT * _NUMBERS)
        table = lately.values.reshape(len(at), _KEPT, _NUMBERS)
        pause, work, left, records = table.transpose(2, 0, 1)
        present = lately.present[:, ::_NUMBERS]
        rhythmic = present & (work <= _RATIO * pause)
        worked = rows.numbers("work_since_pause").take(at)
        now, spare = worked.fill(0.0)[:, None], np.maximum(_WINDOWS * window, _SHARE * work)
        fits = np.where(still[:, None], np.abs(now - work) <= spare, now <= work + spare)
        mostly = _median(work, rhythmic) <= _median(pause, rhythmic)
        mostly &= rhythmic.sum(1) >= _WELL_KNOWN
        alike = rhythmic & (fits | (mostly | ~worked.known)[:, None])
        usual = _median(pause, alike)
        longest = _find_long(pause, work, rhythmic, _LIMIT_RATIO * usual, worked.fill(0.0), window)
        known = (alike.sum(1) >= _NEEDED) & (2 * alike.sum(1) > present.sum(1))
        limit = _LIMIT_RATIO * np.maximum(usual, longest) * known
        batch = _median(records, rhythmic)
        similar = rhythmic & (np.abs(records - batch[:, None]) <= (_MORE - 1.0) * batch[:, None])
        shortest = np.where(similar, pause, np.inf).min(1)
        by_count = np.where(similar, pause, 0.0).max(1) >= _UNLIKE * shortest
        number = similar.sum(1)
        by_count &= (number >= _FEWEST_BATCHES) & (number >= _MOST_BATCHES * present.sum(1))
        return cls(limit, _median(left, alike), by_count, batch)


def _find_long(
    pause: Matrix, work: Matrix, rhythmic: Mask, limit: Seconds, worked: Seconds, window: float
) -> Seconds:
    """Returns the length of a longer pause that is due now, 0 if none is.

    It is due as long after the last one above the usual `limit` as that was after the one before.
    """
    long = rhythmic & (pause > limit[:, None])
    # The time from the end of each pause to the present one.
    after = np.cumsum((pause + work)[:, ::-1], 1)[:, ::-1] - pause - work + worked[:, None]
    last = _KEPT - 1 - np.argmax(long[:, ::-1], 1)
    rows = np.arange(len(last))
    earlier = long & (np.arange(_KEPT) < last[:, None])
    before = _KEPT - 1 - np.argmax(earlier[:, ::-1], 1)
    apart = after[rows, before] - after[rows, last] - pause[rows, last]
    near = np.abs(after[rows, last] - apart) <= np.maximum(_WINDOWS * window, _SHARE * apart)
    both = np.minimum(pause[rows, last], pause[rows, before])
    return np.where(earlier.any(1) & near, both, 0.0)


def _median(values: Matrix, chosen: npt.NDArray[np.bool_]) -> Seconds:
    """Returns the upper median of the chosen values of each row, 0 without any."""
    rising = np.sort(np.where(chosen, values, np.inf), axis=1)
    middle = np.minimum(chosen.sum(1) // 2, rising.shape[1] - 1)
    found = np.take_along_axis(rising, middle[:, None], 1)[:, 0]
    return np.where(np.isfinite(found), found, 0.0)
