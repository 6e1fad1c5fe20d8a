# SPDX-License-Identifier: Apache-2.0
"""What one run published, line by line, and left for later runs, and what came of judging it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from kafka_lag import contract
from kafka_lag.snapshots.previous import downsample

Line: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, ...]

_NAMES = (contract.DIMENSION_GROUP, contract.DIMENSION_TOPIC, contract.DIMENSION_PARTITION)
_DIRECTIVE = "_aws"
_NO_VALUES = frozenset((_DIRECTIVE, contract.DIMENSION_CLUSTER, *_NAMES))


def key_of(line: Line) -> Key:
    """Group, topic and partition of a line, as far as it is about them."""
    return tuple(str(line[name]) for name in _NAMES if name in line)


def values_of(line: Line) -> dict[str, Any]:
    """The metrics of a line by name."""
    return {name: value for name, value in line.items() if name not in _NO_VALUES}


def by_key(lines: Sequence[Line]) -> dict[Key, dict[str, Any]]:
    """The metrics of all lines, those of the cluster under the empty key."""
    found: dict[Key, dict[str, Any]] = {}
    for line in lines:
        found.setdefault(key_of(line), {}).update(values_of(line))
    return found


def malformed(lines: Sequence[Line], taken_at: int) -> Iterator[tuple[str, Any, str]]:
    """What is wrong with lines whatever they are about: where, what is published, and the truth."""
    clusters = {line.get(contract.DIMENSION_CLUSTER) for line in lines}
    if len(clusters) > 1:
        yield "all lines", sorted(map(str, clusters)), "one cluster"
    times: Counter[tuple[Key, str]] = Counter()
    for line in lines:
        key = key_of(line)
        where = " ".join(key) or "the cluster"
        present = [name in line for name in _NAMES]
        if present != sorted(present, reverse=True):
            yield where, [name for name in _NAMES if name in line], "no such level"
        stamp = line.get(_DIRECTIVE, {}).get("Timestamp", taken_at)
        if stamp != taken_at:
            yield where, f"timestamp {stamp}", f"scheduled for {taken_at}"
        for name, value in values_of(line).items():
            times[key, name] += 1
            if name not in contract.METRIC_UNITS:
                yield where, name, "no such metric"
            elif not _is_number(value):
                yield where, f"{name} {value}", "a number from 0 on"
    for (key, name), count in times.items():
        if count > 1:
            yield " ".join(key) or "the cluster", f"{name} {count} times", "once"


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0


Row: TypeAlias = dict[str, Any]
# Group, topic and partition.
Names: TypeAlias = tuple[str, str, int]

# By its own clock a run begins no earlier than it was scheduled for, and no later.
_EARLY_MS, _LATE_MS = 1_000, 60_000
# A run so long before a record may have read the log's end that bounds its time.
_NEAR_MS = 10_000
# The error of a run whose process was ended in the middle.
KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Run:
    """What one run was to do and what it published; times in ms of the truth's clock.

    `clock_ahead` is how far the collector's clock was from that, `clocks_before` the same of the
    runs before, as far as they still count. `frames` is empty where the run made no snapshot,
    `topics_left` what later runs find of its topics all the same, and `log` holds its warnings.
    `calm`: two runs passed since the last fault was over.
    """

    number: int
    taken_at: int
    began: int
    ended: int
    seconds: float
    limit: float
    window_ms: int
    interval_ms: int = 1_000
    metrics: Sequence[Mapping[str, Any]] = ()
    frames: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    topics_left: Sequence[Row] = ()
    log: Sequence[str] = ()
    error: str | None = None
    clock_ahead: int = 0
    clocks_before: tuple[int, ...] = ()
    calm: bool = False
    known_groups: frozenset[str] = frozenset()
    partition_levels: bool = True

    def rows_of(self, dataset: str) -> Sequence[Row]:
        """The rows of one dataset, none where there is no snapshot."""
        return self.frames.get(dataset, ())


class Seen(NamedTuple):
    """One row of an earlier run: whether it was read, and what state it left."""

    read: bool
    topic_id: str | None
    committed: int | None
    end: int | None
    changed_at: int | None


@dataclass(frozen=True, slots=True)
class Earlier:
    """A run before the one that is judged.

    `whole` where it made a snapshot, `stored` where that is surely what later runs loaded. `late`:
    a run of this scheduled time or a later one made one before. None goes by it then, but where it
    is `contested`: of several for one time each may be what later runs loaded.
    """

    taken_at: int
    began: int
    ended: int
    whole: bool
    stored: bool
    late: bool = False
    contested: bool = False
    clock_ahead: int = 0
    rows: Mapping[Names, Seen] = field(default_factory=dict)
    ends: Mapping[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    leaders: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run) -> Earlier:
        """What a run leaves behind."""
        rows = {
            (r["consumer_group"], r["topic"], r["partition_id"]): Seen(
                r["unread_reason"] is None,
                r["topic_id"],
                r["committed_offset"],
                r["end_offset"],
                r["commit_changed_at"],
            )
            for r in run.rows_of(contract.GROUP_PARTITIONS)
        }
        topics = run.rows_of(contract.TOPIC_PARTITIONS) or run.topics_left
        ends = {
            (r["topic"], r["partition_id"]): (
                r["asked_at"] - run.clock_ahead,
                r["read_at"] - run.clock_ahead,
            )
            for r in topics
            if r["unread_reason"] is None
        }
        leaders = {(r["topic"], r["partition_id"]): r["leader"] for r in topics}
        whole = bool(run.frames)
        return cls(
            run.taken_at,
            run.began,
            run.ended,
            whole,
            stored=whole,
            clock_ahead=run.clock_ahead,
            rows=rows,
            ends=ends,
            leaders=leaders,
        )


class Reading(NamedTuple):
    """When the run scheduled at `taken_at` asked for the end of a log and had it, ms."""

    taken_at: int
    begin: int
    end: int


class History:
    """The runs before, as many as still count; they are added in the order in which they ended."""

    def __init__(self, most: int = 900) -> None:
        self._most = most
        self._readings: dict[tuple[str, int], list[Reading]] = {}
        self._doubted: list[tuple[int, int]] = []
        self._kept: dict[int, frozenset[int]] = {}
        self.runs: list[Earlier] = []

    def readings(self, at: tuple[str, int], taken_at: int, interval_ms: int) -> list[Reading]:
        """Readings of a log's end that a run of `taken_at` still starts from, in order.

        Those of clocks that jumped are left out.
        """
        kept = self._kept_at(taken_at, interval_ms)
        return [
            each
            for each in self._readings.get(at, [])
            if each.taken_at in kept
            and not any(each.begin <= last and each.end >= first for first, last in self._doubted)
        ]

    def _kept_at(self, taken_at: int, interval_ms: int) -> frozenset[int]:
        if taken_at not in self._kept:
            left = (each for each in self.runs if each.whole or each.ends)
            times = (each.taken_at for each in left if not each.late)
            self._kept[taken_at] = frozenset(downsample(times, taken_at, interval_ms))
        return self._kept[taken_at]

    def slight_jumps(self, since: int) -> tuple[int, ...]:
        """How far ahead clocks were, ms, of runs from about `since` on; too little to notice."""
        return tuple(
            each.clock_ahead
            for each in reversed(self.runs)
            if each.clock_ahead
            and abs(each.clock_ahead) <= _EARLY_MS
            and each.ended > since - _NEAR_MS
        )

    def _doubt(self, each: Earlier) -> None:
        """Readings by a clock that jumped bound nothing; nor do those whose order it contradicts,
        unless it shows in a run that seems too early for its schedule, or too late.
        """
        ahead = each.clock_ahead
        if not ahead:
            return
        if not -_EARLY_MS <= ahead <= _LATE_MS:
            ahead = 0
        span = each.began + min(0, ahead), each.ended + max(0, ahead)
        self._doubted.append(span)

    def add(self, run: Run) -> None:
        """Add a run. Of several for one time nobody knows whose snapshot was stored: one that was
        killed may have left objects, and the next one for that time adds those that lack.
        """
        each = Earlier.of(run)
        overtaken = any(other.taken_at > run.taken_at for other in self.runs)
        contested = False
        for number, other in enumerate(self.runs):
            if other.taken_at == run.taken_at and (other.whole or other.leaders):
                self.runs[number] = replace(other, stored=False, contested=not other.late)
                contested = True
        late = overtaken or contested
        self.runs.append(
            replace(
                each,
                late=late,
                contested=contested and not overtaken,
                stored=each.stored and not late,
            )
        )
        del self.runs[: -self._most]
        self._doubt(each)
        self._kept.clear()
        # What a run leaves that was overtaken is seen by none after it.
        for at, (begin, end) in () if late else each.ends.items():
            before = self._readings.setdefault(at, [])
            # Readings of runs that were on at once say nothing more.
            if not before or begin >= before[-1].end:
                before.append(Reading(run.taken_at, begin, end))


@dataclass(frozen=True, slots=True)
class Finding:
    """One number that is wrong, with what it takes to see why."""

    run: int
    rule: str
    where: str
    published: str
    truth: str


@dataclass(slots=True)
class Verdict:
    """What came of one run: the wrong numbers, and what is missing and why.

    `checked` counts numbers held to the truth, `consistent` those held to others of the same run.
    `ages` counts the ages of unread records by how exact they claim to be. `unsure` are
    findings that rest on what the judge takes runs to have remembered: an age that is right with a
    larger stated error than known readings explain, a status that follows from earlier ones.
    """

    checked: Counter[str] = field(default_factory=Counter)
    consistent: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    ages: Counter[str] = field(default_factory=Counter)
    wrong: list[Finding] = field(default_factory=list)
    unsure: list[Finding] = field(default_factory=list)
    late: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """A lag by three offsets, the rules of docs/metrics.md written once more."""

    position: int | None
    lag: int | None
    lost: int | None
    margin: int | None
    uncommitted: bool

    @classmethod
    def of(cls, row: Row) -> Counts:
        """Of a row of `group_partitions`."""
        committed, start = row["committed_offset"], row["start_offset"]
        end = row["end_offset"]
        if committed is None:
            if start is None or end is None:
                return cls(None, None, None, None, uncommitted=False)
            empty = start >= end
            return cls(start if empty else None, 0 if empty else None, None, None, not empty)
        position = max(committed, start or 0)
        lag = None if end is None else max(0, end - position)
        if start is None:
            return cls(position, lag, None, None, uncommitted=False)
        ahead = committed - start
        return cls(position, lag, max(0, -ahead), max(0, ahead), uncommitted=False)
