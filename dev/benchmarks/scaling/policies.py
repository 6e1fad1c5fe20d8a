# SPDX-License-Identifier: Apache-2.0
"""What may set the number of tasks: AWS's policies of several kinds, a KEDA, a schedule."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from dev.benchmarks.scaling.cases import Case
from dev.benchmarks.scaling.schedule import SLOT
from kafka_lag import contract
from kafka_lag_cdk.alarm_rules import Operator
from kafka_lag_cdk.config.scaling import Scaling
from kafka_lag_cdk.scaling_rules import Adjustment, GroupMetric, ScalingRule, rules_of, template_of
from kafka_lag_cdk.simulation.autoscaling import ScalingAssumptions, Service
from kafka_lag_cdk.simulation.metrics import Metrics, Series

CLUSTER, NAMESPACE = "orders", "KafkaLag"
# Minutes until a value is seen by an alarm.
_DELAY = 1
# Share of the target within which a pod autoscaler leaves the number, and minutes of whose numbers
# it takes the greatest [Kubernetes, horizontal pod autoscaling: tolerance, stabilisation window].
_TOLERANCE, _STABILISATION = 0.1, 5

Resources: TypeAlias = dict[str, dict[str, Any]]


class Policy(Protocol):
    """Something that sets the number of tasks, minute by minute."""

    @property
    def tasks(self) -> int:
        """What it wants now."""

    def minute(self, now: int, published: Mapping[str, float], lag: float) -> None:
        """Decides at the end of a minute, by what was published in it, or the lag as it is."""


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
    """An idealised KEDA: the lag as it is over a threshold, the greatest of the last 300 s.

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
    """A policy by its name: one of `AWS_POLICIES`, or keda."""
    if name == "keda":
        return Keda(case, tasks)
    return Aws(AWS_POLICIES[name](case, group), group, tasks, assumed)


def _tasks(case: Case, group: str) -> Resources:
    """As deployed: exactly as many as are needed."""
    return _template(_scaling(case, group, tasks={}))


def _steps(case: Case, group: str) -> Resources:
    """Steps by lag, as they were recommended before there were tasks needed."""
    out = [{"above": 10000, "add": 1}, {"above": 100000, "add": 4}]
    return _template(_scaling(case, group, steps={"out": out, "below": 1000}))


def _both(case: Case, group: str) -> Resources:
    """Exactly as many as are needed, and the same steps while that is not known."""
    out = [{"above": 10000, "add": 1}, {"above": 100000, "add": 4}]
    return _template(_scaling(case, group, tasks={}, steps={"out": out, "below": 1000}))


def _difference(case: Case, group: str) -> Resources:
    """Not deployed: as many more, or fewer, as differ from the members that there are."""
    return _template(
        _scaling(case, group, tasks={}),
        tuple(
            ScalingRule(
                name=name,
                watches=contract.TASKS_NEEDED,
                metrics={
                    "needed": GroupMetric(contract.TASKS_NEEDED, group),
                    "members": GroupMetric(contract.MEMBERS, group),
                },
                expression=expression,
                operator=Operator.AT_LEAST,
                threshold=1,
                datapoints=datapoints,
                minutes=minutes,
                adjustment="ChangeInCapacity",
                cooldown_seconds=300,
                steps=tuple(_by_number(sign)),
            )
            for name, expression, sign, datapoints, minutes in (
                ("more", "needed - members", 1, 2, 3),
                ("fewer", "members - needed", -1, 5, 5),
            )
        ),
    )


def _by_number(sign: int) -> Iterator[Adjustment]:
    numbers = (*range(1, 13), 16, 20, 24, 32)
    ends = [*(number - 1 for number in numbers[1:]), None]
    for number, end in zip(numbers, ends, strict=True):
        yield Adjustment(number - 1, end, sign * number)


def _tracking(case: Case, group: str) -> Resources:
    """Not deployed: a target of 1 for tasks needed over members."""

    def stat(name: str, metric: str) -> dict[str, Any]:
        dimensions = [
            {"Name": contract.DIMENSION_CLUSTER, "Value": CLUSTER},
            {"Name": contract.DIMENSION_GROUP, "Value": group},
        ]
        about = {"Namespace": NAMESPACE, "MetricName": metric, "Dimensions": dimensions}
        return {
            "Id": name,
            "MetricStat": {"Metric": about, "Stat": "Maximum"},
            "ReturnData": False,
        }

    policy = {
        "TargetValue": 1.0,
        "ScaleOutCooldown": 300,
        "ScaleInCooldown": 600,
        "CustomizedMetricSpecification": {
            "Metrics": [
                {"Id": "ratio", "Expression": "needed / members", "ReturnData": True},
                stat("needed", contract.TASKS_NEEDED),
                stat("members", contract.MEMBERS),
            ]
        },
    }
    tracking = {
        "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
        "Properties": {
            "PolicyType": "TargetTrackingScaling",
            "TargetTrackingScalingPolicyConfiguration": policy,
        },
    }
    return {**_template(_scaling(case, group, tasks={}), ()), "Tracking": tracking}


AWS_POLICIES: Mapping[str, Callable[[Case, str], Resources]] = {
    "tasks": _tasks,
    "steps": _steps,
    "tasks, steps": _both,
    "difference": _difference,
    "tracking": _tracking,
}


def _template(scaling: Scaling, rules: tuple[ScalingRule, ...] | None = None) -> Resources:
    chosen = rules_of(scaling) if rules is None else rules
    return template_of(chosen, scaling, CLUSTER, NAMESPACE)


def _scaling(case: Case, group: str, **how: Any) -> Scaling:
    service = {"group": group, "ecs_cluster": "services", "service": group}
    bounds = {"min": case.least, "max": case.most, "partitions": case.partitions}
    return Scaling.model_validate({**service, **bounds, **how})


def _series(name: str, group: str) -> Series:
    dimensions = {contract.DIMENSION_CLUSTER: CLUSTER, contract.DIMENSION_GROUP: group}
    return Series.of(NAMESPACE, name, dimensions)


def _metric_names(part: Any) -> Iterator[str]:
    """Names of all metrics in a part of a template."""
    if isinstance(part, dict):
        if "MetricName" in part:
            yield part["MetricName"]
        for each in part.values():
            yield from _metric_names(each)
    elif isinstance(part, list):
        for each in part:
            yield from _metric_names(each)
