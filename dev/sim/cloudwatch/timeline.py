# SPDX-License-Identifier: Apache-2.0
"""Alarms minute by minute: their states, when these change, and what is then done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dev.sim.cloudwatch.alarms import Properties, Watched, query_of
from dev.sim.cloudwatch.metrics import Metrics, Series
from kafka_lag_config.simulation.evaluation import (
    ALARM,
    INSUFFICIENT_DATA,
    OK,
    Assumptions,
    state_of,
)

_ACTIONS = {
    ALARM: "AlarmActions",
    OK: "OKActions",
    INSUFFICIENT_DATA: "InsufficientDataActions",
}
_THREE_HOURS = 180
_SCALING_ACTION = ":autoscaling:"

_ASSUMED = Assumptions()


@dataclass(frozen=True, slots=True)
class Invocation:
    """An action that was taken in a minute, by its ARN, and the state that led to it."""

    minute: int
    action: str
    state: str


def states(
    properties: Properties,
    metrics: Metrics,
    minutes: range,
    assumed: Assumptions = _ASSUMED,
    band: float | None = None,
) -> list[str]:
    """The state at the end of each minute of an alarm created in the first of them.

    It begins in INSUFFICIENT_DATA. Raises ValueError for an alarm with contributors.
    """
    if query_of(properties):
        raise ValueError("a query has contributors: use contributor_states")
    watched = Watched.of(properties, band)
    observed: list[str] = []
    state, warming = INSUFFICIENT_DATA, "WarmUpConfiguration" in properties
    for now in minutes:
        values = watched.values(metrics, now, assumed)
        newest = values[-1] is not None
        warming = warming and _warming(properties, watched, metrics, minutes.start, now, newest)
        if not warming:
            state = state_of(watched.points(values), watched.counts, state, assumed.undecided)
        observed.append(state)
    return observed


def contributor_states(
    properties: Properties,
    metrics: Metrics,
    minutes: range,
    assumed: Assumptions = _ASSUMED,
) -> dict[tuple[str, ...], list[str]]:
    """States by contributor of an alarm on a query with GROUP BY, by sorted dimension values.

    A contributor is in OK or ALARM only, is OK before it has data, and becomes OK when the query
    does not return it any more, whatever missing data is treated as.
    """
    query = query_of(properties)
    if query is None:
        raise ValueError("the alarm has no query")
    return {
        tuple(value for _, value in sorted(series.dimensions)): _contributor(
            Watched.of(properties, series=series), series, metrics, minutes, assumed
        )
        for series in query.matches(metrics)
    }


def transitions(observed: Sequence[str], start: int = 0) -> list[tuple[int, str]]:
    """Each minute in which a state is another than the one before, and which; `start` the first."""
    previous = [INSUFFICIENT_DATA, *observed]
    return [
        (start + index, state)
        for index, (state, old) in enumerate(zip(observed, previous, strict=False))
        if state != old
    ]


def invocations(
    properties: Properties, observed: Sequence[str], start: int = 0
) -> list[Invocation]:
    """Return an alarm's invocations: each action once when its state begins.

    A scaling policy is invoked in every minute again for as long as the state lasts.
    """
    if properties.get("ActionsEnabled", True) is False:
        return []
    begins = {minute for minute, _ in transitions(observed, start)}
    return [
        Invocation(minute, action, state)
        for minute, state in enumerate(observed, start)
        for action in properties.get(_ACTIONS[state], ())
        if minute in begins or _SCALING_ACTION in action
    ]


def _contributor(
    watched: Watched, series: Series, metrics: Metrics, minutes: range, assumed: Assumptions
) -> list[str]:
    observed: list[str] = []
    state = OK
    for now in minutes:
        points = watched.points(watched.values(metrics, now, assumed))
        returned = any(point is not None for point in points)
        if not returned and assumed.series_end == "three hours":
            returned = _had_data(series, metrics, now)
        new = state_of(points, watched.counts, state, assumed.undecided) if returned else OK
        state = state if new == INSUFFICIENT_DATA else new
        observed.append(state)
    return observed


def _had_data(series: Series, metrics: Metrics, now: int) -> bool:
    minutes = range(now - _THREE_HOURS + 1, now + 1)
    return metrics.point(series, "SampleCount", minutes, now) is not None


def _warming(
    properties: Properties, watched: Watched, metrics: Metrics, created: int, now: int, newest: bool
) -> bool:
    """Return true if an alarm still waits for its time or, if configured so, for a full window."""
    configured: Mapping[str, Any] = properties["WarmUpConfiguration"]
    if now - created >= configured["WarmUpPeriodDurationInMinutes"]:
        return False
    if configured.get("OnlyStartEvaluatingAfterWarmUpPeriodEnds", False):
        return True
    first = watched.first(metrics, now)
    full = first is not None and now - first >= watched.counts.periods * watched.period
    return not (full and newest)
