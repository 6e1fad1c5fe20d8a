# SPDX-License-Identifier: Apache-2.0
"""The tasks of a service that follows `TasksNeeded`, in the model of Application Auto Scaling."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lag import contract
from kafka_lag_cdk.config.scaling import Scaling, Tasks
from kafka_lag_cdk.scaling_rules import rules_of, template_of
from kafka_lag_cdk.simulation.autoscaling import Service
from kafka_lag_cdk.simulation.metrics import Metrics, Series

# Names that a template has to have; nothing depends on them.
_NAME, _NAMESPACE = "service", "KafkaLag"
# Until an alarm sees a value.
_DELAY_MINUTES = 1


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
    resources = template_of(rules_of(scaling), scaling, _NAME, _NAMESPACE)
    metrics = Metrics(delay=_DELAY_MINUTES)
    dimensions = {contract.DIMENSION_CLUSTER: _NAME, contract.DIMENSION_GROUP: _NAME}
    series = Series.of(_NAMESPACE, contract.TASKS_NEEDED, dimensions)
    service = Service(resources, metrics, min(max(first, least), most))
    tasks = []
    for minute, number in enumerate(needed):
        metrics.put(series, minute, number)
        service.minute(minute)
        tasks.append(service.tasks)
    return tasks
