# SPDX-License-Identifier: Apache-2.0
"""The tasks of a service that follows `TasksNeeded`, in the model of Application Auto Scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cdk.config.scaling import Scaling, Tasks
from kafka_lag_cdk.scaling_rules import rules_of, template_of
from kafka_lag_cdk.simulation.autoscaling import Service
from kafka_lag_cdk.simulation.metrics import Metrics, Series

# Names that a template has to have; nothing depends on them.
_NAME, _NAMESPACE = "service", "KafkaLag"
# Until an alarm sees a value.
DELAY_MINUTES = 1


def follow_tasks_needed(
    first: int, needed: Sequence[float], least: int, most: int
) -> Sequence[int]:
    """The number that is set at the end of each minute, `first` before; from `least` to `most`.

    By the rules that are deployed for `tasks`, with their cooldowns.
    """
    scaling = Scaling(
        group=_NAME,
        ecs_cluster=_NAME,
        service=_NAME,
        min=least,
        max=most,
        partitions=most,
        tasks=Tasks(),
    )
    return set_tasks(scaling, first, {_NAME: needed})


def set_tasks(
    scaling: Scaling,
    first: int,
    needed: Mapping[str, Sequence[float]],
    interval_minutes: int = 1,
) -> list[int]:
    """The tasks at the end of each minute, `first` before, by all rules of `scaling`.

    `needed`: of each of its groups a number a minute, NaN where none was published.
    """
    resources = template_of(rules_of(scaling), scaling, _NAME, _NAMESPACE, interval_minutes)
    metrics = Metrics(delay=DELAY_MINUTES)
    columns = [
        (
            Series.of(
                _NAMESPACE,
                contract.TASKS_NEEDED,
                {
                    contract.DIMENSION_CLUSTER: _NAME,
                    contract.DIMENSION_GROUP: dimension_value(group),
                },
            ),
            numbers,
        )
        for group, numbers in needed.items()
    ]
    service = Service(resources, metrics, min(max(first, scaling.min), scaling.most))
    tasks = []
    for minute, numbers in enumerate(zip(*(column for _, column in columns), strict=True)):
        for (series, _), number in zip(columns, numbers, strict=True):
            if not np.isnan(number):
                metrics.put(series, minute, float(number))
        service.minute(minute)
        tasks.append(service.tasks)
    return tasks
