# SPDX-License-Identifier: Apache-2.0
"""When alarms on groups fire and end, over hours that the collector's own code wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pytest

from dev.sim.cloudwatch import (
    Metrics,
    contributor_states,
    states,
    transitions,
)
from kafka_lag_config.simulation.evaluation import ALARM, INSUFFICIENT_DATA, OK, Assumptions
from tests.infra.alarms.conftest import SILENCE, ByName, Lines
from tests.infra.alarms.simulated import (
    AT_RISK,
    CLUSTER,
    DELETED,
    GONE,
    MINUTES,
    REBALANCES,
    STARTED,
    STEADY,
    STOPS,
    metrics_of,
)

# An edge for the anomaly alarm, as if CloudWatch had learnt it of a group that keeps up.
BAND = 100.0
Changes = list[tuple[int, str]]


def changes(alarm: Mapping[str, Any], metrics: Metrics) -> Changes:
    band = BAND if "ThresholdMetricId" in alarm else None
    return transitions(states(alarm, metrics, MINUTES, band=band))


@pytest.fixture(name="metrics", scope="module")
def _metrics(hours: Lines) -> Metrics:
    return metrics_of(hours)


HEALTHY: Changes = [(1, OK)]
TIMELINES: Mapping[str, Changes] = {
    # Told in run 41, eleven after it stopped; the third of five such runs is the 43rd.
    f"status/{STOPS}": [(1, OK), (43, ALARM), (STARTED + 3, OK)],
    # The last value of a group that is gone stays until none of it is in the evaluation range.
    f"status/{DELETED}": [(1, OK), (43, ALARM), (GONE + 6, INSUFFICIENT_DATA)],
    # Ten minutes without a commit are no incident; that the SLA is missed has its own alarm.
    f"status/{REBALANCES}": HEALTHY,
    f"sla/{REBALANCES}": [(1, OK), (107, ALARM), (115, OK)],
    f"status/{AT_RISK}": [(1, OK), (43, ALARM), (93, OK)],
    # Half of the hour for which records are kept is over at 60.
    f"data-loss/{AT_RISK}": [(1, OK), (62, ALARM), (99, OK)],
    f"status/{STEADY}": HEALTHY,
    f"data-loss/{STEADY}": HEALTHY,
    f"slo-fast/{STEADY}": HEALTHY,
    f"slo-slow/{STEADY}": HEALTHY,
    f"data-loss/{STOPS}": HEALTHY,
    f"data-loss/{DELETED}": [(1, OK), (GONE + 6, INSUFFICIENT_DATA)],
    f"data-loss/{REBALANCES}": HEALTHY,
    # 600 more a minute, over 3,000 from 35 on; 1,200 fewer from 70 on, below it from 88 on.
    f"offset-lag/{STOPS}": [(0, OK), (37, ALARM), (90, OK)],
    # 10 of 15 runs over the edge from 32 on, and 6 of 15 under it from 90 on.
    f"anomaly/{STOPS}": [(1, OK), (41, ALARM), (95, OK)],
}


@pytest.mark.parametrize("name", TIMELINES)
def test_an_alarm_on_a_group_changes_at_these_minutes(
    name: str, alarms: ByName, metrics: Metrics
) -> None:
    assert changes(alarms[name], metrics) == TIMELINES[name]


def test_every_alarm_on_a_group_has_its_timeline_here(alarms: ByName) -> None:
    assert {name for name in alarms if "/" in name} == set(TIMELINES)


def test_while_the_collector_is_dead_nothing_is_told_of_groups(
    alarms: ByName, interrupted: Lines
) -> None:
    metrics = metrics_of(interrupted)
    for name in TIMELINES:
        if name.startswith("anomaly"):
            continue
        observed = states(alarms[name], metrics, MINUTES[:100])
        changed = [state for minute, state in transitions(observed) if minute in SILENCE]
        assert set(changed) <= {INSUFFICIENT_DATA}, name
        assert "InsufficientDataActions" not in alarms[name], name
        # Alarms on an objective's budget keep their state: their windows are hours long.
        kept = OK if name.startswith("slo") else INSUFFICIENT_DATA
        assert observed[SILENCE.stop - 1] == kept, name


ANY_GROUP: Mapping[str, Changes] = {
    STEADY: [],
    STOPS: [(43, ALARM), (73, OK)],
    DELETED: [(43, ALARM), (66, OK)],
    REBALANCES: [],
    AT_RISK: [(43, ALARM), (93, OK)],
}


def test_one_alarm_watches_every_group_for_itself(
    any_group: Mapping[str, Any], metrics: Metrics
) -> None:
    observed = contributor_states(any_group, metrics, MINUTES)
    assert {group: transitions(found)[1:] for (_, group), found in observed.items()} == ANY_GROUP
    assert {cluster for cluster, _ in observed} == {CLUSTER}


@pytest.mark.parametrize(
    ("of_any_group", "of_named", "group"),
    [("any-loss", "data-loss", AT_RISK), ("any-sla", "sla", REBALANCES)],
)
def test_a_group_that_nobody_named_pages_when_a_named_one_would(
    of_any_group: str, of_named: str, group: str, alarms: ByName, of_any: ByName, metrics: Metrics
) -> None:
    observed = contributor_states(of_any[of_any_group], metrics, MINUTES)
    expected = states(alarms[f"{of_named}/{group}"], metrics, MINUTES)
    paged = [change for change in transitions(expected) if change[1] == ALARM]
    assert paged
    assert [
        change for change in transitions(observed[CLUSTER, group]) if change[1] == ALARM
    ] == paged
    assert not [g for (_, g), found in observed.items() if ALARM in found and g != group]


@pytest.mark.parametrize("series_end", ["range", "three hours"])
def test_the_alarm_on_all_groups_tells_of_no_recovery_that_a_deletion_may_be(
    series_end: Literal["range", "three hours"], any_group: Mapping[str, Any], metrics: Metrics
) -> None:
    assumed = Assumptions(series_end=series_end)
    observed = contributor_states(any_group, metrics, range(300), assumed)[CLUSTER, DELETED]
    assert observed[-1] == OK
    assert [state for _, state in transitions(observed)].count(ALARM) == 1
    assert "OKActions" not in any_group
