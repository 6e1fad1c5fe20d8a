# SPDX-License-Identifier: Apache-2.0
"""The rules by which services are scaled as data, without CDK: when one acts, and what it sets.

A rule is an alarm and the step scaling policy that it runs.

**Tasks needed** are set as they are published, up and down: the policy sets an exact number, and
the alarm is in ALARM whenever that is known. So it does not matter how many members the group has
at the moment, whether a task starts late or not at all, or how often the policy runs; a difference
to the members would be added again while they start. The metric rises at once and falls after a
rest, so the rule has none of its own.

**Steps** of lag or age add tasks to those that there are. Beside tasks needed they stand in while
these are not known, as of a group that never had a backlog.

Missing data is `notBreaching` for all,
so that where nothing is known no alarm fires and the number of tasks stays. They take real data
points only, then: with `missing` CloudWatch would fire on a single point that is old enough and has
nothing but gaps after it, and with `ignore` an alarm that fires would go on firing, a step each
cooldown, for as long as the collector sends nothing [CloudWatch user guide, "Configuring how
CloudWatch alarms treat missing data"]. The newest minutes may still be on their way: CloudWatch
looks a little farther back instead, so late data costs time and no action.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from kafka_lag import contract
from kafka_lag_config.alarm_rules import Operator
from kafka_lag_config.scaling import GroupScaling, Steps

OUT, IN, NEEDED = "scale-out", "scale-in", "tasks-needed"
# Steps of one policy [Application Auto Scaling user guide, "Quotas"].
_MOST_STEPS = 20
# Minutes in which a breach that began may be interrupted, or not yet have arrived.
_SPARE_MINUTES = 2
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class GroupMetric:
    """A metric of a group, read with Maximum, a period a run."""

    name: str
    group: str


@dataclass(frozen=True, slots=True)
class Adjustment:
    """So many tasks, from `lower` up to `upper` off the alarm's threshold; None: without an end."""

    lower: float | None
    upper: float | None
    tasks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRule:
    """An alarm, and what the policy that it runs does with the number of tasks.

    `datapoints` of the last `minutes` must breach. `expression` is metric math over the ids of
    `metrics`; None where there is one. A policy does nothing more of its kind for a cooldown.
    """

    name: str
    watches: str
    metrics: Mapping[str, GroupMetric]
    expression: str | None = None
    operator: Operator
    threshold: float
    datapoints: int
    minutes: int
    adjustment: Literal["ChangeInCapacity", "ExactCapacity"]
    cooldown_seconds: int
    steps: tuple[Adjustment, ...]

    def periods(self, interval_minutes: int) -> tuple[int, int]:
        """Datapoints, and periods that they are of, in runs; a part of one counts whole."""
        return -(-self.datapoints // interval_minutes), -(-self.minutes // interval_minutes)


def rules_of(scaling: GroupScaling) -> tuple[ScalingRule, ...]:
    """The rules of a service; none where AWS makes its own, of a target."""
    needed = tuple(_needed(scaling)) if scaling.tasks else ()
    if steps := scaling.fallback_steps:
        return (*needed, _step_out(scaling, steps), _step_in(scaling, steps))
    return needed


def _needed(scaling: GroupScaling) -> Iterator[ScalingRule]:
    """Rules that set as many tasks as are needed, each for as many numbers as a policy may have."""
    names = [f"needed{number}" for number in range(len(scaling.groups))]
    groups = zip(names, scaling.groups, strict=True)
    metrics = {name: GroupMetric(contract.TASKS_NEEDED, group) for name, group in groups}
    counts = range(scaling.min, scaling.most + 1)
    for begin in range(0, len(counts), _MOST_STEPS):
        band = counts[begin : begin + _MOST_STEPS]
        threshold = band[0] - 0.5 if begin else 0.0
        yield ScalingRule(
            name=f"{NEEDED}-from-{band[0]}" if begin else NEEDED,
            watches=contract.TASKS_NEEDED,
            metrics=metrics,
            expression=_needed_in(band, names, last=band[-1] == scaling.most),
            operator=Operator.AT_LEAST,
            threshold=threshold,
            datapoints=1,
            minutes=1,
            adjustment="ExactCapacity",
            cooldown_seconds=_SECONDS,
            steps=tuple(
                Adjustment(
                    0 if count == band[0] else count - 0.5 - threshold,
                    None if count == band[-1] else count + 0.5 - threshold,
                    count,
                )
                for count in band
            ),
        )


def _needed_in(band: range, names: Sequence[str], *, last: bool) -> str | None:
    """The number that is needed, where it lies in a band; below every threshold elsewhere."""
    greatest = _greatest(names)
    if not last:
        return f"IF({greatest} < {band[-1] + 0.5:g}, {greatest}, -1)"
    return greatest if len(names) > 1 else None


def _greatest(names: Sequence[str]) -> str:
    """Return the expression for the greatest of several metrics, if all are known."""
    if len(names) == 1:
        return names[0]
    return f"MAX([{', '.join(names)}]) + 0 * ({' + '.join(names)})"


def _step_out(scaling: GroupScaling, steps: Steps) -> ScalingRule:
    lowest, last = steps.out[0].above, steps.out[-1]
    inner = [
        Adjustment(step.above - lowest, following.above - lowest, step.add)
        for step, following in pairwise(steps.out)
    ]
    metrics, expression = _step_metrics(scaling, steps, otherwise=0.0)
    return ScalingRule(
        name=OUT,
        watches=steps.metric,
        metrics=metrics,
        expression=expression,
        operator=Operator.AT_LEAST,
        threshold=lowest,
        datapoints=steps.out_minutes,
        minutes=steps.out_minutes + _SPARE_MINUTES,
        adjustment="ChangeInCapacity",
        cooldown_seconds=steps.out_cooldown_seconds,
        steps=(*inner, Adjustment(last.above - lowest, None, last.add)),
    )


def _step_in(scaling: GroupScaling, steps: Steps) -> ScalingRule:
    metrics, expression = _step_metrics(scaling, steps, otherwise=steps.below)
    return ScalingRule(
        name=IN,
        watches=steps.metric,
        metrics=metrics,
        expression=expression,
        operator=Operator.BELOW,
        threshold=steps.below,
        datapoints=steps.in_minutes,
        minutes=steps.in_minutes,
        adjustment="ChangeInCapacity",
        cooldown_seconds=steps.in_cooldown_seconds,
        steps=(Adjustment(None, 0, -steps.remove),),
    )


def _step_metrics(
    scaling: GroupScaling, steps: Steps, *, otherwise: float
) -> tuple[dict[str, GroupMetric], str | None]:
    """The metric of the steps, where the groups were read whole: an age is published without.

    Where the tasks are known that are needed, `otherwise`, which does nothing. Metric math has a
    value where each of its metrics has one.
    """
    metrics: dict[str, GroupMetric] = {}
    watched, whole, needed = [], [], []
    for number, group in enumerate(scaling.groups):
        suffix = str(number) if scaling.tasks else ""
        if steps.metric != contract.SCALING_LAG:
            metrics[f"age{suffix}"] = GroupMetric(steps.metric, group)
            whole.append(f"lag{suffix}")
            watched.append(f"age{suffix}")
        else:
            watched.append(f"lag{suffix}")
        metrics[f"lag{suffix}"] = GroupMetric(contract.SCALING_LAG, group)
        if scaling.tasks:
            metrics[f"needed{suffix}"] = GroupMetric(contract.TASKS_NEEDED, group)
            needed.append(f"FILL(needed{suffix}, -1)")
    expression = " + 0 * ".join([_greatest(watched), *whole])
    if needed:
        least = needed[0] if len(needed) == 1 else f"MIN([{', '.join(needed)}])"
        return metrics, f"IF({least} < 0, {expression}, {otherwise:g})"
    return metrics, expression if whole else None
