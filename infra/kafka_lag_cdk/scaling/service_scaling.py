# SPDX-License-Identifier: Apache-2.0
"""One ECS service between its least and its most tasks, by the lag of its group."""

from __future__ import annotations

from aws_cdk import Annotations
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.scaling import Scaling
from kafka_lag_cdk.names import DEPLOYMENT
from kafka_lag_cdk.scaling.names import resource_id_of
from kafka_lag_cdk.scaling.steps import StepScaling
from kafka_lag_cdk.scaling.tracking import tracking_policy

_SUSPENDED = autoscaling.CfnScalableTarget.SuspendedStateProperty(
    dynamic_scaling_in_suspended=True,
    dynamic_scaling_out_suspended=True,
    scheduled_scaling_suspended=True,
)


class ServiceScaling(Construct):
    """Registers the service and scales it; `alarms` are those of its steps, if it has any.

    `name` is the deployment's, which names of alarms and policies begin with.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        scaling: Scaling,
        name: str = DEPLOYMENT,
    ) -> None:
        super().__init__(scope, construct_id)
        # No role: Application Auto Scaling uses its service-linked one, and makes it where it is
        # missing; the role that CDK's ScalableTarget would add has no rights and no use.
        target = autoscaling.CfnScalableTarget(
            self,
            "Target",
            service_namespace="ecs",
            scalable_dimension="ecs:service:DesiredCount",
            resource_id=resource_id_of(scaling),
            min_capacity=scaling.min,
            max_capacity=min(scaling.max, scaling.partitions),
            suspended_state=_SUSPENDED if scaling.suspended else None,
        )
        self.alarms = self._followed(cluster, scaling, target.ref, name)
        Annotations.of(self).add_info_v2("msk-lag-reporter:one-master", _one_master(scaling))

    def _followed(
        self, cluster: Cluster, scaling: Scaling, target_id: str, name: str
    ) -> tuple[cloudwatch.IAlarm, ...]:
        if scaling.tracking:
            tracking_policy(
                self,
                cluster=cluster,
                scaling=scaling,
                tracking=scaling.tracking,
                target_id=target_id,
                name=name,
            )
        if not scaling.steps:
            return ()
        steps = StepScaling(
            self,
            "Steps",
            cluster=cluster,
            scaling=scaling,
            steps=scaling.steps,
            target_id=target_id,
            name=name,
        )
        return steps.alarms


def _one_master(scaling: Scaling) -> str:
    """What else must not set the number of tasks, and how to find out."""
    return (
        f"This stack sets the number of tasks of {scaling.ecs_cluster}/{scaling.service}. A "
        "service has one scalable target: one that is registered elsewhere is fought over (see "
        "aws application-autoscaling describe-scalable-targets --service-namespace ecs "
        f"--resource-ids {resource_id_of(scaling)}). A DesiredCount in the service's own template "
        "resets the number at each of its deploys: leave it out there."
    )
