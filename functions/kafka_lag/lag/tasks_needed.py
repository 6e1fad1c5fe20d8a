# SPDX-License-Identifier: Apache-2.0
"""The number of tasks that a group needs for the records written and to work off its backlog.

One member reads no more than its capacity, and one partition has one reader, so a partition counts
as at most one member, except in a share group, whose members share partitions. The number is
steady: it rises with the mean of the last minutes once the present tasks would be late, and falls
only to a number that would have been enough in all of them. It is never above the shared limit
(`shared_limit`). A backlog that no task would work off, by the cause that the previous run found,
asks for none. While a hot partition is the cause, the number does not rise above the present tasks.
It does not fall below them while a partition gets more than a member reads and falls behind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import TaskSettings
from kafka_lag.lag.previous_rows import is_read, seconds_between
from kafka_lag.lag.recent import Recent
from kafka_lag.lag.rollup import fill_last_status
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets
from kafka_lag.lag.share_groups import is_shared

# The time of all values, of one value (or one interval, if longer), and the least number of values.
_LATELY_MS, _SLOT_MS, _FEWEST_RATES = 900_000, 60_000, 3
# One in this many of the values are the newest.
_NEWEST = 3
# Records of a burst may wait this share of the time to catch up: tasks for the mean rate read them.
_BURST = 0.5
# The rate has jumped, beyond noise and usual bursts, if the last values are all this many times the
# mean, this many standard deviations above it, and this many times any value before.
_JUMP, _NO_NOISE, _NEW = 1.3, 3.0, 1.05
_VALUES_OF_A_JUMP = 2
# The mean may be too high by this many standard errors.
_SURE = 1.0
# Fewer tasks must be enough for this many times the rate, and for this many standard errors more,
# or noise would raise the number again.
_SPARE, _SPARE_NOISE = 1.016, 3.75
# A member given this many times its capacity still keeps up: neither number is more exact.
_FITS = 1.02
# In a group that falls behind a member is given this many times its capacity.
_FITS_BEHIND = 0.98
# A backlog that is read within this share of the time to catch up does not count.
_SOON = 0.4
# A backlog is worked off if less than this share is left.
_WORKED_OFF = 0.05
# Tasks may fall this share of the time to catch up behind before more are called for, if they are
# given at most this share more than they can read.
_LATE, _MOST_LATE = 0.2, 0.3
# Seconds until a new task reads: the metric arrives, the task starts, the group rebalances.
_START_SECONDS = 180.0
# A partition that gets less than this share of an even part of the records counts as idle.
_IDLE = 0.05
# A partition that gets this many times an even part is hot.
_HOT = 1.5
# Numbers that differ by less are the same.
_EPSILON = 1e-9

Values = npt.NDArray[np.float64]


def add_tasks_needed(e: Evaluation) -> Frame:
    """Returns the groups, which have their `capacity`, with `tasks_needed` and its reason.

    `rates_lately`: records/s written to the group's partitions in the last 15 minutes, a value a
    minute, or a value a run if runs are rarer; unknown without a capacity.
    `tasks_needed` is unknown without a capacity or a rate, and if a partition was not read in this
    run; `tasks_needed_reason`, one of the contract's, then says why. `last_tasks_needed` is the
    last that was known.
    `hottest_topic`, `hottest_partition` and `hottest_share`: the partition to which most records
    are written, and its share of the group's records.
    """
    groups, old, run = e.groups, e.old_groups, e.run
    capacity = groups.numbers("capacity")
    if not capacity.known.any():
        return _without_capacity(groups)
    settings = _Settings.of(groups, run)
    parts = _Partitions.of(e)
    sets = parts.sets
    unread = sets.have(parts.missing)
    rates = _find_rates(parts, old.strings("rates_lately").only(capacity.known), run)
    work = _Work.of(parts, groups, settings, run)
    unrated = sets.have(~parts.produced.known) | (rates.count == 0)
    known = capacity.known & ~unread & ~unrated

    last = old.numbers("last_tasks_needed").fill(0.0)
    members, called_for = groups.numbers("members").fill(0.0), last * settings.members_per_task
    rate = _present_rate(rates)
    now = work.members(rate, _SOON, np.maximum(members, called_for))
    needed, for_rate = settings.tasks(now.members), settings.tasks(now.members_for_rate)
    # If more members run than were called for, it would never show that these are too few.
    waits = (settings.tasks(work.members_soon(rate)) <= last) & (members <= called_for)
    needed = np.where(waits & (now.behind == 0), np.minimum(needed, last), needed)
    rest = np.maximum(_find_rest(rates, work, settings, run, last), for_rate)
    wanted = np.maximum(needed, np.minimum(last, rest))
    present = settings.tasks(np.minimum(members, sets.rows().fill(0.0)))
    # More tasks would not read a hot partition, and fewer would put others beside one that falls
    # behind although its member reads all it can.
    is_hot = old.strings("cause").is_in([contract.HOT_PARTITION]) & (members > 0)
    wanted = np.where(is_hot, np.minimum(wanted, settings.tasks(members)), wanted)
    is_over = now.is_over & (present > wanted)
    wanted = np.where(is_over, present, wanted)
    # At a shared limit more members would only make each read less.
    most = settings.tasks((groups.numbers("shared_limit_members") * 1.0).fill(np.inf))
    tasks = Column.of(np.minimum(wanted, most).astype(np.int32), known)
    unknown = (~capacity.known, unread, ~known)
    limited = wanted > most
    reason = _explain(now, unknown, limited, is_over, tasks > needed, for_backlog=needed > for_rate)
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


def _find_rates(parts: _Partitions, rates_lately: Strings, run: Run) -> Recent:
    """Returns the records/s written to each group in the last minutes, up to this run."""
    slot_ms = _find_slot_ms(run)
    rates = Recent.of(rates_lately, max(_FEWEST_RATES, round(_LATELY_MS / slot_ms)))
    rate, seconds = parts.written()
    if slot_ms == run.rules.interval_ms:
        runs = np.maximum(np.round(seconds / (slot_ms / 1_000)), 1).astype(np.int64)
        return rates.appended(rate, runs)
    return rates.averaged(rate, np.round(seconds * 1_000).astype(np.int64), run.taken_at, slot_ms)


def _find_slot_ms(run: Run) -> int:
    """Returns the time, ms, that one value of `rates_lately` covers."""
    return max(run.rules.interval_ms, _SLOT_MS)


def _find_rest(rates: Recent, work: _Work, settings: _Settings, run: Run, last: Values) -> Values:
    """Returns the number to which the tasks may fall, or `last` if it stays.

    It stays while the newest rates need fewer tasks than all rates, so that a fall is one step. It
    stays while a backlog on more than one partition is worked off, because fewer tasks would only
    prolong that.
    """
    late = settings.catch_up_seconds * _BURST * 1_000 / _find_slot_ms(run)
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
    is_over: Mask,
    at_rest: Mask,
    for_backlog: Mask,
) -> Strings:
    """Returns the reason for the number; `unknown`: groups without capacity, reading or rate."""
    cases = (*unknown, limited, is_over, at_rest, now.is_full, now.has_hot, for_backlog)
    return _REASONS.take(np.select(cases, range(len(cases)), default=len(cases)))


# In the order of the cases; the first that holds counts.
_REASONS = Strings.of(
    [
        contract.NO_CAPACITY,
        contract.PARTITIONS_UNREAD,
        contract.NO_RATE,
        contract.LIMITED_BY_SHARED,
        contract.NEEDED_FOR_HOT_PARTITION,
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
    """The configured settings, a value per group."""

    catch_up_seconds: Values
    members_per_task: Values
    prefer_even: Mask

    @classmethod
    def of(cls, groups: Frame, run: Run) -> _Settings:
        each = groups.strings("consumer_group").words_of(run.rules.tasks_of)
        default = TaskSettings()
        catch_up = each.numbers_of(lambda settings: settings.catch_up_seconds)
        members = each.numbers_of(lambda settings: settings.members_per_task)
        return cls(
            catch_up.fill(default.catch_up_seconds),
            members.fill(default.members_per_task),
            each.are(lambda settings: settings.prefer_even),
        )

    def tasks(self, members: Values) -> Values:
        """Returns how many tasks have this many members."""
        return np.ceil(members / self.members_per_task - _EPSILON)


@dataclass(frozen=True, slots=True)
class _Partitions:
    """Rows of groups with a capacity, and their previous rows, without topics they have left.

    `surplus`: records beyond the allowed lag; `produced`: records/s. `missing`: not read now.
    `in_vain`: more tasks would not read the partition's backlog.
    """

    sets: Sets
    rows: Frame
    old: Frame
    surplus: Column
    produced: Column
    missing: Mask
    in_vain: Mask

    @classmethod
    def of(cls, e: Evaluation) -> _Partitions:
        groups, rows, counts, at_group = e.groups, e.rows, e.counts, e.at_group
        left = rows.strings("status_reason").is_in([contract.INACTIVE]) | counts.ignored
        chosen = np.flatnonzero(groups.numbers("capacity").take(at_group).known & ~left)
        rows = rows.lazy_take(chosen)
        sets = Sets(at_group[chosen], len(groups))
        return cls(
            sets,
            rows,
            e.previous.rows.lazy_take(chosen),
            counts.surplus.take(chosen),
            e.of_topic.numbers("produce_rate").take(chosen).clip(0.0),
            counts.missing[chosen] | ~is_read(rows),
            _find_in_vain(sets, groups, e.old_groups, rows),
        )

    def written(self) -> tuple[Column, Values]:
        """Returns the records/s written to each group since the previous reading, and seconds."""
        seconds = seconds_between(self.rows, self.old)
        grown = self.rows.numbers("end_offset") - self.old.numbers("end_offset")
        rate = (grown.clip(0) / seconds).only(is_read(self.rows) & is_read(self.old))
        return self.sets.total(rate, ~rate.known), self.sets.maximum(seconds).fill(0.0)


@dataclass(frozen=True, slots=True)
class _Needed:
    """The members that a group needs in all, and for the produce rate alone.

    `behind`: partitions with a backlog that counts. `is_full`: every partition has its own member,
    and these are not enough. `is_over`: a partition gets more than one member can read and has a
    backlog, however small; `has_hot`: a partition needs a member nearly alone.
    """

    members: Values
    members_for_rate: Values
    behind: Values
    is_full: Mask
    is_over: Mask
    has_hot: Mask


@dataclass(frozen=True, slots=True)
class _Work:
    """The records to read, by partition; `share` is the partition's share of the produce rate.

    `backlog`: the members that would work it off in the time to catch up, a value per partition;
    `waiting`: the same for groups in which no commit moves. `lagging`: groups with unread records.
    `start` and `unseen` are shares of the time to catch up: until a new task reads, and half an
    interval, for which the backlog has not been seen.
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
    shared: Mask

    @classmethod
    def of(cls, parts: _Partitions, groups: Frame, settings: _Settings, run: Run) -> _Work:
        capacity, shared = groups.numbers("capacity"), is_shared(groups)
        sets, at_group = parts.sets, parts.sets.of_row
        stalled = fill_last_status(parts.rows).is_in([contract.STALL])
        moves = _moves(parts.rows, run)
        in_time = (capacity * settings.catch_up_seconds).take(at_group)
        stalled |= parts.in_vain
        backlog = (_find_backlog(parts, run) / in_time).only(~stalled)
        return cls(
            sets=sets,
            share=parts.produced / sets.total(parts.produced).take(at_group),
            backlog=backlog.only(moves),
            waiting=backlog.only(~sets.have(moves)[at_group]),
            lagging=sets.have((parts.surplus > 0) & ~stalled),
            capacity=capacity,
            start=_START_SECONDS / settings.catch_up_seconds,
            unseen=run.rules.interval_ms / 2_000 / settings.catch_up_seconds,
            prefer_even=settings.prefer_even & ~shared,
            shared=shared,
        )

    @property
    def hottest(self) -> npt.NDArray[np.int64]:
        """Returns the row of each group's partition with the largest share, -1 if none is known."""
        return self.sets.first_at_maximum(self.share.known, self.share.fill(0.0))

    def _at_rows(self, members: Column) -> Values:
        """Returns a group's members divided among partitions by their share of records written."""
        return (self.share * members.take(self.sets.of_row)).fill(0.0)

    def members_soon(self, rate: Column) -> Values:
        """Returns the fewest members that are enough for now, at least 1 if anything is unread.

        Each may be given more than it reads, as long as others can start before the backlog counts.
        """
        of_rate = self._at_rows(rate / self.capacity)
        backlog = self.backlog.or_else(self.waiting)
        late = self.sets.maximum(backlog / np.where(of_rate > 0, of_rate, np.inf)).fill(0.0)
        more = np.clip((_LATE - late) / (self.start + 2 * self.unseen), 0.0, _MOST_LATE)
        return np.maximum(self.members_for_rate(rate, _FITS + more), self.lagging)

    def members_for_rate(self, rate: Column, fits: Values) -> Values:
        """Returns the members that this rate, records/s, needs, without the backlog."""
        of_rate = self._at_rows(rate / self.capacity)
        members, _ = self._count(of_rate, self._fill_one(of_rate), fits)
        return np.minimum(members, self._readable(np.zeros(len(of_rate), bool)))

    def members(self, rate: Column, least: float, coming: Values | None = None) -> _Needed:
        """Returns the members that this rate, records/s, and the backlog need.

        `coming`: members that read now, or were called for; the backlog grows until more members
        read. `least`: a backlog counts from this share of the time to catch up on.
        """
        load = rate / self.capacity
        of_rate = self._at_rows(load)
        # These partitions need a member of their own, which will not keep up either.
        full = self._fill_one(of_rate)
        come = np.full(len(load), np.inf) if coming is None else coming
        # Growth of the backlog until more members read.
        more = (load - come).clip(0.0) * self.start + load * self.unseen
        soon = self.backlog + self._at_rows(more.only(load > come))
        counts = (self.backlog > 0) & (soon > of_rate * least)
        backlog, behind = self.backlog.only(counts).fill(0.0), self.sets.rows(counts).fill(0.0)
        # The growth counts only if the coming members are too few; more are then called for once.
        short = load + self.sets.total(Column.of(backlog)) > come
        backlog = backlog + np.where(counts, self._at_rows(more.only(short)), 0.0)
        fits = np.where((behind > 0) & short, _FITS_BEHIND, _FITS)
        for_rate, hot = self._count(of_rate, full, np.full(len(fits), _FITS))
        readable, written = self._readable(counts), self._readable(np.zeros(len(counts), bool))
        members = for_rate
        if counts.any():
            most = np.where(self.shared, np.inf, 1.0)[self.sets.of_row]
            with_backlog, _ = self._count(np.minimum(of_rate + backlog, most), full, fits)
            own = np.where(self.shared, np.inf, self._drop_idle(for_rate + behind))
            members = np.minimum(with_backlog, own)
            # A member that is full with a partition that is behind would never work it off.
            given = np.where(behind > 0, _FITS_BEHIND, _FITS)
            members = np.maximum(members, self._count(of_rate, full, given)[0])
        members = np.minimum(np.maximum(members, for_rate), readable)
        whole = self.sets.total(Column.of(of_rate + backlog)).fill(0.0)
        return _Needed(
            np.maximum(members, self.lagging),
            np.minimum(for_rate, written),
            behind,
            (members >= readable) & (whole > readable + _EPSILON),
            self.sets.have(full & (self.backlog > 0)),
            hot & (self.share.take(self.hottest) * written >= _HOT),
        )

    def _count(self, load: Values, full: Mask, fits: Values) -> tuple[Values, Mask]:
        """Returns the members for a load, and marks groups in which a hot partition decides.

        `load` and `full` have a value per partition; a load of 1 is one member's capacity. Idle
        partitions are assigned as well. `fits`: the most that one member is given.
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
        """Returns the fewest members of which none has more partitions than with `members`."""
        number = self.sets.rows().fill(0.0)
        each = np.maximum(np.ceil(number / np.maximum(members, 1.0)), 1.0)
        return np.where(self.prefer_even, np.minimum(np.ceil(number / each), members), members)

    def _fill_one(self, load: Values) -> Mask:
        """Marks partitions that need a member of their own: a load of 1 is a member's capacity."""
        mask: Mask = (load >= 1.0) & ~self.shared[self.sets.of_row]
        return mask

    def _readable(self, behind: Mask) -> Values:
        """Returns how many members can read: one for each partition that is written to, or marked
        as `behind`; any number in a share group.
        """
        even = 1.0 / self.sets.rows().take(self.sets.of_row).fill(1.0)
        found = self.sets.rows((self.share >= _IDLE * even) | behind).fill(0.0)
        return np.where(self.shared & (found > 0), np.inf, found)


def _divide(partitions: Values, hottest: Values, others: Values, fits: Values) -> Values:
    """Returns the fewest members of which the one with the hottest partition can read all it has.

    Partitions are divided evenly; `hottest` and `others` are the loads of one partition.
    """
    spare = np.maximum(fits - hottest, 0.0)
    beside = np.floor(spare / np.where(others > 0, others, np.inf))
    beside = np.where(others > 0, np.minimum(beside, partitions), partitions)
    found: Values = np.where(hottest > 0, np.ceil(partitions / (1.0 + beside)), 0.0)
    return found


def _present_rate(rates: Recent) -> Column:
    """Returns the records/s certainly written: the mean of the last minutes less possible noise.

    If the last values are far above the mean, and above all before, it is the least of them.
    """
    mean, noise, least = rates.mean(), rates.noise(), rates.last(_VALUES_OF_A_JUMP).minimum()
    earlier = rates.without(_VALUES_OF_A_JUMP).maximum()
    sure = (mean - noise * (_SURE / np.sqrt(np.maximum(rates.count, 1)))).clip(0.0)
    jump = (least > mean * _JUMP) & (least > mean + noise * _NO_NOISE) & (least > earlier * _NEW)
    return least.where(jump, sure)


def _find_backlog(parts: _Partitions, run: Run) -> Column:
    """Returns the records that a consumer left at its last commit, without those that came later.

    A run sees a commit up to an interval after it was made.
    """
    gap = parts.rows.numbers("commit_gap_seconds").fill(0.0)
    since = run.seconds_since(parts.rows.numbers("commit_changed_at"))
    after = since.clip(0.0, gap).fill(0.0) + run.interval_seconds
    return (parts.surplus - parts.produced.fill(0.0) * after).clip(0.0)


def _find_in_vain(sets: Sets, groups: Frame, old: Frame, rows: Frame) -> Mask:
    """Marks rows of groups that more tasks would not help, by the cause of the previous run.

    A slow member must be so slow that even twice the members would not leave it little enough.
    """
    cause = old.strings("cause")
    in_vain, slow = cause.is_in(contract.NOT_OF_CONSUMERS), cause.is_in([contract.SLOW_MEMBER])
    if slow.any():
        is_worst = rows.strings("member_id") == groups.strings("worst_member").take(sets.of_row)
        reads = sets.total(rows.numbers("consume_rate").only(is_worst))
        in_vain |= slow & (reads < groups.numbers("capacity") * contract.TOO_SLOW_SHARE)
    mask: Mask = in_vain[sets.of_row]
    return mask


def _moves(rows: Frame, run: Run) -> Mask:
    """Marks rows whose commit moved within its usual time between commits and one interval."""
    gap = rows.numbers("commit_gap_seconds").fill(0.0) + run.interval_seconds
    since = run.seconds_since(rows.numbers("commit_changed_at"))
    mask: Mask = since <= gap
    return mask
