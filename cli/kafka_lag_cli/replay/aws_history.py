# SPDX-License-Identifier: Apache-2.0
"""Pages that alarms of an account did send, as CloudWatch's own history of them has it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cli.account.errors import using
from kafka_lag_cli.replay.alarms import deployed_alarms, heartbeat
from kafka_lag_cli.replay.beside_aws import AwsHistory
from kafka_lag_cli.replay.pages import Page
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_config.alarm_rules import HEARTBEAT
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.physical_names import alarm_name
from kafka_lag_config.simulation.evaluation import ALARM

_RIGHT = "cloudwatch:DescribeAlarmHistory"
_STATE, _OF_CONTRIBUTOR, _CONFIGURATION = (
    "StateUpdate",
    "AlarmContributorStateUpdate",
    "ConfigurationUpdate",
)


@dataclass(frozen=True, slots=True)
class _Alarm:
    """An alarm by its name; `group` None where its contributors are groups, or on none."""

    name: str
    rule: str
    group: str | None
    is_query: bool


def read_history(client: Any, deployment: str, cluster: Cluster, recorded: Recorded) -> AwsHistory:
    """The pages within the recorded minutes, of a client of CloudWatch. Raises AwsError."""
    alarms = list(_alarms(deployment, cluster, recorded.groups))
    begin, end = recorded.begin, recorded.time(len(recorded.has_run))
    pages: list[Page] = []
    since: dict[tuple[str, str | None], int] = {}
    unknown = 0
    for alarm in alarms:
        items = list(_items(client, alarm.name, begin, end))
        unknown += not items
        changed = [_time(each) for each in items if each["HistoryItemType"] == _CONFIGURATION]
        if changed:
            since[alarm.rule, alarm.group] = max(changed)
        pages += _pages(cluster.name, alarm, items, recorded.groups)
    pages.sort(key=lambda page: (page.begin, page.rule, page.group or ""))
    return AwsHistory(tuple(pages), since, unknown, len(alarms))


def _alarms(deployment: str, cluster: Cluster, groups: Sequence[str]) -> Iterator[_Alarm]:
    if heartbeat(cluster) is not None:
        name = alarm_name(deployment, cluster.name, HEARTBEAT.name)
        yield _Alarm(name, HEARTBEAT.name, None, is_query=False)
    for alarm in deployed_alarms(cluster, groups):
        if alarm.condition.contributors:
            name = alarm_name(deployment, cluster.name, alarm.name)
            yield _Alarm(name, alarm.name, None, is_query=True)
            continue
        for at in alarm.groups:
            value = dimension_value(groups[at])
            name = alarm_name(deployment, cluster.name, alarm.name, value)
            yield _Alarm(name, alarm.name, groups[at], is_query=False)


def _items(client: Any, name: str, begin: int, end: int) -> Iterator[Mapping[str, Any]]:
    """Yield the items in order of time."""
    since, until = (datetime.fromtimestamp(at / 1000, UTC) for at in (begin, end))
    with using(_RIGHT):
        for page in client.get_paginator("describe_alarm_history").paginate(
            AlarmName=name,
            AlarmTypes=["MetricAlarm"],
            StartDate=since,
            EndDate=until,
            ScanBy="TimestampAscending",
        ):
            yield from page["AlarmHistoryItems"]


def _pages(
    cluster: str, alarm: _Alarm, items: Sequence[Mapping[str, Any]], groups: Sequence[str]
) -> Iterator[Page]:
    """From each change to ALARM to the next change; one that was on at the beginning is none."""
    kind = _OF_CONTRIBUTOR if alarm.is_query else _STATE
    by_value = {dimension_value(group): group for group in groups}
    changes: dict[str | None, list[tuple[int, str]]] = defaultdict(list)
    for item in items:
        if item["HistoryItemType"] == kind:
            group = alarm.group
            if alarm.is_query:
                value = item.get("AlarmContributorAttributes", {}).get(contract.DIMENSION_GROUP)
                group = by_value.get(value, value)
            changes[group].append((_time(item), _new_state(item)))
    for group, of_group in changes.items():
        for place, (begin, state) in enumerate(of_group):
            if state == ALARM:
                later = of_group[place + 1 :]
                yield Page(
                    cluster=cluster,
                    rule=alarm.rule,
                    group=group,
                    begin=begin,
                    end=next((at for at, other in later if other != ALARM), None),
                    delay_seconds=None,
                    worst_age_seconds=None,
                    worst_status=None,
                )


def _time(item: Mapping[str, Any]) -> int:
    at: datetime = item["Timestamp"]
    return int(at.timestamp() * 1000)


def _new_state(item: Mapping[str, Any]) -> str:
    """Empty for data that is not as CloudWatch writes it."""
    try:
        found = json.loads(item["HistoryData"])["newState"]["stateValue"]
    except (ValueError, KeyError, TypeError):
        return ""
    return str(found)
