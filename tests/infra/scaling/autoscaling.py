# SPDX-License-Identifier: Apache-2.0
"""Application Auto Scaling as far as AWS documents step scaling, minute by minute.

A policy runs in each minute in which its alarm is in ALARM. The step is the one that the metric,
less the alarm's threshold, lies in. After a step out its tasks count as part of the next one
until the cooldown is over; a step in waits for the end of its cooldown, which a step out ends.
Where two policies want something, the larger number of tasks wins. Nothing leaves the bounds.
[Application Auto Scaling user guide, "How step scaling works", "Cooldown period"; API reference,
StepAdjustment.]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.infra.cloudwatch.alarms import Watched, series_of
from tests.infra.cloudwatch.evaluation import ALARM, INSUFFICIENT_DATA, Assumptions, state_of
from tests.infra.cloudwatch.metrics import Metrics, Series
from tests.infra.resolve import of_type

Properties = Mapping[str, Any]

_SECONDS = 60
_OUT = "GreaterThanOrEqualToThreshold"


@dataclass(frozen=True, slots=True)
class Assumed:
    """What AWS leaves open.

    `compared` is the value that a step is chosen by: the newest, or the greatest that the alarm
    looked at; of an alarm that fires without any, the last one it saw. `alarms` is what is open
    about alarms.
    """

    compared: Literal["newest", "greatest"] = "greatest"
    alarms: Assumptions = field(default_factory=Assumptions)


_ASSUMED = Assumed()


class Gated(Metrics):
    """Metrics with a point only where another series has one: `age + 0 * lag`."""

    def __init__(self, metrics: Metrics, gate: Series) -> None:
        super().__init__()
        self._metrics, self._gate = metrics, gate

    def point(self, series: Series, statistic: str, minutes: range, seen: int) -> float | None:
        if self._metrics.point(self._gate, statistic, minutes, seen) is None:
            return None
        return self._metrics.point(series, statistic, minutes, seen)


class Rule:
    """An alarm of a template and the policy that it runs."""

    def __init__(self, alarm: Properties, policy: Properties, metrics: Metrics) -> None:
        configured = policy["StepScalingPolicyConfiguration"]
        alarm, self._metrics = _plain(alarm, metrics)
        self._watched, self._series = Watched.of(alarm), series_of(alarm)
        self.out = alarm["ComparisonOperator"] == _OUT
        self._steps = configured["StepAdjustments"]
        self._cooldown = -(-configured["Cooldown"] // _SECONDS)
        self._state = INSUFFICIENT_DATA
        self._until, self._added, self._value = 0, 0, 0.0

    def wants(self, minute: int, assumed: Assumed) -> int:
        """By how many tasks it would change the number now; 0 for not at all."""
        points = self._watched.points(self._series, self._metrics, minute, assumed.alarms)
        counts = self._watched.counts
        self._state = state_of(points, counts, self._state, assumed.alarms.undecided)
        if self._state != ALARM:
            return 0
        change = self._step(self._compared(minute, assumed))
        if minute >= self._until:
            return change
        return max(change - self._added, 0) if self.out else 0

    def done(self, minute: int, change: int) -> None:
        """So many tasks were added or taken away; the cooldown begins."""
        self._added = change + (self._added if minute < self._until else 0)
        self._until = minute + self._cooldown

    def overtaken(self) -> None:
        """A step the other way ends the cooldown."""
        self._until = 0

    def _step(self, value: float) -> int:
        breach = value - self._watched.bound
        for step in self._steps:
            low = step.get("MetricIntervalLowerBound", float("-inf"))
            high = step.get("MetricIntervalUpperBound", float("inf"))
            if low <= breach < high if self.out else low < breach <= high:
                return int(step["ScalingAdjustment"])
        return 0

    def _compared(self, minute: int, assumed: Assumed) -> float:
        count = self._watched.counts.periods + assumed.alarms.extra_points
        newest_first = (
            self._metrics.point(
                self._series,
                self._watched.statistic,
                range(end - self._watched.period + 1, end + 1),
                minute,
            )
            for end in range(minute, minute - count * self._watched.period, -self._watched.period)
        )
        known = [value for value in newest_first if value is not None]
        looked_at = known[: self._watched.counts.periods]
        if looked_at:
            self._value = looked_at[0] if assumed.compared == "newest" else max(looked_at)
        return self._value


class Service:
    """The tasks of one ECS service, as its scaling in a template makes them; `tasks` is now."""

    def __init__(
        self,
        resources: Mapping[str, dict[str, Any]],
        metrics: Metrics,
        tasks: int,
        assumed: Assumed = _ASSUMED,
    ) -> None:
        (target,) = of_type(resources, "AWS::ApplicationAutoScaling::ScalableTarget").values()
        self._least, self._most = int(target["MinCapacity"]), int(target["MaxCapacity"])
        policies = of_type(resources, "AWS::ApplicationAutoScaling::ScalingPolicy")
        by_arn = {f":policyName/{name.lower()}": policy for name, policy in policies.items()}
        self._rules = [
            Rule(alarm, next(p for end, p in by_arn.items() if action.endswith(end)), metrics)
            for alarm in of_type(resources, "AWS::CloudWatch::Alarm").values()
            for action in alarm["AlarmActions"]
        ]
        self._assumed = assumed
        self.tasks = tasks

    def minute(self, now: int) -> int:
        """What happens at the end of a minute; the change of the number of tasks."""
        wanted = [(rule.wants(now, self._assumed), rule) for rule in self._rules]
        change, rule = max(wanted, key=lambda each: each[0] or float("-inf"))
        tasks = min(max(self.tasks + change, self._least), self._most)
        change, self.tasks = tasks - self.tasks, tasks
        if change:
            rule.done(now, change)
            for other in self._rules:
                if rule.out and not other.out:
                    other.overtaken()
        return change


def _plain(alarm: Properties, metrics: Metrics) -> tuple[Properties, Metrics]:
    """The one metric of an alarm, and the metrics as its expression lets them through."""
    if "Metrics" not in alarm:
        return alarm, metrics
    queries = {each["Id"]: each for each in alarm["Metrics"]}
    (expression,) = [each["Expression"] for each in queries.values() if "Expression" in each]
    if expression != "age + 0 * lag":
        raise ValueError(f"an expression that is not modelled: {expression}")
    age, lag = (queries[key]["MetricStat"] for key in ("age", "lag"))
    own = {**age["Metric"], "Statistic": age["Stat"], "Period": age["Period"]}
    return {**alarm, **own}, Gated(metrics, Series.described(lag["Metric"]))
