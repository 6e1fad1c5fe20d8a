# SPDX-License-Identifier: Apache-2.0
"""Chat channels that show alarms, through AWS's chat integration and with no rights but to look.

The integration shows messages of its own schema only, which alarms have. It must have been let
into the workspace or team by hand once, in its console. What it knows of a channel is an account's,
whatever the region it is made in, and a second configuration of the channel is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Stack
from aws_cdk import aws_chatbot as chatbot
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.config.shared import Notify, Slack, Teams
from kafka_lag_cdk.findings import open_ended
from kafka_lag_cdk.names import construct_id as id_of
from kafka_lag_cdk.names import topic_name

_SERVICE = "chatbot.amazonaws.com"
# What the graph beside an alarm takes.
_TO_LOOK = (
    "cloudwatch:DescribeAlarms",
    "cloudwatch:GetMetricData",
    "cloudwatch:GetMetricWidgetImage",
)


class ChatChannels(Construct):
    """Channels of Slack and of Microsoft Teams that hear `topics`, of any region of the account.

    One `role` is for all, as they may all do the same. Its policy is the guardrail as well: unset,
    that would be AdministratorAccess.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        notify: Notify,
        topics: Sequence[sns.ITopic],
    ) -> None:
        super().__init__(scope, construct_id)
        self._topics = list(topics)
        self._policy = self._looking()
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(_SERVICE),
            description="People in a chat channel that shows alarms of consumer lag",
            managed_policies=[self._policy],
        )
        for slack in notify.slack:
            self._slack(slack)
        for teams in notify.teams:
            self._teams(teams)

    def _looking(self) -> iam.ManagedPolicy:
        policy = iam.ManagedPolicy(
            self,
            "Looking",
            description="A chat channel that shows alarms may look at them and draw their metric",
            # CloudWatch knows no finer resource for reading metrics and graphs.
            statements=[iam.PolicyStatement(actions=list(_TO_LOOK), resources=["*"])],
        )
        open_ended(policy, "*", "reading metrics and their graphs has no finer resource")
        return policy

    def _slack(self, channel: Slack) -> None:
        chatbot.SlackChannelConfiguration(
            self,
            id_of("Slack", channel.name),
            slack_channel_configuration_name=channel.name,
            slack_workspace_id=channel.workspace_id,
            slack_channel_id=channel.channel_id,
            notification_topics=self._topics,
            role=self.role,
            guardrail_policies=[self._policy],
        )

    def _teams(self, channel: Teams) -> None:
        chatbot.CfnMicrosoftTeamsChannelConfiguration(
            self,
            id_of("Teams", channel.name),
            configuration_name=channel.name,
            team_id=channel.team_id,
            teams_channel_id=channel.channel_id,
            teams_tenant_id=channel.tenant_id,
            sns_topic_arns=[topic.topic_arn for topic in self._topics],
            iam_role_arn=self.role.role_arn,
            guardrail_policies=[self._policy.managed_policy_arn],
        )


def topic_of(scope: Construct, deployment: str, region: str) -> sns.ITopic:
    """The alarms' topic of a region of the scope's account, by its name."""
    arn = Stack.of(scope).format_arn(service="sns", region=region, resource=topic_name(deployment))
    return sns.Topic.from_topic_arn(scope, f"Topic-{region}", arn)


def has_chats(notify: Notify) -> bool:
    """Whether any channel is told."""
    return bool(notify.slack or notify.teams)
