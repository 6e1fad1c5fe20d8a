# SPDX-License-Identifier: Apache-2.0
"""Reads what the page draws: curves of the worst groups, and bars of skewed topics.

One query reads all curves and one all bars, each with a limited number of rows. Time in which
nothing was read is a gap in a curve and an unknown minute, never a zero.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from kafka_lag.contract import ERR, OK, WARN
from kafka_lag_report.findings import Findings, GroupTopic, Listed
from kafka_lag_report.queries import Queries
from kafka_lag_report.schemas import Row

DAY_MINUTES = 1440
MINUTE = 60.0
# Least number of minutes that a point of a curve stands for on a whole day.
_LEAST_SLOT = 5.0
# If the day has fewer minutes with runs, only that part is drawn; otherwise it would be a hairline.
_SHORT = DAY_MINUTES / 2
# Points of a short day's curve at most.
_POINTS = 288
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 180)
_MOST_STEPS = 5
_STATUSES = (OK, WARN, ERR)
_GROUPS = "groups"


@dataclass(frozen=True, slots=True)
class Axis:
    """The minutes of the day that drawings span, with a tick at each multiple of `step`.

    Nothing is known after `until`. A point of a curve stands for `slot` minutes.
    """

    start: int = 0
    end: int = DAY_MINUTES
    step: int = 360
    until: int = DAY_MINUTES
    slot: float = _LEAST_SLOT

    @property
    def minutes(self) -> int:
        """Returns the length of the axis in minutes."""
        return self.end - self.start

    def share(self, minute: float) -> float:
        """Returns the position of a minute in per cent of the width."""
        return round(100 * (minute - self.start) / self.minutes, 2)

    @property
    def ticks(self) -> tuple[int, ...]:
        """Returns the minutes of the day that have a tick."""
        return tuple(range(self.start, self.end + 1, self.step))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Minutes of the day in a row with one status: OK, WARN, ERR, or None if it is unknown."""

    start: int
    minutes: int
    status: str | None


@dataclass(frozen=True, slots=True)
class Curve:
    """A group's day: the largest time lag in each slot of the axis, and the statuses.

    `peak` is the moment of the largest time lag and the partition that was behind most then, with
    the columns of `worst` in page/curves.sql and the time lag in `seconds`.
    """

    seconds: tuple[float | None, ...] = ()
    statuses: tuple[Stretch, ...] = ()
    peak: Row | None = None


def choose_axis(findings: Findings) -> Axis:
    """Returns an axis of the whole day, or of the part with runs if that is much shorter."""
    interval = find_interval(findings)
    slot = max(_LEAST_SLOT, math.ceil(interval / MINUTE))
    first, last = findings.first_run, findings.last_run
    if first is None or last is None or {first.date(), last.date()} != {findings.day}:
        return Axis(slot=slot)
    begin, newest = _convert_to_minute(first), _convert_to_minute(last)
    until = math.floor(newest) + 1 if findings.in_progress else DAY_MINUTES
    end = min(newest + interval / MINUTE, DAY_MINUTES)
    if end - begin > _SHORT:
        return Axis(until=until, slot=slot)
    step = next(step for step in _STEPS if (end - begin) / step <= _MOST_STEPS)
    start = math.floor(begin / step) * step
    end = max(math.ceil(end / step) * step, start + step)
    slot = max(interval / MINUTE, (end - start) / _POINTS)
    return Axis(start, end, step, min(math.floor(newest) + 1, end), slot)


def find_interval(findings: Findings) -> float:
    """Returns the seconds between two runs; 60 if they are unknown."""
    known = (one["interval_seconds"] for one in findings.coverage if one["dataset"] == _GROUPS)
    return next(known, None) or MINUTE


def read_curves(
    queries: Queries, names: Sequence[str], axis: Axis, interval: float
) -> dict[str, Curve]:
    """Returns the curves of these groups by name.

    `interval` is the time between two runs in seconds.
    """
    if not names:
        return {}
    queries.add_values(groups=tuple(names), start=axis.start, end=axis.end, slot=float(axis.slot))
    found: dict[str, dict[int, Row]] = {}
    for row in queries.collect("page/curves"):
        slots = found.setdefault(row["consumer_group"], {})
        slots[row["slot"]] = row.asDict(recursive=True)
    hold = math.ceil(2 * interval / MINUTE)
    return {name: _make_curve(slots, axis, hold) for name, slots in found.items()}


def find_stretches(
    statuses: Mapping[int, str | None], hold: int, axis: Axis
) -> tuple[Stretch, ...]:
    """Returns statuses by minute as stretches.

    A status lasts until the next, at most `hold` minutes.
    """
    minutes: list[str | None] = [None] * axis.until
    starts = sorted(start for start in statuses if start < axis.until)
    for start, after in pairwise([*starts, axis.until]):
        end = min(after, start + hold)
        minutes[start:end] = [statuses[start]] * (end - start)
    merged: list[Stretch] = []
    for minute, status in enumerate(minutes[axis.start :], axis.start):
        if merged and merged[-1].status == status:
            merged[-1] = Stretch(merged[-1].start, merged[-1].minutes + 1, status)
        else:
            merged.append(Stretch(minute, 1, status))
    return tuple(merged)


def read_bars(
    queries: Queries, topics: Sequence[GroupTopic], limit: int
) -> dict[GroupTopic, Listed[Row]]:
    """Returns the partitions of these topics in their order, as rows of page/bars.sql.

    At most the `limit` with the most lag.
    """
    if not topics:
        return {}
    queries.add_values(topics=tuple(topics), most_bars=limit)
    found: dict[GroupTopic, list[Row]] = {topic: [] for topic in topics}
    for row in queries.collect("page/bars"):
        found[row["consumer_group"], row["topic"]].append(row.asDict())
    return {
        topic: Listed(tuple(rows), rows[0]["total"] if rows else 0) for topic, rows in found.items()
    }


def _make_curve(slots: Mapping[int, Row], axis: Axis, hold: int) -> Curve:
    lags = {number: row["lag"] for number, row in slots.items()}
    said = {
        one["minute"]: one["word"]
        for row in slots.values()
        for one in sorted(row["words"], key=lambda one: _STATUSES.index(one["word"] or OK))
    }
    return Curve(
        seconds=tuple(lags.get(number) for number in range(math.ceil(axis.minutes / axis.slot))),
        statuses=find_stretches(said, hold, axis),
        peak=_find_peak(list(slots.values())),
    )


def _find_peak(slots: Sequence[Row]) -> Row | None:
    known = [row for row in slots if row["lag"]]
    if not known:
        return None
    top = max(known, key=lambda row: (row["lag"], -row["slot"]))
    return {**top["worst"], "seconds": top["lag"]}


def _convert_to_minute(moment: datetime) -> float:
    return moment.hour * 60 + moment.minute + moment.second / MINUTE
