# SPDX-License-Identifier: Apache-2.0
"""The tasks of one ECS service under Application Auto Scaling's step policies, minute by minute.

A policy runs in each minute in which its alarm is in ALARM. The step is the one that the greatest
value that the alarm looked at, less its threshold, lies in (the least, of an alarm on low values).
After a step out its tasks count as part of the next one until the cooldown is over; a step in waits
for the end of its cooldown, which a step out ends.

If several policies want something, the larger number of tasks wins. Nothing leaves the bounds.
[Application Auto Scaling user guide, "How step scaling works", "Cooldown period"; API reference,
StepAdjustment, PutScalingPolicy.] Policies that track a target are not modelled: AWS makes their
alarms itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dev.sim.cloudwatch.alarms import Properties, Watched
from dev.sim.cloudwatch.metrics import Metrics
from kafka_lag_config.simulation.evaluation import ALARM, INSUFFICIENT_DATA, Assumptions, state_of

Resources = Mapping[str, Mapping[str, Any]]

_SECONDS = 60
_ABOVE = ("GreaterThanOrEqualToThreshold", "GreaterThanThreshold")
_ALARM, _POLICY, _TARGET = (
    "AWS::CloudWatch::Alarm",
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::ApplicationAutoScaling::ScalableTarget",
)
_ASSUMED = Assumptions()


class _Cooldown:
    """The cooldown of a policy after it acted."""

    def __init__(self, seconds: int) -> None:
        self._minutes = -(-seconds // _SECONDS)
        self._until, self._added, self._out = 0, 0, True

    def added(self, minute: int) -> int:
        """Tasks that count as part of the next step out."""
        return self._added if minute < self._until and self._out else 0

    def allows(self, minute: int, old: int, new: int) -> bool:
        """Return true if the number may change: out always, in once the cooldown is over."""
        return new > old or (new < old and minute >= self._until)

    def begin(self, minute: int, old: int, new: int) -> None:
        self._added = self.added(minute) + new - old
        self._out = new > old
        self._until = minute + self._minutes

    def end_after_removal(self) -> None:
        if not self._out:
            self._until = 0


class _Steps:
    """An alarm and the step scaling policy that it runs."""

    def __init__(
        self, alarm: Properties, policy: Properties, metrics: Metrics, assumed: Assumptions
    ) -> None:
        configured = policy["StepScalingPolicyConfiguration"]
        self._metrics, self._assumed = metrics, assumed
        self._watched = Watched.of(alarm)
        self._above = alarm["ComparisonOperator"] in _ABOVE
        self._steps = configured["StepAdjustments"]
        self._exact = configured["AdjustmentType"] == "ExactCapacity"
        if configured["AdjustmentType"] not in ("ExactCapacity", "ChangeInCapacity"):
            raise ValueError(f"{configured['AdjustmentType']} is not modelled")
        self._cooldown = _Cooldown(configured["Cooldown"])
        self._state, self._value = INSUFFICIENT_DATA, 0.0

    def wants(self, minute: int, tasks: int) -> int | None:
        values = self._watched.values(self._metrics, minute, self._assumed)
        counts, undecided = self._watched.counts, self._assumed.undecided
        self._state = state_of(self._watched.points(values), counts, self._state, undecided)
        if self._state != ALARM:
            return None
        adjustment = self._adjustment(self._compared(values))
        if adjustment is None:
            return None
        wanted = adjustment if self._exact else tasks + adjustment
        if not self._exact and adjustment > 0:
            wanted = max(wanted - self._cooldown.added(minute), tasks)
        return wanted if self._cooldown.allows(minute, tasks, wanted) else None

    def acted(self, minute: int, old: int, new: int) -> None:
        self._cooldown.begin(minute, old, new)

    def overtaken(self) -> None:
        self._cooldown.end_after_removal()

    def _adjustment(self, value: float) -> int | None:
        breach = value - self._watched.bound
        for step in self._steps:
            low = step.get("MetricIntervalLowerBound", float("-inf"))
            high = step.get("MetricIntervalUpperBound", float("inf"))
            if low <= breach < high if self._above else low < breach <= high:
                return int(step["ScalingAdjustment"])
        return None

    def _compared(self, values: list[float | None]) -> float:
        known = [value for value in values if value is not None][-self._watched.counts.periods :]
        if known:
            self._value = max(known) if self._above else min(known)
        # Of an alarm that fires without any value, it is the last one that it saw.
        return self._value


class Service:
    """The tasks of one ECS service, as its scaling in a template makes them; `tasks` is now.

    `resources` are those of a template by logical id, intrinsic functions answered. Raises
    ValueError for what is not modelled.
    """

    def __init__(
        self,
        resources: Resources,
        metrics: Metrics,
        tasks: int,
        assumed: Assumptions = _ASSUMED,
    ) -> None:
        (target,) = _of_type(resources, _TARGET).values()
        self._least, self._most = int(target["MinCapacity"]), int(target["MaxCapacity"])
        suspended = target.get("SuspendedState", {})
        self._out = not suspended.get("DynamicScalingOutSuspended", False)
        self._in = not suspended.get("DynamicScalingInSuspended", False)
        self._policies = list(_policies(resources, metrics, assumed))
        self.tasks = tasks

    def minute(self, now: int) -> int:
        """Act at the end of a minute. Return the change of the number of tasks."""
        wanted = [(policy.wants(now, self.tasks), policy) for policy in self._policies]
        acting = [(tasks, policy) for tasks, policy in wanted if tasks is not None]
        if not acting:
            return 0
        tasks, policy = max(acting, key=lambda each: each[0])
        if not (self._out if tasks > self.tasks else self._in):
            return 0
        old, change = self.tasks, self._set(tasks)
        if change:
            policy.acted(now, old, self.tasks)
            for other in self._policies:
                if change > 0 and other is not policy:
                    other.overtaken()
        return change

    def _set(self, tasks: int) -> int:
        old, self.tasks = self.tasks, min(max(tasks, self._least), self._most)
        return self.tasks - old


def _policies(resources: Resources, metrics: Metrics, assumed: Assumptions) -> Iterator[_Steps]:
    policies = _of_type(resources, _POLICY)
    by_arn = {f":policyname/{name}".lower(): policy for name, policy in policies.items()}
    for alarm in _of_type(resources, _ALARM).values():
        for action in alarm["AlarmActions"]:
            policy = next(p for end, p in by_arn.items() if action.lower().endswith(end))
            yield _Steps(alarm, policy, metrics, assumed)


def _of_type(resources: Resources, kind: str) -> dict[str, Mapping[str, Any]]:
    return {name: r["Properties"] for name, r in resources.items() if r["Type"] == kind}
