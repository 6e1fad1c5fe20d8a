# SPDX-License-Identifier: Apache-2.0
"""Chat channels that show alarms, through AWS's chat integration and with no rights but to look.

The integration shows messages of its own schema only, which alarms have. It must have been let
into the workspace or team by hand once, in its console.
"""

from __future__ import annotations

from aws_cdk import aws_chatbot as chatbot
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.alarms.names import construct_id as id_of
from infra.config.parts.shared import Notify, Slack, Teams
from infra.findings import open_ended

_SERVICE = "chatbot.amazonaws.com"
# What the graph beside an alarm takes.
_TO_LOOK = (
    "cloudwatch:DescribeAlarms",
    "cloudwatch:GetMetricData",
    "cloudwatch:GetMetricWidgetImage",
)


class ChatChannels(Construct):
    """Channels of Slack and of Microsoft Teams; one `role` for all, as they may all do the same.

    Its policy is the guardrail as well: unset, that would be AdministratorAccess.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, notify: Notify, topic: sns.ITopic
    ) -> None:
        super().__init__(scope, construct_id)
        self._topic = topic
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
            notification_topics=[self._topic],
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
            sns_topic_arns=[self._topic.topic_arn],
            iam_role_arn=self.role.role_arn,
            guardrail_policies=[self._policy.managed_policy_arn],
        )
