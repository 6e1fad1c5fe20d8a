# SPDX-License-Identifier: Apache-2.0
"""Days with a known truth, apart and together; `build.py` has what they are made of."""

from __future__ import annotations

from dataclasses import replace

from dev.days.describe import Day
from dev.days.scenarios import changes, gaps, losses, skew
from dev.days.scenarios.build import a_day, a_group, a_topic, merged

# Every scenario that can be looked at alone.
SCENARIOS = {
    scenario.__name__: scenario
    for scenario in (
        skew.production,
        skew.broker,
        skew.consumer,
        skew.unexplained,
        losses.retention,
        losses.service_level,
        losses.statuses,
        changes.partition_added,
        changes.topic_recreated,
        changes.visitors,
        changes.rebalances,
        changes.leaders_moved,
        gaps.unread,
        gaps.uncommitted,
        gaps.untold,
        gaps.nulls,
        gaps.missing,
        gaps.names,
    )
}


def truth() -> Day:
    """All of them in one cluster."""
    return merged(*(scenario() for scenario in SCENARIOS.values()))


def odd_cluster() -> Day:
    """A cluster whose name is no folder's, with topics and groups of the other one."""
    return replace(merged(skew.production(), gaps.names()), cluster=gaps.ODD_CLUSTER)


def older_version() -> Day:
    """Snapshots of schema version 1."""
    return replace(losses.service_level(), cluster="older", schema_version="1")


def calm() -> Day:
    """A day on which nothing happens."""
    return a_day(
        [a_topic("calm", [1.0, 1.0, 1.0], swing=0.3)], [a_group("reads", "calm")], cluster="calm"
    )
