# SPDX-License-Identifier: Apache-2.0
"""One cluster's days under one document, or under two beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_lag.wording.formatting import format_list
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cli.replay.changes import Change, find_changes
from kafka_lag_cli.replay.pages import Pages
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.replay.services import ServiceTasks, is_replayed

_FEW = 3


@dataclass(frozen=True, slots=True)
class Side:
    """The result of one configuration; `left_out` says what its replay cannot know."""

    cluster: Cluster
    pages: Pages
    services: tuple[ServiceTasks, ...]
    left_out: tuple[str, ...]

    @property
    def task_hours(self) -> float:
        """The task hours of all replayed services."""
        return sum(service.task_hours for service in self.services)


@dataclass(frozen=True, slots=True)
class Replay:
    """The recorded minutes, the document, and the one that it is compared with; None without."""

    recorded: Recorded
    after: Side
    before: Side | None = None

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self.after.cluster.name

    @property
    def days(self) -> float:
        """The total time of the minutes, in days."""
        return len(self.recorded.has_run) / (24 * 60)

    @property
    def changes(self) -> list[Change]:
        """The pages beside the other document's; without one each page, as if it were added."""
        if self.before is None:
            return [Change(None, page) for page in self.after.pages.pages]
        return find_changes(self.before.pages.pages, self.after.pages.pages)


def explain_services_left_out(cluster: Cluster, groups: Sequence[str]) -> Iterator[str]:
    """Services whose tasks a replay cannot know, a sentence each."""
    for scaling in cluster.scaling:
        service = f"{scaling.ecs_cluster}/{scaling.service}"
        missing = [group for group in scaling.groups if group not in groups]
        if not is_replayed(scaling):
            yield f"the tasks of {service}: another number of them would have made another lag"
        elif missing:
            yield f"the tasks of {service}: {format_list(missing, _FEW)} is not in these days"
        elif scaling.steps or scaling.schedule:
            yield f"steps and scheduled bounds of {service}, beside the tasks that are needed"
