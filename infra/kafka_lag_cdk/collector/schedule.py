# SPDX-License-Identifier: Apache-2.0
"""When a collector runs: on the minute, told which minute it is for."""

from __future__ import annotations

import json

from aws_cdk import Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.rights import allow, role_with

# What Scheduler puts in its place [EventBridge Scheduler user guide, context attributes].
_SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"

# A step of 60 is beyond what the field of minutes may hold.
_MINUTES = {1: "*", 60: "0"}

# A run that was missed is not made up for: the next one sees the same brokers a minute later.
_NO_RETRIES = scheduler.CfnSchedule.RetryPolicyProperty(
    maximum_event_age_in_seconds=60, maximum_retry_attempts=0
)


class CollectorSchedule(Construct):
    """A schedule for the function; switched off, but there, while the cluster is paused.

    Cron and not rate, whose minutes do not begin on the minute. Its role may invoke this
    function and no version of it, which the target of CDK's own would add.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        function: lambda_.IFunction,
    ) -> None:
        super().__init__(scope, construct_id)
        role = role_with(
            self,
            [allow("lambda:InvokeFunction", on=function.function_arn)],
            service="scheduler.amazonaws.com",
            conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
        )
        scheduler.CfnSchedule(
            self,
            "Schedule",
            description=f"Lag collector of {cluster.name}",
            state="DISABLED" if cluster.paused else "ENABLED",
            schedule_expression=cron_of(cluster.interval_minutes),
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=function.function_arn,
                role_arn=role.role_arn,
                input=_event_of(cluster),
                retry_policy=_NO_RETRIES,
            ),
        )


def cron_of(minutes: int) -> str:
    """Every so many minutes, from the full hour on."""
    return f"cron({_MINUTES.get(minutes, f'0/{minutes}')} * * * ? *)"


def _event_of(cluster: Cluster) -> str:
    event = {
        contract.EVENT_CLUSTER: cluster.name,
        contract.EVENT_SCHEDULED_TIME: _SCHEDULED_TIME,
    }
    return json.dumps(event)
