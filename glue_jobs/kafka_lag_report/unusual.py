# SPDX-License-Identifier: Apache-2.0
"""Selects unusual hours that are worth a line: those of many groups, or without an incident.

The table `anomalies` keeps all unusual hours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta

from kafka_lag_report.findings import Findings
from kafka_lag_report.incident import NOTICE, Incident, Kind
from kafka_lag_report.schemas import Row
from kafka_lag_report.thresholds import AFTERWARDS_SECONDS, MANY_GROUPS, MOST, TAIL_PART

_HOUR = timedelta(hours=1)
_AFTERWARDS = timedelta(seconds=AFTERWARDS_SECONDS)
_RATE = "produce_rate"
_HIGH = "high"


def find_unusual_incidents(findings: Findings, others: Sequence[Incident]) -> tuple[Incident, ...]:
    """Returns an incident for each span of unusual hours, of one group or of many groups at once.

    `others` are the day's other incidents; unusual hours that one of them explains are left out.
    """
    midnight = datetime.combine(findings.day, time(), UTC)
    kept: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(dict)
    for (group, measure, direction), hours in _group_hours(findings.unusual.rows).items():
        if measure != _RATE and direction != _HIGH:
            continue
        left = [
            hour
            for hour in _drop_tails(hours, measure)
            if not _is_explained(hour, measure, others, midnight)
        ]
        if left:
            kept[measure, direction][group] = left
    of_many: list[Incident] = []
    of_one: list[Incident] = []
    for (measure, direction), groups in kept.items():
        counted = Counter(hour["hour"] for hours in groups.values() for hour in hours)
        shared = sorted(hour for hour, count in counted.items() if count >= MANY_GROUPS)
        of_many += (
            _make_incident_of_many(measure, direction, span, groups, findings, midnight)
            for span in _find_spans(shared)
        )
        for hours in groups.values():
            by_hour = {hour["hour"]: hour for hour in hours}
            of_one += (
                _make_incident_of_one([by_hour[number] for number in span], midnight)
                for span in _find_spans(sorted(by_hour))
                if len(set(span).intersection(shared)) < MOST * len(span)
            )
    return (*of_many, *_drop_repeated(of_one))


def _find_spans(hours: Iterable[int]) -> list[list[int]]:
    """Returns the sorted hours as lists of hours in a row."""
    found: list[list[int]] = []
    for hour in hours:
        if found and hour == found[-1][-1] + 1:
            found[-1].append(hour)
        else:
            found.append([hour])
    return found


def _drop_repeated(found: Iterable[Incident]) -> list[Incident]:
    """Returns the incidents; if two measures of a group are unusual at the same time, only one."""
    left: dict[str | None, list[Incident]] = defaultdict(list)
    for one in sorted(found, key=lambda each: each.measure != _RATE):
        if not any(_is_same_matter(one, each) for each in left[one.group]):
            left[one.group].append(one)
    return [one for of_group in left.values() for one in of_group]


def _is_same_matter(one: Incident, other: Incident) -> bool:
    times = (one.since, one.until, other.since, other.until)
    since, until, begin, end = (each or datetime.min.replace(tzinfo=UTC) for each in times)
    return one.measure != other.measure and since <= end and begin <= until


def _group_hours(
    hours: Iterable[Row],
) -> dict[tuple[str, str, str], list[Row]]:
    found: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for hour in sorted(hours, key=lambda each: each["hour"]):
        found[hour["consumer_group"], hour["measure"], hour["direction"]].append(hour)
    return found


def _drop_tails(hours: Sequence[Row], measure: str) -> Iterator[Row]:
    before: Row | None = None
    for hour in hours:
        follows = before is not None and hour["hour"] == before["hour"] + 1
        far = abs(hour["deviation"] or 0.0)
        is_tail = follows and before and far < TAIL_PART * abs(before["deviation"] or 0.0)
        if not (is_tail and measure == _RATE):
            yield hour
        before = hour


def _is_explained(hour: Row, measure: str, others: Iterable[Incident], midnight: datetime) -> bool:
    begin = midnight + hour["hour"] * _HOUR
    return measure != _RATE and any(
        one.group == hour["consumer_group"]
        and (one.since or midnight) < begin + _HOUR
        and begin < (one.until or midnight + 24 * _HOUR) + _AFTERWARDS
        for one in others
    )


def _make_incident_of_one(hours: Sequence[Row], midnight: datetime) -> Incident:
    worst = max(hours, key=lambda hour: abs(hour["deviation"] or 0.0))
    return Incident(
        kind=Kind.UNUSUAL,
        level=NOTICE,
        group=worst["consumer_group"],
        measure=worst["measure"],
        direction=worst["direction"],
        value=worst["value"],
        is_least=bool(worst["value_is_least"]),
        usual=worst["usual"],
        since=midnight + hours[0]["hour"] * _HOUR,
        until=midnight + (hours[-1]["hour"] + 1) * _HOUR,
        minutes=60.0 * len(hours),
        count=1,
    )


def _make_incident_of_many(
    measure: str,
    direction: str,
    span: Sequence[int],
    groups: Mapping[str, Sequence[Row]],
    findings: Findings,
    midnight: datetime,
) -> Incident:
    sharing = sorted(
        group for group, hours in groups.items() if any(hour["hour"] in span for hour in hours)
    )
    return Incident(
        kind=Kind.UNUSUAL,
        level=NOTICE,
        measure=measure,
        direction=direction,
        since=midnight + span[0] * _HOUR,
        until=midnight + (span[-1] + 1) * _HOUR,
        count=len(sharing),
        share=len(sharing) / max(1, findings.groups.total),
        others=tuple(sharing),
    )
