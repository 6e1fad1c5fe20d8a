# SPDX-License-Identifier: Apache-2.0
"""A topic that alarms and events can write to, and nobody else, encrypted unless that is off.

Alarms cannot use the key that AWS manages for SNS, so this one has a key of its own. Both services
need rights on the topic and on the key, and a message that lacks either is lost without a word.
"""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.config.shared import Notify
from kafka_lag_cdk.names import digest, topic_name
from kafka_lag_cdk.rights import Right, allow

_ALARMS, _EVENTS = "cloudwatch.amazonaws.com", "events.amazonaws.com"
_KEY_ACTIONS = ("kms:Decrypt", "kms:GenerateDataKey*")
# The least there is; a message is kept for minutes, so nothing is left that needs the key.
_KEY_LEFT = Duration.days(7)


class AlarmTopic(Construct):
    """`topic` of the deployment `name`, its `key`, and the addresses that are told.

    A `topic` or a `key` that exists is taken instead of a new one; the policy of one that is known
    by its ARN is its owner's, and must let both services in. A new topic has no key where `notify`
    has encryption off; that of an existing one must be given along.

    E-mail addresses must confirm first. Chats listen from one region to the topics of all, and so
    must know what they are called before they are there.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        notify: Notify,
        key: kms.IKey | None = None,
        topic: sns.ITopic | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.key = key or (self._new_key() if notify.encrypted and topic is None else None)
        self.topic = topic or self._new_topic(name)
        self._let_in(_ALARMS, self._this_account())
        # EventBridge gives no account or rule along: with a condition on them every message would
        # be lost [SNS developer guide, key management; EventBridge user guide, SNS permissions].
        self._let_in(_EVENTS, {})
        self._tell(notify)

    def _new_key(self) -> kms.Key:
        return kms.Key(
            self,
            "Key",
            description="Alarms of consumer lag on their way to people",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,
            pending_window=_KEY_LEFT,
        )

    def _new_topic(self, name: str) -> sns.Topic:
        return sns.Topic(
            self,
            "Topic",
            topic_name=topic_name(name),
            display_name="Kafka lag",
            master_key=self.key,
            enforce_ssl=True,
        )

    def publishing(self) -> tuple[Right, ...]:
        """What a role takes to publish: the key's policy leaves the account's roles to IAM."""
        on_topic = allow("sns:Publish", on=self.topic.topic_arn)
        if self.key is None:
            return (on_topic,)
        # CDK's own grant would be on every action that begins with GenerateDataKey.
        return on_topic, allow("kms:Decrypt", "kms:GenerateDataKey", on=self.key.key_arn)

    def _let_in(self, service: str, conditions: dict[str, dict[str, str]]) -> None:
        principal = iam.ServicePrincipal(service)
        if self.key:
            self.key.add_to_resource_policy(
                iam.PolicyStatement(
                    principals=[principal],
                    actions=list(_KEY_ACTIONS),
                    resources=["*"],  # in a key's policy, that key
                    conditions=conditions,
                )
            )
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[principal],
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions=conditions,
            )
        )

    def _this_account(self) -> dict[str, dict[str, str]]:
        return {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}

    def _tell(self, notify: Notify) -> None:
        targets = [("Email", sns.SubscriptionProtocol.EMAIL, each) for each in notify.email]
        targets += [("Https", sns.SubscriptionProtocol.HTTPS, each) for each in notify.https]
        for word, protocol, endpoint in targets:
            # An address may hold a token, and ids are shown wherever the stack is.
            sns.Subscription(
                self,
                f"{word}-{digest(endpoint)}",
                topic=self.topic,
                protocol=protocol,
                endpoint=endpoint,
            )
