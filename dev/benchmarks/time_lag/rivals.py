# SPDX-License-Identifier: Apache-2.0
"""How others estimate the time lag, and how right they are about the same commits.

Sources: kafka-lag-exporter `LookupTable.scala`, klag-exporter's rate mode, klag's two anchors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from dev.benchmarks.time_lag.accuracy import nth
from dev.benchmarks.time_lag.brokers import Place
from dev.benchmarks.time_lag.logs import Floats, Ints, Log, ends_at
from dev.benchmarks.time_lag.staging import Prepared

Rival: TypeAlias = Callable[[Log, Ints, int], Floats]

_POLLS, _EVERY_MS = 60, 30_000
_RATE_OVER_MS = 30 * 60_000


def two_points(log: Log, committed: Ints, now: int) -> Floats:
    """Between two of the last 60 polls around the commit, else beyond the first and last."""
    polls = now - _EVERY_MS * np.arange(_POLLS - 1, -1, -1)
    ends = ends_at(log, polls)
    left = np.searchsorted(ends, committed, "right") - 1
    inside = (left >= 0) & (left < _POLLS - 1)
    right = np.where(inside, left + 1, _POLLS - 1)
    left = np.where(inside, left, 0)
    back = _ratio(
        (ends[right] - committed) * (polls[right] - polls[left]), ends[right] - ends[left]
    )
    return np.where(committed == ends[-1], 0.0, (now - polls[right] + back) / 1000)


def lag_over_rate(log: Log, committed: Ints, now: int) -> Floats:
    """Unread records by the mean produce rate of the last half hour."""
    before, end = ends_at(log, np.array([now - _RATE_OVER_MS, now]))
    lag = end - np.maximum(committed, log.start)
    return _ratio(lag * (_RATE_OVER_MS / 1000), np.full(len(lag), end - before))


def two_anchors(log: Log, committed: Ints, now: int) -> Floats:
    """On the line from the record at the log start to the one with the newest time."""
    newest = int(np.argmax(log.times))
    first, last = log.offsets[0], log.offsets[newest]
    if first == last:
        return np.where(committed <= first, (now - log.times[0]) / 1000, np.nan)
    at = np.maximum(committed, log.start)
    slope = (log.times[newest] - log.times[0]) / (last - first)
    age = (now - log.times[0] - (at - first) * slope) / 1000
    return np.where((at >= first) & (at <= last), age, np.nan)


RIVALS: Mapping[str, Rival] = MappingProxyType(
    {"two points": two_points, "lag ÷ rate": lag_over_rate, "two anchors": two_anchors}
)


def _ratio(above: Floats | Ints, below: Ints) -> Floats:
    return np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)


@dataclass(frozen=True, slots=True)
class RivalFigures:
    """95th percentile of a rival's error, s, NaN for none, and the share of rows it is of."""

    p95: float
    answered: float


def measure_rivals(prepared: Prepared, now: Floats) -> dict[str, RivalFigures]:
    """By rival; `now` is the clock of each row, ms. Rows without a truth do not count."""
    age = (now - prepared.reached) / 1000
    return {
        name: _held(_ages(rival, prepared, int(now.max())), age) for name, rival in RIVALS.items()
    }


def _ages(rival: Rival, prepared: Prepared, now: int) -> Floats:
    rows: dict[Place, list[int]] = {}
    for row, place in enumerate(prepared.places):
        rows.setdefault(place, []).append(row)
    ages = np.full(len(prepared.places), np.nan)
    for place, at in rows.items():
        ages[at] = rival(prepared.logs[place], prepared.committed[at], now)
    return ages


def _held(ages: Floats, age: Floats) -> RivalFigures:
    defined = age >= 0
    known = defined & ~np.isnan(ages)
    share = float(known.sum() / max(1, defined.sum()))
    return RivalFigures(nth(np.abs(ages - age)[known], 0.95), share)
