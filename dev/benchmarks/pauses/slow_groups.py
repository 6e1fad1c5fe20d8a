# SPDX-License-Identifier: Apache-2.0
"""Groups that read less than is written, however often they commit and however few look-ups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dev.benchmarks.pauses.tracks import (
    A_MINUTE,
    DAY,
    RATE,
    Floats,
    Generator,
    Ints,
    Track,
    delayed,
    produced,
    served,
)
from dev.benchmarks.pauses.whole_runs import is_held_out

# Runs within which it is to be reported that a group reads this share of what is written.
SOON: Mapping[str, tuple[float, int]] = {
    "a twelfth": (1 / 12, 15),
    "half": (0.5, 25),
    "four fifths": (0.8, 60),
    "nine tenths": (0.9, 120),
}
# Minutes between two commits, at least and at most.
COMMITS: Mapping[str, tuple[float, float]] = {
    "every 15 s": (0.25, 0.25),
    "every minute": (1, 1),
    "every 2 minutes": (2, 2),
    "every 5 minutes": (5, 5),
    "every 8 minutes": (8, 8),
    "every 15 minutes": (15, 15),
    "every 50 s": (5 / 6, 5 / 6),
    "every 1 to 8 minutes": (1, 8),
    "every 1 to 3 minutes": (1, 3),
}
_PERIODS = 3


@dataclass(frozen=True, slots=True)
class SlowGroup:
    """A group that reads less than is written from run `since` on; due within `soon` runs."""

    name: str
    track: Track
    since: int
    soon: int
    held_out: bool


def slow_groups(runs: int, since: int, seed: int = 0) -> list[SlowGroup]:
    """Every share with every way to commit; every third is held out."""
    found: list[SlowGroup] = []
    for way, (commit, gaps) in enumerate(COMMITS.items()):
        for number, (share, (read, soon)) in enumerate(SOON.items()):
            rng = np.random.default_rng([seed, way, number])
            track = slow(rng, runs, since, read, gaps)
            due = soon + int(np.ceil(_PERIODS * gaps[1]))
            name = f"reads {share} of it, commits {commit}"
            found.append(SlowGroup(name, track, since, due, is_held_out(way + number)))
    return found


def slow(rng: Generator, runs: int, since: int, share: float, gaps: tuple[float, float]) -> Track:
    """Keeps up until a run, then reads a share of what is written, and commits now and then."""
    end = produced(rng, 1 + runs // DAY)[: runs * A_MINUTE]
    minutes = np.arange(len(end)) / A_MINUTE
    position = served(end, np.where(minutes >= since, RATE * share, 3 * RATE))
    return Track(end, delayed(committed_at(rng, position, gaps)), np.ones(len(end), bool))


def committed_at(rng: Generator, position: Ints, gaps: tuple[float, float]) -> Ints:
    """What is committed of a position, so many minutes apart."""
    least, most = gaps
    length = len(position)
    times: Floats = rng.uniform(least, most, int(length / A_MINUTE / least) + 2).cumsum()
    times = (times - rng.uniform(0, least)) * A_MINUTE
    steps = np.unique(np.maximum(times.astype(np.int64), 0))
    last = np.searchsorted(steps, np.arange(length), side="right") - 1
    committed: Ints = np.where(last >= 0, position[steps[np.maximum(last, 0)] % length], 0)
    return committed
