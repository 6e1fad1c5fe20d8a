# SPDX-License-Identifier: Apache-2.0
"""The alarms on groups that a configuration deploys, by their rules, and those left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.wording.formatting import format_quantity
from kafka_lag_config.alarm_rules import (
    ANOMALY,
    ANY_GROUP,
    ANY_LOSS,
    ANY_SLA,
    HEARTBEAT,
    LOSS,
    SLA,
    STATUS,
    Rule,
    broker_rules,
    group_thresholds,
    query_rules,
    reporter_rules,
    within_sight,
)
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.promql import MOST_SERIES, find_periods, groups_apart
from kafka_lag_config.simulation.evaluation import Counts
from kafka_lag_config.simulation.grid import Condition

# A query's alarm watches for all groups what a named group's alarm watches for one.
_OF_ONE = {ANY_GROUP.name: STATUS.name, ANY_SLA.name: SLA.name, ANY_LOSS.name: LOSS.name}


@dataclass(frozen=True, slots=True)
class GroupAlarm:
    """All alarms of one rule: which `groups`, by their places, and what fires for each."""

    rule: Rule
    groups: tuple[int, ...]
    condition: Condition

    @property
    def name(self) -> str:
        """The rule's part of the alarms' names."""
        return self.rule.name


def alarm_family(rule: str) -> str:
    """Return what a rule watches: the same for a group's own alarm and the query on others."""
    return _OF_ONE.get(rule, rule)


def deployed_alarms(cluster: Cluster, groups: Sequence[str]) -> Iterator[GroupAlarm]:
    """Yield a cluster's alarms on these groups: named groups first, then queries on all others.

    Groups that filters deny have none, nor has a cluster that publishes nothing.
    """
    if cluster.paused or not (cluster.sink_names or cluster.by_otlp):
        return
    places = {name: at for at, name in enumerate(groups) if cluster.groups.names.accepts(name)}
    # One rule's numbers may be each group's own.
    named: dict[Rule, dict[int, float]] = {}
    for group, rule, threshold in group_thresholds(cluster.facts):
        bound = rule.threshold if threshold is None else threshold
        if group in places and bound is not None:
            named.setdefault(rule, {})[places[group]] = float(bound)
    for rule, bounds in named.items():
        yield _alarm(cluster, rule, bounds)
    for rule in query_rules(cluster.facts):
        apart = groups_apart(cluster.facts, rule)
        others = {
            at: float(rule.threshold or 0) for name, at in places.items() if name not in apart
        }
        if others:
            seen = rule if cluster.by_otlp else within_sight(rule, cluster.interval_minutes)
            yield _alarm(cluster, seen, others, query=True)


def metrics_watched(cluster: Cluster) -> frozenset[str]:
    """Returns the metrics of groups that its alarms follow, and services that are scaled."""
    rules = [rule for _, rule, _ in group_thresholds(cluster.facts)]
    scaled = [contract.TASKS_NEEDED for each in cluster.facts.services if each.scaling.tasks]
    return frozenset([*(rule.metric for rule in (*rules, *query_rules(cluster.facts))), *scaled])


def heartbeat(cluster: Cluster) -> Condition | None:
    """The alarm on runs that do not come; None where a cluster has none."""
    for rule in reporter_rules(cluster.facts):
        if rule.name == HEARTBEAT.name:
            return condition_of(cluster, rule, float(rule.threshold or 0))
    return None


def explain_left_out(cluster: Cluster, groups: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each thing that the configuration deploys and a replay cannot know."""
    if cluster.paused:
        yield "the cluster is paused: nothing is collected, so nothing pages"
        return
    if not cluster.sink_names and not cluster.by_otlp:
        yield "no sink publishes into CloudWatch, so no alarm has data"
        return
    if not any(group_thresholds(cluster.facts)) and not any(query_rules(cluster.facts)):
        yield "alarms on groups: the configuration has none, by alarms.groups and alarms.any_group"
    rules = reporter_rules(cluster.facts) + broker_rules(cluster.facts)
    names = ", ".join(rule.name for rule in rules if rule.name != HEARTBEAT.name)
    yield f"snapshots do not hold what {names} watch"
    if count := len(cluster.alarms.anomalies):
        yield f"{ANOMALY.name} of {format_quantity(count, 'group')}: its band is CloudWatch's own"
    if cluster.facts.watches_any_group and len(groups) > MOST_SERIES:
        yield (
            f"a query sees the {MOST_SERIES} worst groups in each minute; all {len(groups):,} are "
            "replayed"
        )


def _alarm(
    cluster: Cluster, rule: Rule, bounds: dict[int, float], *, query: bool = False
) -> GroupAlarm:
    condition = condition_of(cluster, rule, np.array(list(bounds.values())), query=query)
    return GroupAlarm(rule, tuple(bounds), condition)


def condition_of(
    cluster: Cluster,
    rule: Rule,
    bound: float | np.ndarray[tuple[int], np.dtype[np.float64]],
    *,
    query: bool = False,
) -> Condition:
    """Return the condition of a rule's alarm, with one bound for all series or one for each."""
    by_promql = query and cluster.by_otlp
    pending, recovery = find_periods(cluster.facts, rule) if by_promql else (None, 0)
    return Condition(
        operator=rule.operator.word,
        bound=bound,
        counts=Counts(rule.datapoints, rule.periods, rule.missing.value),
        period=rule.minutes or cluster.interval_minutes,
        contributors=query,
        pending=pending,
        recovery=recovery,
    )
