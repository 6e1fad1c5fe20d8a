# SPDX-License-Identifier: Apache-2.0
"""One group from run to run: read from snapshots, and folded to stretches in which all is alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.views.latest_run import LatestRun, Snapshots
from kafka_lag_cli.terminal.group_rows import Row
from kafka_lag_cli.terminal.progress import count_objects

# What a run says of the group, as `groups` has it.
COLUMNS = (
    *("consumer_group", "status", "worst_status", "status_reason", "unread_reason", "members"),
    *("owners_changed", "group_epoch", "rebalances"),
    *("produce_rate", "consume_rate", "lag", "time_lag_seconds"),
    *("cause", "cause_since", "cause_evidence"),
    *("records_skipped", "skipped_at", "skip_reason", "records_lost"),
)
# Runs in memory with all of their groups: 4,000 of 2,000 groups would take more than 1 GB.
_RUNS_AT_ONCE = 150
# The least share of what is written that counts as read.
_LEAST_READ = 0.01
# Statuses of commits that moved without reading.
_JUMPED = (contract.REWOUND, contract.BEYOND_END)
# A run is missing after so many intervals.
_LATE = 2.5
# Stretches that a terminal holds; so many parts of the period has trouble that goes on.
_MOST_STRETCHES, _PARTS = 20, 12
_RANKS = {contract.OK: 1, contract.WARN: 2, contract.ERR: 3}


@dataclass(frozen=True, slots=True)
class Minute:
    """One run: its time, ms, and the group's COLUMNS."""

    taken_at: int
    row: Row

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
        """Returns the row that has the last skip, whole; None if no run has one."""
        skipped = [each.row for each in self.minutes if each.row["skipped_at"] is not None]
        # Later rows no longer count what other partitions skipped before the window.
        same = [row for row in skipped if row["skipped_at"] == skipped[-1]["skipped_at"]]
        return max(same, key=lambda row: row["records_skipped"] or 0, default=None)


def read_timeline(snapshots: Snapshots, run: LatestRun, group: str, since: int) -> Timeline:
    """Returns the group's runs from `since`, ms, to `run`, in order. Raises StoreError."""
    times = sorted(snapshots.runs(run.cluster, since, run.taken_at))
    rows: list[tuple[int, Row | None]] = []
    with count_objects() as progress:
        advance = progress(len(times))
        for first in range(0, len(times), _RUNS_AT_ONCE):
            part = times[first : first + _RUNS_AT_ONCE]
            frames = snapshots.frames(run.cluster, contract.GROUPS, part, COLUMNS)
            rows += ((at, _row_of(frames[at], group)) for at in part if at in frames)
            advance(len(part))
    pauses = [later - at for at, later in pairwise(times)]
    return Timeline(
        since=since,
        until=run.taken_at,
        interval_ms=int(median(pauses) if pauses else run.interval_seconds * 1000),
        minutes=tuple(Minute(at, row) for at, row in rows if row is not None),
        runs=len(times),
        unreadable=len(times) - len(rows),
    )


def _row_of(frame: Frame, group: str) -> Row | None:
    """Returns the group's row, if the run has it."""
    part = Frame.of({name: frame.columns[name] for name in COLUMNS})
    rows = part.where(frame.strings("consumer_group").is_in([group])).to_dicts()
    return rows[0] if rows else None


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

    def total(self, name: str) -> int:
        """Returns the sum of a count over the runs."""
        return sum(each.row[name] or 0 for each in self.minutes)

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
    """Returns as many stretches as a terminal holds, in order of time.

    Runs are in one stretch while status, cause and members stay; if that makes too many, all may
    differ. Trouble that goes on is shown in parts, so that it can be seen to grow.
    """
    whole = timeline.until - timeline.since
    stretches = _split(timeline, _stay, whole / _PARTS)
    if len(stretches) > _MOST_STRETCHES:
        stretches = _split(timeline, lambda _, __: True, whole / (_MOST_STRETCHES - 2))
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


def _stay(before: Minute, now: Minute) -> bool:
    """Returns true if the group does the same; members that are not known are no change."""
    names = ("status", "worst_status", "cause")
    counts = before.row["members"], now.row["members"]
    is_known = None not in counts
    return all(before.row[name] == now.row[name] for name in names) and (
        not is_known or counts[0] == counts[1]
    )
