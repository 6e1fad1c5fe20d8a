# SPDX-License-Identifier: Apache-2.0
"""B, C, D and F: what the rule alone makes of groups that pause by design, many seeds at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dev.pauses_bench.batch import DAYS, Batch, quiet_from, steady
from dev.pauses_bench.tracks import DAY, HOUR, Floats, Mask, Outage, Track
from dev.pauses_bench.watch import Held, Watch

_GAPS, _HALF = 12, 0.5


@dataclass(frozen=True, slots=True)
class Film:
    """Tracks as runs see them: a row a run, a column a track."""

    moves: Mask
    ages: Floats

    @classmethod
    def of(cls, tracks: Sequence[Track]) -> Film:
        """Tracks of one length."""
        moves = np.stack([track.moves() for track in tracks], axis=1)
        return cls(moves, np.stack([track.ages().astype(np.float32) for track in tracks], axis=1))

    @property
    def columns(self) -> int:
        """How many tracks."""
        return int(self.moves.shape[1])


@dataclass(frozen=True, slots=True)
class Seen:
    """Held changes by track, as runs; and the pauses known in the end."""

    changes: tuple[tuple[int, ...], ...]
    known: Mask


def seen(film: Film, read: Mask | None = None) -> Seen:
    """Held changes of each track; `read` has a column a track as well."""
    watch, held = Watch(film.columns), Held(film.columns)
    changes: list[list[int]] = [[] for _ in range(film.columns)]
    moved = np.zeros(film.columns, bool)
    for run, (moves, ages) in enumerate(zip(film.moves, film.ages, strict=True)):
        now = None if read is None else read[run]
        moved |= moves
        bad = watch.run(run * 60.0, moved, ages.astype(np.float64), now)
        for column in np.flatnonzero(held.run(bad, now)):
            changes[column].append(run)
        moved &= False if now is None else ~now
    return Seen(tuple(map(tuple, changes)), watch.pauses.usual.known)


def calm(tracks: Sequence[tuple[Batch, Track]]) -> list[int]:
    """B: held changes of each track from when on none is due."""
    since = [0 if batch.most else quiet_from(batch, track) for batch, track in tracks]
    found = seen(Film.of([track for _, track in tracks]))
    return [
        sum(run >= first for run in runs) for runs, first in zip(found.changes, since, strict=True)
    ]


def added_by_gaps(tracks: Sequence[tuple[Batch, Track]], seeds: Sequence[int]) -> list[int]:
    """C: held changes that 12 gaps of 5 minutes to 8 hours in which no run is add to each track,
    once its pauses are known."""
    film = Film.of([track for _, track in tracks])
    since = [quiet_from(batch, track) for batch, track in tracks]
    read = np.stack(
        [_gaps(seed, first, len(film.moves)) for seed, first in zip(seeds, since, strict=True)],
        axis=1,
    )
    without, gaps = seen(film), seen(film, read)
    pairs = zip(gaps.changes, without.changes, strict=True)
    return [max(len(some) - len(others), 0) for some, others in pairs]


def steady_with_gaps(seeds: Sequence[int], days: int = 10) -> Mask:
    """C: steady groups that take gaps without runs for pauses."""
    tracks = [steady(days, ()) for _ in seeds]
    film = Film.of(tracks)
    read = np.stack([_gaps(seed, HOUR, len(film.moves)) for seed in seeds], axis=1)
    return seen(film, read).known


def _gaps(seed: int, first: int, runs: int) -> Mask:
    rng = np.random.default_rng([seed, 1])
    read = np.ones(runs, bool)
    for since in rng.integers(min(first, runs - 9 * HOUR), runs - 8 * HOUR, _GAPS):
        read[since : since + int(np.exp(rng.uniform(np.log(5), np.log(8 * HOUR))))] = False
    return read


def unreported(cases: Sequence[tuple[Batch, int]], days: int, *, outages: bool) -> Floats:
    """D, and F after outages: for how many of its periods each dead job goes unreported.

    A case is a batch and a seed; `days` must hold its death and four periods more.
    """
    tracks, died = [], []
    for batch, seed in cases:
        rng = np.random.default_rng([seed, 2])
        learnt = 5 * batch.period + batch.weekends * batch.period
        failed = _failures(rng, learnt) if outages else []
        when = int((failed[-1].until if failed else learnt) + rng.uniform(HOUR, 2 * batch.period))
        tracks.append(batch.track(rng, days, failed).dead_from(when))
        died.append(when)
    film, told = Film.of(tracks), np.full(len(tracks), np.inf)
    watch, dead = Watch(film.columns), np.array(died)
    for run, (moves, ages) in enumerate(zip(film.moves, film.ages, strict=True)):
        bad = watch.run(run * 60.0, moves, ages.astype(np.float64))
        told = np.where((run >= dead) & bad, np.minimum(told, run), told)
    late: Floats = (told - dead) / np.array([batch.period for batch, _ in cases])
    return late


def _failures(rng: np.random.Generator, since: int) -> list[Outage]:
    """One to four outages of 1 to 12 h, some days apart at most."""
    found: list[Outage] = []
    for _ in range(int(rng.integers(1, 5))):
        start = since + int(rng.uniform(HOUR, 3 * DAY))
        since = start + int(np.exp(rng.uniform(np.log(HOUR), np.log(12 * HOUR))))
        found.append(Outage(start, since, again=bool(rng.random() < _HALF)))
    return found


def track_of(batch: Batch, seed: int, days: int = DAYS) -> Track:
    """What a seed makes of it."""
    return batch.track(np.random.default_rng([seed, 0]), days, ())
