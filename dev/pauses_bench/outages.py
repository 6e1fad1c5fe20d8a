# SPDX-License-Identifier: Apache-2.0
"""A: groups that fail now and then and are stuck in the end, thousands at once.

Steady, in micro-batches, bursty or with quiet nights; seen from the start or for a week; one to
four outages of 5 minutes to 12 hours; stuck for good an hour after the last one or some days.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dev.pauses_bench.tracks import DAY, HOUR, Floats, Ints, Mask
from dev.pauses_bench.watch import Watch

CASES = 1_000  # of one seed
OUTAGES = 4
_SPEED = 3.0  # of a group that works off what an outage left, against its producers
_LONGEST = 30 * HOUR
# Minutes between two outages, at least: some alike within hours of one another are a rhythm, and
# no rule can tell them from a job's.
_APART = 3 * HOUR
_HALF = 0.5
_LATE_RUNS = 2
_EVERY_THIRD = 3

# Minutes between two commits, between two beginnings of production, and for how long it lasts;
# every third kind is held out: no parameter was chosen by it.
KINDS = {
    "steady": (1, DAY, DAY),
    "micro-batch": (5, DAY, DAY),
    "micro-batch of 8 minutes": (8, DAY, DAY),
    "bursty": (1, 3 * HOUR, 20),
    "diurnal": (1, DAY, 15 * HOUR),
    "sparse": (1, 47, 1),
}


def is_held_out(number: int) -> bool:
    """Every third seed, and every third pattern of a list, is left for the end."""
    return number % _EVERY_THIRD == _EVERY_THIRD - 1


@dataclass(frozen=True, slots=True)
class Cases:
    """Minutes, a row a case; `since` and `until` have a column an outage, the last is for good."""

    kind: Ints
    every: Floats
    cycle: Floats
    lasting: Floats
    since: Floats
    until: Floats

    @property
    def incident(self) -> Floats:
        """When each is stuck for good."""
        last: Floats = self.since[:, -1]
        return last


@dataclass(frozen=True, slots=True)
class Late:
    """Runs by which each case was reported later than by a judge without excuses."""

    kind: Ints
    runs: Floats

    @property
    def late(self) -> Mask:
        """More than two runs."""
        mask: Mask = self.runs > _LATE_RUNS
        return mask


def cases(
    seed: int,
    count: int = CASES,
    *,
    held_out: bool = False,
    longest: int = 3 * DAY,
    history: int = 7 * DAY,
) -> Cases:
    """Cases of one seed, of the kinds that are held out or of the others.

    `longest`: minutes from one outage to the next, at most. Half of the cases were seen for
    `history` minutes before.
    """
    rng = np.random.default_rng(seed)
    kinds = [k for k in range(len(KINDS)) if is_held_out(k) == held_out]
    kind = rng.choice(kinds, count)
    shape = np.array(list(KINDS.values()), np.float64)[kind]
    cold = rng.random(count) < _HALF
    time = np.where(
        cold,
        rng.integers(15, 180, count),
        history + rng.integers(0, DAY, count),
    )
    number = rng.integers(1, OUTAGES + 1, count)
    since, until = np.full((count, OUTAGES + 1), np.inf), np.full((count, OUTAGES + 1), np.inf)
    for outage in range(OUTAGES):
        has = outage < number
        length = np.rint(np.exp(rng.uniform(np.log(5), np.log(12 * HOUR), count)))
        since[:, outage] = np.where(has, time, np.inf)
        until[:, outage] = np.where(has, time + length, np.inf)
        gap = np.rint(np.exp(rng.uniform(np.log(_APART), np.log(longest), count)))
        soon = (outage == number - 1) & (rng.random(count) < _HALF)
        time = np.where(has, time + length + np.where(soon, HOUR, gap), time)
    since[:, -1] = time
    return Cases(kind, shape[:, 0], shape[:, 1], shape[:, 2], since, until)


def judged(some: Cases) -> Late:
    """Runs until each is reported for good, later than without excuses."""
    rows = len(some.kind)
    watch, position = Watch(rows), np.zeros(rows)
    plain, told = np.full(rows, np.inf), np.full(rows, np.inf)
    for minute in range(1, int(some.incident.max()) + _LONGEST):
        written = _written(some, minute)
        before, position = position, _read_on(some, position, written, minute)
        age = _age(some, position, written, minute)
        reported = watch.run(minute * 60.0, position > before, age)
        after = minute >= some.incident
        plain = np.where(after & watch.plain(minute * 60.0, age), np.minimum(plain, minute), plain)
        told = np.where(after & reported, np.minimum(told, minute), told)
    return Late(some.kind, told - plain)


def _written(some: Cases, minute: int) -> Floats:
    """Minutes of production until now."""
    whole, rest = np.divmod(float(minute), some.cycle)
    written: Floats = whole * some.lasting + np.minimum(rest, some.lasting)
    return written


def _read_on(some: Cases, position: Floats, written: Floats, minute: int) -> Floats:
    """Minutes of production that each has committed."""
    out = ((some.since <= minute) & (minute < some.until)).any(axis=1)
    due = (minute % some.every == 0) & ~out
    read: Floats = np.where(due, np.minimum(position + _SPEED * some.every, written), position)
    return read


def _age(some: Cases, position: Floats, written: Floats, minute: int) -> Floats:
    """Seconds since the first record that is not committed; 0 where there is none."""
    whole, rest = np.divmod(position, some.lasting)
    age: Floats = np.where(position < written, (minute - whole * some.cycle - rest) * 60.0, 0.0)
    return age
