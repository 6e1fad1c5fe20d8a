# SPDX-License-Identifier: Apache-2.0
"""States of alarms minute by minute: as values come, and replayed from snapshots afterwards.

Live is the model that reads like AWS's text, on the alarms' CloudFormation properties; replayed is
the grid of `kafka-lag replay`, on the rules. They share no code that decides a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from kafka_lag_cdk.alarm_rules import HEARTBEAT, group_thresholds, query_rules
from kafka_lag_cdk.alarms import ClusterAlarms, Recipients
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.simulation.alarms import Properties, query_of
from kafka_lag_cdk.simulation.evaluation import ALARM, INSUFFICIENT_DATA, OK
from kafka_lag_cdk.simulation.grid import find_states
from kafka_lag_cdk.simulation.metrics import Metrics
from kafka_lag_cdk.simulation.timeline import contributor_states, states
from kafka_lag_cli.replay.alarms import deployed_alarms
from kafka_lag_cli.replay.pages import ASSUMED, replay_alarms
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.state.groups_over_time import MINUTE_MS
from kafka_lag_cli.tasks.policy import DELAY_MINUTES

# A rule and a group; None for the heartbeat, which is on none.
Key: TypeAlias = tuple[str, str | None]
Timelines: TypeAlias = dict[Key, list[str]]
# The first minute in ALARM, and the one after the last; None where it is still on.
Span: TypeAlias = tuple[int, int | None]

# As the grid numbers them.
_STATES = (OK, INSUFFICIENT_DATA, ALARM)
_DEPLOYMENT = "live"


def deployed_properties(cluster: Cluster) -> dict[Key, Properties]:
    """Of the heartbeat and of every alarm on groups that a stack deploys for the cluster."""
    stack = Stack(App(), "Alarms", env=Environment(account="111122223333", region="eu-west-1"))
    ClusterAlarms(
        scope=stack,
        cluster=cluster,
        function=lambda_.Function.from_function_name(stack, "Function", "collector"),
        log_group=logs.LogGroup.from_log_group_name(stack, "Log", "/collector"),
        recipients=Recipients(sns.Topic(stack, "Topic"), recovered=False),
        name=_DEPLOYMENT,
    ).make()
    rules = {rule.name for _, rule, _ in group_thresholds(cluster)}
    rules |= {HEARTBEAT.name, *(rule.name for rule in query_rules(cluster))}
    found = {}
    for resource in Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values():
        properties = resource["Properties"]
        rule, *group = (
            properties["AlarmName"].removeprefix(f"{_DEPLOYMENT}/{cluster.name}/").split("/")
        )
        if rule in rules:
            found[rule, group[0] if group else None] = properties
    return found


class LiveAlarms:
    """The alarms of a cluster since minute 0, `begin`; what was seen of them is not revised."""

    def __init__(self, alarms: Mapping[Key, Properties], begin: int) -> None:
        self._alarms = alarms
        self._metrics = Metrics(begin, DELAY_MINUTES)
        self.timelines: Timelines = {}

    def look(self, minute: int, lines: Iterable[str]) -> None:
        """Takes what was logged in the minute, and evaluates each alarm at its end."""
        self._metrics.feed(lines)
        until = range(minute + 1)
        for (rule, group), properties in self._alarms.items():
            if query_of(properties) is None:
                now = states(properties, self._metrics, until, ASSUMED)[-1]
                self._add(rule, group, now, minute, INSUFFICIENT_DATA)
                continue
            by_values = contributor_states(properties, self._metrics, until, ASSUMED)
            for (_, each), observed in by_values.items():
                self._add(rule, each, observed[-1], minute, OK)

    def _add(self, rule: str, group: str | None, state: str, minute: int, first: str) -> None:
        """A contributor is `first` until it is seen."""
        self.timelines.setdefault((rule, group), [first] * minute).append(state)


def replay_timelines(recorded: Recorded, cluster: Cluster) -> Timelines:
    """Those of the same alarms on groups, from snapshots."""
    found: Timelines = {}
    for alarm in deployed_alarms(cluster, recorded.groups):
        values = recorded.metric(alarm.rule.metric, cluster)[:, alarm.groups]
        of_groups = find_states(values, alarm.condition, ASSUMED, DELAY_MINUTES)
        for at, timeline in zip(alarm.groups, of_groups.T, strict=True):
            found[alarm.name, recorded.groups[at]] = [_STATES[state] for state in timeline]
    return found


def replay_spans(recorded: Recorded, cluster: Cluster) -> dict[Key, list[Span]]:
    """When the pages of a replay are on, the heartbeat's among them."""
    found: dict[Key, list[Span]] = {}
    for page in replay_alarms(recorded, cluster).pages:
        begin, end = (
            None if at is None else (at - recorded.begin) // MINUTE_MS
            for at in (page.begin, page.end)
        )
        assert begin is not None  # noqa: S101 - a page has begun
        found.setdefault((page.rule, page.group), []).append((begin, end))
    return found


def find_spans(timelines: Timelines) -> dict[Key, list[Span]]:
    """When each alarm was on; those that never were are left out."""
    found = {key: list(_spans(timeline)) for key, timeline in timelines.items()}
    return {key: spans for key, spans in found.items() if spans}


def _spans(timeline: list[str]) -> Iterator[Span]:
    begin = None
    for minute, state in enumerate(timeline):
        if begin is None and state == ALARM:
            begin = minute
        elif begin is not None and state != ALARM:
            yield begin, minute
            begin = None
    if begin is not None:
        yield begin, None


def find_differences(live: Timelines, replayed: Timelines) -> Iterator[str]:
    """Each minute of an alarm in which the two are not the same, a sentence each.

    A replay has contributors that nothing was published of: they must be OK. Of the heartbeat it
    has pages alone.
    """
    for key in sorted({*live, *replayed}, key=str):
        rule, group = key
        if rule == HEARTBEAT.name:
            continue
        minutes = max(len(each.get(key, ())) for each in (live, replayed))
        for minute in range(minutes):
            one = _at(live.get(key), minute)
            other = _at(replayed.get(key), minute)
            if one != other:
                yield f"minute {minute}: {rule} of {group} is {one} live and {other} replayed"


def _at(timeline: list[str] | None, minute: int) -> str:
    if timeline is None:
        return OK
    return timeline[minute] if minute < len(timeline) else "not there"
