# SPDX-License-Identifier: Apache-2.0
"""Logs of days whose records have given times, with commits at which dating is likeliest to err.

They have silence, bursts, thousands of records of one millisecond, late data, wrong clocks,
compaction, markers and deleted heads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from dev.sim.reading import Ints
from dev.sim.records import Log

Random: TypeAlias = np.random.Generator
# Returns the times of records; the last ones are about as old as the given moment.
Times: TypeAlias = Callable[[Random, int], Ints]
Logs: TypeAlias = Callable[[Random, int], Sequence[Log]]

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


@dataclass(frozen=True, slots=True)
class Case:
    """Topics of the same kind that end at a moment, each with `groups` that read it.

    `aged`: the next records of the groups came so long before the last one, in ms. `overtaken`:
    half of the commits are below the log's start.
    """

    name: str
    draw: Logs
    topics: int = 1
    groups: int = 16
    aged: tuple[int, int] | None = None
    overtaken: bool = False
    allowed_lag: int = 0
    compacted: bool = False

    def draw_commits(self, rng: Random, log: Log) -> Ints:
        """Draws the commit of each group: a third where methods break, others by chance."""
        if self.aged is not None:
            age = log.came[-1] - log.came
            return rng.choice(
                np.flatnonzero((age >= self.aged[0]) & (age <= self.aged[1])), self.groups
            )
        lost = rng.integers(0, max(1, log.start), self.groups // 2 if self.overtaken else 0)
        edges = rng.permutation(_find_edges(log))[: self.groups // 3]
        count = self.groups - len(lost) - len(edges)
        chance = rng.integers(log.start, len(log.times), count)
        return rng.permutation(np.concatenate([lost, edges, chance]))


def _find_edges(log: Log) -> Ints:
    """Returns offsets where a search, or a line through the data, is likeliest to err.

    The first and the last; both sides of the longest silence; within the longest run of one time;
    behind the newest time; within the widest gap without records.
    """
    living, times = log.living, log.times[log.living]
    last = len(living) - 1
    edges = [living[0], living[last], living[min(int(times.argmax()) + 1, last)]]
    if last:
        silence, gap = int(np.diff(times).argmax()), int(np.diff(living).argmax())
        begins = np.flatnonzero(np.append(True, np.diff(times) != 0))
        lengths = np.diff(np.append(begins, len(times)))
        longest = int(lengths.argmax())
        edges += [living[silence], living[silence + 1], (living[gap] + living[gap + 1]) // 2]
        edges += [living[begins[longest] + lengths[longest] // 2]]
    return np.unique(np.array(edges, np.int64))


def steady(rng: Random, now: int, count: int = 4_000, every: int = MINUTE) -> Ints:
    """Draws a record after each step, up to a quarter of it early or late."""
    step = max(1, every // 4)
    return now - every * np.arange(count, 0, -1) + rng.integers(-step, step, count)


def by_chance(rng: Random, now: int, count: int = 3_000, span: int = 3 * DAY) -> Ints:
    """Draws records as customers come, without a step."""
    return np.sort(now - rng.integers(0, span, count))


def bursty(rng: Random, now: int, bursts: int = 24, size: int = 150) -> Ints:
    """Draws a minute of records, then two to nine hours of silence, and so on."""
    begins = now - np.cumsum(rng.integers(2 * HOUR, 9 * HOUR, bursts))
    return np.sort((begins[:, None] + rng.integers(0, MINUTE, (bursts, size))).ravel())


def at_once(rng: Random, now: int, runs: int = 3, size: int = 2_500) -> Ints:
    """Draws thousands of records of one millisecond, and a few alone around them."""
    return np.sort(np.append(np.repeat(by_chance(rng, now, runs), size), by_chance(rng, now, 40)))


def one_batch(rng: Random, now: int) -> Ints:
    """Draws a log that is one batch."""
    return np.full(1_000, now - int(rng.integers(HOUR, DAY)))


def late(rng: Random, now: int) -> Ints:
    """Draws records; every tenth comes up to six hours after its time."""
    times = steady(rng, now)
    some = rng.choice(len(times), len(times) // 10, replace=False)
    times[some] -= rng.integers(0, 6 * HOUR, len(some))
    return times


def back_filled(rng: Random, now: int) -> Ints:
    """Draws a thousand records that are days older than those around them."""
    times = steady(rng, now)
    middle = len(times) // 2
    return np.insert(times, middle, times[middle] - 2 * DAY + np.arange(1_000) * 1_000)


def back_filled_last(rng: Random, now: int) -> Ints:
    """Draws a third that is new, and then two thirds that are older."""
    return np.append(steady(rng, now - HOUR, 1_000), steady(rng, now - 3 * DAY, 2_000))


def falling(rng: Random, now: int) -> Ints:
    """Draws the newest record first."""
    return steady(rng, now, count=1_000)[::-1].copy()


def _ahead(rng: Random, now: int) -> Log:
    """Draws a few records, one of them minutes ago, by a clock that is half an hour ahead."""
    log = Log.of(steady(rng, now))
    times, count = log.times.copy(), len(log.times)
    times[np.append(rng.choice(count, count // 500), -10)] += HOUR // 2
    return replace(log, times=times)


def _ahead_at_first(rng: Random, now: int) -> Log:
    """Draws a first third in which a clock was a day ahead now and then."""
    log = Log.of(steady(rng, now))
    times, third = log.times.copy(), len(log.times) // 3
    times[rng.choice(third, third // 20)] += DAY
    return replace(log, times=times)


def _years_ahead(rng: Random, now: int) -> Log:
    """Draws one record in the middle that is dated two years ahead."""
    log = Log.of(steady(rng, now))
    times = log.times.copy()
    times[len(times) // 2] += 730 * DAY
    return replace(log, times=times)


def _each(*makers: Callable[[Random, int], Ints | Log]) -> Logs:
    def draw(rng: Random, now: int) -> list[Log]:
        made = [make(rng, now) for make in makers]
        return [each if isinstance(each, Log) else Log.of(each) for each in made]

    return draw


# About six hours of steady records.
_SEGMENT = 360


def _compact(logs: Logs, rng: Random, now: int) -> list[Log]:
    """Keeps a fifth, none of the middle, and all of the last segment."""
    found = []
    for log in logs(rng, now):
        count = len(log.times)
        gone = np.ones(count, bool)
        gone[rng.choice(count, count // 5)] = False
        gone[count * 2 // 5 : count * 3 // 5] = True
        gone[count // _SEGMENT * _SEGMENT :] = False
        found.append(replace(log, gone=gone, segment=_SEGMENT))
    return found


def _delete(share: float, logs: Logs, rng: Random, now: int) -> list[Log]:
    """Deletes the first records."""
    return [
        replace(log, start=int(share * len(log.times)), segment=_SEGMENT) for log in logs(rng, now)
    ]


def _in_transactions(rng: Random, now: int) -> Log:
    """Draws seconds of short transactions that each end with a marker."""
    times = by_chance(rng, now, 250, 12_000)
    log = Log.of(times)
    log.gone[np.append(rng.choice(len(times), len(times) // 5), -1)] = True
    return log


def _single(rng: Random, now: int) -> list[Log]:
    """Draws partitions to which one record was ever written."""
    return [Log.of(np.array([now - int(10**power)])) for power in rng.uniform(3, 8.6, 8)]


def _regular(rng: Random, now: int) -> Ints:
    return steady(rng, now, _COUNT, int(rng.integers(100, 10 * MINUTE)))


def _idle(rng: Random, now: int) -> Ints:
    return _regular(rng, now - int(rng.integers(HOUR, 4 * DAY)))


def _busy(rng: Random, now: int) -> Ints:
    return by_chance(rng, now, 4 * _COUNT, int(rng.integers(HOUR, 6 * DAY)))


def _sparse(rng: Random, now: int) -> Ints:
    return by_chance(rng, now, _COUNT, int(rng.integers(HOUR, 6 * DAY)))


def _sparse_late(rng: Random, now: int) -> Ints:
    return _sparse(rng, now) - rng.integers(0, HOUR, _COUNT)


_COUNT = 300
# Kinds of logs by how often they are drawn.
_MIXED: tuple[tuple[int, Times], ...] = (
    (5, _regular),
    (4, _idle),
    (5, _busy),
    (2, _sparse),
    (2, partial(bursty, bursts=6, size=_COUNT // 6)),
    (1, _sparse_late),
    (1, partial(at_once, runs=2, size=_COUNT // 2)),
)


def _mixed(rng: Random, now: int) -> list[Log]:
    weights = np.array([weight for weight, _ in _MIXED])
    picked = rng.choice(len(_MIXED), 13, p=weights / weights.sum())
    return [Log.of(_MIXED[place][1](rng, now)) for place in picked]


_SHAPES = _each(steady, by_chance, bursty, late)
_A_WEEK = partial(steady, count=5_000, every=2 * MINUTE)
WIDE, MOVING = "wide", "moving"
CASES = (
    Case(
        "stuck",
        _each(_A_WEEK, _A_WEEK, partial(by_chance, span=7 * DAY)),
        aged=(5 * DAY, 5 * DAY + 2 * HOUR),
    ),
    Case("one-record", _single, groups=6),
    Case("one-millisecond", _each(*[at_once] * 3)),
    Case("backwards", _each(late, back_filled, falling)),
    Case("ahead", _each(_ahead, _ahead, _ahead_at_first, _years_ahead)),
    Case("transactions", _each(*[_in_transactions] * 3), allowed_lag=1),
    Case("compacted", partial(_compact, _SHAPES), compacted=True),
    Case(
        "deleted-head",
        partial(_delete, 0.3, _each(steady, bursty, _ahead_at_first, back_filled_last)),
    ),
    # Brokers name the first record of the newest time, though it is deleted.
    Case("deleted-batch", partial(_delete, 0.4, _each(*[one_batch] * 3))),
    Case(
        "overtaken",
        partial(_delete, 0.5, _each(steady, by_chance, _ahead_at_first)),
        overtaken=True,
    ),
    Case(
        MOVING,
        _each(*[partial(steady, count=9_000, every=100)] * 4),
        aged=(MINUTE, 4 * MINUTE),
    ),
    Case(WIDE, _mixed, topics=80, groups=2),
)
