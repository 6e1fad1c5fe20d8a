# SPDX-License-Identifier: Apache-2.0
"""Physical names: after their deployment, readable, legal and unique.

What the shared stack makes and cluster stacks use is passed by name in SSM parameters: an export
could not change while another stack imports it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from aws_cdk import aws_ssm as ssm
from constructs import Construct

from kafka_lag_config.physical_names import digest

# A deployment that is given no name of its own.
DEPLOYMENT = "kafka-lag"

_BUCKET, _TOPIC, _NOTICES = "bucket", "alarm-topic", "notice-topic"

# The topics of a region.
ALARMS, NOTICES, REPORTS = "alarms", "notices", "reports"

_READABLE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedNames:
    """The bucket of snapshots and the ARN of the alarms' topic; tokens until deployed.

    `notice_topic_arn` is the topic of alarms that are not urgent, None: the same one.
    `name` is the deployment's: alarms and dashboards of clusters that use these begin with it, and
    it is the workgroup's, if there are `queries`. The keys are those that encrypt the bucket, and
    the logs of collectors; None where they are AWS's own.
    """

    bucket: str
    topic_arn: str
    name: str = DEPLOYMENT
    queries: bool = True
    bucket_key_arn: str | None = None
    log_key_arn: str | None = None
    notice_topic_arn: str | None = None

    def publish(self, scope: Construct) -> None:
        """Writes the names into SSM parameters under `/name/`."""
        notices = self.notice_topic_arn or self.topic_arn
        for name, value in (
            (_BUCKET, self.bucket),
            (_TOPIC, self.topic_arn),
            (_NOTICES, notices),
        ):
            ssm.StringParameter(
                scope,
                f"Parameter-{name}",
                parameter_name=f"/{self.name}/{name}",
                string_value=value,
            )

    @classmethod
    def published(
        cls,
        scope: Construct,
        deployment: str,
        *,
        queries: bool = True,
        bucket_key_arn: str | None = None,
        log_key_arn: str | None = None,
    ) -> Self:
        """Returns the names as read at deploy time from parameters of the same account and region.

        Keys are in no parameter: they must be given here as in the shared stack.
        """
        return cls(
            bucket=published_bucket(scope, deployment),
            topic_arn=_published(scope, deployment, _TOPIC),
            notice_topic_arn=_published(scope, deployment, _NOTICES),
            name=deployment,
            queries=queries,
            bucket_key_arn=bucket_key_arn,
            log_key_arn=log_key_arn,
        )


def published_bucket(scope: Construct, deployment: str) -> str:
    """Returns the name of the bucket of the same account and region, read at deploy time."""
    return _published(scope, deployment, _BUCKET)


def _published(scope: Construct, deployment: str, name: str) -> str:
    return ssm.StringParameter.value_for_string_parameter(scope, f"/{deployment}/{name}")


def topic_name(deployment: str, kind: str) -> str:
    """Returns the name of a topic of a `kind`, the same in each account and region."""
    return f"{deployment}-{kind}"


def dashboard_name(cluster: str, deployment: str = DEPLOYMENT) -> str:
    """Returns `<deployment>-<cluster>`; replaces a dot, which is not allowed, and adds a digest.

    The names of dashboards are an account's, whatever the region.
    """
    name = f"{deployment}-{cluster}"
    return name if "." not in name else f"{name.replace('.', '_')}-{digest(cluster)}"


def pascal_case(name: str) -> str:
    """Returns a construct's id for a name of ours: DataLoss for `data-loss` or `data_loss`."""
    return "".join(word.capitalize() for word in re.split("[-_]", name))


def construct_id(word: str, name: str) -> str:
    """Returns a construct's id for a stranger's name: a word, some of the name, a digest."""
    readable = re.sub(r"[^A-Za-z0-9]", "", name)[:_READABLE]
    return "-".join(part for part in (word, readable, digest(name)) if part)
