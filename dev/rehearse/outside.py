# SPDX-License-Identifier: Apache-2.0
"""Makes calls with the deployed roles: some that must be denied, and some that must be allowed.

Calls outside of a role's rights must be denied. Calls that services of AWS make with theirs must be
allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from dev.rehearse.account import FULL, PLAIN, SHARED_STACK, VIEWS_STACK, stack_of
from dev.rehearse.emulator import Credentials, Emulator
from dev.rehearse.functions import LOOK_UP, NOTIFY, DeployedFunction, assume_service_role
from dev.rehearse.rehearsal import Rehearsal
from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key

# What these calls are known by among all that were denied.
SESSION = "outside"
_INSIDE = "service"
_HISTORY = f"{contract.HISTORY_PREFIX}/any"
_NOTIFIED = f"{contract.NOTIFIED_PREFIX}/any"
_BODY = "nothing"
_DENIED = {"AccessDenied", "AccessDeniedException", "AuthorizationError", "UnauthorizedOperation"}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call, and the code of its error; None if it was allowed."""

    by: str
    operation: str
    on: str
    error: str | None

    @property
    def denied(self) -> bool:
        """Returns whether the call failed because of missing rights."""
        return self.error in _DENIED

    def __str__(self) -> str:
        return f"{self.by}: {self.operation} on {self.on}: {self.error or 'let through'}"


class _Caller:
    """Makes calls with a role's credentials, and records their results."""

    def __init__(self, emulator: Emulator, by: str, credentials: Credentials) -> None:
        self._emulator, self._by = emulator, by
        self._credentials = credentials
        self.attempts: list[Attempt] = []

    def attempt(self, service: str, operation: str, on: str, **parameters: Any) -> None:
        """Makes one call; `on` names the resource for people."""
        client = self._emulator.client(service, self._credentials)
        code: str | None = None
        try:
            getattr(client, operation)(**parameters)
        except ClientError as error:
            code = error.response["Error"]["Code"]
        self.attempts.append(Attempt(self._by, f"{service} {operation}", on, code))


@dataclass(frozen=True, slots=True)
class _Targets:
    """Names, keys and ARNs that nobody, or only one role, may use."""

    bucket: str
    own: str
    other: str
    topic: str
    token: str
    login: str
    group: str
    reports: str
    collector: str
    other_function: str
    other_msk: str


_Calls = Callable[[_Caller, _Targets], None]


def attempt_outside(rehearsal: Rehearsal) -> list[Attempt]:
    """Makes calls that functions, Scheduler, EventBridge and Glue must not make.

    Returns all attempts.
    """
    emulator, targets = rehearsal.emulator, _targets(rehearsal)
    functions = {
        "collector": (rehearsal.function(FULL), _as_collector),
        "messages": (rehearsal.shared_function(NOTIFY), _as_messages),
        "views": (rehearsal.views_function(), _as_views),
        "look-up": (DeployedFunction.find(emulator, stack_of(PLAIN), LOOK_UP), _as_look_up),
    }
    found: list[Attempt] = []
    for by, (function, attempts) in functions.items():
        caller = _Caller(emulator, by, function.credentials(emulator, SESSION))
        attempts(caller, targets)
        found += caller.attempts
    for service, (stack, outside, _) in _SERVICES.items():
        role = assume_service_role(emulator, stack, service, SESSION)
        caller = _Caller(emulator, service, role)
        outside(caller, targets)
        found += caller.attempts
    return found


def attempt_inside(rehearsal: Rehearsal) -> list[Attempt]:
    """Makes the calls that Scheduler, EventBridge and Glue need to make; returns all attempts."""
    found: list[Attempt] = []
    for service, (stack, _, inside) in _SERVICES.items():
        role = assume_service_role(rehearsal.emulator, stack, service, _INSIDE)
        caller = _Caller(rehearsal.emulator, service, role)
        inside(caller, _targets(rehearsal))
        found += caller.attempts
    return found


def _targets(rehearsal: Rehearsal) -> _Targets:
    taken_at = rehearsal.runs.taken_at[-1]
    return _Targets(
        bucket=rehearsal.output(SHARED_STACK, "Bucket"),
        own=object_key(contract.GROUPS, FULL, taken_at),
        other=object_key(contract.GROUPS, PLAIN, taken_at),
        topic=rehearsal.output(SHARED_STACK, "AlarmTopic"),
        token=rehearsal.output(VIEWS_STACK, "ViewsToken"),
        login=rehearsal.existing.secret,
        group=rehearsal.existing.brokers_security_group,
        reports=rehearsal.output(SHARED_STACK, "ReportTopic"),
        collector=rehearsal.function(FULL).name,
        other_function=rehearsal.function(PLAIN).name,
        other_msk=rehearsal.existing.msk.replace(PLAIN, FULL),
    )


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


def _as_look_up(caller: _Caller, on: _Targets) -> None:
    try_ = caller.attempt
    try_("kafka", "get_bootstrap_brokers", "another cluster", ClusterArn=on.other_msk)
    try_("kafka", "list_clusters", "all clusters")
    try_("s3", "get_object", "a snapshot", Bucket=on.bucket, Key=on.other)
    try_("secretsmanager", "get_secret_value", "the collector's login", SecretId=on.login)


def _as_scheduler_inside(caller: _Caller, on: _Targets) -> None:
    caller.attempt("lambda", "invoke", "its collector", FunctionName=on.collector, Payload=b"{}")


def _as_scheduler(caller: _Caller, on: _Targets) -> None:
    invoke = {"FunctionName": on.other_function, "Payload": b"{}"}
    caller.attempt("lambda", "invoke", "another collector", **invoke)
    caller.attempt("s3", "get_object", "a snapshot", Bucket=on.bucket, Key=on.own)


def _as_events_inside(caller: _Caller, on: _Targets) -> None:
    caller.attempt("sns", "publish", "the topic of reports", TopicArn=on.reports, Message=_BODY)


def _as_events(caller: _Caller, on: _Targets) -> None:
    caller.attempt("sns", "publish", "the alarms' topic", TopicArn=on.topic, Message=_BODY)
    caller.attempt("lambda", "invoke", "a collector", FunctionName=on.collector, Payload=b"{}")


def _as_glue_inside(caller: _Caller, on: _Targets) -> None:
    """Makes each kind of call that the daily job makes in a night, except for log and metric.

    The emulator does not know conditions on a namespace.
    """
    try_, bucket = caller.attempt, on.bucket
    snapshots = f"{contract.SNAPSHOT_PREFIX}/"
    try_("s3", "list_objects_v2", "snapshots", Bucket=bucket, Prefix=snapshots)
    try_("s3", "get_object", "a snapshot", Bucket=bucket, Key=on.own)
    for prefix in (contract.HISTORY_PREFIX, contract.REPORT_PREFIX, contract.USUAL_PREFIX):
        key = f"{prefix}/rehearsed"
        try_("s3", "put_object", prefix, Bucket=bucket, Key=key, Body=_BODY)
        try_("s3", "get_object", prefix, Bucket=bucket, Key=key)
        try_("s3", "delete_object", prefix, Bucket=bucket, Key=key)
    try_("sns", "publish", "the topic of reports", TopicArn=on.reports, Message=_BODY)


def _as_glue(caller: _Caller, on: _Targets) -> None:
    try_, bucket = caller.attempt, on.bucket
    try_("s3", "put_object", "a snapshot", Bucket=bucket, Key=on.own, Body=_BODY)
    try_("s3", "get_object", "what messages remember", Bucket=bucket, Key=_NOTIFIED)
    try_("sns", "publish", "the alarms' topic", TopicArn=on.topic, Message=_BODY)
    try_("secretsmanager", "get_secret_value", "the collector's login", SecretId=on.login)


# Whose roles these are, in which stack, and what they must not and must be able to do.
_SERVICES: dict[str, tuple[str, _Calls, _Calls]] = {
    "scheduler": (stack_of(FULL), _as_scheduler, _as_scheduler_inside),
    "events": (SHARED_STACK, _as_events, _as_events_inside),
    "glue": (SHARED_STACK, _as_glue, _as_glue_inside),
}
