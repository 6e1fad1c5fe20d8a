# SPDX-License-Identifier: Apache-2.0
"""The tasks of one ECS service under Application Auto Scaling's step policies, minute by minute.

A policy runs in each minute in which its alarm is in ALARM. It takes the greatest value that the
alarm looked at (the least, if the alarm is on low values), and subtracts the threshold. The step is
the one in which this difference lies. After a step out its tasks count as part of the next one
until the cooldown is over. A step in waits for the end of its cooldown, which a step out ends.

If several policies ask for a number of tasks, the larger number wins. The number never leaves the
bounds. [Application Auto Scaling user guide, "How step scaling works", "Cooldown period"; API
reference, StepAdjustment, PutScalingPolicy.] Policies that track a target are not modelled, because
AWS makes their alarms itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from dev.sim.cloudwatch import Metrics, Series, Watched
from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_config.alarm_rules import Operator
from kafka_lag_config.scaling import GroupScaling
from kafka_lag_config.scaling_rules import ScalingRule
from kafka_lag_config.simulation.evaluation import ALARM, INSUFFICIENT_DATA, Assumptions, Counts

# The names under which metrics are published here.
CLUSTER, NAMESPACE = "orders", "KafkaLag"
_SECONDS = 60
_ASSUMED = Assumptions()


def series_of_group(name: str, group: str, cluster: str = CLUSTER) -> Series:
    """Returns a metric of a group."""
    dimensions = {
        contract.DIMENSION_CLUSTER: cluster,
        contract.DIMENSION_GROUP: dimension_value(group),
    }
    return Series.of(NAMESPACE, name, dimensions)


def watched_by(rule: ScalingRule, cluster: str = CLUSTER, interval_minutes: int = 1) -> Watched:
    """Returns the value that the rule's alarm compares with its threshold."""
    stats = {
        name: (series_of_group(metric.name, metric.group, cluster), "Maximum")
        for name, metric in rule.metrics.items()
    }
    if rule.expression is None:
        (only,) = stats.values()
        stats = {"metric": only}
    counts = Counts(*rule.periods(interval_minutes), "notBreaching")
    operator, expression = rule.operator.word, rule.expression or "metric"
    return Watched(stats, expression, interval_minutes, operator, rule.threshold, counts)


class _Policy:
    """A rule's alarm and the step scaling policy that it runs, with its cooldown."""

    def __init__(self, rule: ScalingRule, metrics: Metrics, assumed: Assumptions) -> None:
        self._rule, self._metrics, self._assumed = rule, metrics, assumed
        self._watched = watched_by(rule)
        self._above = rule.operator is not Operator.BELOW
        self._state, self._value = INSUFFICIENT_DATA, 0.0
        # The minute in which the cooldown ends, the tasks that were added, and whether any were.
        self._until, self._added, self._out = 0, 0, True

    def wants(self, minute: int, tasks: int) -> int | None:
        """Returns the number of tasks that the policy sets; None if it changes nothing."""
        values = self._watched.values(self._metrics, minute, self._assumed)
        self._state = self._watched.decide(values, self._state, self._assumed)
        if self._state != ALARM:
            return None
        adjustment = self._adjust(values)
        if adjustment is None:
            return None
        exact = self._rule.adjustment == "ExactCapacity"
        wanted = adjustment if exact else tasks + adjustment
        if not exact and adjustment > 0:
            wanted = max(wanted - self._count_added(minute), tasks)
        # Out always, in once the cooldown is over.
        allowed = wanted > tasks or (wanted < tasks and minute >= self._until)
        return wanted if allowed else None

    def _adjust(self, values: Sequence[float | None]) -> int | None:
        known = [value for value in values if value is not None][-self._watched.counts.periods :]
        # If an alarm fires without any value, its last known value counts.
        if known:
            self._value = max(known) if self._above else min(known)
        breach = self._value - self._rule.threshold
        for step in self._rule.steps:
            low = float("-inf") if step.lower is None else step.lower
            high = float("inf") if step.upper is None else step.upper
            if low <= breach < high if self._above else low < breach <= high:
                return step.tasks
        return None

    def _count_added(self, minute: int) -> int:
        """Returns the tasks that count as part of the next step out."""
        return self._added if minute < self._until and self._out else 0

    def begin_cooldown(self, minute: int, change: int) -> None:
        """Begins the cooldown after so many more tasks, or fewer."""
        self._added = self._count_added(minute) + change
        self._out = change > 0
        self._until = minute - (-self._rule.cooldown_seconds // _SECONDS)

    def end_cooldown_in(self) -> None:
        """Ends the cooldown of a step in, because tasks were added."""
        if not self._out:
            self._until = 0


class Service:
    """The tasks of one ECS service under its rules, within the bounds of its scaling."""

    def __init__(
        self,
        rules: Sequence[ScalingRule],
        scaling: GroupScaling,
        metrics: Metrics,
        tasks: int,
        assumed: Assumptions = _ASSUMED,
    ) -> None:
        self._scaling, self.tasks = scaling, tasks
        self._policies = [_Policy(rule, metrics, assumed) for rule in rules]

    def minute(self, now: int) -> int:
        """Acts at the end of a minute and returns the change of the number of tasks."""
        wanted = [(policy.wants(now, self.tasks), policy) for policy in self._policies]
        acting = [(tasks, policy) for tasks, policy in wanted if tasks is not None]
        if not acting or self._scaling.suspended:
            return 0
        tasks, policy = max(acting, key=lambda each: each[0])
        old, self.tasks = self.tasks, min(max(tasks, self._scaling.min), self._scaling.most)
        change = self.tasks - old
        if change:
            policy.begin_cooldown(now, change)
        for other in self._policies if change > 0 else ():
            if other is not policy:
                other.end_cooldown_in()
        return change
