# SPDX-License-Identifier: Apache-2.0
"""Answers questions about the times of a day's runs, and joins what lies close together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from statistics import median
from typing import TypeVar

from kafka_lag_report.evidence import Evidence
from kafka_lag_report.findings import Findings
from kafka_lag_report.thresholds import GAP_INTERVALS, LONGEST_INTERVAL

_T = TypeVar("_T")

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Clock:
    """The times of a day's runs, ascending, and the interval between them."""

    midnight: datetime
    runs: tuple[datetime, ...]
    in_progress: bool = False
    interval: timedelta = timedelta(seconds=60)

    @property
    def last(self) -> datetime:
        """Returns the time of the last run; midnight if the day has no runs."""
        return self.runs[-1] if self.runs else self.midnight

    @property
    def pause(self) -> timedelta:
        """Returns the longest distance of two runs that is not a gap."""
        return GAP_INTERVALS * self.interval

    @property
    def seen_end(self) -> datetime:
        """Returns the end of the time that the runs cover."""
        return min(self.last + self.interval, self.midnight + _DAY)

    @property
    def end(self) -> datetime:
        """Returns the end of the day.

        For a day in progress the end of the time that its runs cover.
        """
        over = self.last + self.interval
        return over if self.in_progress else self.midnight + _DAY

    def is_soon(self, before: datetime, after: datetime) -> bool:
        """Returns whether no gap lies between two times."""
        return after - before <= self.pause

    def until(self, last: datetime) -> datetime | None:
        """Returns the end of a period whose last run was at `last`; null if it has not ended."""
        if last + self.interval > self.last:
            return None
        return next((run for run in self.runs if run > last), last + self.interval)

    def begin(self, first: datetime) -> datetime | None:
        """Returns the beginning of a period whose first run was at `first`.

        Returns null if it may have begun before midnight: `first` is the day's first run, and no
        earlier run is missing.
        """
        return first if first > self.runs[0] or self.begins_late(first) else None

    def begins_late(self, since: datetime | None) -> bool:
        """Returns whether `since` is the day's first run, and runs before it are missing."""
        first = next(iter(self.runs), None)
        return first is not None and since == first > self.midnight + self.interval

    def gaps(self) -> list[tuple[datetime, datetime]]:
        """Returns the beginning and end of each period without runs."""
        ends = [self.midnight - self.interval, *self.runs]
        bounds = [*ends, self.end] if not self.in_progress else ends
        return [
            (before + self.interval, after)
            for before, after in pairwise(bounds)
            if after - before > self.pause
        ]


def make_clock(evidence: Evidence, findings: Findings) -> Clock:
    """Returns the clock of the evidence's runs; the interval is their median distance."""
    runs = tuple(sorted(evidence.runs))
    pauses = [after - before for before, after in pairwise(runs)]
    usual = median(pause.total_seconds() for pause in pauses) if pauses else LONGEST_INTERVAL
    interval = timedelta(seconds=usual)
    midnight = datetime.combine(findings.day, time(), UTC)
    return Clock(midnight, runs, findings.in_progress, interval)


def join_periods(
    times: Iterable[tuple[datetime, datetime]], pause: timedelta
) -> list[tuple[datetime, datetime]]:
    """Returns the periods, joined if they overlap or have at most a pause between them.

    Ascending.
    """
    found: list[tuple[datetime, datetime]] = []
    for begin, end in sorted(times):
        if found and begin - found[-1][1] <= pause:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def join_chains(parts: Iterable[_T], belongs: Callable[[list[_T], _T], bool]) -> list[list[_T]]:
    """Returns the parts in chains: each part goes to the chain before it if it `belongs` to it."""
    found: list[list[_T]] = []
    for part in parts:
        if found and belongs(found[-1], part):
            found[-1].append(part)
        else:
            found.append([part])
    return found
