# SPDX-License-Identifier: Apache-2.0
"""What alarms, policies and constructs of scaling are called: to be read by people, never alike."""

from __future__ import annotations

import hashlib

from infra.config.parts.cluster import Cluster
from infra.config.parts.scaling import Scaling

OUT, IN = "scale-out", "scale-in"

# CloudWatch takes no longer name [botocore cloudwatch PutMetricAlarm].
_LONGEST_ALARM_NAME = 255
_DIGEST = 8


def construct_id_of(scaling: Scaling) -> str:
    """The same wherever the service stands in the configuration, and no other service's."""
    return f"Scaling-{scaling.service}-{_digest(f'{scaling.ecs_cluster}/{scaling.service}')}"


def resource_id_of(scaling: Scaling) -> str:
    """The service as Application Auto Scaling knows it."""
    return f"service/{scaling.ecs_cluster}/{scaling.service}"


def alarm_name(cluster: Cluster, direction: str, scaling: Scaling) -> str:
    """`kafka-lag/<cluster>/<direction>/<ECS cluster>/<service>`; too long, its end is a digest."""
    name = f"kafka-lag/{cluster.name}/{direction}/{scaling.ecs_cluster}/{scaling.service}"
    if len(name) <= _LONGEST_ALARM_NAME:
        return name
    return f"{name[: _LONGEST_ALARM_NAME - _DIGEST - 1]}~{_digest(name)}"


def policy_name(cluster: Cluster, kind: str) -> str:
    """A policy's name; policies are named apart for each service."""
    return f"kafka-lag/{cluster.name}/{kind}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
