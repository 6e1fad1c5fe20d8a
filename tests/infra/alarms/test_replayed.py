# SPDX-License-Identifier: Apache-2.0
"""The same runs, live and replayed: what alarms make of published metrics and of snapshots."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

import pytest

from dev.sim.cloudwatch.metrics import Metrics
from dev.sim.cloudwatch.timeline import contributor_states, states
from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cdk.simulation.evaluation import ALARM, INSUFFICIENT_DATA, OK
from kafka_lag_cdk.simulation.grid import find_states
from kafka_lag_cli.replay.alarms import deployed_alarms, heartbeat, metrics_watched
from kafka_lag_cli.replay.pages import ASSUMED, DELAY_MINUTES, replay_alarms
from kafka_lag_cli.replay.recorded import Recorded, read_recorded
from tests.builders import MINUTE, NOON
from tests.infra.alarms.conftest import ByName, watched_cluster
from tests.infra.alarms.simulated import CLUSTER, metrics_of, written

# States minute by minute, by rule and group.
Timelines: TypeAlias = dict[tuple[str, str | None], list[str]]

# Over an hour, of which eight minutes have no run: longer than any alarm but a budget's looks back.
MINUTES, SILENCE = range(75), range(48, 56)
WARM_UP = 31
STATES = (OK, INSUFFICIENT_DATA, ALARM)
OF_NAMED = {"status", "sla", "data-loss", "slo-fast", "slo-slow", "offset-lag"}
OF_ANY = {"any-group", "any-sla", "any-loss"}


@pytest.fixture(name="runs", scope="module")
def _runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Metrics, Recorded]:
    """What the runs published, and what their snapshots hold."""
    store = FolderStore(tmp_path_factory.mktemp("runs"))
    lines = written((minute for minute in MINUTES if minute not in SILENCE), store)
    until = NOON + MINUTES.stop * MINUTE - 1
    metrics = metrics_watched(watched_cluster()) | metrics_watched(watched_cluster(alarms={}))
    recorded = read_recorded(store, CLUSTER, metrics, NOON, until, lambda _: lambda _: None)
    return metrics_of(lines, DELAY_MINUTES), recorded


def replayed(recorded: Recorded, rules: Collection[str], **changes: object) -> Timelines:
    """States of the alarms on groups by a replay, which shares no code with live ones."""
    found: Timelines = {}
    cluster = watched_cluster(**changes)
    for alarm in deployed_alarms(cluster, recorded.groups):
        values = recorded.metric(alarm.rule.metric, cluster)[:, alarm.groups]
        of_groups = find_states(values, alarm.condition, ASSUMED, DELAY_MINUTES)
        for at, timeline in zip(alarm.groups, of_groups.T, strict=True):
            if alarm.name in rules:
                # As the grid numbers them.
                found[alarm.name, recorded.groups[at]] = [STATES[state] for state in timeline]
    return found


def test_alarms_of_named_groups_have_the_same_timelines(
    runs: tuple[Metrics, Recorded], alarms: ByName
) -> None:
    metrics, recorded = runs
    found = replayed(recorded, OF_NAMED)
    live: Timelines = {
        (rule, group): states(alarms[f"{rule}/{group}"], metrics, MINUTES, ASSUMED)
        for rule, group in found
    }
    assert found == live
    assert {rule for rule, _ in found} == OF_NAMED
    assert {state for timeline in live.values() for state in timeline} == set(STATES)


def test_alarms_on_any_group_have_the_same_timelines(
    runs: tuple[Metrics, Recorded], of_any: ByName
) -> None:
    metrics, recorded = runs
    found = replayed(recorded, OF_ANY, alarms={})
    live: Timelines = {}
    for rule in {rule for rule, _ in found}:
        by_group = contributor_states(of_any[rule], metrics, MINUTES, ASSUMED)
        live |= {(rule, group): timeline for (_, group), timeline in by_group.items()}
    # Who was promised nothing has no SlaUsed, and is OK in a replay.
    assert {key: found[key] for key in live} == live
    assert {state for key in found.keys() - live.keys() for state in found[key]} <= {OK}
    assert ALARM in {state for timeline in live.values() for state in timeline}


def test_the_heartbeat_pages_and_ends_in_the_same_minutes(
    runs: tuple[Metrics, Recorded], alarms: ByName
) -> None:
    metrics, recorded = runs
    live = states(alarms["heartbeat"], metrics, MINUTES, ASSUMED)
    on = [minute for minute in range(WARM_UP, MINUTES.stop) if live[minute] == ALARM]
    pages = replay_alarms(recorded, watched_cluster()).pages
    (page,) = [each for each in pages if each.rule == "heartbeat"]
    assert page.end is not None
    begin, end = ((at - NOON) // MINUTE for at in (page.begin, page.end))
    assert on == list(range(begin, end))
    assert heartbeat(watched_cluster(paused=True)) is None
