# SPDX-License-Identifier: Apache-2.0
"""The model beside what CloudWatch did: how many pages agree, by each reading of its rules."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeAlias

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.wording.formatting import format_iso_time
from kafka_lag_cli.account.errors import using
from kafka_lag_cli.replay.alarms import deployed_alarms, heartbeat
from kafka_lag_cli.replay.changes import Change, Kind, find_changes
from kafka_lag_cli.replay.pages import ASSUMED, READINGS, Page, find_pages
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_config.alarm_rules import HEARTBEAT, Rule, configured, full_name
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.simulation.evaluation import ALARM

# CloudWatch evaluates at any second of a minute, and values come when they come.
_SAME_SECONDS = 120
_Groups: TypeAlias = dict[str, str]


def compare_with_aws(
    client: Any, deployment: str, recorded: Recorded, cluster: Cluster
) -> dict[str, Any]:
    """Returns what each reading shares with CloudWatch's history, best first. Raises AwsError.

    Mute windows are left out: the history has states, which they do not change.
    """
    cluster = cluster.model_copy(update={"mute": ()})
    there = [
        page
        for rule, group, groups in _deployed(cluster, recorded.groups)
        for name in [full_name(deployment, cluster.name, rule, group)]
        for page in _read_pages(client, cluster.name, name, rule.name, recorded, groups)
    ]
    found = {
        reading: find_changes(find_pages(recorded, cluster, assumed=reading), there)
        for reading in (ASSUMED, *(each for each in READINGS if each != ASSUMED))
    }
    counts = {reading: Counter(map(_kind, changes)) for reading, changes in found.items()}
    readings = [
        {
            **asdict(reading),
            "as_replayed": reading == ASSUMED,
            "same": kinds[Kind.SAME],
            "moved": kinds[Kind.MOVED],
            "cloudwatch_alone": kinds[Kind.ADDED],
            "model_alone": kinds[Kind.REMOVED],
        }
        for reading, kinds in sorted(counts.items(), key=lambda each: -each[1][Kind.SAME])
    ]
    differences = [
        {
            "alarm": each.page.rule,
            "consumer_group": each.page.group,
            "model": None if each.before is None else format_iso_time(each.before.begin),
            "cloudwatch": None if each.after is None else format_iso_time(each.after.begin),
        }
        for each in found[ASSUMED]
        if _kind(each) is not Kind.SAME
    ]
    return {"cluster": cluster.name, "readings": readings, "differences": differences}


def _kind(change: Change) -> Kind:
    later = change.later_seconds
    return Kind.SAME if later is not None and abs(later) <= _SAME_SECONDS else change.kind


def _deployed(
    cluster: Cluster, groups: Sequence[str]
) -> Iterator[tuple[Rule, str | None, _Groups]]:
    """Yields each alarm's rule and the group it is named after, and its groups by contributor."""
    if heartbeat(cluster) is not None:
        yield configured(cluster.facts, HEARTBEAT), None, {"": ""}
    for alarm in deployed_alarms(cluster, groups):
        if alarm.condition.contributors:
            yield alarm.rule, None, {dimension_value(group): group for group in groups}
        else:
            for group in (groups[at] for at in alarm.groups):
                yield alarm.rule, group, {"": group}


def _read_pages(
    client: Any, cluster: str, name: str, rule: str, recorded: Recorded, groups: Mapping[str, str]
) -> Iterator[Page]:
    """Yields a page for each change to ALARM within the recorded minutes."""
    kind = "StateUpdate" if "" in groups else "AlarmContributorStateUpdate"
    changes: dict[str, list[tuple[int, str]]] = defaultdict(list)
    times = (recorded.begin, recorded.time(len(recorded.has_run)))
    since, until = (datetime.fromtimestamp(at / 1000, UTC) for at in times)
    with using("cloudwatch:DescribeAlarmHistory"):
        for page in client.get_paginator("describe_alarm_history").paginate(
            AlarmName=name, StartDate=since, EndDate=until, ScanBy="TimestampAscending"
        ):
            for item in page["AlarmHistoryItems"]:
                if item["HistoryItemType"] == kind:
                    of = item.get("AlarmContributorAttributes", {})
                    state = json.loads(item["HistoryData"])["newState"]["stateValue"]
                    at = int(item["Timestamp"].timestamp() * 1000)
                    changes[of.get(contract.DIMENSION_GROUP, "")].append((at, state))
    for contributor, states in changes.items():
        for place, (begin, state) in enumerate(states):
            if state == ALARM:
                end = next((at for at, other in states[place + 1 :] if other != ALARM), None)
                group = groups.get(contributor, contributor) or None
                yield Page(cluster=cluster, rule=rule, group=group, begin=begin, end=end)
