# SPDX-License-Identifier: Apache-2.0
"""Calls outside the rights of the deployed roles, which must be denied one and all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from dev.rehearse.account import FULL, PLAIN, SHARED_STACK, VIEWS_STACK
from dev.rehearse.emulator import Emulator
from dev.rehearse.functions import NOTIFY, DeployedFunction
from dev.rehearse.rehearsal import Rehearsal
from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key

# What these calls are known by among all that were denied.
SESSION = "outside"
_HISTORY = f"{contract.HISTORY_PREFIX}/any"
_NOTIFIED = f"{contract.NOTIFIED_PREFIX}/any"
_BODY = "nothing"
_DENIED = {"AccessDenied", "AccessDeniedException", "AuthorizationError", "UnauthorizedOperation"}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call by somebody, and the code of its error; None when it was let through."""

    by: str
    operation: str
    on: str
    error: str | None

    @property
    def denied(self) -> bool:
        """Whether a policy, or none, was the reason."""
        return self.error in _DENIED

    def __str__(self) -> str:
        return f"{self.by}: {self.operation} on {self.on}: {self.error or 'let through'}"


class _Caller:
    """Makes calls with a function's role, and notes what comes of them."""

    def __init__(self, emulator: Emulator, by: str, function: DeployedFunction) -> None:
        self._emulator, self._by = emulator, by
        self._credentials = function.credentials(emulator, SESSION)
        self.attempts: list[Attempt] = []

    def attempt(self, service: str, operation: str, on: str, **parameters: Any) -> None:
        """One call; `on` says of what, for people."""
        client = self._emulator.client(service, self._credentials)
        code: str | None = None
        try:
            getattr(client, operation)(**parameters)
        except ClientError as error:
            code = error.response["Error"]["Code"]
        self.attempts.append(Attempt(self._by, f"{service} {operation}", on, code))


@dataclass(frozen=True, slots=True)
class _Targets:
    """What must not be touched: names, keys and ARNs."""

    bucket: str
    own: str
    other: str
    topic: str
    token: str
    login: str
    group: str


def attempt_outside(rehearsal: Rehearsal) -> list[Attempt]:
    """What collector, messages and views must not do."""
    taken_at = rehearsal.runs.taken_at[-1]
    targets = _Targets(
        bucket=rehearsal.output(SHARED_STACK, "Bucket"),
        own=object_key(contract.GROUPS, FULL, taken_at),
        other=object_key(contract.GROUPS, PLAIN, taken_at),
        topic=rehearsal.output(SHARED_STACK, "AlarmTopic"),
        token=rehearsal.output(VIEWS_STACK, "ViewsToken"),
        login=rehearsal.existing.secret,
        group=rehearsal.existing.brokers_security_group,
    )
    callers = [
        _Caller(rehearsal.emulator, "collector", rehearsal.function(FULL)),
        _Caller(rehearsal.emulator, "messages", rehearsal.shared_function(NOTIFY)),
        _Caller(rehearsal.emulator, "views", rehearsal.views_function()),
    ]
    for caller, attempts in zip(callers, (_as_collector, _as_messages, _as_views), strict=True):
        attempts(caller, targets)
    return [each for caller in callers for each in caller.attempts]


def _as_collector(caller: _Caller, on: _Targets) -> None:
    try_, bucket = caller.attempt, on.bucket
    try_("s3", "get_object", "another cluster's snapshot", Bucket=bucket, Key=on.other)
    try_("s3", "put_object", "another cluster's snapshot", Bucket=bucket, Key=on.other, Body=_BODY)
    try_("s3", "put_object", "the history", Bucket=bucket, Key=_HISTORY, Body=_BODY)
    try_("s3", "delete_object", "its own snapshot", Bucket=bucket, Key=on.own)
    try_("s3", "list_objects_v2", "the whole bucket", Bucket=bucket)
    secrets = "secretsmanager"
    try_(secrets, "get_secret_value", "the views' token", SecretId=on.token)
    try_(secrets, "put_secret_value", "its own login", SecretId=on.login, SecretString="{}")
    try_("sns", "publish", "the alarms' topic", TopicArn=on.topic, Message=_BODY)
    rule = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22}
    opened = {"GroupId": on.group, "IpPermissions": [rule]}
    try_("ec2", "authorize_security_group_ingress", "the brokers' security group", **opened)


def _as_messages(caller: _Caller, on: _Targets) -> None:
    try_, bucket = caller.attempt, on.bucket
    try_("s3", "put_object", "a snapshot", Bucket=bucket, Key=on.own, Body=_BODY)
    try_("s3", "get_object", "the history", Bucket=bucket, Key=_HISTORY)
    try_("sns", "publish", "the alarms' topic", TopicArn=on.topic, Message=_BODY)
    try_("secretsmanager", "get_secret_value", "the collector's login", SecretId=on.login)


def _as_views(caller: _Caller, on: _Targets) -> None:
    try_, bucket = caller.attempt, on.bucket
    try_("s3", "put_object", "a snapshot", Bucket=bucket, Key=on.own, Body=_BODY)
    try_("s3", "get_object", "what messages remember", Bucket=bucket, Key=_NOTIFIED)
    try_("secretsmanager", "get_secret_value", "the collector's login", SecretId=on.login)
    try_("sns", "publish", "the alarms' topic", TopicArn=on.topic, Message=_BODY)
