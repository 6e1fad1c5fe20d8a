# SPDX-License-Identifier: Apache-2.0
"""Alarms on recorded minutes: each page that would have gone out, when, for whom, and how late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.contract.mute_windows import find_mute
from kafka_lag_cli.replay.alarms import GroupAlarm, alarm_family, deployed_alarms, heartbeat
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.state.groups_over_time import MINUTE_MS
from kafka_lag_config.alarm_rules import HEARTBEAT, is_muted
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.simulation.evaluation import Assumptions
from kafka_lag_config.simulation.grid import Condition, Grid, find_spans, find_states

# What the pages that are listed assume; the others are the readings that AWS leaves open.
ASSUMED = Assumptions()
_UNDECIDED: tuple[Literal["retain", "OK"], ...] = ("retain", "OK")
_SERIES_ENDS: tuple[Literal["range", "three hours"], ...] = ("range", "three hours")
READINGS = tuple(
    Assumptions(points, undecided, end)
    for points in (0, 2)
    for undecided in _UNDECIDED
    for end in _SERIES_ENDS
)
# Minutes until an alarm sees a value.
DELAY_MINUTES = 1
_MINUTE_SECONDS = 60
# A series, its first minute in ALARM, and the minute after the last.
_Span: TypeAlias = tuple[int, int, int]
_STATUSES = {number: status for status, number in contract.GROUP_STATUS_VALUES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An alarm that goes off, at `begin`, and is over at `end`, ms UTC; None: still on at the end.

    `delay_seconds`: since the incident began, or since the last run. What was worst while it
    lasted; None where nothing was known.
    """

    cluster: str
    rule: str
    group: str | None
    begin: int
    end: int | None = None
    delay_seconds: float | None = None
    worst_age_seconds: float | None = None
    worst_status: str | None = None

    @property
    def family(self) -> str:
        """What the page is about: the same for a group's own alarm and the query on others."""
        return alarm_family(self.rule)


def find_pages(
    recorded: Recorded, cluster: Cluster, assumed: Assumptions = ASSUMED
) -> tuple[Page, ...]:
    """Returns, in order of time, every page of the alarms that a configuration deploys for a
    cluster and its groups.
    """
    found: list[Page] = []
    if (condition := heartbeat(cluster)) is not None:
        found += _reporter_pages(recorded, cluster, condition, assumed)
    for alarm in deployed_alarms(cluster, recorded.groups):
        values = recorded.metric(alarm.rule.metric, cluster)[:, alarm.groups]
        found += _group_pages(recorded, cluster, alarm, values, assumed)
    return tuple(sorted(found, key=lambda page: (page.begin, page.rule, page.group or "")))


def _runs(recorded: Recorded, condition: Condition) -> tuple[Grid, int]:
    """1 in each minute with a run, and how many rows come before the recorded minutes: a deployed
    alarm has seen runs before.
    """
    before = (condition.counts.periods + ASSUMED.extra_points) * condition.period
    runs = np.concatenate([np.ones(before), np.where(recorded.has_run, 1.0, np.nan)])
    return runs[:, None], before


def _unmute(
    spans: Iterator[_Span], recorded: Recorded, cluster: Cluster, alarm: GroupAlarm
) -> Iterator[_Span]:
    """Yields spans of ALARM as they page: what begins in a mute window pages at its end, if it is
    still on then.
    """
    windows = [each.window for each in cluster.mute]
    for series, begin, end in spans:
        group = recorded.groups[alarm.groups[series]]
        about = None if alarm.condition.contributors else group
        own = [each for each in windows if is_muted(each, alarm.rule, about)]
        at = begin
        while at < end and (mute := find_mute(own, group, recorded.time(at))):
            at += max((mute.until - recorded.time(at)) // MINUTE_MS, 1)
        if at < end:
            yield series, at, end


def _reporter_pages(
    recorded: Recorded, cluster: Cluster, condition: Condition, assumed: Assumptions
) -> Iterator[Page]:
    """On runs that do not come."""
    minutes = len(recorded.has_run)
    runs, earlier = _runs(recorded, condition)
    last = np.maximum.accumulate(np.where(recorded.has_run, np.arange(minutes), 0))
    for _, begin, end in find_spans(find_states(runs, condition, assumed, DELAY_MINUTES)):
        if begin < earlier:
            continue
        yield Page(
            cluster=cluster.name,
            rule=HEARTBEAT.name,
            group=None,
            begin=recorded.time(begin - earlier),
            end=recorded.time(end - earlier) if end < len(runs) else None,
            delay_seconds=float(begin - earlier - last[begin - earlier]) * _MINUTE_SECONDS,
        )


def _group_pages(
    recorded: Recorded, cluster: Cluster, alarm: GroupAlarm, values: Grid, assumed: Assumptions
) -> Iterator[Page]:
    states = find_states(values, alarm.condition, assumed, DELAY_MINUTES)
    looks_at = alarm.condition.counts.periods * alarm.condition.period
    for series, begin, end in _unmute(find_spans(states), recorded, cluster, alarm):
        seen = begin - DELAY_MINUTES
        yield make_page(
            recorded,
            cluster.name,
            alarm.name,
            recorded.groups[alarm.groups[series]],
            (recorded.time(begin), recorded.time(end)),
            slice(max(seen + 1 - looks_at, 0), seen + 1),
        )


def make_page(
    recorded: Recorded,
    cluster: str,
    rule: str,
    group: str | None,
    span: tuple[int, int],
    looked_at: slice,
) -> Page:
    """Returns the page of an alarm that goes off and is over at these times, ms UTC.

    It looked at these minutes. A group that was not recorded, or none, has no numbers.
    """
    begin, end = span
    is_over = end < recorded.time(len(recorded.has_run))
    page = Page(cluster=cluster, rule=rule, group=group, begin=begin, end=end if is_over else None)
    if group not in recorded.groups:
        return page
    at = recorded.groups.index(group)
    minutes = slice((begin - recorded.begin) // MINUTE_MS, -((recorded.begin - end) // MINUTE_MS))
    status = _greatest(recorded.statuses[minutes, at])
    began = _find_incident(recorded, at, looked_at)
    return replace(
        page,
        delay_seconds=None if began is None else (begin - began) / 1000,
        worst_age_seconds=_greatest(recorded.ages[minutes, at]),
        worst_status=None if status is None else _STATUSES[int(status)],
    )


def _greatest(values: Grid) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else None


def _find_incident(recorded: Recorded, at: int, looked_at: slice) -> int | None:
    """Returns when the incident of a page began, ms UTC; None if none is known.

    One that was over before the minutes that the alarm looked at is another one.
    """
    known = recorded.incidents[looked_at, at]
    known = known[~np.isnan(known)]
    return int(known[-1]) if len(known) else None
