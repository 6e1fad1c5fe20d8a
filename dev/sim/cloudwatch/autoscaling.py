# SPDX-License-Identifier: Apache-2.0
"""The tasks of one ECS service under Application Auto Scaling, minute by minute.

**Steps.** A policy runs in each minute in which its alarm is in ALARM. The step is the one that the
metric, less the alarm's threshold, lies in. After a step out its tasks count as part of the next
one until the cooldown is over; a step in waits for the end of its cooldown, which a step out ends.

**Tracking.** AWS's own alarms: above the target in three minutes of three, or under nine tenths of
it in fifteen of fifteen, missing data being missing. The number of tasks changes in proportion to
the metric, rounded up.

Where several policies want something, the larger number of tasks wins. Nothing leaves the bounds.
[Application Auto Scaling user guide, "How step scaling works", "How target tracking scaling works",
"Cooldown period"; API reference, StepAdjustment, PutScalingPolicy.]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

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
# The alarms that AWS makes for a policy that tracks: minutes of as many, and the share of the
# target under which tasks are removed [observed by users; not in the API reference].
_OUT_MINUTES, _IN_MINUTES, _IN_SHARE = 3, 15, 0.9


@dataclass(frozen=True, slots=True)
class ScalingAssumptions:
    """Assumptions on what AWS leaves open about scaling.

    `compared` is the value that a step is chosen by: the newest, or the greatest that the alarm
    looked at (the least, of an alarm on low values); of an alarm that fires without any, the last
    one it saw. `alarms` is what is open about alarms.
    """

    compared: Literal["newest", "extreme"] = "extreme"
    alarms: Assumptions = field(default_factory=Assumptions)


_ASSUMED = ScalingAssumptions()


class _Policy(Protocol):
    def wants(self, minute: int, tasks: int) -> int | None:
        """The number of tasks that it sets now, of those that there are; None for no change."""

    def acted(self, minute: int, old: int, new: int) -> None:
        """It changed the number: the cooldown begins."""

    def overtaken(self) -> None:
        """Another policy added tasks, which ends a cooldown after removing some."""


class _Cooldown:
    """The cooldown of a policy after it acted."""

    def __init__(self, out: int, into: int) -> None:
        self._minutes = {True: -(-out // _SECONDS), False: -(-into // _SECONDS)}
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
        self._until = minute + self._minutes[self._out]

    def end_after_removal(self) -> None:
        if not self._out:
            self._until = 0


class _Steps:
    """An alarm and the step scaling policy that it runs."""

    def __init__(
        self, alarm: Properties, policy: Properties, metrics: Metrics, assumed: ScalingAssumptions
    ) -> None:
        configured = policy["StepScalingPolicyConfiguration"]
        self._metrics, self._assumed = metrics, assumed
        self._watched = Watched.of(alarm)
        self._above = alarm["ComparisonOperator"] in _ABOVE
        self._steps = configured["StepAdjustments"]
        self._exact = configured["AdjustmentType"] == "ExactCapacity"
        if configured["AdjustmentType"] not in ("ExactCapacity", "ChangeInCapacity"):
            raise ValueError(f"{configured['AdjustmentType']} is not modelled")
        self._cooldown = _Cooldown(configured["Cooldown"], configured["Cooldown"])
        self._state, self._value = INSUFFICIENT_DATA, 0.0

    def wants(self, minute: int, tasks: int) -> int | None:
        values = self._watched.values(self._metrics, minute, self._assumed.alarms)
        counts, undecided = self._watched.counts, self._assumed.alarms.undecided
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
            extreme = max(known) if self._above else min(known)
            self._value = known[-1] if self._assumed.compared == "newest" else extreme
        return self._value


class _Tracking:
    """A target tracking policy, with the alarms that AWS makes for it."""

    def __init__(self, policy: Properties, metrics: Metrics, assumed: ScalingAssumptions) -> None:
        configured = policy["TargetTrackingScalingPolicyConfiguration"]
        self._metrics, self._assumed = metrics, assumed
        self._target = float(configured["TargetValue"])
        self._only_out = bool(configured.get("DisableScaleIn", False))
        watched = _tracked(configured["CustomizedMetricSpecification"])
        self._high = Watched.of(
            watched | _own_alarm("GreaterThanThreshold", self._target, _OUT_MINUTES)
        )
        self._low = Watched.of(
            watched | _own_alarm("LessThanThreshold", _IN_SHARE * self._target, _IN_MINUTES)
        )
        self._states = {True: INSUFFICIENT_DATA, False: INSUFFICIENT_DATA}
        self._cooldown = _Cooldown(
            configured.get("ScaleOutCooldown", 0), configured.get("ScaleInCooldown", 0)
        )

    def wants(self, minute: int, tasks: int) -> int | None:
        newest = {above: self._evaluate(minute, above) for above in (True, False)}
        above = self._states[True] == ALARM
        value = newest[above]
        if value is None or (not above and (self._only_out or self._states[False] != ALARM)):
            return None
        counted = tasks - (self._cooldown.added(minute) if above else 0)
        wanted = math.ceil(counted * value / self._target)
        wanted = max(wanted, tasks) if above else min(wanted, tasks)
        return wanted if self._cooldown.allows(minute, tasks, wanted) else None

    def acted(self, minute: int, old: int, new: int) -> None:
        self._cooldown.begin(minute, old, new)

    def overtaken(self) -> None:
        self._cooldown.end_after_removal()

    def _evaluate(self, minute: int, above: bool) -> float | None:
        """Brings one alarm up to date; the newest value that it knows."""
        watched = self._high if above else self._low
        values = watched.values(self._metrics, minute, self._assumed.alarms)
        self._states[above] = state_of(
            watched.points(values),
            watched.counts,
            self._states[above],
            self._assumed.alarms.undecided,
        )
        return next((value for value in reversed(values) if value is not None), None)


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
        assumed: ScalingAssumptions = _ASSUMED,
    ) -> None:
        (target,) = _of_type(resources, _TARGET).values()
        self._least, self._most = int(target["MinCapacity"]), int(target["MaxCapacity"])
        suspended = target.get("SuspendedState", {})
        self._out = not suspended.get("DynamicScalingOutSuspended", False)
        self._in = not suspended.get("DynamicScalingInSuspended", False)
        self._policies = list(_policies(resources, metrics, assumed))
        self.tasks = tasks

    def set_bounds(self, least: int, most: int) -> int:
        """The bounds from now on, as a scheduled action sets them; the change of tasks by it."""
        self._least, self._most = least, most
        return self._set(self.tasks)

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


def _policies(
    resources: Resources, metrics: Metrics, assumed: ScalingAssumptions
) -> Iterator[_Policy]:
    policies = _of_type(resources, _POLICY)
    by_arn = {f":policyname/{name}".lower(): policy for name, policy in policies.items()}
    for alarm in _of_type(resources, _ALARM).values():
        for action in alarm["AlarmActions"]:
            policy = next(p for end, p in by_arn.items() if action.lower().endswith(end))
            yield _Steps(alarm, policy, metrics, assumed)
    for policy in policies.values():
        if policy["PolicyType"] == "TargetTrackingScaling":
            yield _Tracking(policy, metrics, assumed)


def _of_type(resources: Resources, kind: str) -> dict[str, Mapping[str, Any]]:
    return {name: r["Properties"] for name, r in resources.items() if r["Type"] == kind}


def _own_alarm(operator: str, threshold: float, minutes: int) -> dict[str, Any]:
    return {"ComparisonOperator": operator, "Threshold": threshold, "EvaluationPeriods": minutes}


def _tracked(metric: Properties) -> dict[str, Any]:
    """Return a tracked metric as an alarm's, in periods of minutes, whatever its own period."""
    if "Metrics" not in metric:
        return {**metric, "Period": _SECONDS}
    queries = [
        {**each, "MetricStat": {**each["MetricStat"], "Period": _SECONDS}}
        if "MetricStat" in each
        else each
        for each in metric["Metrics"]
    ]
    return {"Metrics": queries}
