# SPDX-License-Identifier: Apache-2.0
"""Which earlier runs tell how a log grew: all of late, then fewer and fewer, 8 h in 32 points."""

from __future__ import annotations

from collections.abc import Iterable

# So many intervals with every run in them, then so many times twice as far with half as many.
_NEAR = 8
_DOUBLINGS = 6

# Runs beside the schedule (by hand, or after a shorter interval) must not be points without end.
_PER_INTERVAL = 4


def kept(times: Iterable[int], taken_at: int, interval_ms: int) -> list[int]:
    """Of these run times, ms, those whose end offsets the run of `taken_at` starts from, ascending.

    The last 8 intervals keep the first run in each quarter of an interval, so every scheduled
    one; ages from 8·2^(j-1) to 8·2^j intervals keep the first run in each slot of 2^j intervals,
    j = 1..6. Slots are aligned to the epoch and lie in one another, and the first is that of all
    runs, kept or not: what is dropped once is never wanted again, so a run that steps from point
    to point knows the same as one that starts cold. `times` must hold all since `needed_since`.
    """
    chosen: list[int] = []
    earlier: int | None = None
    for time in sorted(time for time in times if time < taken_at):
        slot = _slot_quarters(taken_at - time, interval_ms)
        if slot is not None:
            width = slot * interval_ms
            place = time * _PER_INTERVAL // width
            if earlier is None or earlier * _PER_INTERVAL // width != place:
                chosen.append(time)
        earlier = time
    return chosen


def needed_since(taken_at: int, interval_ms: int) -> int:
    """The earliest run time, ms, on which the choice for `taken_at` depends."""
    widest = interval_ms << _DOUBLINGS
    return max(0, (taken_at - _NEAR * widest) // widest * widest)


def _slot_quarters(age: int, interval_ms: int) -> int | None:
    """How wide slots are at this age, in quarters of an interval; None where none are kept."""
    doublings = ((age - 1) // (_NEAR * interval_ms)).bit_length()
    if doublings > _DOUBLINGS:
        return None
    return _PER_INTERVAL << doublings if doublings else 1
