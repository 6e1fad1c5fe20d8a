# SPDX-License-Identifier: Apache-2.0
"""One partition as it really is, the truth about its unread records, and where commits lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Log:
    """Living records as a consumer reads them, and how the log grew.

    `offsets` rise and `times` (ms, the producers' clock) are theirs. `written` holds the offsets
    of all records ever written, deleted ones too, and `appended` when each came, never falling.
    """

    offsets: Ints
    times: Ints
    start: int
    end: int
    written: Ints
    appended: Ints


def reached(log: Log, committed: Ints) -> Floats:
    """The newest time up to the next living record at or after each commit; NaN where none is."""
    times = np.append(np.maximum.accumulate(log.times).astype(np.float64), np.nan)
    found: Floats = times[np.searchsorted(log.offsets, committed)]
    return found


def append_moments(log: Log, committed: Ints) -> Floats:
    """When the next living record at or after each commit came; NaN where none is."""
    living = np.append(log.offsets, log.end)[np.searchsorted(log.offsets, committed)]
    moments = np.append(log.appended.astype(np.float64), np.nan)
    found: Floats = moments[np.searchsorted(log.written, living)]
    return found


def ends_at(log: Log, moments: Ints) -> Ints:
    """The end offset that the log had at each of these moments."""
    ends: Ints = np.append(log.written, log.end)[np.searchsorted(log.appended, moments, "right")]
    return ends


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
