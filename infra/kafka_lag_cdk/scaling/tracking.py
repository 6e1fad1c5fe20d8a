# SPDX-License-Identifier: Apache-2.0
"""As many tasks as keep the lag per member: never the age, which no number of tasks divides.

Application Auto Scaling makes the alarms of such a policy itself. It treats data that is missing
as missing, so silence scales nothing, but what it does with a single point between gaps is not
ours to set: a service that must not be scaled in by partial data follows steps, or turns
`scale_in` off.
"""

from __future__ import annotations

from aws_cdk import aws_applicationautoscaling as autoscaling
from constructs import Construct

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.scaling import Scaling, Tracking
from kafka_lag_cdk.metrics import MAXIMUM
from kafka_lag_cdk.names import alarm_name

_Policy = autoscaling.CfnScalingPolicy


def tracking_policy(
    scope: Construct,
    *,
    cluster: Cluster,
    scaling: Scaling,
    tracking: Tracking,
    target_id: str,
    name: str,
) -> autoscaling.CfnScalingPolicy:
    """The policy, of the deployment `name`; its alarms follow at deploy time and are AWS's."""
    return _Policy(
        scope,
        "Tracking",
        policy_name=alarm_name(name, cluster.name, "tracking"),
        policy_type="TargetTrackingScaling",
        scaling_target_id=target_id,
        target_tracking_scaling_policy_configuration=(
            _Policy.TargetTrackingScalingPolicyConfigurationProperty(
                target_value=tracking.lag_per_member,
                customized_metric_specification=_lag_per_member(cluster, scaling),
                scale_out_cooldown=tracking.out_cooldown_seconds,
                scale_in_cooldown=tracking.in_cooldown_seconds,
                disable_scale_in=not tracking.scale_in,
            )
        ),
    )


def _lag_per_member(
    cluster: Cluster, scaling: Scaling
) -> autoscaling.CfnScalingPolicy.CustomizedMetricSpecificationProperty:
    dimensions = {
        contract.DIMENSION_CLUSTER: cluster.name,
        contract.DIMENSION_GROUP: dimension_value(scaling.group),
    }
    return _Policy.CustomizedMetricSpecificationProperty(
        metric_name=contract.SCALING_LAG_PER_MEMBER,
        namespace=cluster.namespace,
        statistic=MAXIMUM,
        dimensions=[
            _Policy.MetricDimensionProperty(name=name, value=value)
            for name, value in dimensions.items()
        ],
    )
