# SPDX-License-Identifier: Apache-2.0
"""When alarms on the reporter itself fire and end: a first deploy, a death, failing runs."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import pytest

from dev.sim.cloudwatch import Metrics, series_of, states, transitions
from kafka_lag import contract
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag_config.simulation.evaluation import ALARM, OK, Assumptions
from tests.builders import MINUTE, NOON
from tests.infra.alarms.conftest import SILENCE, ByName, Lines
from tests.infra.alarms.simulated import CLUSTER, MINUTES, metrics_of

# Alarms may be there so many minutes before the first run.
DEPLOY = 20
FROM_DEPLOY = range(-DEPLOY, MINUTES.stop)
RANGES = [Assumptions(extra_points=extra) for extra in (0, 2, 5)]


def since_deploy(alarm: Mapping[str, Any], metrics: Metrics) -> list[tuple[int, str]]:
    return transitions(states(alarm, metrics, FROM_DEPLOY), FROM_DEPLOY.start)


def beats(minutes: range, delay: int = 0) -> Metrics:
    """Successful runs in these minutes, and nothing else."""
    cluster = ((contract.DIMENSION_CLUSTER, CLUSTER),)
    success = MetricSet(cluster, ((contract.COLLECTOR_SUCCESS, 1),))
    metrics, stream = Metrics(NOON, delay), io.StringIO()
    for minute in minutes:
        EmfSink(stream).publish([success], NOON + minute * MINUTE)
    metrics.feed(stream.getvalue().splitlines())
    return metrics


def test_a_first_deploy_that_works_is_quiet(alarms: ByName, hours: Lines) -> None:
    assert since_deploy(alarms["heartbeat"], metrics_of(hours)) == [(3, OK)]


def test_without_warm_up_a_first_deploy_would_page(alarms: ByName, hours: Lines) -> None:
    cold = {
        key: observed
        for key, observed in alarms["heartbeat"].items()
        if key != "WarmUpConfiguration"
    }
    assert since_deploy(cold, metrics_of(hours))[0] == (-DEPLOY, ALARM)


def test_a_first_deploy_after_which_nothing_runs_pages_within_the_half_hour(
    alarms: ByName,
) -> None:
    assert since_deploy(alarms["heartbeat"], Metrics(NOON)) == [(31 - DEPLOY, ALARM)]


def test_no_alarm_but_one_on_health_pages_at_a_first_deploy(alarms: ByName, hours: Lines) -> None:
    metrics = metrics_of({minute: hours[minute] for minute in range(20)})
    for name, alarm in alarms.items():
        if name.startswith(("any-", "broker-")):
            continue
        observed = states(alarm, metrics, range(-DEPLOY, 20), band=1_000.0)
        assert ALARM not in observed, name


@pytest.mark.parametrize(("assumed", "minute"), list(zip(RANGES, (52, 54, 57), strict=True)))
def test_a_dead_collector_pages_within_minutes_and_its_first_run_ends_that(
    assumed: Assumptions, minute: int, alarms: ByName, interrupted: Lines
) -> None:
    alarm = alarms["heartbeat"]
    observed = states(alarm, metrics_of(interrupted), MINUTES[:100], assumed)
    assert transitions(observed) == [(3, OK), (minute, ALARM), (SILENCE.stop, OK)]
    assert len(alarm["AlarmActions"]) == len(alarm["OKActions"]) == 1


@pytest.mark.parametrize("assumed", RANGES)
@pytest.mark.parametrize("delay", [0, 1, 2])
def test_late_values_are_no_silence(delay: int, assumed: Assumptions, alarms: ByName) -> None:
    metrics = beats(range(100), delay)
    assert ALARM not in states(alarms["heartbeat"], metrics, range(100), assumed)


@pytest.mark.parametrize("assumed", RANGES)
@pytest.mark.parametrize("delay", [0, 2])
def test_with_a_run_every_five_minutes_three_of_them_must_be_silent(
    delay: int, assumed: Assumptions, every_five_minutes: ByName
) -> None:
    metrics = beats(range(0, 101, 5), delay)
    observed = states(every_five_minutes["heartbeat"], metrics, range(200), assumed)
    silent_since = 100 + 5 * (3 + assumed.extra_points)
    # Its first run was at once, so its window is full after three more.
    assert transitions(observed) == [(15 + delay, OK), (silent_since, ALARM)]


@pytest.mark.parametrize("name", ["reading", "metrics-omitted"])
def test_health_that_lasts_badly_is_told_and_a_short_while_is_not(
    name: str, alarms: ByName
) -> None:
    alarm, metrics = alarms[name], Metrics(NOON)
    for minute in range(100):
        bad = 10 <= minute < 19 or 40 <= minute < 60
        metrics.put(series_of(alarm), minute, 4.0 if bad else 0.0)
    assert transitions(states(alarm, metrics, range(100))) == [(0, OK), (49, ALARM), (65, OK)]


@pytest.mark.parametrize("name", ["collector-dropped", "emf-parsing", "emf-validation"])
def test_what_is_counted_only_when_it_happens_is_fine_while_it_is_not(
    name: str, alarms: ByName
) -> None:
    alarm, metrics = alarms[name], Metrics(NOON)
    for minute in range(20, 30):
        metrics.put(series_of(alarm), minute, 1.0)
    observed = states(alarm, metrics, range(50))
    assert transitions(observed) == [(0, OK), (22, ALARM), (34, OK)]
