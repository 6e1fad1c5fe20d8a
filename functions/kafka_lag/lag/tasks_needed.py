# SPDX-License-Identifier: Apache-2.0
"""Tasks that a group needs: for what is written, and to work off its backlog in time.

One task can read no more than its capacity, and one partition has one reader: a partition counts
as one member at most. The number comes to rest: it rises with the mean of the last minutes once
those there are would be late, and falls only to what would have been enough in all of them. It is
never above the members that are enough where all share what is full.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.group_settings import Rules, TaskSettings
from kafka_lag.lag.previous_rows import PreviousRows, is_read, seconds_between
from kafka_lag.lag.recent import Recent
from kafka_lag.lag.rollup import Counted, fill_last_status
from kafka_lag.lag.sets import Sets

_GROUP = ("consumer_group",)
# The time over which rates are compared, and values at least, whatever the interval. A value is of
# a minute, or of a run where runs are rarer: with a run a second there would be 900 of a group.
_LATELY_MS, _SLOT_MS, _FEWEST_RATES = 900_000, 60_000, 3
# The newest values are this part of them.
_NEWEST = 3
# So much of the time to catch up records of a burst may wait: tasks for their mean work it off.
_BURST = 0.5
# In two values in a row so many times the mean, so many standard deviations above it, and so many
# times as many as in any before: more records come, and it is neither noise nor a usual burst.
_JUMP, _NO_NOISE, _NEW = 1.3, 3.0, 1.05
_VALUES_OF_A_JUMP = 2
# Standard errors that the mean may be too high by.
_SURE = 1.0
# So much more must fit into fewer tasks, and so many standard errors: noise would take it back.
_SPARE, _SPARE_NOISE = 1.016, 3.75
# A task that is given this much more than its capacity still keeps up: neither is known better.
_FITS = 1.02
# But not where the group falls behind: then it is given less.
_FITS_BEHIND = 0.98
# A backlog that is read within this share of the time to catch up is none.
_SOON = 0.4
# It is worked off when less is left.
_WORKED_OFF = 0.05
# Tasks may fall so far behind before more are called for, while they get so much more than they
# read at most.
_LATE, _MOST_LATE = 0.2, 0.3
# Seconds until a task that is wanted reads: the metric's way, its start, a rebalance.
_START_SECONDS = 180.0
# A partition that gets less than this share of an even part of the records is not written to.
_IDLE = 0.05
# And one that gets so many times an even part is hot.
_HOT = 1.5
# Numbers that differ by less are the same.
_EPSILON = 1e-9

Values = npt.NDArray[np.float64]


def add_tasks_needed(
    groups: Frame,
    old: Frame,
    rows: Frame,
    counted: Counted,
    previous: PreviousRows,
    taken_at: int,
    rules: Rules,
) -> Frame:
    """The groups, which have their `capacity`, with `tasks_needed` and why it is that many.

    `old`: each group's row of the run before.
    `rates_lately`: records/s that were written to the group's partitions, a value a minute, or a
    run where runs are rarer, of the last 15 minutes; unknown without a capacity.
    `tasks_needed_reason`: one of the contract's.
    `tasks_needed` is unknown, and the reason says why, where a partition was not read in this run;
    `last_tasks_needed` is the last that was known.
    `hottest_topic`, `hottest_partition` and `hottest_share`: the partition to which most records
    are written, and its share of the group's.
    """
    capacity = groups.numbers("capacity")
    if not capacity.known.any():
        return _without_capacity(groups)
    settings = _Settings.of(groups, rules)
    parts = _Partitions.of(groups, rows, counted, previous)
    sets = parts.sets
    unread = sets.have(parts.missing)
    rates = _find_rates(parts, old.strings("rates_lately").only(capacity.known), taken_at, rules)
    work = _Work.of(parts, capacity, settings, taken_at, rules)
    unrated = sets.have(~parts.produced.known) | (rates.count == 0)
    known = capacity.known & ~unread & ~unrated

    last = old.numbers("last_tasks_needed").fill(0.0)
    members, called_for = groups.numbers("members").fill(0.0), last * settings.members_per_task
    rate = _present_rate(rates)
    now = work.members(rate, _SOON, np.maximum(members, called_for))
    needed, for_rate = settings.tasks(now.members), settings.tasks(now.members_for_rate)
    # Where more run than were called for, it would never be seen that these are too few.
    waits = (settings.tasks(work.members_soon(rate)) <= last) & (members <= called_for)
    needed = np.where(waits & (now.behind == 0), np.minimum(needed, last), needed)
    rest = np.maximum(_find_rest(rates, work, settings, rules, last), for_rate)
    wanted = np.maximum(needed, np.minimum(last, rest))
    # Where all share what is full, more members would only make each read less.
    most = settings.tasks((groups.numbers("shared_limit_members") * 1.0).fill(np.inf))
    tasks = Column.of(np.minimum(wanted, most).astype(np.int32), known)
    unknown = (~capacity.known, unread, ~known)
    limited = wanted > most
    reason = _explain(now, unknown, limited, at_rest=tasks > needed, for_backlog=needed > for_rate)
    hottest = work.hottest
    rows = parts.rows
    return groups.with_columns(
        rates_lately=rates.to_lists(),
        tasks_needed=tasks,
        last_tasks_needed=tasks.or_else(old.numbers("last_tasks_needed").only(capacity.known)),
        tasks_needed_reason=reason,
        hottest_topic=rows.strings("topic").take(hottest),
        hottest_partition=rows.numbers("partition_id").take(hottest),
        hottest_share=work.share.take(hottest),
    )


def _find_rates(parts: _Partitions, rates_lately: Strings, taken_at: int, rules: Rules) -> Recent:
    """Records/s written to each group in the last minutes, until this run."""
    slot_ms = _find_slot_ms(rules)
    rates = Recent.of(rates_lately, max(_FEWEST_RATES, round(_LATELY_MS / slot_ms)))
    rate, seconds = parts.written()
    if slot_ms == rules.interval_ms:
        runs = np.maximum(np.round(seconds / (slot_ms / 1_000)), 1).astype(np.int64)
        return rates.appended(rate, runs)
    return rates.averaged(rate, np.round(seconds * 1_000).astype(np.int64), taken_at, slot_ms)


def _find_slot_ms(rules: Rules) -> int:
    """The time, ms, of one value of `rates_lately`."""
    return max(rules.interval_ms, _SLOT_MS)


def _find_rest(
    rates: Recent, work: _Work, settings: _Settings, rules: Rules, last: Values
) -> Values:
    """Tasks to which the number may fall, or the `last` one.

    That stays until the newest rates need as many as all do, so that a fall is one step; and while
    a backlog is worked off, as fewer tasks would only make it last; not that of one partition.
    """
    late = settings.catch_up_seconds * _BURST * 1_000 / _find_slot_ms(rules)
    spare = rates.usual_noise() * (_SPARE_NOISE / np.sqrt(np.maximum(rates.count, 1)))

    def find_needed(runs: Recent) -> _Needed:
        return work.members(runs.even_rate(late) * _SPARE + spare, _WORKED_OFF)

    lately, newest = find_needed(rates), find_needed(rates.last(rates.most // _NEWEST))
    least = rates.last(_VALUES_OF_A_JUMP).minimum()
    present = work.members_for_rate(least, np.full(len(last), _FITS))
    stays = (newest.members < lately.members) | (newest.behind > 1)
    needed = np.maximum(newest.members, present)
    return np.where(stays, last, settings.tasks(needed))


def _explain(
    now: _Needed,
    unknown: tuple[Mask, Mask, Mask],
    limited: Mask,
    *,
    at_rest: Mask,
    for_backlog: Mask,
) -> Strings:
    """Why it is that many, or `unknown`: for want of a capacity, of a reading, of a rate."""
    cases = (*unknown, limited, at_rest, now.is_full, now.has_hot, for_backlog)
    return _REASONS.take(np.select(cases, range(len(cases)), default=len(cases)))


# In the order of the cases, the first that holds.
_REASONS = Strings.of(
    [
        contract.NO_CAPACITY,
        contract.PARTITIONS_UNREAD,
        contract.NO_RATE,
        contract.LIMITED_BY_SHARED,
        contract.NEEDED_FOR_RECENT_RATE,
        contract.LIMITED_BY_PARTITIONS,
        contract.NEEDED_FOR_HOT_PARTITION,
        contract.NEEDED_FOR_BACKLOG,
        contract.NEEDED_FOR_RATE,
    ]
)


def _without_capacity(groups: Frame) -> Frame:
    number, word = Column.unknown(len(groups), np.int32), Strings.unknown(len(groups))
    return groups.with_columns(
        rates_lately=word,
        tasks_needed=number,
        last_tasks_needed=number,
        tasks_needed_reason=Strings.constant(contract.NO_CAPACITY, len(groups)),
        hottest_topic=word,
        hottest_partition=number,
        hottest_share=Column.unknown(len(groups), np.float64),
    )


@dataclass(frozen=True, slots=True)
class _Settings:
    """What is configured, a value a group."""

    catch_up_seconds: Values
    members_per_task: Values
    prefer_even: Mask

    @classmethod
    def of(cls, groups: Frame, rules: Rules) -> _Settings:
        names = groups.strings("consumer_group")
        each = [rules.tasks_of(name) for name in names.categories]
        each.append(TaskSettings())
        at: Rows = names.codes.fill(-1)

        def column(value: Callable[[TaskSettings], float]) -> Values:
            return np.array([value(settings) for settings in each], np.float64)[at]

        return cls(
            column(lambda settings: settings.catch_up_seconds),
            column(lambda settings: settings.members_per_task),
            column(lambda settings: settings.prefer_even) > 0,
        )

    def tasks(self, members: Values) -> Values:
        """Tasks with so many members."""
        return np.ceil(members / self.members_per_task - _EPSILON)


@dataclass(frozen=True, slots=True)
class _Partitions:
    """The rows of groups with a capacity, and their previous ones, without topics they have left.

    `surplus`: records beyond what is allowed; `produced`: records/s. `missing`: not known now.
    """

    sets: Sets
    rows: Frame
    old: Frame
    surplus: Column
    produced: Column
    missing: Mask

    @classmethod
    def of(
        cls, groups: Frame, rows: Frame, counted: Counted, previous: PreviousRows
    ) -> _Partitions:
        at_group = locate(rows, groups, _GROUP)
        left = rows.strings("status_reason").is_in([contract.INACTIVE]) | counted.counts.ignored
        chosen = np.flatnonzero(groups.numbers("capacity").take(at_group).known & ~left)
        rows = rows.lazy_take(chosen)
        return cls(
            Sets(at_group[chosen], len(groups)),
            rows,
            previous.rows.lazy_take(chosen),
            counted.surplus.take(chosen),
            counted.produce_rate.take(chosen).clip(0.0),
            counted.counts.missing[chosen] | ~is_read(rows),
        )

    def written(self) -> tuple[Column, Values]:
        """Records/s written to each group since the run before, and the seconds since then."""
        seconds = seconds_between(self.rows, self.old)
        grown = self.rows.numbers("end_offset") - self.old.numbers("end_offset")
        rate = (grown.clip(0) / seconds).only(is_read(self.rows) & is_read(self.old))
        return self.sets.total(rate, ~rate.known), self.sets.maximum(seconds).fill(0.0)


@dataclass(frozen=True, slots=True)
class _Needed:
    """Members that a group needs in all, and for what is written alone.

    `behind`: partitions with a backlog that counts. `is_full`: every partition has a member of its
    own. `has_hot`: a partition is more than one member can read, or needs one nearly alone.
    """

    members: Values
    members_for_rate: Values
    behind: Values
    is_full: Mask
    has_hot: Mask


@dataclass(frozen=True, slots=True)
class _Work:
    """What there is to read, by partition; `share` is a partition's of what is written.

    `backlog`: members that would work it off in time, a value a partition; `waiting`: the same of
    groups in which nobody reads. `lagging`: groups of which anything is unread. `start` and
    `unseen`: shares of that time until a new task reads, and since when a run knows nothing of the
    backlog.
    """

    sets: Sets
    share: Column
    backlog: Column
    waiting: Column
    lagging: Mask
    capacity: Column
    start: Values
    unseen: Values
    prefer_even: Mask

    @classmethod
    def of(
        cls,
        parts: _Partitions,
        capacity: Column,
        settings: _Settings,
        taken_at: int,
        rules: Rules,
    ) -> _Work:
        sets, at_group = parts.sets, parts.sets.of_row
        stalled = fill_last_status(parts.rows).is_in([contract.STALL])
        moves = _moves(parts.rows, taken_at, rules)
        in_time = (capacity * settings.catch_up_seconds).take(at_group)
        backlog = (_find_backlog(parts, taken_at, rules) / in_time).only(~stalled)
        return cls(
            sets=sets,
            share=parts.produced / sets.total(parts.produced).take(at_group),
            backlog=backlog.only(moves),
            waiting=backlog.only(~sets.have(moves)[at_group]),
            lagging=sets.have((parts.surplus > 0) & ~stalled),
            capacity=capacity,
            start=_START_SECONDS / settings.catch_up_seconds,
            unseen=rules.interval_ms / 2_000 / settings.catch_up_seconds,
            prefer_even=settings.prefer_even,
        )

    @property
    def hottest(self) -> npt.NDArray[np.int64]:
        """The row of each group's partition with most of the records, -1 where none is known."""
        return self.sets.first_at_maximum(self.share.known, self.share.fill(0.0))

    def _at_rows(self, members: Column) -> Values:
        """A group's members by partition, as records are written to them."""
        return (self.share * members.take(self.sets.of_row)).fill(0.0)

    def members_soon(self, rate: Column) -> Values:
        """The fewest who can be given more, as there is time, until others read, before the
        backlog is one to speak of, also one that nobody reads; one at least where anything is
        unread.
        """
        of_rate = self._at_rows(rate / self.capacity)
        backlog = self.backlog.or_else(self.waiting)
        late = self.sets.maximum(backlog / np.where(of_rate > 0, of_rate, np.inf)).fill(0.0)
        more = np.clip((_LATE - late) / (self.start + 2 * self.unseen), 0.0, _MOST_LATE)
        return np.maximum(self.members_for_rate(rate, _FITS + more), self.lagging)

    def members_for_rate(self, rate: Column, fits: Values) -> Values:
        """What so many records a second need, without the backlog."""
        of_rate = self._at_rows(rate / self.capacity)
        members, _ = self._count(of_rate, of_rate >= 1.0, fits)
        return np.minimum(members, self._readable(np.zeros(len(of_rate), bool)))

    def members(self, rate: Column, least: float, coming: Values | None = None) -> _Needed:
        """What so many records a second, and the backlog, need.

        `coming`: members that read now, or were called for: until more of them read, it grows.
        `least`: the share of the time to catch up from which on a backlog is one.
        """
        load = rate / self.capacity
        of_rate = self._at_rows(load)
        # These need a reader of their own, who will not keep up either.
        full = of_rate >= 1.0
        come = np.full(len(load), np.inf) if coming is None else coming
        # What it grows by until others can read.
        more = (load - come).clip(0.0) * self.start + load * self.unseen
        soon = self.backlog + self._at_rows(more.only(load > come))
        counts = (self.backlog > 0) & (soon > of_rate * least)
        backlog, behind = self.backlog.only(counts).fill(0.0), self.sets.rows(counts).fill(0.0)
        # Only where those that come are too few: more of them are called for once, not twice.
        short = load + self.sets.total(Column.of(backlog)) > come
        backlog = backlog + np.where(counts, self._at_rows(more.only(short)), 0.0)
        fits = np.where((behind > 0) & short, _FITS_BEHIND, _FITS)
        for_rate, hot = self._count(of_rate, full, np.full(len(fits), _FITS))
        readable, written = self._readable(counts), self._readable(np.zeros(len(counts), bool))
        members = for_rate
        if counts.any():
            with_backlog, _ = self._count(np.minimum(of_rate + backlog, 1.0), full, fits)
            members = np.minimum(with_backlog, self._drop_idle(for_rate + behind))
            # Who is full with a partition that is behind would never work it off.
            given = np.where(behind > 0, _FITS_BEHIND, _FITS)
            members = np.maximum(members, self._count(of_rate, full, given)[0])
        members = np.minimum(np.maximum(members, for_rate), readable)
        whole = self.sets.total(Column.of(of_rate + backlog)).fill(0.0)
        return _Needed(
            np.maximum(members, self.lagging),
            np.minimum(for_rate, written),
            behind,
            (members >= readable) & (whole > readable + _EPSILON),
            hot & (self.share.take(self.hottest) * written >= _HOT),
        )

    def _count(self, load: Values, full: Mask, fits: Values) -> tuple[Values, Mask]:
        """Members for a load, a value a partition in members, and where a hot one decides it.

        Partitions that nobody reads or writes are shared out as well. `fits`: what one member is
        given at most.
        """
        sets = self.sets
        rest, alone = Column.of(load).only(~full), sets.rows(full).fill(0.0)
        total, hottest = sets.total(rest).fill(0.0), sets.maximum(rest).fill(0.0)
        number = sets.rows(~full).fill(0.0)
        others = (total - hottest) / np.maximum(number - 1.0, 1.0)
        each = total / np.maximum(number, 1.0)
        even, uneven = _divide(number, each, each, fits), _divide(number, hottest, others, fits)
        plain = np.ceil(total / fits - _EPSILON)
        members = np.where(self.prefer_even, np.maximum(np.maximum(even, uneven), plain), plain)
        return alone + members, (alone > 0) | (self.prefer_even & (uneven > even))

    def _drop_idle(self, members: Values) -> Values:
        """The fewest of whom none has more partitions than of so many."""
        number = self.sets.rows().fill(0.0)
        each = np.maximum(np.ceil(number / np.maximum(members, 1.0)), 1.0)
        return np.where(self.prefer_even, np.minimum(np.ceil(number / each), members), members)

    def _readable(self, behind: Mask) -> Values:
        """Partitions of each group that are written to, or have a backlog that moves."""
        even = 1.0 / self.sets.rows().take(self.sets.of_row).fill(1.0)
        found: Values = self.sets.rows((self.share >= _IDLE * even) | behind).fill(0.0)
        return found


def _divide(partitions: Values, hottest: Values, others: Values, fits: Values) -> Values:
    """Members where each has as many partitions as any other, or one more, of so much work each:
    the fewest of which the one with the hottest partition can read all that it has.
    """
    spare = np.maximum(fits - hottest, 0.0)
    beside = np.floor(spare / np.where(others > 0, others, np.inf))
    beside = np.where(others > 0, np.minimum(beside, partitions), partitions)
    found: Values = np.where(hottest > 0, np.ceil(partitions / (1.0 + beside)), 0.0)
    return found


def _present_rate(rates: Recent) -> Column:
    """Records/s that are written for sure: the mean of the last minutes less what may be noise.

    If the last values are far above the mean, and above all before, what they have in common.
    """
    mean, noise, least = rates.mean(), rates.noise(), rates.last(_VALUES_OF_A_JUMP).minimum()
    earlier = rates.without(_VALUES_OF_A_JUMP).maximum()
    sure = (mean - noise * (_SURE / np.sqrt(np.maximum(rates.count, 1)))).clip(0.0)
    jump = (least > mean * _JUMP) & (least > mean + noise * _NO_NOISE) & (least > earlier * _NEW)
    return least.where(jump, sure)


def _find_backlog(parts: _Partitions, taken_at: int, rules: Rules) -> Column:
    """Records that a consumer left over at its last commit, not those that came after it.

    A run sees a commit up to an interval after it was made.
    """
    gap = parts.rows.numbers("commit_gap_seconds").fill(0.0)
    since = (taken_at - parts.rows.numbers("commit_changed_at")) / 1_000
    after = since.clip(0.0, gap).fill(0.0) + rules.interval_ms / 1_000
    return (parts.surplus - parts.produced.fill(0.0) * after).clip(0.0)


def _moves(rows: Frame, taken_at: int, rules: Rules) -> Mask:
    """Rows whose commit moved not longer ago than it usually takes, and a run more."""
    gap = rows.numbers("commit_gap_seconds").fill(0.0) + rules.interval_ms / 1_000
    since = (taken_at - rows.numbers("commit_changed_at")) / 1_000
    mask: Mask = since <= gap
    return mask
