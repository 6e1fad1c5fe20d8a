# SPDX-License-Identifier: Apache-2.0
"""Log groups, which go with their stack: what must last is in the bucket."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from kafka_lag_config.settings import LogDays

# CDK names what CloudWatch counts in days.
_RETENTION = {
    1: logs.RetentionDays.ONE_DAY,
    3: logs.RetentionDays.THREE_DAYS,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    60: logs.RetentionDays.TWO_MONTHS,
    90: logs.RetentionDays.THREE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
    731: logs.RetentionDays.TWO_YEARS,
}


def make_log_group(
    scope: Construct, *, days: LogDays, key_arn: str | None, name: str | None = None
) -> logs.LogGroup:
    """Makes the scope's `Log`, which keeps lines for `days`; a null key is CloudWatch's own."""
    return logs.LogGroup(
        scope,
        "Log",
        log_group_name=name,
        retention=_RETENTION[days],
        encryption_key=kms.Key.from_key_arn(scope, "LogKey", key_arn) if key_arn else None,
        removal_policy=RemovalPolicy.DESTROY,
    )
