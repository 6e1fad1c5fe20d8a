# SPDX-License-Identifier: Apache-2.0
"""What whole runs say of each pattern of work and trouble, against what they should say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from rich.table import Table

from dev.benchmarks.pauses.by_count import JOBS
from dev.benchmarks.pauses.tracks import (
    A_MINUTE,
    BATCHES,
    DAY,
    HOUR,
    RATE,
    STEP_SECONDS,
    Batch,
    Floats,
    Generator,
    Ints,
    Outage,
    Track,
    delayed,
    even,
    jobs,
    minutes_of,
    pauses_of,
    produced,
    quiet_from,
    random_bursts,
    served,
    steady,
)
from kafka_lag import contract
from kafka_lag.lag.columns import Column, Rows, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.lag.time_index import NEWEST, LookupResults
from kafka_lag.snapshots.previous import Memory


@dataclass(frozen=True, slots=True)
class Pattern:
    """A group of one partition, and what is to be said of it.

    From run `quiet_from` on `most` held changes a day are allowed. One in trouble from run
    `trouble` on is to be reported, as one of `statuses`, within `soon` runs.
    """

    name: str
    track: Track
    quiet_from: int = 60
    most: float = 0.0
    trouble: int | None = None
    soon: int = 13


def patterns(days: int, seed: int) -> dict[str, Pattern]:
    """All of them, by name; every third is held out."""
    rngs = (np.random.default_rng([seed, number]) for number in range(1_000))
    found = [
        *_healthy(days, next(rngs)),
        *(_batch(batch, days, next(rngs)) for batch in BATCHES),
        *_bursts(days, rngs),
        *_troubled(days, next(rngs)),
        *_by_count(days, next(rngs)),
    ]
    return {pattern.name: pattern for pattern in found}


def _healthy(days: int, rng: Generator) -> list[Pattern]:
    noisy, minutes = produced(rng, days), minutes_of(days)
    rare = np.cumsum(np.arange(len(minutes)) % (HOUR * A_MINUTE) == 0)
    nights = produced(rng, days, np.where(minutes % DAY < 15 * HOUR, RATE, 0.0))
    rebalancing = minutes // 2 % 2 == 1
    followed = delayed(noisy)
    made: Mapping[str, Track] = {
        "steady": _owned(noisy, followed),
        "micro-batch of 5 minutes": _owned(noisy, _every(noisy, 5)),
        "micro-batch of 8 minutes": _owned(noisy, _every(noisy, 8)),
        "10 minutes, 3 late": _owned(noisy, delayed(_every(noisy, 10), 3 * A_MINUTE)),
        "a burst every 3 hours": _worked(_regular(days, 3 * HOUR, 4 * RATE), 20 * RATE),
        "the same, 30 minutes of work": _worked(_regular(days, 3 * HOUR, 20_000.0), 1_333.0),
        "one record an hour": _owned(rare, delayed(rare)),
        "endless rebalance": Track(noisy, followed, ~rebalancing),
        "no records at night": _worked(nights, 3 * RATE),
    }
    return [Pattern(name, track) for name, track in made.items()]


def _batch(batch: Batch, days: int, rng: Generator) -> Pattern:
    track = batch.track(rng, days, ())
    if batch.most is not None:
        return Pattern(batch.name, track, 0, batch.most / days)
    return Pattern(batch.name, track, quiet_from(batch, track))


# Held changes a day of a job by a count of records.
_MOST_BY_COUNT = 2.4


def _by_count(days: int, rng: Generator) -> list[Pattern]:
    found: list[Pattern] = []
    for name, job in JOBS.items():
        track = job.track(rng, days)
        known = pauses_of(track)[2][1]
        found.append(Pattern(f"by count: {name}", track, known, _MOST_BY_COUNT))
    return found


def _bursts(days: int, rngs: Iterator[Generator]) -> list[Pattern]:
    found: list[Pattern] = []
    for share in (0.7, 0.8, 0.9):
        for minutes in (10, 20, 40, 80):
            end = random_bursts(next(rngs), days, share, minutes)
            name = f"random bursts, {share:.0%}, every {minutes} min"
            found.append(Pattern(name, _worked(end, RATE), 60, 4.0))
    return found


def _troubled(days: int, rng: Generator) -> list[Pattern]:
    when = min(days - 3, 12) * DAY + HOUR
    slow = {"a twelfth": 1 / 12, "half": 0.5, "four fifths": 0.8}
    soon = {"a twelfth": 15, "half": 25, "four fifths": 60}
    found = [
        Pattern(f"reads {name} of it", _slower(days, when, share), 60, 0, when, soon[name])
        for name, share in slow.items()
    ]
    for name, outages in FAILURES.items():
        track = steady(days, outages).dead_from(when)
        found.append(Pattern(f"stuck after {name}", track, when + 30, 0.0, when))
    for batch in BATCHES[1], BATCHES[6]:
        dead = when + int(rng.integers(0, batch.period))
        track = batch.track(rng, days, ()).dead_from(dead)
        name = f"dead: {batch.name}"
        found.append(Pattern(name, track, dead + 3 * DAY, 0.0, dead, 2 * batch.period))
    return found


FAILURES: Mapping[str, tuple[Outage, ...]] = {
    "two outages of 2 h": (Outage(DAY, DAY + 120), Outage(2 * DAY, 2 * DAY + 120)),
    "two outages of 15 min": (Outage(DAY, DAY + 15), Outage(2 * DAY, 2 * DAY + 15)),
    "two outages of 8 h": (Outage(DAY, DAY + 480), Outage(2 * DAY, 2 * DAY + 480)),
    "three of 2 h, two days apart": tuple(Outage(d * DAY, d * DAY + 120) for d in (1, 3, 5)),
}


def _slower(days: int, when: int, share: float) -> Track:
    end = even(days)
    capacity = np.where(minutes_of(days) >= when, RATE * share, 3 * RATE)
    return _owned(end, delayed(served(end, capacity)))


def _regular(days: int, every: int, a_minute: float) -> Ints:
    return even(days, np.where(minutes_of(days) % every < 2, a_minute, 0.0))  # noqa: PLR2004


def _every(end: Ints, minutes: int) -> Ints:
    runs = len(end) // A_MINUTE
    starts = np.arange(minutes, runs, minutes, dtype=np.int64)
    return jobs(end, starts, np.zeros(len(starts), np.int64))


def _worked(end: Ints, a_minute: float) -> Track:
    capacity: Floats = np.full(len(end), a_minute)
    return _owned(end, delayed(served(end, capacity)))


def _owned(end: Ints, committed: Ints) -> Track:
    return Track(end, committed, np.ones(len(end), bool))


FIRST = 1_769_904_000_000  # 2026-02-01T00:00:00Z
_MINUTE_MS = 60_000
_STEP_MS = STEP_SECONDS * 1_000
STATUSES = (
    contract.OK,
    contract.WARN,
    contract.STOP,
    contract.STALL,
    contract.REWIND,
    contract.ERR,
)
UNKNOWN = -1

Codes: TypeAlias = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Statuses:
    """A row a run, a column a track: status of the partition and held status of its group, as
    places in STATUSES, -1 for none."""

    status: Codes
    held: Codes


class Cluster:
    """Tracks as partitions of a topic, each read by a group of its own."""

    def __init__(self, tracks: Sequence[Track]) -> None:
        count = len(tracks)
        at = tracks[0].at_runs()
        self._end = np.stack([track.end[at] for track in tracks], axis=1)
        self._committed = np.stack([track.committed[at] for track in tracks], axis=1)
        self._owned = np.stack([track.owned[at] for track in tracks], axis=1)
        self._names = Strings.of(f"n{number:03}" for number in range(count))
        self._topic = Strings.constant("orders", count)
        self._zeros = Column.of(np.zeros(count, np.int64))
        self._numbers = Column.of(np.arange(count, dtype=np.int32))

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(self._end)

    def reading(self, run: int) -> ClusterReading:
        """What a run sees."""
        at = FIRST + run * _MINUTE_MS
        count, nobody = len(self._names), Strings.unknown(len(self._names))
        moment = Column.of(np.full(count, at))
        key: dict[str, AnyColumn] = {
            "topic": self._topic,
            "topic_id": self._topic,
            "partition_id": self._numbers,
            "unread_reason": nobody,
            "read_at": moment,
        }
        topics = Frame.of(
            {
                **key,
                "asked_at": moment,
                "leader": self._numbers,
                "start_offset": self._zeros,
                "end_offset": Column.of(self._end[run]),
            }
        )
        member = self._names.only(self._owned[run])
        rows = Frame.of(
            {
                **key,
                "consumer_group": self._names,
                "member_id": member,
                "client_id": member,
                "client_host": member,
                "committed_offset": Column.of(self._committed[run]),
            }
        )
        return ClusterReading(topics, rows, self._groups(moment))

    def _groups(self, moment: Column) -> Frame:
        count = len(self._names)
        return Frame.of(
            {
                "consumer_group": self._names,
                "read_at": moment,
                "unread_reason": Strings.unknown(count),
                "group_state": Strings.constant("Stable", count),
                "group_type": Strings.constant("classic", count),
                "protocol": Strings.constant("consumer", count),
                "members": Column.of(np.ones(count, np.int32)),
            }
        )


class TimeIndex:
    """Answers look-ups as the brokers of these tracks would in a run.

    The records of a step were appended at an even speed.
    """

    def __init__(self, tracks: Sequence[Track]) -> None:
        self.run = 0
        self._ends = [track.end for track in tracks]

    def __call__(self, partitions: Frame, times: Rows) -> LookupResults:
        """The first record at or after each time."""
        parts = partitions.numbers("partition_id").values
        pairs = zip(parts.tolist(), times.tolist(), strict=True)
        found = np.array([self._first(part, time) for part, time in pairs], np.int64)
        offsets, stamps = found.reshape(-1, 2).T
        return LookupResults(offsets >= 0, offsets < 0, offsets, stamps)

    def _first(self, part: int, time: int) -> tuple[int, int]:
        ends = self._ends[part][: self.run * A_MINUTE + 1]
        last = int(ends[-1])
        if time == NEWEST:
            return (last - 1, self._time(ends, last - 1)) if last else (-1, -1)
        steps = max((time - FIRST) / _STEP_MS, -1.0)
        whole = min(int(np.floor(steps)), len(ends) - 1)
        before = int(ends[whole]) if whole >= 0 else 0
        offset = before
        if whole + 1 < len(ends):
            offset += int((int(ends[whole + 1]) - before) * (steps - whole))
        while offset < last and self._time(ends, offset) < time:
            offset += 1
        return (offset, self._time(ends, offset)) if offset < last else (-1, -1)

    @staticmethod
    def _time(ends: Ints, offset: int) -> int:
        step = int(np.searchsorted(ends, offset, side="right"))
        before = int(ends[step - 1]) if step else 0
        share = (offset - before + 1) / (int(ends[step]) - before)
        return FIRST + int((step - 1 + share) * _STEP_MS)


def evaluate_tracks(
    tracks: Sequence[Track],
    progress: Callable[[int, Statuses], None] = lambda _, __: None,
    look_ups: int = 0,
) -> Statuses:
    """What the product says of tracks of one length, run by run; `progress` is called each day.

    `look_ups` may be sent in each run. With none, ages come from the ends of earlier runs alone,
    which takes half the time.
    """
    rules, cluster, index = Rules(lookup_budget=look_ups), Cluster(tracks), TimeIndex(tracks)
    memory, shape = Memory.empty(), (cluster.runs, len(tracks))
    status, held = np.full(shape, UNKNOWN, np.int8), np.full(shape, UNKNOWN, np.int8)
    for run in range(cluster.runs):
        taken_at, index.run = FIRST + run * _MINUTE_MS, run
        reading = cluster.reading(run)
        snapshot = evaluate(reading, memory.previous_runs(), rules, taken_at, index).snapshot
        memory = memory.add_run(snapshot, rules.interval_ms, stored=True)
        status[run] = _codes(snapshot.group_partitions, "status")
        held[run] = _codes(snapshot.groups, "held_status")
        if run % DAY == DAY - 1:
            progress(run + 1, Statuses(status, held))
    return Statuses(status, held)


def _codes(frame: Frame, name: str) -> Codes:
    """In the order of the names, which is that of the tracks."""
    codes = frame.strings(name).codes_in(STATUSES)
    order = np.argsort(np.array(frame.strings("consumer_group").to_list()))
    return np.where(codes.known, codes.values, UNKNOWN)[order].astype(np.int8)


# Runs in which a held status is first known.
_SETTLING = 10
_HOLD = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Held changes in all, those from when on none is due, and runs until trouble was reported."""

    pattern: Pattern
    held_out: bool
    days: float
    changes: int
    later: int
    reported: int | None

    @property
    def later_a_day(self) -> float:
        """Held changes a day from when on none is due."""
        return self.later / max(self.days - self.pattern.quiet_from / DAY, 1.0)

    @property
    def missed(self) -> bool:
        """Too many changes, or reported late."""
        if self.pattern.trouble is None:
            return self.later_a_day > self.pattern.most
        return self.reported is None or self.reported > self.pattern.soon


def whole_runs(days: int, seed: int, say: Callable[[str], None]) -> list[Verdict]:
    """A verdict on each pattern."""
    found = list(patterns(days, seed).values())
    say(f"{len(found)} patterns, {days * DAY:,} runs")
    said = evaluate_tracks(
        [pattern.track for pattern in found], lambda runs, _: say(f"{runs // DAY} days")
    )
    columns = zip(found, said.held.T, said.status.T, strict=True)
    return [
        verdict(pattern, held, status, held_out=is_held_out(number))
        for number, (pattern, held, status) in enumerate(columns)
    ]


_EVERY_THIRD = 3


def is_held_out(number: int) -> bool:
    """Every third pattern: those that judge a change of the rule, not choose it."""
    return number % _EVERY_THIRD == _EVERY_THIRD - 1


def verdict(pattern: Pattern, held: np.ndarray, status: np.ndarray, *, held_out: bool) -> Verdict:
    """Of one pattern, by its held status and its partition's status, run by run."""
    changed = np.flatnonzero(np.diff(held)) + 1
    changed = changed[changed > _SETTLING]
    later = int((changed >= pattern.quiet_from + _HOLD).sum())
    reported = None
    if pattern.trouble is not None:
        bad = np.flatnonzero(status[pattern.trouble :] > 0)
        reported = int(bad[0]) if len(bad) else None
    return Verdict(pattern, held_out, len(held) / DAY, len(changed), later, reported)


def table_of(verdicts: Sequence[Verdict]) -> Table:
    """A line a pattern."""
    table = Table(
        *("pattern", "held out", "held changes", "later", "a day", "reported after", "allowed"),
        title="Whole runs",
    )
    for one in verdicts:
        color = "[red]" if one.missed else ""
        trouble = one.pattern.trouble is not None
        table.add_row(
            f"{color}{one.pattern.name}",
            "yes" if one.held_out else "",
            str(one.changes),
            "" if trouble else str(one.later),
            "" if trouble else f"{one.later_a_day:.2f}",
            str(one.reported) if trouble else "",
            str(one.pattern.soon) if trouble else f"{one.pattern.most:.2g}",
        )
    return table
