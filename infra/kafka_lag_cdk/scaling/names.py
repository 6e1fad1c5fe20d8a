# SPDX-License-Identifier: Apache-2.0
"""What services and their constructs are called, here and by Application Auto Scaling."""

from __future__ import annotations

from kafka_lag_cdk.config.scaling import Scaling
from kafka_lag_cdk.names import construct_id

OUT, IN = "scale-out", "scale-in"


def construct_id_of(scaling: Scaling) -> str:
    """The same wherever the service stands in the configuration, and no other service's."""
    return construct_id("Scaling", f"{scaling.ecs_cluster}/{scaling.service}")


def resource_id_of(scaling: Scaling) -> str:
    """The service as Application Auto Scaling knows it."""
    return f"service/{scaling.ecs_cluster}/{scaling.service}"
