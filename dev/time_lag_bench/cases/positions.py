# SPDX-License-Identifier: Apache-2.0
"""Which offsets are committed: where methods break, then anywhere by chance."""

from __future__ import annotations

import numpy as np

from dev.time_lag_bench.logs import Ints, Log, append_moments

_EDGES_ARE = 3  # one of so many commits


def edges(log: Log) -> Ints:
    """Unread offsets where a search or a line through the data is likeliest to err.

    The first and the last; both sides of the longest silence; within the longest run of one
    time; behind the newest time; within the widest gap that deleted records or markers left.
    """
    newest = int(np.argmax(log.times))
    found = [log.offsets[0], log.end - 1, log.offsets[min(newest + 1, len(log.times) - 1)]]
    if len(log.offsets) > 1:
        silence = int(np.argmax(np.diff(log.times)))
        hole = int(np.argmax(np.diff(log.offsets)))
        found += [log.offsets[silence], log.offsets[silence + 1]]
        found += [(log.offsets[hole] + log.offsets[hole + 1]) // 2]
        found += [log.offsets[_within_longest_run(log.times)]]
    return np.unique(np.array(found, np.int64))


def chosen(
    log: Log,
    rng: np.random.Generator,
    count: int,
    *,
    below_start: bool = False,
    unread_since: tuple[int, int] | None = None,
) -> Ints:
    """So many commits: a third at edges, the rest by chance among the unread.

    With `below_start` half of them lie there. `unread_since` is an age at least and at most, ms,
    of the next unread record at the moment of the last append; no edges then.
    """
    if unread_since is not None:
        return _of_age(log, rng, count, unread_since)
    lost = rng.integers(0, max(1, log.start), count // 2 if below_start else 0)
    apart = rng.permutation(edges(log))[: count // _EDGES_ARE]
    by_chance = rng.integers(log.start, log.end, count - len(lost) - len(apart))
    return np.concatenate([lost, apart, by_chance])


def _of_age(log: Log, rng: np.random.Generator, count: int, ages: tuple[int, int]) -> Ints:
    came = append_moments(log, log.offsets)
    age = np.nanmax(came) - came
    return rng.choice(log.offsets[(age >= ages[0]) & (age <= ages[1])], count)


def _within_longest_run(times: Ints) -> int:
    """The middle of the longest run of equal times."""
    begins = np.flatnonzero(np.append(True, np.diff(times) != 0))
    lengths = np.diff(np.append(begins, len(times)))
    longest = int(np.argmax(lengths))
    return int(begins[longest] + lengths[longest] // 2)
