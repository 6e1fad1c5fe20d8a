# SPDX-License-Identifier: Apache-2.0
"""The times of a day's runs, and what of it lies near enough together to be one."""

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
    """The runs of a day, and how far each of them is good for."""

    midnight: datetime
    runs: tuple[datetime, ...]
    in_progress: bool = False
    interval: timedelta = timedelta(seconds=60)

    @property
    def last(self) -> datetime:
        """The last run."""
        return self.runs[-1] if self.runs else self.midnight

    @property
    def pause(self) -> timedelta:
        """Runs farther apart are a gap."""
        return GAP_INTERVALS * self.interval

    @property
    def seen_end(self) -> datetime:
        """The end of what is known of the day."""
        return min(self.last + self.interval, self.midnight + _DAY)

    @property
    def end(self) -> datetime:
        """The end of the day, or of what there is of one in progress."""
        over = self.last + self.interval
        return over if self.in_progress else self.midnight + _DAY

    def until(self, last: datetime) -> datetime | None:
        """The end of what `last` was the last run of; null: it is still so."""
        if last + self.interval > self.last:
            return None
        return next((run for run in self.runs if run > last), last + self.interval)

    def begin(self, first: datetime) -> datetime | None:
        """The beginning of what `first` was the first run of; null: maybe before midnight."""
        return first if first > self.runs[0] or self.begins_late(first) else None

    def begins_late(self, since: datetime | None) -> bool:
        """Whether it is the day's first run, before which there was time without any."""
        first = next(iter(self.runs), None)
        return first is not None and since == first > self.midnight + self.interval

    def gaps(self) -> list[tuple[datetime, datetime]]:
        """From when to when there was no run."""
        ends = [self.midnight - self.interval, *self.runs]
        bounds = [*ends, self.end] if not self.in_progress else ends
        return [
            (before + self.interval, after)
            for before, after in pairwise(bounds)
            if after - before > self.pause
        ]


def clock_of(evidence: Evidence, findings: Findings) -> Clock:
    """The times of the day's runs."""
    runs = tuple(sorted(evidence.runs))
    pauses = [after - before for before, after in pairwise(runs)]
    usual = median(pause.total_seconds() for pause in pauses) if pauses else LONGEST_INTERVAL
    interval = timedelta(seconds=usual)
    midnight = datetime.combine(findings.day, time(), UTC)
    return Clock(midnight, runs, findings.in_progress, interval)


def joined(
    times: Iterable[tuple[datetime, datetime]], pause: timedelta
) -> list[tuple[datetime, datetime]]:
    """Those as one that overlap, or have no more than a pause between them."""
    found: list[tuple[datetime, datetime]] = []
    for begin, end in sorted(times):
        if found and begin - found[-1][1] <= pause:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def chained(parts: Iterable[_T], belongs: Callable[[list[_T], _T], bool]) -> list[list[_T]]:
    """The parts in their order, each in the chain before it if it belongs to that."""
    found: list[list[_T]] = []
    for part in parts:
        if found and belongs(found[-1], part):
            found[-1].append(part)
        else:
            found.append([part])
    return found
