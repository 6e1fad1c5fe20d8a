# SPDX-License-Identifier: Apache-2.0
"""Tells when the daily report was not made."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.findings import understood

_BAD = ("FAILED", "TIMEOUT", "STOPPED", "ERROR")


def job_failure_rule(
    scope: Construct, construct_id: str, *, job_name: str, topic: sns.ITopic
) -> events.Rule:
    """A rule on each run of the Glue job that ends badly.

    The message is of the form that AWS's chat integration shows; others read its two sentences.
    It has no words of the job's own, which may hold quotes that break it.
    """
    rule = events.Rule(
        scope,
        construct_id,
        description="The daily report of consumer lag was not made",
        event_pattern=events.EventPattern(
            source=["aws.glue"],
            detail_type=["Glue Job State Change"],
            detail={"jobName": [job_name], "state": list(_BAD)},
        ),
    )
    # Taken by its ARN, the topic keeps the policy that it has: it lets events in already.
    known = sns.Topic.from_topic_arn(rule, "Topic", topic.topic_arn)
    understood(
        rule,
        "@aws-cdk/aws-events:ruleUnresolvedEnvironment",
        "the topic is of this stack, whichever its account",
    )
    rule.add_target(targets.SnsTopic(known, message=_message(scope)))
    return rule


def _message(scope: Construct) -> events.RuleTargetInput:
    name = events.EventField.from_path("$.detail.jobName")
    state = events.EventField.from_path("$.detail.state")
    run = events.EventField.from_path("$.detail.jobRunId")
    region = Stack.of(scope).region
    return events.RuleTargetInput.from_object(
        {
            "version": "1.0",
            "source": "custom",
            "content": {
                "textType": "client-markdown",
                "title": f"Kafka lag: no report, {name} is {state}",
                "description": f"Run {run} in {region} did not finish. Its log in Glue says why; "
                "start the job again for the same date. See docs/operations.md#the-daily-report.",
            },
        }
    )
