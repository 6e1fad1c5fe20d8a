# SPDX-License-Identifier: Apache-2.0
"""Scaling on recorded minutes: the tasks that a document's rules would have set for a service."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.scaling import Scaling
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.tasks.policy import set_tasks

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
        """The task hours of the tasks that were set."""
        return float(self.tasks.sum()) / _MINUTES_AN_HOUR

    @property
    def changes(self) -> int:
        """How often the number of tasks changes."""
        return int((np.diff(self.tasks) != 0).sum())


def replay_services(recorded: Recorded, cluster: Cluster) -> Iterator[ServiceTasks]:
    """Each service that follows TasksNeeded; nothing is set while a number is unknown.

    The numbers are those that were published: they follow the capacity of then.
    """
    for scaling in cluster.scaling:
        if is_replayed(scaling) and set(scaling.groups) <= set(recorded.groups):
            yield _replay(recorded, cluster, scaling)


def is_replayed(scaling: Scaling) -> bool:
    """Return true if the rules follow numbers that do not depend on the tasks that they set."""
    return scaling.tasks is not None


def _replay(recorded: Recorded, cluster: Cluster, scaling: Scaling) -> ServiceTasks:
    values = recorded.metric(contract.TASKS_NEEDED, cluster)
    needed = {group: values[:, recorded.groups.index(group)].tolist() for group in scaling.groups}
    members = recorded.members[:, recorded.groups.index(scaling.group)]
    known = members[~np.isnan(members)]
    first = int(np.ceil(known[0] / scaling.members_per_task)) if len(known) else scaling.min
    needed_alone = scaling.model_copy(update={"steps": None})
    tasks = set_tasks(needed_alone, first, needed, cluster.interval_minutes)
    return ServiceTasks(
        cluster.name,
        f"{scaling.ecs_cluster}/{scaling.service}",
        scaling.group,
        np.array(tasks, np.int64),
        members,
    )
