# SPDX-License-Identifier: Apache-2.0
"""What the shared stack makes and cluster stacks use, passed by name in SSM parameters.

An export could not change while another stack imports it; a parameter can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from aws_cdk import aws_ssm as ssm
from constructs import Construct

_BUCKET, _TOPIC = "bucket", "alarm-topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedNames:
    """The bucket of snapshots and the ARN of the alarms' topic; tokens until deployed."""

    bucket: str
    topic_arn: str

    def publish(self, scope: Construct, prefix: str) -> None:
        """Writes them into parameters under `/prefix/`."""
        for name, value in ((_BUCKET, self.bucket), (_TOPIC, self.topic_arn)):
            ssm.StringParameter(
                scope, f"Parameter-{name}", parameter_name=f"/{prefix}/{name}", string_value=value
            )

    @classmethod
    def published(cls, scope: Construct, prefix: str) -> Self:
        """Reads them at deploy time from the parameters of the same region."""
        bucket, topic = (
            ssm.StringParameter.value_for_string_parameter(scope, f"/{prefix}/{name}")
            for name in (_BUCKET, _TOPIC)
        )
        return cls(bucket=bucket, topic_arn=topic)
