# SPDX-License-Identifier: Apache-2.0
"""One group from run to run: read from snapshots, and folded to stretches in which all is alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, TypeVar

import numpy as np

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.store import BrowsableStore, list_runs, read_dataset
from kafka_lag_cli.state.groups_over_time import AT_ONCE, Progress
from kafka_lag_cli.terminal.group_rows import Row

_T = TypeVar("_T")

# What a run says of the group, as `groups` has it.
COLUMNS = (
    *("consumer_group", "status", "worst_status", "status_reason", "unread_reason", "members"),
    *("owners_changed", "group_epoch", "rebalances"),
    *("produce_rate", "consume_rate", "lag", "time_lag_seconds"),
    *("cause", "cause_since", "cause_evidence"),
    *("records_skipped", "skipped_at", "skip_reason", "records_lost"),
)
# The least share of what is written that counts as read.
_LEAST_READ = 0.01
# Statuses of commits that moved without reading.
_JUMPED = (contract.REWOUND, contract.BEYOND_END)
_LEADERS = ("topic", "partition_id", "leader")
# A run is missing after so many intervals.
_LATE = 2.5
# Stretches that a terminal holds; so many parts of the period has trouble that goes on.
_MOST_STRETCHES, _PARTS = 20, 12
_RANKS = {contract.OK: 1, contract.WARN: 2, contract.ERR: 3}

Partition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class LeaderChange:
    """A partition that another broker leads than in the run before; None: nobody."""

    topic: str
    partition: int
    before: int | None
    now: int | None


@dataclass(frozen=True, slots=True)
class Minute:
    """One run: the group's columns COLUMNS, and whose partitions have another leader since the run
    before."""

    taken_at: int
    row: Row
    leader_changes: tuple[LeaderChange, ...] = ()

    @property
    def is_ok(self) -> bool:
        """True if nothing is known to be wrong."""
        return self.row["status"] == contract.OK and self.row["cause"] is None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The runs that have the group, in order; of the period `since` to `until`, ms, there were
    `runs` in all, of which `unreadable` could not be read.
    """

    since: int
    until: int
    interval_ms: int
    minutes: tuple[Minute, ...]
    runs: int
    unreadable: int

    def last_skip(self) -> Row | None:
        """The row that has the last skip, whole; None if no run has one."""
        skipped = [each.row for each in self.minutes if each.row["skipped_at"] is not None]
        return skipped[-1] if skipped else None


def read_timeline(
    store: BrowsableStore,
    cluster: str,
    group: str,
    newest: Snapshot,
    since: int,
    interval_ms: int,
    progress: Progress,
) -> Timeline:
    """The group's runs from `since`, ms, to `newest`, which need not be in the store.

    `interval_ms` is that of a period with one run alone. Leaders are those of the partitions that
    it has in the newest. Raises StoreError.
    """
    times = list_runs(store, contract.GROUPS, cluster, since, newest.taken_at)
    partitions = _partitions_of(newest, group)
    advance = progress(2 * len(times))

    def read(dataset: str, columns: tuple[str, ...], select: Callable[[Frame], _T]) -> list[Any]:
        def read_one(at: int) -> _T | None:
            try:
                return select(read_dataset(store, dataset, cluster, at, columns))
            except UnusableError:
                return None

        found: list[_T | None] = []
        with ThreadPoolExecutor(AT_ONCE) as threads:
            try:
                for each in threads.map(read_one, times):
                    found.append(each)
                    advance(1)
            finally:
                threads.shutdown(cancel_futures=True)
        return found

    rows: list[list[Row] | None] = read(
        contract.GROUPS, COLUMNS, lambda frame: _rows_of(frame, group)
    )
    leaders: list[dict[Partition, int | None] | None] = read(
        contract.TOPIC_PARTITIONS, _LEADERS, lambda frame: _leaders_of(frame, partitions)
    )
    rows.append(_rows_of(newest.groups, group))
    leaders.append(_leaders_of(newest.topic_partitions, partitions))
    every = [*times, newest.taken_at]
    return Timeline(
        since=since,
        until=newest.taken_at,
        interval_ms=int(median(b - a for a, b in pairwise(every))) if times else interval_ms,
        minutes=tuple(_list_minutes(every, rows, leaders)),
        runs=len(every),
        unreadable=sum(found is None for found in rows),
    )


def _list_minutes(
    times: Sequence[int],
    rows: Sequence[list[Row] | None],
    leaders: Sequence[Mapping[Partition, int | None] | None],
) -> Iterator[Minute]:
    before: Mapping[Partition, int | None] = {}
    for at, found, led in zip(times, rows, leaders, strict=True):
        changes = _compare_leaders(before, led or {})
        before = {**before, **(led or {})}
        if found:
            yield Minute(at, found[0], tuple(changes))


def _rows_of(frame: Frame, group: str) -> list[Row]:
    """The group's row, if the run has it."""
    names = frame.strings("consumer_group")
    part = Frame.of({name: frame.columns[name] for name in COLUMNS})
    return list(part.where(names.is_in([group])).to_dicts()[:1])


def _partitions_of(snapshot: Snapshot, group: str) -> set[Partition]:
    rows = snapshot.group_partitions
    own = rows.where(rows.strings("consumer_group").is_in([group]))
    topics, numbers = (own.columns[name].to_list() for name in ("topic", "partition_id"))
    return set(zip(topics, numbers, strict=True))


def _leaders_of(frame: Frame, wanted: set[Partition]) -> dict[Partition, int | None]:
    part = frame.where(frame.strings("topic").is_in({topic for topic, _ in wanted}))
    columns = (part.columns[name].to_list() for name in _LEADERS)
    return {
        (topic, number): leader
        for topic, number, leader in zip(*columns, strict=True)
        if (topic, number) in wanted
    }


def _compare_leaders(
    before: Mapping[Partition, int | None], now: Mapping[Partition, int | None]
) -> Iterator[LeaderChange]:
    for (topic, number), leader in sorted(now.items()):
        last = before.get((topic, number), leader)
        if last != leader:
            yield LeaderChange(topic, number, last, leader)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Runs, one after another, that a terminal shows in one line; `seconds` to the next stretch.

    `before`: the run before the first, if none is missing between them.
    """

    minutes: tuple[Minute, ...]
    seconds: float
    before: Minute | None = None

    @property
    def last(self) -> Minute:
        """Whose lag and age are shown."""
        return self.minutes[-1]

    @property
    def worst(self) -> Minute:
        """Whose status is shown: the last of the worst."""
        return max(
            self.minutes, key=lambda each: (_RANKS.get(each.row["status"], 0), each.taken_at)
        )

    def mean(self, name: str) -> float | None:
        """Return the mean over the runs in which the value is known."""
        known = [each.row[name] for each in self.minutes if each.row[name] is not None]
        return float(np.mean(known)) if known else None

    @property
    def read(self) -> float | None:
        """Returns the records/s that were read, so that they fit what was written and the lag.

        It is the mean of the runs' averages, which are slow to fall, if the lag is not known or
        changed by anything else than reading and writing.
        """
        first, written = self.before or self.minutes[0], self.mean("produce_rate")
        seconds = (self.last.taken_at - first.taken_at) / 1_000
        lag: tuple[int | None, int | None] = first.row["lag"], self.last.row["lag"]
        jumped = any(_jumps(each.row, first.taken_at) for each in (first, *self.minutes))
        if written is None or lag[0] is None or lag[1] is None or seconds <= 0 or jumped:
            return self.mean("consume_rate")
        read = written - (lag[1] - lag[0]) / seconds
        # Less is the rounding of the rate written.
        return read if read >= _LEAST_READ * written else 0.0

    def bounds(self, name: str) -> tuple[int, int] | None:
        """The least and the most of a column."""
        known = [each.row[name] for each in self.minutes if each.row[name] is not None]
        return (min(known), max(known)) if known else None


def _jumps(row: Row, since: int) -> bool:
    """Returns true if commits have moved by more than was read since then, ms."""
    skipped_at = row["skipped_at"]
    skipped = skipped_at is not None and skipped_at >= since
    return skipped or bool(row["records_lost"]) or row["worst_status"] in _JUMPED


def fold(timeline: Timeline) -> list[Stretch]:
    """Return as many stretches as a terminal holds, in order of time.

    Runs are in one stretch while status, cause and members stay and nothing moves. Where that makes
    too many, members and moves may differ, then all may. Trouble that goes on is shown in parts, so
    that it can be seen to grow.
    """
    parts = (timeline.until - timeline.since) / _PARTS
    for is_alike, longest in (
        (_stay, parts),
        (_keep_status, parts),
        (_keep_status, 2 * parts),
        (lambda _, __: True, (timeline.until - timeline.since) / (_MOST_STRETCHES - 2)),
    ):
        stretches = _split(timeline, is_alike, longest)
        if len(stretches) <= _MOST_STRETCHES:
            break
    return stretches


def _split(
    timeline: Timeline, is_alike: Callable[[Minute, Minute], bool], longest: float
) -> list[Stretch]:
    groups: list[list[Minute]] = []
    for minute in timeline.minutes:
        if (
            groups
            and not _is_gap(groups[-1][-1], minute, timeline)
            and is_alike(groups[-1][-1], minute)
            and (minute.is_ok or minute.taken_at - groups[-1][0].taken_at < longest)
        ):
            groups[-1].append(minute)
        else:
            groups.append([minute])
    ends = [each[0].taken_at for each in groups[1:]] + [timeline.until + timeline.interval_ms]
    last = [None, *(each[-1] for each in groups)]
    return [
        Stretch(
            tuple(each),
            _lasted(each, end, timeline),
            None if before is None or _is_gap(before, each[0], timeline) else before,
        )
        for each, end, before in zip(groups, ends, last, strict=False)
    ]


def _lasted(minutes: Sequence[Minute], end: int, timeline: Timeline) -> float:
    """Seconds until the next stretch, or until no run followed."""
    last = minutes[-1].taken_at
    is_followed = end - last <= _LATE * timeline.interval_ms
    return ((end if is_followed else last + timeline.interval_ms) - minutes[0].taken_at) / 1000


def _is_gap(before: Minute, now: Minute, timeline: Timeline) -> bool:
    return now.taken_at - before.taken_at > _LATE * timeline.interval_ms


def _keep_status(before: Minute, now: Minute) -> bool:
    names = ("status", "worst_status", "cause")
    return all(before.row[name] == now.row[name] for name in names)


def _stay(before: Minute, now: Minute) -> bool:
    """Return true if nothing moves between two runs, or something moves in each."""
    return _keep_status(before, now) and _keep_members(before, now) and moves(before) == moves(now)


def _keep_members(before: Minute, now: Minute) -> bool:
    counts = before.row["members"], now.row["members"]
    return None in counts or counts[0] == counts[1]


def moves(minute: Minute) -> bool:
    """Return true if partitions got another owner or leader since the previous run."""
    row = minute.row
    return bool(row["owners_changed"] or row["rebalances"] or minute.leader_changes)


@dataclass(frozen=True, slots=True)
class Event:
    """Runs, one after another, with what changed since the run `before`.

    They are several where owners alone changed in each. `gap_seconds`: none was made for so long.
    """

    before: Minute
    minutes: tuple[Minute, ...]
    gap_seconds: float | None = None

    @property
    def now(self) -> Minute:
        return self.minutes[-1]

    def total(self, name: str) -> int:
        """The sum of a count of the runs."""
        return sum(each.row[name] or 0 for each in self.minutes)


def list_events(timeline: Timeline) -> list[Event]:
    """Return the changes in order of time."""
    events: list[Event] = []
    for before, now in pairwise(timeline.minutes):
        gap = _is_gap(before, now, timeline)
        only_owners = not gap and _keep_status(before, now) and _keep_members(before, now)
        only_owners &= not now.leader_changes
        if only_owners and not moves(now):
            continue
        if only_owners and events and events[-1].now is before and events[-1].gap_seconds is None:
            last = events.pop()
            if _is_of_owners(last):
                events.append(Event(last.before, (*last.minutes, now)))
                continue
            events.append(last)
        seconds = (now.taken_at - before.taken_at) / 1000 if gap else None
        events.append(Event(before, (now,), seconds))
    return events


def _is_of_owners(event: Event) -> bool:
    chain = (event.before, *event.minutes)
    return all(
        _keep_status(a, b) and _keep_members(a, b) and not b.leader_changes
        for a, b in pairwise(chain)
    )
