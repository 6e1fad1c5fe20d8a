# SPDX-License-Identifier: Apache-2.0
"""Scaling on recorded minutes: the tasks that a document's rules would have set for a service."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.scaling import Scaling
from kafka_lag_cdk.scaling_rules import rules_of, template_of
from kafka_lag_cdk.simulation.autoscaling import Service
from kafka_lag_cdk.simulation.metrics import Metrics, Series
from kafka_lag_cli.replay.pages import DELAY_MINUTES
from kafka_lag_cli.replay.recorded import Recorded

_MINUTES_AN_HOUR = 60


@dataclass(frozen=True, slots=True)
class ServiceTasks:
    """A service over the recorded minutes: what its members were, and what the rules set.

    `tasks` has a number a minute. `members` are those of its first group; NaN where unknown.
    """

    cluster: str
    service: str
    group: str
    tasks: np.ndarray[tuple[int], np.dtype[np.int64]]
    members: np.ndarray[tuple[int], np.dtype[np.float64]]

    @property
    def task_hours(self) -> float:
        """Of the tasks that were set."""
        return float(self.tasks.sum()) / _MINUTES_AN_HOUR

    @property
    def changes(self) -> int:
        """How often their number changes."""
        return int((np.diff(self.tasks) != 0).sum())


def replay_services(recorded: Recorded, cluster: Cluster) -> Iterator[ServiceTasks]:
    """Each service that follows TasksNeeded; nothing is set while a number is unknown.

    The numbers are those that were published: they follow the capacity of then.
    """
    for scaling in cluster.scaling:
        if is_replayed(scaling) and set(scaling.groups) <= set(recorded.groups):
            yield _replay(recorded, cluster, scaling)


def is_replayed(scaling: Scaling) -> bool:
    """Whether its rules follow numbers that do not depend on the tasks that they set."""
    return scaling.tasks is not None


def _replay(recorded: Recorded, cluster: Cluster, scaling: Scaling) -> ServiceTasks:
    needed_alone = scaling.model_copy(update={"steps": None})
    rules = rules_of(needed_alone)
    resources = template_of(
        rules, needed_alone, cluster.name, cluster.namespace, cluster.interval_minutes
    )
    metrics = Metrics(delay=DELAY_MINUTES)
    values = recorded.metric(contract.TASKS_NEEDED, cluster)
    columns = {group: values[:, recorded.groups.index(group)] for group in scaling.groups}
    series = {
        group: Series.of(
            cluster.namespace,
            contract.TASKS_NEEDED,
            {
                contract.DIMENSION_CLUSTER: cluster.name,
                contract.DIMENSION_GROUP: dimension_value(group),
            },
        )
        for group in scaling.groups
    }
    members = recorded.members[:, recorded.groups.index(scaling.group)]
    known = members[~np.isnan(members)]
    first = int(np.ceil(known[0] / scaling.members_per_task)) if len(known) else scaling.min
    service = Service(resources, metrics, min(max(first, scaling.min), scaling.most))
    tasks = np.empty(len(values), np.int64)
    for minute in range(len(values)):
        for group, column in columns.items():
            if not np.isnan(column[minute]):
                metrics.put(series[group], minute, float(column[minute]))
        service.minute(minute)
        tasks[minute] = service.tasks
    return ServiceTasks(
        cluster.name, f"{scaling.ecs_cluster}/{scaling.service}", scaling.group, tasks, members
    )
