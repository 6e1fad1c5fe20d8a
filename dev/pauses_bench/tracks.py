# SPDX-License-Identifier: Apache-2.0
"""One partition over days: its log's end, its commits and the true age, at a run a minute."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]

MINUTE, HOUR, DAY, WEEK = 1, 60, 1_440, 10_080
STEP_SECONDS = 30
A_MINUTE = 60 // STEP_SECONDS
# Records a minute, unless a pattern says otherwise.
RATE = 600.0


@dataclass(frozen=True, slots=True)
class Track:
    """Offsets step by step; `owned` is false where no member owns the partition."""

    end: Ints
    committed: Ints
    owned: Mask

    @property
    def runs(self) -> int:
        """How many runs, a minute apart, see it."""
        return len(self.end) // A_MINUTE

    def at_runs(self) -> Ints:
        """The step of each run."""
        return np.arange(self.runs) * A_MINUTE

    def ages(self) -> Floats:
        """Seconds since the log first reached past each run's commit; 0 with nothing unread."""
        at = self.at_runs()
        appended = np.searchsorted(self.end, self.committed[at], side="right")
        ages: Floats = np.maximum(at - appended, 0) * float(STEP_SECONDS)
        return ages

    def moves(self) -> Mask:
        """Runs that see another commit than the run before."""
        committed = self.committed[self.at_runs()]
        return np.diff(committed, prepend=committed[0]) > 0

    def dead_from(self, minute: int) -> Track:
        """The same until then, and no commit after."""
        dead = np.minimum(self.committed, self.committed[minute * A_MINUTE])
        return Track(self.end, dead, self.owned)

    def cut(self, minutes: int) -> Track:
        """Its first minutes."""
        steps = minutes * A_MINUTE
        return Track(self.end[:steps], self.committed[:steps], self.owned[:steps])


@dataclass(frozen=True, slots=True)
class Outage:
    """Minutes in which nothing works; `again` says that a job begins anew as soon as it is over."""

    since: int
    until: int
    again: bool = False


def minutes_of(days: int) -> Ints:
    """The minute of each step."""
    return np.arange(days * DAY * A_MINUTE) // A_MINUTE


def produced(rng: np.random.Generator, days: int, rates: Floats | float = RATE) -> Ints:
    """The log's end where so many records a minute come at random."""
    steps = days * DAY * A_MINUTE
    end: Ints = rng.poisson(np.broadcast_to(np.asarray(rates) / A_MINUTE, steps)).cumsum()
    return end


def even(days: int, rates: Floats | float = RATE) -> Ints:
    """The log's end where records come as regularly as whole ones can."""
    steps = days * DAY * A_MINUTE
    written = np.broadcast_to(np.asarray(rates) / A_MINUTE, steps).cumsum()
    end: Ints = np.floor(written).astype(np.int64)
    return end


def served(end: Ints, capacity: Floats) -> Ints:
    """Commits of a consumer of so many records a minute, step by step, whenever it is behind."""
    most = np.cumsum(capacity / A_MINUTE)
    backlog = np.minimum.accumulate(np.minimum(end, end - most + capacity / A_MINUTE))
    read = np.floor(np.minimum(most + np.minimum(backlog, 0), end))
    committed: Ints = np.maximum(read, 0).astype(np.int64)
    return committed


def delayed(committed: Ints, steps: int = 1) -> Ints:
    """The same commits, so many steps later."""
    return np.concatenate([np.zeros(steps, np.int64), committed[:-steps]])


def jobs(end: Ints, starts: Ints, works: Ints, outages: Iterable[Outage] = ()) -> Ints:
    """Commits of a job that reads at each start, given in minutes, what is there by then.

    It works for so many minutes at an even speed, 0: at once. An outage ends what it cuts.
    """
    times, values, read = [0], [0], 0
    for start, work in _without(starts, works, list(outages)):
        begin = start * A_MINUTE
        if begin >= len(end) or begin <= times[-1]:
            continue
        cut = next((o.since for o in outages if start < o.since < start + work), start + work)
        share = (cut - start) / work if work else 1.0
        target = read + int((int(end[begin]) - read) * share)
        times += [begin, max(begin + 1, cut * A_MINUTE)]
        values += [read, target]
        read = target
    return np.floor(np.interp(np.arange(len(end)), times, values)).astype(np.int64)


def _without(starts: Ints, works: Ints, outages: list[Outage]) -> list[tuple[int, int]]:
    """Starts that no outage prevents, and those that come as soon as one is over."""
    kept = [
        (int(start), int(work))
        for start, work in zip(starts, works, strict=True)
        if not any(o.since <= start < o.until for o in outages)
    ]
    usual = int(works[0]) if len(works) else 0
    return sorted(kept + [(o.until, usual) for o in outages if o.again])


def idle(minutes: Ints, outages: Iterable[Outage]) -> Mask:
    """Steps within an outage."""
    mask = np.zeros(len(minutes), bool)
    for outage in outages:
        mask |= (minutes >= outage.since) & (minutes < outage.until)
    return mask
