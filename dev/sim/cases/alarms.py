# SPDX-License-Identifier: Apache-2.0
"""Forty days of groups with incidents whose minutes are known, for the alarms that page.

Some groups are steady. Others rest at weekends and on holidays, are deployed, are written in
batches, or are late at the busiest hour. A `World` in steps of ten seconds would take hours for
them, so each group reads one partition, whose log and commits are computed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from dev.sim.reading import Floats, Ints, Mask

Generator: TypeAlias = np.random.Generator

DAYS, GROUPS, DAY = 40, 20, 1_440
MINUTES = DAYS * DAY
STEP_SECONDS = 30
A_MINUTE = 60 // STEP_SECONDS
_HOLIDAYS = (16, 34)
# The share of weekdays with a deployment.
_DEPLOYED_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Track:
    """What each run sees of a group, a minute apart: the age, unread records, a moved commit."""

    ages: Floats
    lags: Ints
    moves: Mask


def make_track(rng: Generator, written: Floats, capacity: Floats) -> Track:
    """Returns a track by records that are written and read in each minute.

    The reader reads as fast as it can while it is behind, and commits a step later.
    """
    rates, most = np.repeat(written, A_MINUTE) / A_MINUTE, np.repeat(capacity, A_MINUTE) / A_MINUTE
    end: Ints = rng.poisson(rates).cumsum()
    could = np.cumsum(most)
    backlog = np.minimum.accumulate(np.minimum(end, end - could + most))
    read = np.floor(np.minimum(could + np.minimum(backlog, 0), end)).clip(0).astype(np.int64)
    at = np.arange(len(written)) * A_MINUTE
    committed = np.concatenate([np.zeros(1, np.int64), read[:-1]])[at]
    appended = np.searchsorted(end, committed, side="right")
    ages = np.maximum(at - appended, 0) * float(STEP_SECONDS)
    return Track(ages, end[at] - committed, np.diff(committed, prepend=committed[0]) > 0)


@dataclass(frozen=True, slots=True)
class Incident:
    """Minutes in which a group is in trouble; `over` is when it has worked off what that left."""

    group: str
    what: str
    begin: int
    end: int
    over: int


# Records a minute that are written, and that could be read; 0 where nobody reads.
Load: TypeAlias = tuple[Floats, Floats]


def plant(seed: int) -> tuple[dict[str, Track], list[Incident]]:
    """Returns groups by name, and their incidents."""
    rng = np.random.default_rng(seed)
    tracks: dict[str, Track] = {}
    incidents: list[Incident] = []
    for number in range(GROUPS):
        kind = _KINDS[number % len(_KINDS)]
        name = f"{kind.__name__[1:]}-{number // len(_KINDS)}"
        written, capacity = kind(rng)
        own = list(_plant_incidents(rng, name, written, capacity))
        tracks[name] = make_track(rng, written, capacity)
        ages = tracks[name].ages
        incidents += [replace(each, over=_find_over(ages, each.end)) for each in own]
    return tracks, incidents


def _find_over(ages: Floats, end: int) -> int:
    """Returns when the group is as young again as it is half of the time."""
    young = np.flatnonzero(ages[end:] <= 60 + float(np.median(ages)))
    return end + (int(young[0]) if len(young) else MINUTES)


def _plant_incidents(
    rng: Generator, name: str, written: Floats, capacity: Floats
) -> Iterator[Incident]:
    """Yields two a month or so, each of its own kind, which change the capacity."""
    day = int(rng.integers(2, 14))
    while day < DAYS:
        begin = day * DAY + int(rng.integers(0, DAY))
        what, end = str(rng.choice(["stopped", "slow"])), begin + int(rng.integers(40, 180))
        # A group that is slow reads a third of the present produce rate.
        slow = 0.35 * written[begin : begin + 120].mean()
        capacity[begin:end] = slow if what == "slow" else 0.0
        if end < MINUTES:
            yield Incident(name, what, begin, end, end)
        day += int(rng.integers(11, 19))


def _noise(rng: Generator, spread: float) -> Floats:
    found: Floats = np.exp(rng.normal(0, spread, MINUTES))
    return found


def _with_capacity(written: Floats, spare: float) -> Load:
    return written, np.full(MINUTES, float(np.quantile(written, 0.99)) * spare)


def _is_weekend() -> Mask:
    """Returns the minutes of weekends; the first day is a Sunday."""
    return np.isin(np.arange(MINUTES) // DAY % 7, (0, 6))


def _wave(begin: float, hours: float) -> Floats:
    """Returns what rises and falls from an hour of the day on, in half a sine; else 0."""
    found: Floats = np.clip(np.sin((np.arange(MINUTES) / 60 % 24 - begin) / hours * np.pi), 0, None)
    return found


def _steady(rng: Generator) -> Load:
    return _with_capacity(600 * _noise(rng, 0.1), 1.5)


def _office(rng: Generator) -> Load:
    """Returns a load that is busy by day, calm at weekends and on holidays, with some rushes."""
    rests = _is_weekend() | np.isin(np.arange(MINUTES) // DAY, _HOLIDAYS)
    written = 900 * np.where(rests, 0.08, 0.1 + _wave(6, 12)) * _noise(rng, 0.15)
    for first in rng.integers(0, MINUTES, 12):
        written[first : first + 5] *= rng.uniform(2, 3)
    return _with_capacity(written, 1.1)


def _deployed(rng: Generator) -> Load:
    """Returns a load with a deploy on most weekdays, in which no member reads for some minutes."""
    written, capacity = _with_capacity(600 * _noise(rng, 0.1), 1.6)
    for day in np.flatnonzero(~_is_weekend()[::DAY]):
        if rng.random() < _DEPLOYED_SHARE:
            first = day * DAY + int(rng.integers(9 * 60, 17 * 60))
            capacity[first : first + rng.integers(2, 7)] = 0.0
    return written, capacity


def _batches(rng: Generator) -> Load:
    """Returns a load with a large batch each night, which takes a while to read."""
    written, hour = 60 * _noise(rng, 0.1), int(rng.integers(0, 5))
    for day in range(DAYS):
        first = day * DAY + hour * 60 + int(rng.integers(0, 10))
        written[first : first + 5] += rng.uniform(2_500, 4_000)
    return written, np.full(MINUTES, 900.0)


def _late(rng: Generator) -> Load:
    """Returns a load whose hot partition gets more at the busiest hour than its member can read."""
    written = 264 * (0.4 + 0.6 * _wave(8, 10)) * _noise(rng, 0.1)
    return written, np.full(MINUTES, float(np.quantile(written, 0.99)) * 0.9)


_KINDS: tuple[Callable[[Generator], Load], ...] = (_steady, _office, _deployed, _batches, _late)
