# SPDX-License-Identifier: Apache-2.0
"""Partitions over weeks as arrays: how a log grows, how a group commits, and runs that see it.

A `World` in steps of ten seconds would take hours for weeks of many groups. Here each group reads
one partition, whose log and commits are computed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dev.sim.reading import FIRST, Floats, Ints, Layout, Mask, Sight, TimeIndex
from dev.sim.run import run
from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules

Generator: TypeAlias = np.random.Generator
Codes: TypeAlias = npt.NDArray[np.int8]

MINUTE, HOUR, DAY, WEEK = 1, 60, 1_440, 10_080
STEP_SECONDS = 30
A_MINUTE = 60 // STEP_SECONDS
# Records a minute, unless a pattern says otherwise.
RATE = 600.0
STATUSES = (
    contract.OK,
    contract.WARN,
    contract.STOP,
    contract.STALL,
    contract.REWIND,
    contract.ERR,
)
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Track:
    """A partition's log end and a group's commit by step; `owned`: a member owns the partition."""

    end: Ints
    committed: Ints
    owned: Mask

    @property
    def runs(self) -> int:
        """Number of runs, a minute apart, that see it."""
        return len(self.end) // A_MINUTE

    def at_runs(self) -> Ints:
        """Returns the step of each run."""
        return np.arange(self.runs) * A_MINUTE

    def ages(self) -> Floats:
        """Returns seconds since the log passed each run's commit; 0 with nothing unread."""
        at = self.at_runs()
        appended = np.searchsorted(self.end, self.committed[at], side="right")
        ages: Floats = np.maximum(at - appended, 0) * float(STEP_SECONDS)
        return ages

    def moves(self) -> Mask:
        """Returns which runs see another commit than the run before."""
        committed = self.committed[self.at_runs()]
        return np.diff(committed, prepend=committed[0]) > 0

    def dead_from(self, minute: int) -> Track:
        """Returns the same without a commit after this minute."""
        dead = np.minimum(self.committed, self.committed[minute * A_MINUTE])
        return Track(self.end, dead, self.owned)

    def cut(self, minutes: int) -> Track:
        """Returns its first minutes."""
        steps = minutes * A_MINUTE
        return Track(self.end[:steps], self.committed[:steps], self.owned[:steps])


@dataclass(frozen=True, slots=True)
class Outage:
    """Minutes in which the group does not work."""

    since: int
    until: int


def minutes_of(days: int) -> Ints:
    """Returns the minute of each step."""
    return np.arange(days * DAY * A_MINUTE) // A_MINUTE


def produced(rng: np.random.Generator, days: int, rates: Floats | float = RATE) -> Ints:
    """Returns the end of a log to which so many records a minute come at random."""
    steps = days * DAY * A_MINUTE
    end: Ints = rng.poisson(np.broadcast_to(np.asarray(rates) / A_MINUTE, steps)).cumsum()
    return end


def random_bursts(rng: Generator, days: int, share: float, every: float) -> Ints:
    """Returns the end of a log to which bursts come at random, each written within a minute.

    Sizes are exponential; a consumer that reads RATE needs this share of its time for them.
    """
    steps = days * DAY * A_MINUTE
    starts = np.cumsum(rng.exponential(every * A_MINUTE, int(2 * steps / every))).astype(np.int64)
    starts = starts[starts < steps - A_MINUTE]
    sizes = rng.exponential(share * every * RATE, len(starts))
    rate = np.zeros(steps)
    for shift in range(A_MINUTE):
        np.add.at(rate, starts + shift, sizes / A_MINUTE)
    end: Ints = np.floor(rate.cumsum()).astype(np.int64)
    return end


def even(days: int, rates: Floats | float = RATE) -> Ints:
    """Returns the end of a log to which records come evenly."""
    steps = days * DAY * A_MINUTE
    written = np.broadcast_to(np.asarray(rates) / A_MINUTE, steps).cumsum()
    end: Ints = np.floor(written).astype(np.int64)
    return end


def served(end: Ints, capacity: Floats) -> Ints:
    """Returns commits of a consumer that reads so many records a minute while it is behind."""
    most = np.cumsum(capacity / A_MINUTE)
    backlog = np.minimum.accumulate(np.minimum(end, end - most + capacity / A_MINUTE))
    read = np.floor(np.minimum(most + np.minimum(backlog, 0), end))
    committed: Ints = np.maximum(read, 0).astype(np.int64)
    return committed


def delayed(committed: Ints, steps: int = 1) -> Ints:
    """Returns the same commits, so many steps later."""
    return np.concatenate([np.zeros(steps, np.int64), committed[:-steps]])


def jobs(end: Ints, starts: Ints, works: Ints) -> Ints:
    """Returns commits of a job that reads at each start, in minutes, what is there by then.

    It works for so many minutes at an even speed; 0: at once.
    """
    times, values, read = [0], [0], 0
    for start, work in zip(starts.tolist(), works.tolist(), strict=True):
        begin = start * A_MINUTE
        if begin >= len(end) or begin <= times[-1]:
            continue
        target = int(end[begin])
        times += [begin, max(begin + 1, (start + work) * A_MINUTE)]
        values += [read, target]
        read = target
    return np.floor(np.interp(np.arange(len(end)), times, values)).astype(np.int64)


def idle(minutes: Ints, outages: Iterable[Outage]) -> Mask:
    """Returns which steps are within an outage."""
    mask = np.zeros(len(minutes), bool)
    for outage in outages:
        mask |= (minutes >= outage.since) & (minutes < outage.until)
    return mask


@dataclass(frozen=True, slots=True)
class Statuses:
    """Statuses of partitions and held statuses of their groups: a row a run, a column a track.

    They are places in STATUSES, -1 for none.
    """

    status: Codes
    held: Codes


class Tracks:
    """Tracks as partitions of one topic, each read by its own group."""

    def __init__(self, tracks: Sequence[Track]) -> None:
        self._tracks, self._run = tracks, -1
        self._names = tuple(f"n{number:03}" for number in range(len(tracks)))
        at = tracks[0].at_runs()
        self._end, self._committed, self._owned = (
            np.stack([getattr(track, name)[at] for track in tracks], axis=1)
            for name in ("end", "committed", "owned")
        )

    def layout(self) -> Layout:
        """Returns the rows of all readings."""
        each = np.arange(len(self._names))
        return Layout(("orders",), np.zeros_like(each), each, self._names, each, each)

    def live_a_minute(self) -> None:
        """Goes to the next run."""
        self._run += 1

    def sight(self) -> Sight:
        """Returns what the run sees."""
        owned = self._owned[self._run]
        return Sight(
            end=self._end[self._run],
            leader=np.arange(len(owned)),
            committed=self._committed[self._run],
            owner=np.where(owned, np.arange(len(owned)), -1),
            members=self._names,
            counts=np.ones(len(owned), np.int64),
        )


def evaluate_tracks(
    tracks: Sequence[Track],
    progress: Callable[[int], None] = lambda _: None,
    look_ups: int = 0,
) -> Statuses:
    """Returns what the collector says of tracks of one length; `progress` is called each day.

    Each run may send `look_ups`. With none, ages come from the log ends of earlier runs, which
    takes half the time.
    """
    runs = tracks[0].runs
    index = TimeIndex([track.end for track in tracks], FIRST, STEP_SECONDS * 1_000)
    status, held = (np.full((runs, len(tracks)), UNKNOWN, np.int8) for _ in range(2))
    rules = Rules(lookup_budget=look_ups)
    for number, report in enumerate(run(Tracks(tracks), runs, rules, FIRST, index)):
        status[number] = _codes(report.snapshot.group_partitions, "status")
        held[number] = _codes(report.snapshot.groups, "held_status")
        index.now = (number + 1) * A_MINUTE
        if number % DAY == DAY - 1:
            progress(number + 1)
    return Statuses(status, held)


def _codes(frame: Frame, name: str) -> Codes:
    """Returns codes in the order of the names, which is that of the tracks."""
    codes = frame.strings(name).codes_in(STATUSES)
    order = np.argsort(np.array(frame.strings("consumer_group").to_list()))
    return np.where(codes.known, codes.values, UNKNOWN)[order].astype(np.int8)
