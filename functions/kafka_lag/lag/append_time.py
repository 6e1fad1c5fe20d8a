# SPDX-License-Identifier: Apache-2.0
"""The append time of the next unread record of each group-partition.

Sources, best first: nothing unread; the bracket found before, where the offset did not move;
log ends of earlier runs; the brokers' time index, asked only where these are too wide: first of
positions that need a look-up, then of consumers that move.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.index_search import Queue, SearchResult, SearchTargets, allowance, search
from kafka_lag.lag.log_ends import Bounds, Ends, bounds_of, carried_bounds, ends_of, on_schedule
from kafka_lag.lag.model import PreviousRuns
from kafka_lag.lag.rules import Rules
from kafka_lag.lag.sets import distinct
from kafka_lag.lag.time_index import LookUp

_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "unread_reason", "end_offset")
_ASKED = ("topic", "partition_id", "leader")


@dataclass(frozen=True, slots=True)
class Unread:
    """Rows to date: those in `mask`, standing at `offset` of the topics' row `part`, with `lag`."""

    mask: Mask
    part: Rows
    offset: Column
    lag: Column


@dataclass(frozen=True, slots=True)
class AppendTimeEstimates:
    """The date of each row, unknown where it has none; look-ups used; readings left out."""

    dates: AppendTimes
    look_ups: int
    contradicted: int


def estimate_append_times(
    rows: Frame,
    topics: Frame,
    unread: Unread,
    old: Frame,
    past: PreviousRuns,
    rules: Rules,
    taken_at: int,
    look_up: LookUp,
) -> AppendTimeEstimates:
    """Append times of unread rows; `old` holds each row as the previous run left it.

    Bounds are proven.
    """
    now = topics.numbers("read_at").take(unread.part)
    positions = positions_of(unread.mask & now.known, unread.part, unread.offset, now.values)
    used, column = np.unique(positions.part, return_inverse=True)
    partitions = topics.take(used)
    compact, known = _compact(partitions), _only(partitions, _ENDS)
    ends = ends_of(known, past.ends, on_schedule(known, past, taken_at, rules.interval_ms))
    history = _history(ends, column, positions, compact[column])
    again = due(partitions, taken_at, rules.interval_ms)[column]
    rests = believed(rests_of(unread.offset, old, positions), ends.doubted.take(column))
    anew = rests.ahead | (compact[column] & again)
    bounds = history.within(rests.bounds(~anew))
    worth = worth_asking(rows, positions, bounds, rests, rules)
    may_ask = too_wide(bounds, positions, rules) & (~rests.settled | again | anew)
    sought = _sought(partitions, compact, column, positions, bounds)
    line = Line(rows, unread.lag, rests.moved, positions, taken_at // rules.interval_ms)
    dates = _without_asking(history.within(rests.bounds(~rests.ahead)), rests, positions, rules)
    wishes = LookupRequests(may_ask & worth, may_ask & ~worth, rests.best.known)
    found = improved(dates, sought, wishes, line, rules, look_up)
    return AppendTimeEstimates(
        found.dates.take(positions.of_row), found.look_ups, ends.contradicted
    )


def _sought(
    partitions: Frame, compact: Mask, column: Rows, positions: Positions, bounds: Bounds
) -> SearchTargets:
    start, asked = partitions.numbers("start_offset").values, _only(partitions, _ASKED)
    return SearchTargets(asked, start, compact, column, positions.offset, positions.now, bounds)


def _only(frame: Frame, names: tuple[str, ...]) -> Frame:
    return Frame.of({name: frame.columns[name] for name in names})


def _compact(partitions: Frame) -> Mask:
    """Partitions whose records may be deleted one by one."""
    policy = partitions.strings("cleanup_policy")
    return policy.is_in(word for word in policy.categories if "compact" in word)


def _history(ends: Ends, column: Rows, positions: Positions, compact: Mask) -> Bounds:
    """What log ends prove. On a compacted topic the next living record only came by now."""
    proven = bounds_of(ends, column, positions.offset)
    before, end_before = proven.before, proven.end_before
    end = ends.end[-1][column]
    return replace(
        proven,
        before=Column(np.where(compact, positions.now, before.values), before.known),
        end_before=Column(np.where(compact, end, end_before.values), end_before.known),
    )


def _without_asking(
    bounds: Bounds, rests: CarriedEstimates, positions: Positions, rules: Rules
) -> AppendTimes:
    """Carried where it is exact enough or cannot be made so, else by the log's ends.

    While this run's clock is behind a carried date there is no age to tell; the date is kept.
    """
    dates = from_bounds(bounds, positions.offset, positions.now)
    carried = from_carried(rests.best, bounds.after, bounds.before, rests.record)
    settled = rests.settled | ~too_wide(bounds, positions, rules)
    kept = np.flatnonzero(rests.best.known & settled)
    dates = replace(dates, best=carried.best.or_else(dates.best)).replaced(kept, carried.take(kept))
    return dates.hidden(rests.ahead, rests.after, rests.before, rests.record)


METHODS = (
    contract.METHOD_CARRIED,
    contract.METHOD_INTERPOLATED,
    contract.METHOD_RECORD_TIME,
    contract.METHOD_AT_LEAST,
)
_CARRIED, _INTERPOLATED, _RECORD_TIME, _AT_LEAST = range(len(METHODS))


@dataclass(frozen=True, slots=True)
class AppendTimes:
    """Append times, ms, a row a position: `best`, proven to be `after` and `before`.

    All are unknown where nothing is known; `after` alone where it is unbounded. `record` is the
    next record's own timestamp where the broker named that record.
    """

    best: Column
    after: Column
    before: Column
    record: Column
    method: Strings

    def take(self, rows: Rows) -> AppendTimes:
        """The dates at these positions, all unknown at a negative one."""
        return AppendTimes(
            self.best.take(rows),
            self.after.take(rows),
            self.before.take(rows),
            self.record.take(rows),
            self.method.take(rows),
        )

    def hidden(self, where: Mask, after: Column, before: Column, record: Column) -> AppendTimes:
        """These dates, but at the mask no value, and these bounds and record."""
        return AppendTimes(
            self.best.only(~where),
            after.where(where, self.after),
            before.where(where, self.before),
            record.where(where, self.record),
            self.method.only(~where),
        )

    def replaced(self, at: Rows, other: AppendTimes) -> AppendTimes:
        """These dates, with another's put in at the given positions."""
        rows = np.arange(len(self.best))
        rows[at] = len(self.best) + np.arange(len(at))
        return AppendTimes(
            self.best.concat(other.best).take(rows),
            self.after.concat(other.after).take(rows),
            self.before.concat(other.before).take(rows),
            self.record.concat(other.record).take(rows),
            self.method.concat(other.method).take(rows),
        )


def from_bounds(bounds: Bounds, offset: Rows, now: Rows) -> AppendTimes:
    """By the log's ends alone: linear between two, at least as old as one, else unknown."""
    seen = bounds.before.known & (bounds.before.values < now)
    best = np.where(bounds.after.known, _between(bounds, offset), bounds.before.values)
    known = bounds.after.known | seen
    method = np.where(bounds.after.known, _INTERPOLATED, _AT_LEAST)
    return _dates(best, known, bounds.after, bounds.before, method)


def from_carried(best: Column, after: Column, before: Column, record: Column) -> AppendTimes:
    """As an earlier run said; the offset did not move, so its record is still the same."""
    method = np.full(len(best), _CARRIED)
    dates = _dates(best.values, best.known, after, before, method)
    return AppendTimes(dates.best, dates.after, dates.before, record.only(best.known), dates.method)


def from_search(sought: SearchTargets, searched: SearchResult) -> AppendTimes:
    """By the index where it came to an end, by history where it did not or contradicts it.

    A record time outside the bounds of the reporter's own clock is moved to the nearer of them,
    and their whole bracket is stated, as the producer's clock is not to be trusted then; but one
    that a high watermark which stood still explains widens them. A search that was cut short does
    so only where it put the record before them.
    """
    told = _told(sought, searched)
    after, ours = told.bounds.after, sought.bounds.after
    proven = searched.ended | ~ours.known | (after.values >= ours.values)
    joined = sought.bounds.within(replace(told.bounds, after=after.only(proven)))
    dates = from_bounds(joined, sought.offset, sought.now)
    method = np.full(len(told.best), _RECORD_TIME)
    by_index = _dates(told.best.values, told.best.known, joined.after, joined.before, method)
    ended = np.flatnonzero(searched.ended & told.best.known)
    dates = dates.replaced(ended, by_index.take(ended))
    return AppendTimes(dates.best, dates.after, dates.before, told.record, dates.method)


@dataclass(frozen=True, slots=True)
class _Told:
    """What the index alone says: bounds, the best value in them, the next record's timestamp."""

    bounds: Bounds
    best: Column
    record: Column


def _told(sought: SearchTargets, searched: SearchResult) -> _Told:
    """A timestamp ahead of now says nothing; it also hides what the records behind it say.

    On compacted topics the record at the position may be gone: the next living one, which is the
    nearest record named beyond it, is what will be read.
    """
    found, compact = searched.brackets, sought.compact[sought.part]
    low, high, beyond = found.low, found.high, found.next_time
    believed = ~low.known | (low.values <= sought.now)
    # Answers of a log that was cut or compacted between them can contradict each other.
    believed &= ~(low.known & high.known & (low.values >= high.values))
    believed &= ~searched.head | (beyond.values <= sought.now)
    at_head = searched.first & compact
    living = compact & ~found.exact & beyond.known
    last = np.where(living | searched.head, beyond.values, high.values - 1)
    last = np.where(found.exact, low.values, last)
    first = np.where(at_head, beyond.values, low.values)
    next_is = searched.ended & living & (~searched.head | searched.first)
    best = np.where(next_is | searched.head, last, (first + last) // 2)
    ended = found.exact | searched.head | (low.known & high.known)
    return _Told(
        Bounds(
            Column(first, (low.known | at_head) & believed),
            Column(last, ended & believed),
            found.low_offset,
            found.next_offset,
        ),
        Column(best, ended & believed),
        Column(last, (found.exact | next_is | at_head) & believed),
    )


def _between(bounds: Bounds, offset: Rows) -> Rows:
    """Half a record past its own place among the records appended between the two moments."""
    known = bounds.end_after.known & bounds.end_before.known
    rise = np.where(known, bounds.end_before.values - bounds.end_after.values, 0)
    share = np.where(rise > 0, (offset + 0.5 - bounds.end_after.values) / np.maximum(rise, 1), 0.5)
    width = np.maximum(bounds.before.values - bounds.after.values, 0)
    between: Rows = bounds.after.values + (np.clip(share, 0.0, 1.0) * width).astype(np.int64)
    return between


def _dates(best: Rows, known: Mask, after: Column, before: Column, method: Rows) -> AppendTimes:
    latest = np.where(before.known, np.minimum(best, before.values), best)
    inside = np.where(after.known, np.maximum(latest, after.values), latest)
    return AppendTimes(
        Column(inside, known),
        after.only(known),
        before.only(known),
        Column.unknown(len(best)),
        Strings(Column(method.astype(np.int32), known), METHODS),
    )


# Found in an index, or in one once: asking again would tell the same.
_SETTLED = (contract.METHOD_RECORD_TIME, contract.METHOD_CARRIED)


@dataclass(frozen=True, slots=True)
class CarriedEstimates:
    """What the run before said, by position, unknown where no group rested there.

    `settled` where no further look-up would tell more; `ahead` of this run's clock, which went
    back then. By row, `moved`: it stood elsewhere.
    """

    best: Column
    after: Column
    before: Column
    record: Column
    settled: Mask
    ahead: Mask
    moved: Mask

    def bounds(self, where: Mask) -> Bounds:
        """What the run before proved of these positions."""
        return carried_bounds(self.after.only(where), self.before.only(where))


def rests_of(offset: Column, old: Frame, positions: Positions) -> CarriedEstimates:
    """From each row's `offset` now and its row before.

    A log start that has passed the commit moves the next unread record, and voids its date.
    """
    stood = _stood_at(old)
    same = stood.known & offset.known & (stood.values == offset.values)
    best = best_of(old)
    settled = old.strings("time_lag_method").is_in(_SETTLED)
    rows = np.flatnonzero(same & best.known & (positions.of_row >= 0))
    # Of several groups at one position, one whose date is settled speaks for all.
    rows = rows[np.argsort(settled[rows], kind="stable")]
    speaker = np.full(len(positions), -1, np.int64)
    speaker[positions.of_row[rows]] = rows
    said = best.take(speaker)
    return CarriedEstimates(
        best=said,
        after=old.numbers("next_record_after").take(speaker),
        before=old.numbers("next_record_before").take(speaker),
        record=old.numbers("next_record_time").take(speaker),
        settled=Column.of(settled).take(speaker).values & (speaker >= 0),
        ahead=said.known & (said.values > positions.now),
        moved=stood.known & ~same,
    )


def believed(rests: CarriedEstimates, doubted: Column) -> CarriedEstimates:
    """Without brackets that reach to `doubted`, ms, a time told by a clock that was wrong then."""
    reaches = rests.before.known & (rests.before.values >= doubted.values)
    reaches |= rests.after.known & (rests.after.values >= doubted.values)
    sure = ~(doubted.known & reaches)
    return replace(
        rests,
        best=rests.best.only(sure),
        after=rests.after.only(sure),
        before=rests.before.only(sure),
        record=rests.record.only(sure),
        settled=rests.settled & sure,
        ahead=rests.ahead & sure,
    )


def _stood_at(old: Frame) -> Column:
    committed, start = old.numbers("committed_offset"), old.numbers("start_offset")
    later = start.known & (~committed.known | (start.values > committed.values))
    return Column(np.where(later, start.values, committed.values), committed.known | start.known)


def best_of(old: Frame) -> Column:
    """The append time, ms, that rows of a snapshot say: value, record, or middle of the bracket."""
    read_at, lag = old.numbers("read_at"), old.numbers("time_lag_seconds")
    after, before = old.numbers("next_record_after"), old.numbers("next_record_before")
    said = read_at.values - np.rint(lag.values * 1000).astype(np.int64)
    middle = np.where(after.known, (after.values + before.values) // 2, before.values)
    best = Column(said, read_at.known & lag.known & before.known)
    record = old.numbers("next_record_time").only(before.known)
    return best.or_else(record).or_else(Column(middle, before.known))


@dataclass(frozen=True, slots=True)
class Positions:
    """`part` (a row of the topic_partitions frame) and `offset` of each; `now`, ms, of its reading.

    `of_row` gives each group-partition's position, -1 where it has none.
    """

    part: Rows
    offset: Rows
    now: Rows
    of_row: Rows

    def __len__(self) -> int:
        return len(self.part)

    def any_of(self, rows: Mask) -> Mask:
        """Positions at which at least one of the marked rows stands."""
        marked = np.zeros(len(self), bool)
        marked[self.of_row[rows & (self.of_row >= 0)]] = True
        return marked


def positions_of(unread: Mask, part: Rows, offset: Column, now: Rows) -> Positions:
    """The positions of rows that have unread records; a row without a partition has none."""
    rows = np.flatnonzero(unread & offset.known & (part >= 0))
    order = rows[np.lexsort((offset.values[rows], part[rows]))]
    parts, offsets = part[order], offset.values[order]
    first = np.ones(len(order), bool)
    first[1:] = (parts[1:] != parts[:-1]) | (offsets[1:] != offsets[:-1])
    of_row = np.full(len(unread), -1, np.int64)
    of_row[order] = np.cumsum(first) - 1
    latest = np.zeros(int(first.sum()), np.int64)
    np.maximum.at(latest, of_row[order], now[order])
    return Positions(parts[first], offsets[first], latest, of_row)


# Of a budget, for consumers that move: they ask again each run, so most of it is kept for others.
_MOVING_SHARE = 10


@dataclass(frozen=True, slots=True)
class Improved:
    """Append times by position, and the look-ups they took."""

    dates: AppendTimes
    look_ups: int


@dataclass(frozen=True, slots=True)
class LookupRequests:
    """Positions whose date is needed, or useful; one `kept` gives way only to a finished search
    that needed no word of this run's clock, which may have gone back."""

    needed: Mask
    useful: Mask
    kept: Mask


def improved(
    dates: AppendTimes,
    sought: SearchTargets,
    wishes: LookupRequests,
    line: Line,
    rules: Rules,
    look_up: LookUp,
) -> Improved:
    """The dates with what the index tells: of needed ones under the budget, then of useful ones
    under what is left of it, a tenth of it at most.
    """
    budget, spent = rules.lookup_budget, 0
    for mask, limit in ((wishes.needed, budget), (wishes.useful, budget // _MOVING_SHARE)):
        at, within = np.flatnonzero(mask), min(limit, budget - spent)
        part = sought.take(at)
        limits = replace(rules, lookup_budget=within)
        found = search(part, line.queue(at, within), limits, look_up)
        better = from_search(part, found)
        sure = found.ended & found.alone(part.now)
        told = np.flatnonzero(better.best.known & (sure | (found.told & ~wishes.kept[at])))
        dates = dates.replaced(at[told], better.take(told))
        spent += found.look_ups
    return Improved(dates, spent)


_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS


def due(partitions: Frame, taken_at: int, interval_ms: int) -> Mask:
    """Partitions of topics whose hourly turn it is, spread over the hour by their names."""
    topic = partitions.strings("topic")
    minutes = [
        zlib.crc32(str(word).encode("utf-8", "surrogatepass")) % 60 for word in topic.categories
    ]
    phase = np.array(minutes or [0], np.int64) * _MINUTE_MS
    due: Mask = ((taken_at - phase) % _HOUR_MS < interval_ms)[topic.codes.values]
    return due


def too_wide(bounds: Bounds, positions: Positions, rules: Rules) -> Mask:
    """Positions whose bracket is wider than their age allows, or open."""
    age = positions.now - np.where(bounds.before.known, bounds.before.values, positions.now)
    mask: Mask = ~bounds.width.known | (bounds.width.values > allowance(rules.tolerance, age))
    return mask


def worth_asking(
    rows: Frame,
    positions: Positions,
    bounds: Bounds,
    rests: CarriedEstimates,
    rules: Rules,
) -> Mask:
    """Positions whose look-ups the whole budget is for.

    A group that moves is dated anew each run, and where runs were on time its bracket is of one
    interval: it comes second, unless its service level lies inside.
    """
    near = bounds.width.known & (2 * bounds.width.values <= 3 * rules.interval_ms)
    names = rows.strings("consumer_group")
    levels = Column.optional([rules.sla_seconds.get(name) for name in names.categories], np.float64)
    level = levels.take(np.where(names.known, names.codes.values, -1).astype(np.int64))
    youngest = Column.of(positions.now - bounds.before.values).take(positions.of_row)
    oldest = Column.of(positions.now - bounds.after.values).take(positions.of_row)
    limit = level.values * 1000
    torn = level.known & (youngest.values <= limit) & (limit < oldest.values)
    mask: Mask = ~near | positions.any_of(~rests.moved | torn)
    return mask


@dataclass(frozen=True, slots=True)
class Line:
    """Rows that wait for a date of their positions; `run` counts runs, by which they take turns.

    `moved` rows stood elsewhere in the run before.
    """

    rows: Frame
    lag: Column
    moved: Mask
    positions: Positions
    run: int

    def queue(self, at: Rows, budget: int) -> Queue:
        """The rows at the positions `at`, by pairs of group and topic."""
        wanted = np.full(len(self.positions) + 1, -1, np.int64)
        wanted[at] = np.arange(len(at))
        place = wanted[self.positions.of_row]
        waiting = np.flatnonzero(place >= 0)
        group, topic = (
            self.rows.strings(name).codes.values for name in ("consumer_group", "topic")
        )
        pair = distinct(group[waiting], topic[waiting])[0].of_row
        return Queue.of(
            pair, place[waiting], self.lag.values[waiting], self.moved[waiting], self.run, budget
        )
