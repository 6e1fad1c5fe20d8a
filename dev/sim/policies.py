# SPDX-License-Identifier: Apache-2.0
"""Policies that set the number of tasks: two of AWS, an ideal KEDA, a schedule."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from dev.sim.cases.services import Case
from dev.sim.cloudwatch.autoscaling import ScalingAssumptions, Service
from dev.sim.cloudwatch.metrics import Metrics, Series
from dev.sim.cloudwatch.templates import template_of
from dev.sim.schedule import SLOT
from kafka_lag import contract
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.scaling_rules import rules_of

CLUSTER, NAMESPACE = "orders", "KafkaLag"
# Minutes until a value is seen by an alarm.
_DELAY = 1
# A pod autoscaler leaves the number within this share of the target, and takes the greatest number
# of so many minutes [Kubernetes, horizontal pod autoscaling: tolerance, stabilisation window].
_TOLERANCE, _STABILISATION = 0.1, 5

Resources: TypeAlias = dict[str, dict[str, Any]]


class Policy(Protocol):
    """Something that sets the number of tasks, minute by minute."""

    @property
    def tasks(self) -> int:
        """The number that it wants now."""

    def minute(self, now: int, published: Mapping[str, float], lag: float) -> None:
        """Decides at the end of a minute by what was published in it, or by the lag."""


class Aws:
    """Alarms and policies of Application Auto Scaling."""

    def __init__(
        self, resources: Resources, group: str, tasks: int, assumed: ScalingAssumptions
    ) -> None:
        self._metrics, self._group = Metrics(delay=_DELAY), group
        self._names = set(_metric_names(resources))
        self._service = Service(resources, self._metrics, tasks, assumed)

    @property
    def tasks(self) -> int:
        """The number that is set."""
        return self._service.tasks

    def minute(self, now: int, published: Mapping[str, float], lag: float) -> None:
        """Takes what is published, and lets the policies act."""
        del lag
        for name in self._names & set(published):
            self._metrics.put(_series(name, self._group), now, published[name])
        self._service.minute(now)


class Keda:
    """An ideal KEDA: the lag over a threshold, the greatest number of the last 300 s.

    The threshold is what one task reads in a minute.
    """

    def __init__(self, case: Case, tasks: int) -> None:
        self.tasks = tasks
        self._case, self._threshold = case, case.speed * 60.0
        self._wanted: deque[int] = deque(maxlen=_STABILISATION)

    def minute(self, now: int, published: Mapping[str, float], lag: float) -> None:
        """Divides the lag."""
        del now, published
        ratio = lag / (self._threshold * max(self.tasks, 1))
        wanted = math.ceil(lag / self._threshold) if abs(ratio - 1) > _TOLERANCE else self.tasks
        self._wanted.append(min(max(wanted, self._case.least), self._case.most))
        self.tasks = max(self._wanted)


class Scheduled:
    """A number for each quarter of an hour."""

    def __init__(self, tasks: Sequence[int]) -> None:
        self._slots, self.tasks = tasks, tasks[0]

    def minute(self, now: int, published: Mapping[str, float], lag: float) -> None:
        """Takes the number of the minute that begins."""
        del published, lag
        self.tasks = self._slots[min((now + 1) // SLOT, len(self._slots) - 1)]


def make_policy(
    name: str, case: Case, group: str, tasks: int, assumed: ScalingAssumptions
) -> Policy:
    """Returns the policy of this name: tasks, steps or keda."""
    if name == "keda":
        return Keda(case, tasks)
    return Aws(_deploy(case, group, _AWS[name]), group, tasks, assumed)


# "tasks" sets as many as are needed, as deployed; "steps" adds by lag, as was usual before.
_AWS: Mapping[str, Mapping[str, Any]] = {
    "tasks": {"tasks": {}},
    "steps": {
        "steps": {
            "out": [{"above": 10_000, "add": 1}, {"above": 100_000, "add": 4}],
            "below": 1_000,
        }
    },
}


def _deploy(case: Case, group: str, how: Mapping[str, Any]) -> Resources:
    service = {"group": group, "ecs_cluster": "services", "service": group}
    bounds = {"min": case.least, "max": case.most, "partitions": case.partitions}
    scaling = Scaling.model_validate({**service, **bounds, **how})
    return template_of(rules_of(scaling), scaling, CLUSTER, NAMESPACE)


def _series(name: str, group: str) -> Series:
    dimensions = {contract.DIMENSION_CLUSTER: CLUSTER, contract.DIMENSION_GROUP: group}
    return Series.of(NAMESPACE, name, dimensions)


def _metric_names(part: Any) -> Iterator[str]:
    """Yields names of all metrics in a part of a template."""
    if isinstance(part, dict):
        if "MetricName" in part:
            yield part["MetricName"]
        for each in part.values():
            yield from _metric_names(each)
    elif isinstance(part, list):
        for each in part:
            yield from _metric_names(each)
