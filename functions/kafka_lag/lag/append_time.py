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
_REQUEST = ("topic", "partition_id", "leader")


@dataclass(frozen=True, slots=True)
class Unread:
    """Rows to date: those in `mask`, standing at `offset` of the topics' row `part`, with `lag`."""

    mask: Mask
    part: Rows
    offset: Column
    lag: Column


@dataclass(frozen=True, slots=True)
class AppendTimeEstimates:
    """By row, unknown where nothing is unread; `contradicted` counts log ends left out."""

    times: AppendTimes
    look_ups: int
    contradicted: int


def estimate_append_times(
    rows: Frame,
    topics: Frame,
    unread: Unread,
    old: Frame,
    previous_runs: PreviousRuns,
    rules: Rules,
    taken_at: int,
    look_up: LookUp,
) -> AppendTimeEstimates:
    """Append times of the next unread records, within proven bounds.

    `old` holds each row as the previous run left it. Groups at the same record share an estimate.
    """
    read_at = topics.numbers("read_at").take(unread.part)
    positions = positions_of(
        unread.mask & read_at.known, unread.part, unread.offset, read_at.values
    )
    used, column = np.unique(positions.part, return_inverse=True)
    partitions = topics.take(used)
    compacted, reading = _is_compacted(partitions), _columns(partitions, _ENDS)
    scheduled = on_schedule(reading, previous_runs, taken_at, rules.interval_ms)
    ends = ends_of(reading, previous_runs.ends, scheduled)

    by_ends = _bounds_from_ends(ends, column, positions, compacted[column])
    carried = carried_from(unread.offset, old, positions)
    carried = without_doubted(carried, ends.doubted.take(column))
    estimates = _estimate_without_look_ups(
        by_ends.within(carried.bounds(~carried.ahead)), carried, positions, rules
    )

    again = is_due(partitions, taken_at, rules.interval_ms)[column]
    anew = carried.ahead | (compacted[column] & again)
    bounds = by_ends.within(carried.bounds(~anew))
    wide = is_too_wide(bounds, positions, rules) & (~carried.settled | again | anew)
    worth = is_worth_a_look_up(rows, positions, bounds, carried, rules)
    requests = LookupRequests(wide & worth, wide & ~worth, carried.best.known)
    targets = _search_targets(partitions, compacted, column, positions, bounds)
    turn = taken_at // rules.interval_ms
    waiting = WaitingRows(rows, unread.lag, carried.moved, positions, turn)
    found = look_up_times(estimates, targets, requests, waiting, rules, look_up)
    return AppendTimeEstimates(
        times=found.times.take(positions.of_row),
        look_ups=found.look_ups,
        contradicted=ends.contradicted,
    )


def _search_targets(
    partitions: Frame, compacted: Mask, column: Rows, positions: Positions, bounds: Bounds
) -> SearchTargets:
    start, request = partitions.numbers("start_offset").values, _columns(partitions, _REQUEST)
    return SearchTargets(request, start, compacted, column, positions.offset, positions.now, bounds)


def _columns(frame: Frame, names: tuple[str, ...]) -> Frame:
    return Frame.of({name: frame.columns[name] for name in names})


def _is_compacted(partitions: Frame) -> Mask:
    """Partitions whose records may be deleted one by one."""
    policy = partitions.strings("cleanup_policy")
    return policy.is_in(word for word in policy.categories if "compact" in word)


def _bounds_from_ends(ends: Ends, column: Rows, positions: Positions, compacted: Mask) -> Bounds:
    """What log ends prove. On a compacted topic the next living record only came by now."""
    proven = bounds_of(ends, column, positions.offset)
    before, end_before = proven.before, proven.end_before
    end = ends.end[-1][column]
    return replace(
        proven,
        before=Column(np.where(compacted, positions.now, before.values), before.known),
        end_before=Column(np.where(compacted, end, end_before.values), end_before.known),
    )


def _estimate_without_look_ups(
    bounds: Bounds, carried: CarriedEstimates, positions: Positions, rules: Rules
) -> AppendTimes:
    """Carried where it is exact enough or cannot be made so, else by the log's ends.

    While this run's clock is behind a carried date there is no age to tell; the date is kept.
    """
    times = interpolate(bounds, positions.offset, positions.now)
    old_times = carried_times(carried.best, bounds.after, bounds.before, carried.record)
    settled = carried.settled | ~is_too_wide(bounds, positions, rules)
    at = np.flatnonzero(carried.best.known & settled)
    times = replace(times, best=old_times.best.or_else(times.best))
    times = times.replaced(at, old_times.take(at))
    return times.hidden(carried.ahead, carried.after, carried.before, carried.record)


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


def interpolate(bounds: Bounds, offset: Rows, now: Rows) -> AppendTimes:
    """By the log's ends alone: linear between two, at least as old as one, else unknown."""
    seen = bounds.before.known & (bounds.before.values < now)
    best = np.where(bounds.after.known, _between(bounds, offset), bounds.before.values)
    known = bounds.after.known | seen
    method = np.where(bounds.after.known, _INTERPOLATED, _AT_LEAST)
    return _dates(best, known, bounds.after, bounds.before, method)


def carried_times(best: Column, after: Column, before: Column, record: Column) -> AppendTimes:
    """As an earlier run said; the offset did not move, so its record is still the same."""
    method = np.full(len(best), _CARRIED)
    dates = _dates(best.values, best.known, after, before, method)
    return AppendTimes(dates.best, dates.after, dates.before, record.only(best.known), dates.method)


def times_from_search(targets: SearchTargets, searched: SearchResult) -> AppendTimes:
    """By the index where it came to an end, by history where it did not or contradicts it.

    A record time outside the bounds of the reporter's own clock is moved to the nearer of them,
    and their whole bracket is stated, as the producer's clock is not to be trusted then; but one
    that a high watermark which stood still explains widens them. A search that was cut short does
    so only where it put the record before them.
    """
    evidence = _index_evidence(targets, searched)
    after, ours = evidence.bounds.after, targets.bounds.after
    proven = searched.ended | ~ours.known | (after.values >= ours.values)
    joined = targets.bounds.within(replace(evidence.bounds, after=after.only(proven)))
    dates = interpolate(joined, targets.offset, targets.now)
    method = np.full(len(evidence.best), _RECORD_TIME)
    by_index = _dates(
        evidence.best.values, evidence.best.known, joined.after, joined.before, method
    )
    ended = np.flatnonzero(searched.ended & evidence.best.known)
    dates = dates.replaced(ended, by_index.take(ended))
    return AppendTimes(dates.best, dates.after, dates.before, evidence.record, dates.method)


@dataclass(frozen=True, slots=True)
class _IndexEvidence:
    """What the index alone says: bounds, the best value in them, the next record's timestamp."""

    bounds: Bounds
    best: Column
    record: Column


def _index_evidence(targets: SearchTargets, searched: SearchResult) -> _IndexEvidence:
    """A timestamp ahead of now says nothing; it also hides what the records behind it say.

    On compacted topics the record at the position may be gone: the next living one, which is the
    nearest record named beyond it, is what will be read.
    """
    found, compact = searched.brackets, targets.compact[targets.part]
    low, high, beyond = found.low, found.high, found.next_time
    without_doubted = ~low.known | (low.values <= targets.now)
    # Answers of a log that was cut or compacted between them can contradict each other.
    without_doubted &= ~(low.known & high.known & (low.values >= high.values))
    without_doubted &= ~searched.head | (beyond.values <= targets.now)
    at_head = searched.first & compact
    living = compact & ~found.exact & beyond.known
    last = np.where(living | searched.head, beyond.values, high.values - 1)
    last = np.where(found.exact, low.values, last)
    first = np.where(at_head, beyond.values, low.values)
    next_is = searched.ended & living & (~searched.head | searched.first)
    best = np.where(next_is | searched.head, last, (first + last) // 2)
    ended = found.exact | searched.head | (low.known & high.known)
    return _IndexEvidence(
        Bounds(
            Column(first, (low.known | at_head) & without_doubted),
            Column(last, ended & without_doubted),
            found.low_offset,
            found.next_offset,
        ),
        Column(best, ended & without_doubted),
        Column(last, (found.exact | next_is | at_head) & without_doubted),
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


def carried_from(offset: Column, old: Frame, positions: Positions) -> CarriedEstimates:
    """From each row's `offset` now and its row before.

    A log start that has passed the commit moves the next unread record, and voids its date.
    """
    stood = _stood_at(old)
    same = stood.known & offset.known & (stood.values == offset.values)
    best = reported_append_time(old)
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


def without_doubted(carried: CarriedEstimates, doubted: Column) -> CarriedEstimates:
    """Without brackets that reach to `doubted`, ms, a time told by a clock that was wrong then."""
    reaches = carried.before.known & (carried.before.values >= doubted.values)
    reaches |= carried.after.known & (carried.after.values >= doubted.values)
    sure = ~(doubted.known & reaches)
    return replace(
        carried,
        best=carried.best.only(sure),
        after=carried.after.only(sure),
        before=carried.before.only(sure),
        record=carried.record.only(sure),
        settled=carried.settled & sure,
        ahead=carried.ahead & sure,
    )


def _stood_at(old: Frame) -> Column:
    committed, start = old.numbers("committed_offset"), old.numbers("start_offset")
    later = start.known & (~committed.known | (start.values > committed.values))
    return Column(np.where(later, start.values, committed.values), committed.known | start.known)


def reported_append_time(old: Frame) -> Column:
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
class LookedUp:
    """Append times by position, and the look-ups they took."""

    times: AppendTimes
    look_ups: int


@dataclass(frozen=True, slots=True)
class LookupRequests:
    """Positions whose date is needed, or useful; one `kept` gives way only to a finished search
    that needed no word of this run's clock, which may have gone back."""

    needed: Mask
    useful: Mask
    kept: Mask


def look_up_times(
    times: AppendTimes,
    targets: SearchTargets,
    requests: LookupRequests,
    waiting: WaitingRows,
    rules: Rules,
    look_up: LookUp,
) -> LookedUp:
    """The estimates with what the index says: of needed ones under the budget, then of useful ones
    under what is left of it, a tenth of it at most.
    """
    budget, spent = rules.lookup_budget, 0
    for mask, limit in ((requests.needed, budget), (requests.useful, budget // _MOVING_SHARE)):
        at, within = np.flatnonzero(mask), min(limit, budget - spent)
        part = targets.take(at)
        limits = replace(rules, lookup_budget=within)
        found = search(part, waiting.queue(at, within), limits, look_up)
        better = times_from_search(part, found)
        sure = found.ended & found.alone(part.now)
        answered = found.answered & ~requests.kept[at]
        use = np.flatnonzero(better.best.known & (sure | answered))
        times = times.replaced(at[use], better.take(use))
        spent += found.look_ups
    return LookedUp(times, spent)


_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS


def is_due(partitions: Frame, taken_at: int, interval_ms: int) -> Mask:
    """Partitions of topics whose hourly turn it is, spread over the hour by their names."""
    topic = partitions.strings("topic")
    minutes = [
        zlib.crc32(str(word).encode("utf-8", "surrogatepass")) % 60 for word in topic.categories
    ]
    phase = np.array(minutes or [0], np.int64) * _MINUTE_MS
    is_due: Mask = ((taken_at - phase) % _HOUR_MS < interval_ms)[topic.codes.values]
    return is_due


def is_too_wide(bounds: Bounds, positions: Positions, rules: Rules) -> Mask:
    """Positions whose bracket is wider than their age allows, or open."""
    age = positions.now - np.where(bounds.before.known, bounds.before.values, positions.now)
    mask: Mask = ~bounds.width.known | (bounds.width.values > allowance(rules.tolerance, age))
    return mask


def is_worth_a_look_up(
    rows: Frame,
    positions: Positions,
    bounds: Bounds,
    carried: CarriedEstimates,
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
    mask: Mask = ~near | positions.any_of(~carried.moved | torn)
    return mask


@dataclass(frozen=True, slots=True)
class WaitingRows:
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
