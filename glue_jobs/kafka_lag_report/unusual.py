# SPDX-License-Identifier: Apache-2.0
"""Unusual hours that are worth a line: those that no incident explains, and many groups in one.

All of them stay in the table `anomalies`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, time, timedelta

from kafka_lag_report.findings import Findings, UnusualHour
from kafka_lag_report.incident import NOTICE, Incident, Kind

_HOUR = timedelta(hours=1)
_RATE = "produce_rate"
_HIGH = "high"
# So many groups that are alike are the cluster's day, not each one's: a holiday, a month's end.
_MANY = 3
# A produce rate is a moving average: of an hour's excess an eighth falls into the hour after it.
_TAIL = 0.2
# What an incident left behind is worked off within so long, and is in the mean of the last hour.
_AFTERWARDS = 2 * _HOUR


def unusual_incidents(findings: Findings, others: Sequence[Incident]) -> tuple[Incident, ...]:
    """A line a group, or one for all groups that were alike; `others` are the day's incidents."""
    midnight = datetime.combine(findings.day, time(), UTC)
    kept: dict[tuple[str, str], dict[str, list[UnusualHour]]] = defaultdict(dict)
    for (group, measure, direction), hours in _series(findings.unusual.rows).items():
        if measure != _RATE and direction != _HIGH:
            continue
        left = [
            hour
            for hour in _without_tails(hours, measure)
            if not _explained(hour, measure, others, midnight)
        ]
        if left:
            kept[measure, direction][group] = left
    found: list[Incident] = []
    for (measure, direction), groups in kept.items():
        if len(groups) >= _MANY:
            found.append(_of_many(measure, direction, groups, findings, midnight))
        else:
            found += [_of_one(hours, midnight) for hours in groups.values()]
    # a group's lag and its age are one matter
    single: dict[str | None, Incident] = {}
    for one in sorted(found, key=lambda each: each.measure != _RATE):
        single.setdefault(one.group or f"\0{one.measure}", one)
    return tuple(single.values())


def _series(
    hours: Iterable[UnusualHour],
) -> dict[tuple[str, str, str], list[UnusualHour]]:
    found: dict[tuple[str, str, str], list[UnusualHour]] = defaultdict(list)
    for hour in sorted(hours, key=lambda each: each.hour):
        found[hour.group, hour.measure, hour.direction].append(hour)
    return found


def _without_tails(hours: Sequence[UnusualHour], measure: str) -> Iterator[UnusualHour]:
    before: UnusualHour | None = None
    for hour in hours:
        follows = before is not None and hour.hour == before.hour + 1
        far = abs(hour.deviation or 0.0)
        is_tail = follows and before and far < _TAIL * abs(before.deviation or 0.0)
        if not (is_tail and measure == _RATE):
            yield hour
        before = hour


def _explained(
    hour: UnusualHour, measure: str, others: Iterable[Incident], midnight: datetime
) -> bool:
    begin = midnight + hour.hour * _HOUR
    return measure != _RATE and any(
        one.group == hour.group
        and (one.since or midnight) < begin + _HOUR
        and begin < (one.until or midnight + 24 * _HOUR) + _AFTERWARDS
        for one in others
    )


def _of_one(hours: Sequence[UnusualHour], midnight: datetime) -> Incident:
    worst = max(hours, key=lambda hour: abs(hour.deviation or 0.0))
    return Incident(
        kind=Kind.UNUSUAL,
        level=NOTICE,
        group=worst.group,
        measure=worst.measure,
        direction=worst.direction,
        value=worst.value,
        usual=worst.usual,
        since=midnight + hours[0].hour * _HOUR,
        until=midnight + (hours[-1].hour + 1) * _HOUR,
        minutes=60.0 * len(hours),
        count=1,
    )


def _of_many(
    measure: str,
    direction: str,
    groups: dict[str, list[UnusualHour]],
    findings: Findings,
    midnight: datetime,
) -> Incident:
    every = [hour for hours in groups.values() for hour in hours]
    return Incident(
        kind=Kind.UNUSUAL,
        level=NOTICE,
        measure=measure,
        direction=direction,
        since=midnight + min(hour.hour for hour in every) * _HOUR,
        until=midnight + (max(hour.hour for hour in every) + 1) * _HOUR,
        count=len(groups),
        share=len(groups) / max(1, findings.groups.total),
        others=tuple(sorted(groups)),
    )
