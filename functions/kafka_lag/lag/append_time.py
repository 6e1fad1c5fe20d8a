# SPDX-License-Identifier: Apache-2.0
"""The append time of the next unread record of each group-partition: an estimate within bounds.

Sources: what the previous run found, where the commit did not move; log ends of earlier runs; and
the brokers' time index, where these leave too wide a bracket. The budget of look-ups goes to
positions that need one first, then to consumers that move.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.index_search import Queue, SearchResult, SearchTargets, compute_allowance, search
from kafka_lag.lag.log_ends import (
    Bounds,
    Ends,
    align_ends,
    carry_bounds,
    compare_with_schedule,
    find_bounds,
)
from kafka_lag.lag.model import PreviousRuns
from kafka_lag.lag.rests import find_short_rests, skip_markers
from kafka_lag.lag.sets import distinct
from kafka_lag.lag.time_index import LookUp

_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "unread_reason", "end_offset")
_REQUEST = ("topic", "partition_id", "leader")


@dataclass(frozen=True, slots=True)
class Backlog:
    """Group-partitions with unread records: those in `mask`.

    `part`: the row of the partition. `offset`: of the next unread record. `lag`: in records.
    """

    mask: Mask
    part: Rows
    offset: Column
    lag: Column


@dataclass(frozen=True, slots=True)
class AppendTimeEstimates:
    """Append times by row, unknown where nothing is unread, and how they were found.

    `look_ups` were sent; `contradicted` log ends were left out because of wrong clocks.
    """

    times: AppendTimes
    look_ups: int
    contradicted: int


def estimate_append_times(
    rows: Frame,
    topics: Frame,
    backlog: Backlog,
    old: Frame,
    previous_runs: PreviousRuns,
    rules: Rules,
    taken_at: int,
    look_up: LookUp,
) -> AppendTimeEstimates:
    """Append times of the next unread records, within proven bounds.

    `old` holds the previous row of each row. Groups at the same offset share an estimate.
    """
    read_at = topics.numbers("read_at").take(backlog.part)
    positions = find_positions(
        backlog.mask & read_at.known, backlog.part, backlog.offset, read_at.values
    )
    partitions, column, ends = _align_ends_of(
        topics, positions.part, previous_runs, rules, taken_at
    )
    compacted = is_compacted(partitions)

    by_ends = _bounds_from_ends(ends, column, positions, compacted[column])
    carried = carry_estimates(backlog.offset, old, positions)
    carried = drop_doubted(carried, ends.doubted.take(column))
    estimates = _estimate_without_look_ups(
        by_ends.within(carried.bounds(~carried.ahead)), carried, positions, rules
    )

    again = is_due(partitions, taken_at, rules.interval_ms)[column]
    anew = carried.ahead | (compacted[column] & again)
    bounds = by_ends.within(carried.bounds(~anew))
    wide = is_too_wide(bounds, positions, rules) & (~carried.settled | again | anew)
    worth = is_worth_a_look_up(rows, positions, bounds, carried, rules)
    needs = LookupNeeds(wide & worth, wide & ~worth, carried.best.known)
    targets = _search_targets(partitions, compacted, column, positions, bounds)
    turn = taken_at // rules.interval_ms
    waiting = WaitingRows(rows, backlog.lag, carried.moved, positions, turn)
    found = look_up_times(estimates, targets, needs, waiting, rules, look_up)
    return AppendTimeEstimates(
        times=found.times.take(positions.of_row),
        look_ups=found.look_ups,
        contradicted=ends.contradicted,
    )


@dataclass(frozen=True, slots=True)
class ShortRests:
    """Rows in `mask` rest before markers, or are about to read what is taken for them.

    The first of that was appended `after` this time, ms; unknown where no run goes so far back.
    """

    mask: Mask
    after: Column


def bound_short_rests(
    rows: Frame,
    topics: Frame,
    rests: Backlog,
    old: Frame,
    previous_runs: PreviousRuns,
    rules: Rules,
    taken_at: int,
) -> ShortRests:
    """Of the rows that stand below their next record: the `offset` of `rests` is the position of
    the group, and its `lag` counts to that record. `old` holds the previous row of each row.
    """
    mask, after = np.zeros(len(rows), bool), Column.unknown(len(rows))
    at = np.flatnonzero(rests.mask & (rests.part >= 0))
    if len(at):
        _, column, ends = _align_ends_of(topics, rests.part[at], previous_runs, rules, taken_at)
        offset = rests.offset.values[at]
        seen = find_bounds(ends, column, offset + rests.lag.values[at] - 1).before
        mask[at] = find_short_rests(rows.lazy_take(at), old.lazy_take(at), seen, taken_at, rules)
        after = after.put(at, find_bounds(ends, column, offset).after)
    return ShortRests(mask, after)


def _align_ends_of(
    topics: Frame, part: Rows, previous_runs: PreviousRuns, rules: Rules, taken_at: int
) -> tuple[Frame, Rows, Ends]:
    """The partitions that are meant, each once; which of them each of `part` is; and their ends."""
    used, column = np.unique(part, return_inverse=True)
    partitions = topics.lazy_take(used)
    reading = _columns(partitions, _ENDS)
    schedule = compare_with_schedule(reading, previous_runs, taken_at, rules.interval_ms)
    return partitions, column, align_ends(reading, previous_runs.ends, schedule)


def _search_targets(
    partitions: Frame, compacted: Mask, column: Rows, positions: Positions, bounds: Bounds
) -> SearchTargets:
    start, request = partitions.numbers("start_offset").values, _columns(partitions, _REQUEST)
    return SearchTargets(request, start, compacted, column, positions.offset, positions.now, bounds)


def _columns(frame: Frame, names: tuple[str, ...]) -> Frame:
    return Frame.of({name: frame.columns[name] for name in names})


def is_compacted(partitions: Frame) -> Mask:
    """Partitions of compacted topics: single records may be gone."""
    policy = partitions.strings("cleanup_policy")
    return policy.is_in(word for word in policy.categories if "compact" in word)


def _bounds_from_ends(ends: Ends, column: Rows, positions: Positions, compacted: Mask) -> Bounds:
    """Bounds by log ends. On a compacted topic the record at the offset may be gone, and the next
    one may be as new as this run.
    """
    proven = find_bounds(ends, column, positions.offset)
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
    """The estimates of the previous run where these are exact enough, else those by log ends.

    Where this run's clock is behind a carried time, the age is unknown and the time is carried on.
    """
    times = interpolate(bounds, positions.offset, positions.now)
    old_times = carry_times(carried.best, bounds.after, bounds.before, carried.record)
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
    """Append times, ms, a row per position: the estimate `best`, within `after` and `before`.

    `after` is unknown where there is no lower bound, and all are where there is none at all.
    `record` is the timestamp of the next record where the broker named it. `method` is of METHODS.
    """

    best: Column
    after: Column
    before: Column
    record: Column
    method: Strings

    def take(self, rows: Rows) -> AppendTimes:
        """The times at these positions, all unknown at a negative one."""
        return AppendTimes(
            self.best.take(rows),
            self.after.take(rows),
            self.before.take(rows),
            self.record.take(rows),
            self.method.take(rows),
        )

    def hidden(self, where: Mask, after: Column, before: Column, record: Column) -> AppendTimes:
        """These times, but where the mask is true no estimate, and the given bounds and record."""
        return AppendTimes(
            self.best.only(~where),
            after.where(where, self.after),
            before.where(where, self.before),
            record.where(where, self.record),
            self.method.only(~where),
        )

    def replaced(self, at: Rows, other: AppendTimes) -> AppendTimes:
        """These times, with those of `other` at the positions `at`."""
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
    """Estimates by log ends: linear between two bounds, at least as old as a single upper one."""
    seen = bounds.before.known & (bounds.before.values < now)
    best = np.where(bounds.after.known, _between(bounds, offset), bounds.before.values)
    known = bounds.after.known | seen
    method = np.where(bounds.after.known, _INTERPOLATED, _AT_LEAST)
    return _clip_to_bounds(best, known, bounds.after, bounds.before, method)


def carry_times(best: Column, after: Column, before: Column, record: Column) -> AppendTimes:
    """Estimates of an earlier run for the same offset."""
    method = np.full(len(best), _CARRIED)
    times = _clip_to_bounds(best.values, best.known, after, before, method)
    return AppendTimes(times.best, times.after, times.before, record.only(best.known), times.method)


def combine_with_search(targets: SearchTargets, searched: SearchResult) -> AppendTimes:
    """Estimates by the index where the search has ended, else by the bounds it left.

    A record timestamp outside the bounds of log ends is of a producer's wrong clock: it is moved to
    the nearer bound, and the bounds stay as they are. But a timestamp that a high watermark held
    back explains (see `log_ends`) widens them. A search that was cut short widens them only if its
    upper bound is below theirs.
    """
    evidence = _index_evidence(targets, searched)
    after, ours = evidence.bounds.after, targets.bounds.after
    proven = searched.ended | ~ours.known | (after.values >= ours.values)
    joined = targets.bounds.within(replace(evidence.bounds, after=after.only(proven)))
    times = interpolate(joined, targets.offset, targets.now)
    method = np.full(len(evidence.best), _RECORD_TIME)
    by_index = _clip_to_bounds(
        evidence.best.values, evidence.best.known, joined.after, joined.before, method
    )
    ended = np.flatnonzero(searched.ended & evidence.best.known)
    times = times.replaced(ended, by_index.take(ended))
    return AppendTimes(times.best, times.after, times.before, evidence.record, times.method)


@dataclass(frozen=True, slots=True)
class _IndexEvidence:
    """What the index alone says: bounds, the estimate within, and the next record's timestamp."""

    bounds: Bounds
    best: Column
    record: Column


def _index_evidence(targets: SearchTargets, searched: SearchResult) -> _IndexEvidence:
    """Evidence by the brackets of a search.

    A timestamp ahead of `now` proves nothing, and hides those of the records after it. On a
    compacted topic the record at the position may be gone: then the nearest record named after it
    is the next to be read.
    """
    found, compact = searched.brackets, targets.compact[targets.part]
    low, high, beyond = found.low, found.high, found.next_time
    without_doubted = ~low.known | (low.values <= targets.now)
    # Results from before and after a deletion or compaction can contradict each other.
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
    """The time at an offset between the two bounds, by linear interpolation between their ends."""
    known = bounds.end_after.known & bounds.end_before.known
    rise = np.where(known, bounds.end_before.values - bounds.end_after.values, 0)
    share = np.where(rise > 0, (offset + 0.5 - bounds.end_after.values) / np.maximum(rise, 1), 0.5)
    width = np.maximum(bounds.before.values - bounds.after.values, 0)
    between: Rows = bounds.after.values + (np.clip(share, 0.0, 1.0) * width).astype(np.int64)
    return between


def _clip_to_bounds(
    best: Rows, known: Mask, after: Column, before: Column, method: Rows
) -> AppendTimes:
    latest = np.where(before.known, np.minimum(best, before.values), best)
    inside = np.where(after.known, np.maximum(latest, after.values), latest)
    return AppendTimes(
        Column(inside, known),
        after.only(known),
        before.only(known),
        Column.unknown(len(best)),
        Strings(Column(method.astype(np.int32), known), METHODS),
    )


# Found in the time index, in this or an earlier run: a look-up would find the same.
_SETTLED = (contract.METHOD_RECORD_TIME, contract.METHOD_CARRIED)


@dataclass(frozen=True, slots=True)
class CarriedEstimates:
    """Estimates of the previous run, by position; unknown where no group was there.

    `settled`: found in the time index. `ahead`: later than this run's clock, which has gone back.
    `moved`, by row: the group was at another position.
    """

    best: Column
    after: Column
    before: Column
    record: Column
    settled: Mask
    ahead: Mask
    moved: Mask

    def bounds(self, where: Mask) -> Bounds:
        """The bounds by the previous run, at the marked positions."""
        return carry_bounds(self.after.only(where), self.before.only(where))


def carry_estimates(offset: Column, old: Frame, positions: Positions) -> CarriedEstimates:
    """From the `offset` of each row in this run, and its previous row `old`.

    Where deletion moves the log start past the commit, the next unread record is another one, and
    its time is not carried.
    """
    stood = _find_previous_positions(old)
    same = stood.known & offset.known & (stood.values == offset.values)
    best = reported_append_time(old)
    settled = old.strings("time_lag_method").is_in(_SETTLED)
    rows = np.flatnonzero(same & best.known & (positions.of_row >= 0))
    # Of several groups at one position, one with a settled estimate is taken.
    rows = rows[np.argsort(settled[rows], kind="stable")]
    chosen = np.full(len(positions), -1, np.int64)
    chosen[positions.of_row[rows]] = rows
    reported = best.take(chosen)
    return CarriedEstimates(
        best=reported,
        after=old.numbers("next_record_after").take(chosen),
        before=old.numbers("next_record_before").take(chosen),
        record=old.numbers("next_record_time").take(chosen),
        settled=Column.of(settled).take(chosen).values & (chosen >= 0),
        ahead=reported.known & (reported.values > positions.now),
        moved=stood.known & ~same,
    )


def drop_doubted(carried: CarriedEstimates, doubted: Column) -> CarriedEstimates:
    """The estimates without those that reach `doubted`, ms (see `Ends`)."""
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


def _find_previous_positions(old: Frame) -> Column:
    committed, start = old.numbers("committed_offset"), old.numbers("start_offset")
    later = start.known & (~committed.known | (start.values > committed.values))
    values = np.where(later, start.values, committed.values)
    return skip_markers(old, Column(values, committed.known | start.known))


def reported_append_time(old: Frame) -> Column:
    """Append times, ms, by rows of a snapshot: by their time lag, else by the next record's
    timestamp, else the middle of the bounds.
    """
    read_at, lag = old.numbers("read_at"), old.numbers("time_lag_seconds")
    after, before = old.numbers("next_record_after"), old.numbers("next_record_before")
    reported = read_at.values - np.rint(lag.values * 1000).astype(np.int64)
    middle = np.where(after.known, (after.values + before.values) // 2, before.values)
    best = Column(reported, read_at.known & lag.known & before.known)
    record = old.numbers("next_record_time").only(before.known)
    return best.or_else(record).or_else(Column(middle, before.known))


@dataclass(frozen=True, slots=True)
class Positions:
    """Offsets at which groups are, each once: `part` (a row of `topic_partitions`) and `offset`.

    `now`: ms, when the end of the partition was read. `of_row`: the position of each
    group-partition, -1 where nothing is unread.
    """

    part: Rows
    offset: Rows
    now: Rows
    of_row: Rows

    def __len__(self) -> int:
        return len(self.part)

    def any_of(self, rows: Mask) -> Mask:
        """Positions of at least one of the marked rows."""
        marked = np.zeros(len(self), bool)
        marked[self.of_row[rows & (self.of_row >= 0)]] = True
        return marked


def find_positions(unread: Mask, part: Rows, offset: Column, now: Rows) -> Positions:
    """The positions of rows with unread records; `part` is -1 for a row without a partition."""
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


# This part of the budget is for consumers that move: they need new look-ups in each run.
_MOVING_SHARE = 10


@dataclass(frozen=True, slots=True)
class LookedUpTimes:
    """Append times by position, and the look-ups they took."""

    times: AppendTimes
    look_ups: int


@dataclass(frozen=True, slots=True)
class LookupNeeds:
    """Positions for which a look-up is `needed`, or `useful`.

    A position that is `dated` has an estimate of the previous run. Only a search that has ended, by
    the index alone, replaces it: the clock of this run may have gone back.
    """

    needed: Mask
    useful: Mask
    dated: Mask


def look_up_times(
    times: AppendTimes,
    targets: SearchTargets,
    needs: LookupNeeds,
    waiting: WaitingRows,
    rules: Rules,
    look_up: LookUp,
) -> LookedUpTimes:
    """The estimates, replaced where a search in the index gives better ones.

    Needed look-ups have the whole budget; useful ones what is left of it, a tenth at most.
    """
    budget, spent = rules.lookup_budget, 0
    for mask, limit in ((needs.needed, budget), (needs.useful, budget // _MOVING_SHARE)):
        at, within = np.flatnonzero(mask), min(limit, budget - spent)
        if not len(at):
            continue
        part = targets.take(at)
        limits = replace(rules, lookup_budget=within)
        found = search(part, waiting.queue(at, within), limits, look_up)
        better = combine_with_search(part, found)
        sure = found.ended & found.alone(part.now)
        answered = found.answered & ~needs.dated[at]
        use = np.flatnonzero(better.best.known & (sure | answered))
        times = times.replaced(at[use], better.take(use))
        spent += found.look_ups
    return LookedUpTimes(times, spent)


_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS


def is_due(partitions: Frame, taken_at: int, interval_ms: int) -> Mask:
    """Partitions of topics that are due for their hourly look-up, spread over the hour by name."""
    topic = partitions.strings("topic")
    minutes = [
        zlib.crc32(str(word).encode("utf-8", "surrogatepass")) % 60 for word in topic.categories
    ]
    phase = np.array(minutes or [0], np.int64) * _MINUTE_MS
    is_due: Mask = ((taken_at - phase) % _HOUR_MS < interval_ms)[topic.codes.values]
    return is_due


def is_too_wide(bounds: Bounds, positions: Positions, rules: Rules) -> Mask:
    """Positions whose bounds are farther apart than the tolerance allows, or open."""
    age = positions.now - np.where(bounds.before.known, bounds.before.values, positions.now)
    mask: Mask = ~bounds.width.known | (
        bounds.width.values > compute_allowance(rules.tolerance, age)
    )
    return mask


def is_worth_a_look_up(
    rows: Frame,
    positions: Positions,
    bounds: Bounds,
    carried: CarriedEstimates,
    rules: Rules,
) -> Mask:
    """Positions that need look-ups; those of others are only useful.

    A group that moves has a new position in each run, whose bounds are about one interval apart.
    That will do, unless its service level lies within the bounds.
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
    """Group-partitions whose positions wait for look-ups; `run` counts runs, for taking turns.

    `moved`: the row was at another position in the previous run.
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
