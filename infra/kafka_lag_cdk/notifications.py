# SPDX-License-Identifier: Apache-2.0
"""Receivers of alarms and reports: three topics, their subscriptions, and chat channels.

Urgent alarms wake people. Other alarms are notices, for the day; the daily summary, a report that
was not made and messages on a changed status are read. So they have a topic each: https addresses,
which are pagers, get urgent alarms alone, mail and chat get all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_chatbot as chatbot
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.acknowledgements import acknowledge_wildcard
from kafka_lag_cdk.names import ALARMS, NOTICES, REPORTS, topic_name
from kafka_lag_cdk.names import construct_id as id_of
from kafka_lag_cdk.rights import Right, allow, for_own_account, role_with
from kafka_lag_config.physical_names import digest
from kafka_lag_config.shared import Notify

_ALARM_SERVICE, _EVENT_SERVICE = "cloudwatch.amazonaws.com", "events.amazonaws.com"
_KEY_ACTIONS = ("kms:Decrypt", "kms:GenerateDataKey*")
# The least there is; a message is kept for minutes, so nothing is left that needs the key.
_KEY_PENDING = Duration.days(7)

# The first data of an alarm make it OK out of INSUFFICIENT_DATA, which is no news; CloudWatch has
# no switch for that, but SNS can filter by the body of the message
# [SNS developer guide, payload-based filtering].
INCIDENTS = {"$or": [{"NewStateValue": ["ALARM"]}, {"OldStateValue": ["ALARM"]}]}

# What a filter goes by.
_BODY, _ATTRIBUTES = "MessageBody", "MessageAttributes"

# How a run of a Glue job ends badly.
_BAD = ("FAILED", "TIMEOUT", "STOPPED", "ERROR")

_CHAT_SERVICE = "chatbot.amazonaws.com"
# What the graph beside an alarm takes.
_VIEW_ALARMS = (
    "cloudwatch:DescribeAlarms",
    "cloudwatch:GetMetricData",
    "cloudwatch:GetMetricWidgetImage",
)


class Topics(Construct):
    """The topics `alarms`, `notices` and `reports` of a deployment, encrypted with one `key`.

    `existing` takes the urgent alarms instead of a new topic, `key` encrypts instead of a new one;
    the policy of one that is imported is its owner's, and must let CloudWatch in. There is no key
    where `notify` has encryption off. With `reported` false nothing would be sent as a report, and
    `reports` is None. E-mail addresses must confirm each topic first.

    Alarms cannot use the key that AWS manages for SNS, so these have a key of their own. CloudWatch
    needs rights on topic and key, and a message that lacks either is lost without a word. So the
    key that a topic of the app is encrypted with gets them too. ValueError where it cannot, unless
    `key` names it: its policy is then known to have them.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        notify: Notify,
        existing: sns.ITopic | None = None,
        key: kms.IKey | None = None,
        reported: bool = True,
    ) -> None:
        super().__init__(scope, construct_id)
        makes = notify.encrypted
        self.key = key or (self._new_key() if makes else None)
        self.alarms = existing or self._new_topic("Topic", topic_name(name, ALARMS), "Kafka lag")
        if self.key is not None:
            _let_alarms_use(self, self.key)
        let_alarms_in(self, self.alarms, known=self.key)
        self.notices = self._new_topic("Notices", topic_name(name, NOTICES), "Kafka lag notice")
        let_alarms_in(self, self.notices, known=self.key)
        self.reports: sns.ITopic | None = None
        if reported:
            called = topic_name(name, REPORTS)
            self.reports = self._new_topic("Reports", called, "Kafka lag report")
        self._subscribe(notify)

    def publishing_reports(self) -> tuple[Right, ...]:
        """Returns the rights that a role needs to publish: the key's policy leaves roles to IAM."""
        if self.reports is None:
            return ()
        on_topic = allow("sns:Publish", on=self.reports.topic_arn)
        if self.key is None:
            return (on_topic,)
        # CDK's own grant would be on every action that begins with GenerateDataKey.
        return on_topic, allow("kms:Decrypt", "kms:GenerateDataKey", on=self.key.key_arn)

    def of_chats(self) -> list[sns.ITopic]:
        """Returns the topics that a chat channel shows."""
        return [topic for topic in (self.alarms, self.notices, self.reports) if topic is not None]

    def _new_key(self) -> kms.Key:
        return kms.Key(
            self,
            "Key",
            description="Alarms and reports of consumer lag on their way to people",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,
            pending_window=_KEY_PENDING,
        )

    def _new_topic(self, construct_id: str, name: str, shown: str) -> sns.Topic:
        return sns.Topic(
            self,
            construct_id,
            topic_name=name,
            display_name=shown,
            master_key=self.key,
            enforce_ssl=True,
        )

    def _subscribe(self, notify: Notify) -> None:
        for address in notify.email:
            self._subscription("Email", self.alarms, "email", address, INCIDENTS)
            self._subscription("EmailNotices", self.notices, "email", address, INCIDENTS)
            if self.reports is not None:
                self._subscription("EmailReports", self.reports, "email", address, None)
        for address in notify.https:
            self._subscription("Https", self.alarms, "https", address, INCIDENTS)
        if self.reports is None:
            return
        for (protocol, address), owners in notify.pagers_of_owners().items():
            # To the status messages that page one of them, by SNS's own filter.
            paged: dict[str, Any] = {contract.ATTRIBUTE_PAGE_OWNERS: list(owners)}
            ended = {contract.ATTRIBUTE_END_OWNERS: list(owners)}
            policy = {"$or": [paged, ended]} if notify.recovered else paged
            # Named as one without a filter is: who becomes the one or the other keeps the resource.
            # A new one would be made before the old one goes, and SNS refuses it.
            word = f"{protocol.capitalize()}Reports"
            self._subscription(word, self.reports, protocol, address, policy, scope=_ATTRIBUTES)

    def _subscription(
        self,
        word: str,
        topic: sns.ITopic,
        protocol: str,
        endpoint: str,
        policy: Any,
        *,
        scope: str = _BODY,
    ) -> None:
        """Makes a subscription as L1, because the L2 one has no `$or` on the body.

        SNS keeps one of a topic, protocol and endpoint, and refuses another with another filter.
        """
        sns.CfnSubscription(
            # An address may hold a token, and ids are shown wherever the stack is.
            Construct(self, f"{word}-{digest(endpoint)}"),
            "Resource",
            topic_arn=topic.topic_arn,
            protocol=protocol,
            endpoint=endpoint,
            filter_policy=policy,
            filter_policy_scope=scope if policy else None,
        )


class ChatChannels(Construct):
    """Channels of Slack and of Microsoft Teams that show `topics`, of any region of the account.

    They come through AWS's chat integration, which must have been let into the workspace or team
    by hand once, in its console, and shows messages of its own schema only, which alarms have. It
    cannot filter. What it knows of a channel is an account's, whatever the region it is made in,
    and a second configuration of the channel is refused.

    One `role` is for all, with no rights but to look. Its policy is the guardrail as well: unset,
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
        # CloudWatch knows no finer resource for reading metrics and graphs.
        looking = iam.PolicyStatement(actions=list(_VIEW_ALARMS), resources=["*"])
        policy = iam.ManagedPolicy(
            self,
            "Looking",
            description="A chat channel that shows alarms may look at them and draw their metric",
            statements=[looking],
        )
        acknowledge_wildcard(policy, "*", "reading metrics and their graphs has no finer resource")
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(_CHAT_SERVICE),
            description="People in a chat channel that shows alarms of consumer lag",
            managed_policies=[policy],
        )
        for slack in notify.slack:
            chatbot.SlackChannelConfiguration(
                self,
                id_of("Slack", slack.name),
                slack_channel_configuration_name=slack.name,
                slack_workspace_id=slack.workspace_id,
                slack_channel_id=slack.channel_id,
                notification_topics=list(topics),
                role=self.role,
                guardrail_policies=[policy],
            )
        for teams in notify.teams:
            chatbot.CfnMicrosoftTeamsChannelConfiguration(
                self,
                id_of("Teams", teams.name),
                configuration_name=teams.name,
                team_id=teams.team_id,
                teams_channel_id=teams.channel_id,
                teams_tenant_id=teams.tenant_id,
                sns_topic_arns=[topic.topic_arn for topic in topics],
                iam_role_arn=self.role.role_arn,
                guardrail_policies=[policy.managed_policy_arn],
            )


def let_alarms_in(scope: Construct, topic: sns.ITopic, *, known: kms.IKey | None = None) -> None:
    """Lets CloudWatch publish alarms of the scope's account to a topic, and use its key.

    An imported topic stays as it is. ValueError where its key cannot be changed, unless it is
    `known`: its policy then lets CloudWatch in.
    """
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal(_ALARM_SERVICE)],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            conditions=_own_account(scope),
        )
    )
    key = topic.master_key
    if key is None or (known is not None and _same_key(key, known)):
        return
    if not _let_alarms_use(scope, key):
        raise ValueError(
            f"{topic.node.path} is encrypted with {key.node.path}, whose policy "
            f"cannot be changed: let {_ALARM_SERVICE} use {' and '.join(_KEY_ACTIONS)} in "
            "it, or every alarm is lost, and then give the key as topic_key"
        )


def _let_alarms_use(scope: Construct, key: kms.IKey) -> bool:
    """Lets alarms use the key. Returns false if its policy cannot be extended here."""
    added = key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal(_ALARM_SERVICE)],
            actions=list(_KEY_ACTIONS),
            resources=["*"],  # in a key's policy, that key
            conditions=_own_account(scope),
        )
    )
    return added.statement_added


def _own_account(scope: Construct) -> dict[str, dict[str, str]]:
    return {"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}}


def _same_key(one: kms.IKey, other: kms.IKey) -> bool:
    return one.node.path == other.node.path or one.key_arn == other.key_arn


def topics_of(
    scope: Construct, deployment: str, region: str, *, existing: str | None, reported: bool
) -> list[sns.ITopic]:
    """Return the topics of a region that chats show, by the names that they will have.

    Chats listen from one region to the topics of all, and so must know them before they are there.
    """
    stack = Stack.of(scope)
    kinds = (*([] if existing else [ALARMS]), NOTICES, *([REPORTS] if reported else []))
    arns = [existing] if existing else []
    arns += [
        stack.format_arn(service="sns", region=region, resource=topic_name(deployment, kind))
        for kind in kinds
    ]
    return [
        sns.Topic.from_topic_arn(scope, f"Topic-{region}-{index}", arn)
        for index, arn in enumerate(arns)
    ]


def report_failures(scope: Construct, *, job_name: str, topics: Topics) -> None:
    """Sends a report when a run of the daily report's Glue job ends badly.

    The message is of the form that AWS's chat integration shows; others read its two sentences.
    It has no words of the job's own, which may hold quotes that break it.

    EventBridge publishes through a role: it sends no account along by which the policies of topic
    and key could know whose rule it is [EventBridge user guide, SNS permissions].
    """
    rule = events.Rule(
        scope,
        "ReportFailed",
        description="The daily report of consumer lag was not made",
        event_pattern=events.EventPattern(
            source=["aws.glue"],
            detail_type=["Glue Job State Change"],
            detail={"jobName": [job_name], "state": list(_BAD)},
        ),
    )
    if topics.reports is None:
        return
    role = role_with(
        rule,
        topics.publishing_reports(),
        service=_EVENT_SERVICE,
        conditions=for_own_account(rule),
        description="Sends that the daily report of consumer lag was not made",
    )
    name, state, run = (
        events.EventField.from_path(f"$.detail.{field}")
        for field in ("jobName", "state", "jobRunId")
    )
    content = {
        "textType": "client-markdown",
        "title": f"Kafka lag: no report, {name} is {state}",
        "description": f"Run {run} in {Stack.of(scope).region} did not finish. Its log in Glue "
        "says why; start the job again for the same date. See docs/report.md#the-daily-report.",
    }
    message = {"version": "1.0", "source": "custom", "content": content}
    rule.add_target(
        targets.SnsTopic(
            topics.reports,
            message=events.RuleTargetInput.from_object(message),
            authorize_using_role=True,
            role=role.without_policy_updates(),
        )
    )
