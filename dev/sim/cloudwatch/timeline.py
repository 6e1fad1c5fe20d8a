# SPDX-License-Identifier: Apache-2.0
"""Alarms minute by minute: their states, the changes of state, and the actions at each change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dev.sim.cloudwatch.alarms import Properties, Watched, find_contributors, is_query
from dev.sim.cloudwatch.evaluation import state_of
from dev.sim.cloudwatch.metrics import Metrics, Series
from kafka_lag_config.simulation.evaluation import (
    ALARM,
    INSUFFICIENT_DATA,
    OK,
    Assumptions,
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
    """Returns an alarm's state at the end of each minute; it is created in the first of them.

    It begins in INSUFFICIENT_DATA. Raises ValueError for an alarm with contributors.
    """
    if is_query(properties):
        raise ValueError("a query has contributors: use contributor_states")
    watched = Watched.of(properties, band)
    observed: list[str] = []
    state, warming = INSUFFICIENT_DATA, "WarmUpConfiguration" in properties
    for now in minutes:
        values = watched.values(metrics, now, assumed)
        if warming:
            first, warm_up = watched.first(metrics, now), properties["WarmUpConfiguration"]
            full = first is not None and now - first >= watched.counts.periods * watched.period
            filled = full and values[-1] is not None
            # Until its time is over, it may begin once its window is full.
            waits = warm_up.get("OnlyStartEvaluatingAfterWarmUpPeriodEnds", False) or not filled
            warming = now - minutes.start < warm_up["WarmUpPeriodDurationInMinutes"] and waits
        if not warming:
            state = state_of(watched.points(values), watched.counts, state, assumed.undecided)
        observed.append(state)
    return observed


def contributor_states(
    properties: Properties, metrics: Metrics, minutes: range, assumed: Assumptions = _ASSUMED
) -> dict[tuple[str, ...], list[str]]:
    """States by contributor of an alarm on a query with GROUP BY, by sorted dimension values.

    A contributor is in OK or ALARM only, is OK before it has data, and becomes OK when the query
    does not return it any more, whatever missing data is treated as.
    """
    return {
        tuple(value for _, value in sorted(series.dimensions)): _contributor(
            Watched.of(properties, series=series), series, metrics, minutes, assumed
        )
        for series in find_contributors(properties, metrics)
    }


def _contributor(
    watched: Watched, series: Series, metrics: Metrics, minutes: range, assumed: Assumptions
) -> list[str]:
    observed: list[str] = []
    state = OK
    for now in minutes:
        points = watched.points(watched.values(metrics, now, assumed))
        returned = any(point is not None for point in points)
        if not returned and assumed.series_end == "three hours":
            lately = range(now - _THREE_HOURS + 1, now + 1)
            returned = metrics.point(series, "SampleCount", lately, now) is not None
        new = state_of(points, watched.counts, state, assumed.undecided) if returned else OK
        state = state if new == INSUFFICIENT_DATA else new
        observed.append(state)
    return observed


def transitions(observed: Sequence[str], start: int = 0) -> list[tuple[int, str]]:
    """Returns each minute in which the state changes, and the new state; `start` is the first."""
    pairs = zip(observed, [INSUFFICIENT_DATA, *observed], strict=False)
    return [(at, state) for at, (state, old) in enumerate(pairs, start) if state != old]


def invocations(
    properties: Properties, observed: Sequence[str], start: int = 0
) -> list[Invocation]:
    """Returns an alarm's invocations: each action once when its state begins.

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
